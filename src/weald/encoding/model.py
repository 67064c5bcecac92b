"""The statistics that a finished model keeps, and tables with their columns beside the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data import Column, Dataset, Schema
from weald.encoding.tables import Codes, StatisticTable

_LONGEST_GAP = 2**32  # between two keys in a file, see `short_keys`


@dataclass(frozen=True, eq=False)
class ModelStatistics:
    """The derived columns of a model's trees: table after table, behind the columns of the user's table.

    schema: of the user's table. A table's projection names categorical columns by their places among these.
    """

    schema: Schema
    tables: tuple[StatisticTable, ...]

    @cached_property
    def extended_schema(self) -> Schema:
        """The user's columns and the derived ones, which are numeric."""
        names = [self.schema.columns[column].name for column in self.categorical]
        derived = []
        for table in self.tables:
            joined = " & ".join(names[place] for place in table.projection)
            derived += [Column(f"{joined} #{number}", "numeric") for number in table.numbers]
        return Schema((*self.schema.columns, *derived), self.schema.named)

    @cached_property
    def categorical(self) -> NDArray[np.int64]:
        """The user's categorical columns."""
        return np.flatnonzero(self.schema.categorical_mask)

    def extend(self, dataset: Dataset) -> Dataset:
        """A table with the derived columns beside its own."""
        return Dataset(self.extended_schema, _Extended(self, dataset))

    def extended(self, block: NDArray[Any]) -> NDArray[Any]:
        """Some rows of a table, (rows, columns), with the derived columns beside their own."""
        n_columns = self.schema.n_columns
        wide = np.empty((len(block), self.extended_schema.n_columns), block.dtype, order="F")
        wide[:, :n_columns] = block
        codes = codes_of_block(block, self.schema)
        place = n_columns
        for table in self.tables:
            for cells in table.look_up(codes):
                wide[:, place] = cells
                place += 1
        return wide

    @cached_property
    def sources(self) -> list[tuple[int, ...]]:
        """The user's columns that every column of an extended table comes from."""
        own: list[tuple[int, ...]] = [(column,) for column in range(self.schema.n_columns)]
        for table in self.tables:
            columns = tuple(int(self.categorical[place]) for place in table.projection)
            own += [columns] * len(table.numbers)
        return own

    def used_by(
        self, feature: NDArray[np.int32], threshold: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], ModelStatistics]:
        """The statistics that the nodes of trees test, as far as they tell cells apart, and the columns that the nodes then test.

        ``feature``: columns of the extended table, -1 for a leaf; predictions stay the same.
        """
        features = np.arange(self.extended_schema.n_columns + 1)
        features[-1] = -1  # of leaves
        column = place = self.schema.n_columns
        tables = []
        for table in self.tables:
            numbers, cuts = [], []
            for number in table.numbers:
                tests = feature == column
                if tests.any():
                    numbers.append(number)
                    cuts.append(np.unique(threshold[tests]))
                    features[column] = place
                    place += 1
                column += 1
            if numbers:
                tables.append(_only(table, numbers, cuts))
        return features[feature].astype(np.int32), ModelStatistics(self.schema, tuple(tables))


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


class BlockTable(Protocol):
    """Whatever gives its rows in blocks."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """(first row, block)."""


class _Extended:
    """A source of the rows of a data set with their derived columns."""

    whole = None

    def __init__(self, statistics: ModelStatistics, dataset: Dataset) -> None:
        self.n_rows = dataset.n_rows
        self._statistics = statistics
        self._dataset = dataset

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        for first, block in self._dataset.blocks():
            for begin in range(0, len(block), step):
                yield first + begin, self._statistics.extended(block[begin : begin + step])

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._statistics.extended(self._dataset.take(rows))


def codes_of_block(block: NDArray[Any], schema: Schema) -> Codes:
    """The codes of the categorical columns, (columns, rows); what is missing or unknown is behind the last category."""
    columns = np.flatnonzero(schema.categorical_mask)
    codes = np.empty((len(columns), len(block)), np.uint32)
    for place, column in enumerate(columns):
        missing = len(schema.columns[column].categories)
        codes[place] = np.nan_to_num(block[:, column], nan=missing)
    return codes


def category_codes(dataset: BlockTable) -> Codes:
    """The same for a whole table."""
    parts = [codes_of_block(block, dataset.schema) for _, block in dataset.blocks()]
    return np.concatenate(parts, axis=1)
