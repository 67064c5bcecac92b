"""The statistics that the trees of a model use, and no others: after training, and where rounds are cut off later."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from weald.encoding.model import ModelStatistics
from weald.encoding.tables import StatisticTable
from weald.forest.forest import Forest
from weald.forest.symmetric import slim

_LONGEST_GAP = 2**32  # between two keys in a file, see `short_keys`


def used_statistics(forest: Forest, statistics: ModelStatistics) -> tuple[Forest, ModelStatistics]:
    """The trees and the statistics that they use, as far as they tell cells apart; predictions stay the same.

    ``forest``: reads the columns of ``statistics.extended_schema``.
    """
    features = np.arange(forest.n_features + 1)
    features[-1] = -1  # of leaves
    tables, place = [], statistics.schema.n_columns
    column = place
    for table in statistics.tables:
        numbers, cuts = [], []
        for number in table.numbers:
            tests = forest.feature == column
            if tests.any():
                numbers.append(number)
                cuts.append(np.unique(forest.threshold[tests]))
                features[column] = place
                place += 1
            column += 1
        if numbers:
            tables.append(_only(table, numbers, cuts))
    used = replace(forest, n_features=place, feature=features[forest.feature].astype(np.int32))
    return slim(used), ModelStatistics(statistics.schema, tuple(tables))


def _only(table: StatisticTable, numbers: list[int], cuts: list[NDArray[np.float64]]) -> StatisticTable:
    """`StatisticTable.only`, also of a table whose keys were cut before: what was cut off does not come back."""
    made = table.only(numbers, cuts)
    if made.bits <= table.bits:
        return made
    if np.diff(made.keys, prepend=np.uint64(0)).max(initial=0) < _LONGEST_GAP:
        return replace(made, bits=table.bits)
    # The keys that are left are too far apart for their number of bits: all stay.
    places = [table.numbers.index(number) for number in numbers]
    return replace(table, numbers=tuple(numbers), cells=table.cells[places], default=table.default[places])
