"""Target statistics of a training: the columns that trees are split by, the search for combinations, what the model keeps.

What needs neither bins nor trees is in `weald.encoding`; the columns in bins are `weald.binning.statistics`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinnedTable, DenseBins
from weald.binning.sharded import ShardedBins
from weald.binning.sharded_table import ShardedTable
from weald.binning.statistics import StatisticBins
from weald.data import Dataset, Schema
from weald.encoding.columns import has_combinations
from weald.encoding.combinations import Projection
from weald.encoding.model import ModelStatistics, category_codes
from weald.encoding.targets import border_targets, class_targets, target_borders
from weald.encoding.training import LabelledCodes, StatisticChoices, TrainingStatistics
from weald.forest.forest import Forest
from weald.forest.symmetric import slim
from weald.losses import Loss
from weald.runtime.random import COMBINATIONS, stream_key
from weald.runtime.team import ALONE, RowShare, Team
from weald.training.boosting.plan import StatisticPlan

COMBINED_ROUNDS = 2  # of so many rounds one has combinations
SLOTS = 4  # for combinations; more gave trees more chances to fit noise


@dataclass(frozen=True)
class StatisticTraining:
    """The training rows with their statistics, and all that a model keeps of these.

    ``earlier``: the statistics of the trees that training goes on from.
    """

    schema: Schema
    tables: StatisticBins
    kept: NDArray[np.int64]  # columns that are split as they are
    earlier: ModelStatistics | None = None

    def other(
        self, table: Dataset | ShardedTable, bins: DenseBins | ShardedBins
    ) -> DenseBins | ShardedBins:
        """An evaluation set with its statistics; ``bins``: its columns, binned as those of the training table."""
        return self.tables.other(bins, self.kept, _codes_of(table))

    def search(self, most: int, seed: int) -> CombinationSearch | None:
        """What fills the slots of combinations, if there are any."""
        tables, n_kept = self.tables, len(self.kept)
        if len(tables.slots) == tables.n_single:
            return None
        # Behind the columns that are split as they are, and the statistics of single columns.
        first = n_kept + tables.n_single * ((tables.n_columns - n_kept) // len(tables.slots))
        return CombinationSearch(tables, first, int(self.schema.categorical_mask.sum()), most, seed)

    def finish(self, forest: Forest) -> tuple[Forest, ModelStatistics]:
        """The model with the statistics that its trees use, and no others."""
        before = () if self.earlier is None else self.earlier.tables
        begin = first_derived(self.schema, self.earlier)
        derived = self.tables.derived
        used = np.unique(forest.feature[forest.feature >= begin]) - begin
        features = np.arange(begin + len(derived) + 1)
        features[-1] = -1
        tables, first = [], {}
        n_features = begin
        for projection in sorted({derived[number].projection for number in used}):
            tables.append(self.tables.table_of(projection))
            first[projection] = n_features
            n_features += len(tables[-1].numbers)
        for number in used:
            features[begin + number] = first[derived[number].projection] + derived[number].place
        moved = features[forest.feature].astype(np.int32)
        return used_statistics(
            replace(forest, n_features=n_features, feature=moved),
            ModelStatistics(self.schema, (*before, *tables)),
        )


def first_derived(schema: Schema, earlier: ModelStatistics | None) -> int:
    """The number of the first column behind those that earlier trees may test."""
    return schema.n_columns if earlier is None else earlier.extended_schema.n_columns


@dataclass(frozen=True)
class ExtendedBlocks:
    """A table in blocks with the derived columns of a model beside its own."""

    statistics: ModelStatistics
    table: ShardedTable

    @property
    def n_rows(self) -> int:
        """How many rows are here."""
        return self.table.n_rows

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """(first row here, floats)."""
        for first, values in self.table.blocks():
            yield first, self.statistics.extended(values)


def make_statistics(
    plan: StatisticPlan,
    table: Dataset | BinnedTable | ShardedTable,
    bins: DenseBins | ShardedBins,
    targets: NDArray[np.integer[Any]],
    orders: list[NDArray[np.uint32]],
    rows: NDArray[np.int64] | None,
    source: NDArray[np.int64] | None,
    earlier: ModelStatistics | None,
) -> StatisticTraining:
    """The table of a fit; ``rows``: that are trained on, None for all; ``source``: for holdout, those that give statistics."""
    schema = table.schema
    codes, team = _codes_of(table), bins.team if isinstance(bins, ShardedBins) else ALONE
    if isinstance(bins, ShardedBins):
        targets = targets.astype(np.uint8)
    own = _labelled(codes, targets, rows, team)
    categorical = np.flatnonzero(schema.categorical_mask)
    statistics = TrainingStatistics(
        own,
        np.array([len(schema.columns[column].categories) + 1 for column in categorical]),
        orders,
        StatisticChoices(plan.kind, plan.priors, plan.prior_weight, plan.counters),
        None if source is None else _labelled(codes, targets, source, team),
    )
    if isinstance(bins, ShardedBins):
        a_row = 4 * len(orders) + len(targets) + 28 + 3 * len(orders) * len(statistics.columns)
        bins.memory.check_room(a_row * own.n_rows, "target statistics", "categories='partition'")
    single = list(plan.columns)
    kept = np.setdiff1d(np.arange(schema.n_columns), categorical[[place for (place,) in plan.alone]])
    n_slots = SLOTS if has_combinations(plan.max_combination, schema) else 0
    first = first_derived(schema, earlier)
    made = StatisticBins(bins, kept, statistics, single, n_slots, plan.bins, first)
    return StatisticTraining(schema, made, kept, earlier)


def _codes_of(table: Dataset | BinnedTable | ShardedTable) -> NDArray[np.uint32]:
    return table.category_codes() if isinstance(table, ShardedTable) else category_codes(table)


def _labelled(
    codes: NDArray[np.uint32], targets: NDArray[np.integer[Any]], rows: NDArray[np.int64] | None, team: Team
) -> LabelledCodes:
    """Some of the rows here, None for all, with the targets of those of the whole team."""
    if rows is not None:
        codes, targets = np.ascontiguousarray(codes[:, rows]), np.ascontiguousarray(targets[:, rows])
    if team.size == 1:
        return LabelledCodes(codes, targets)
    parts = team.gather(targets)
    first, of_all = sum(part.shape[1] for part in parts[: team.rank]), np.concatenate(parts, axis=1)
    return LabelledCodes(codes, of_all, RowShare(first, of_all.shape[1], team))


def targets_of(
    y: NDArray[np.float64],
    loss: Loss,
    n_classes: int,
    borders: int,
    of_all: Callable[[], NDArray[np.float64]] | None = None,
) -> NDArray[np.int64]:
    """Zeros and ones, (targets, rows): for the second of two classes, for every class, or for labels above each border.

    ``of_all``: gives the labels that borders are found from, those of all rows that count; None: ``y``.
    """
    if n_classes:
        return class_targets(y.astype(np.int64), n_classes).values
    if loss.task == "classification" and loss.n_outputs > 1:  # labels are codes, whoever has read them
        return class_targets(y.astype(np.int64), loss.n_outputs).values
    counted = y if of_all is None else of_all()
    cuts = target_borders(counted, borders)
    return border_targets(y, cuts if len(cuts) else counted[:1]).values  # of equal labels none is above


def used_statistics(forest: Forest, statistics: ModelStatistics) -> tuple[Forest, ModelStatistics]:
    """The trees and the statistics that they use, and no others; predictions stay the same.

    ``forest``: reads the columns of ``statistics.extended_schema``.
    """
    feature, used = statistics.used_by(forest.feature, forest.threshold)
    return slim(replace(forest, n_features=used.extended_schema.n_columns, feature=feature)), used


class CombinationSearch:
    """Fills the slots of a table with combinations of categorical columns, greedily, from what the trees so far were split by.

    Whatever a tree was split by is worth a closer look: its statistics' columns are joined with one more categorical column, and
    the combination may be split by in the next rounds. Every round tries one that is new, drawn at random, in the slot that no
    tree has asked for for longest. (A faster change of combinations gave larger models that were no better.)

    Combinations may be split by in every other round only. The rounds between tell with single columns what these can tell; else
    the many chances of combinations, which all are tried on the same rows, would fit noise.

    ``first``: the table's first column of combinations; ``n_columns``: categorical columns; ``most``: of them in a combination.
    """

    def __init__(self, tables: StatisticBins, first: int, n_columns: int, most: int, seed: int) -> None:
        self._tables = tables
        self._first = first
        self._n_columns = n_columns
        self._most = most
        self._seed = seed
        self._asked = [-1] * len(tables.slots)  # the last round that split by a slot
        self._seen: list[NDArray[np.int64]] = []

    def columns(self, number: int) -> NDArray[np.int64]:
        """The columns that the trees of a round may be split by."""
        columns = self._tables.columns
        return columns if number % COMBINED_ROUNDS == 0 else columns[columns < self._first]

    def saw(self, columns: NDArray[np.integer[Any]]) -> None:
        """Take note of the columns that a tree of this round tests; -1 for a leaf."""
        self._seen.append(columns[columns >= 0].astype(np.int64))

    def renew(self, number: int) -> None:
        """Fill a slot with a combination of what the last round's trees were split by."""
        used = self._tables.projections_of(np.unique(np.concatenate([np.zeros(0, np.int64), *self._seen])))
        self._seen.clear()
        places = {projection: slot for slot, projection in enumerate(self._tables.slots) if projection}
        for projection in used:
            self._asked[places[projection]] = number
        fresh = self._proposals(used, set(places))
        if not fresh:
            return
        drawn = fresh[stream_key(self._seed, number, COMBINATIONS) % len(fresh)]
        slot = min(range(self._tables.n_single, len(self._asked)), key=lambda slot: (self._asked[slot], slot))
        self._tables.fill(slot, drawn)
        self._asked[slot] = number  # a chance of its own before it must go

    def state(self) -> dict[str, Any]:
        """What a search that goes on needs: when slots were asked for last, and what the last round has tested."""
        return {"asked": list(self._asked), "seen": np.concatenate([np.zeros(0, np.int64), *self._seen])}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        self._asked = [int(number) for number in state["asked"]]
        self._seen = [np.array(state["seen"], np.int64)]

    def _proposals(self, used: list[Projection], there: set[Projection]) -> list[Projection]:
        """The combinations of what was used with one more column that have no slot."""
        found = {
            tuple(sorted({*projection, column}))
            for projection in used
            if len(projection) < self._most
            for column in range(self._n_columns)
        }
        return sorted(found - there)
