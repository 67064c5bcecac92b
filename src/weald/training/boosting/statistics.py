"""Target statistics of a training: the columns that trees are split by, and the tables that the model keeps of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinnedTable, DenseBins
from weald.binning.statistics import StatisticBins
from weald.data import Dataset, Schema
from weald.encoding.combinations import Projection
from weald.encoding.model import ModelStatistics, category_codes
from weald.encoding.targets import border_targets, class_targets, target_borders
from weald.encoding.training import LabelledCodes, StatisticChoices, TrainingStatistics
from weald.forest.forest import Forest
from weald.losses import Loss
from weald.runtime.random import HOLDOUT, ORDERS, permutation, stream_key
from weald.training.boosting.combinations import CombinationSearch
from weald.training.boosting.plan import StatisticPlan
from weald.training.boosting.used_statistics import used_statistics

SLOTS = 4  # for combinations; more gave trees more chances to fit noise


def columns_by_statistics(max_onehot: int, schema: Schema) -> list[Projection]:
    """The categorical columns with too many categories to be split one from the rest, by place among the categorical ones."""
    sizes = [len(column.categories) for column in schema.columns if column.kind == "categorical"]
    return [(place,) for place, size in enumerate(sizes) if size > max_onehot]


def has_combinations(max_combination: int, schema: Schema) -> bool:
    """Whether there are categorical columns to combine."""
    return max_combination > 1 and int(schema.categorical_mask.sum()) > 1


@dataclass(frozen=True)
class StatisticTraining:
    """The training rows with their statistics, and all that a model keeps of these.

    ``earlier``: the statistics of the trees that training goes on from.
    """

    schema: Schema
    tables: StatisticBins
    kept: NDArray[np.int64]  # columns that are split as they are
    earlier: ModelStatistics | None = None

    def other(self, dataset: Dataset, bins: DenseBins) -> DenseBins:
        """An evaluation set with its statistics; ``bins``: its columns, binned as those of the training table."""
        return self.tables.other(bins, self.kept, category_codes(dataset))

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


def orders_of(permutations: int, n_rows: int, seed: int) -> list[NDArray[np.uint32]]:
    """The orders of the rows: that of the model, and those that take turns."""
    return [permutation(n_rows, stream_key(seed, ORDERS, number)) for number in range(permutations + 1)]


def make_statistics(
    plan: StatisticPlan,
    table: Dataset | BinnedTable,
    bins: DenseBins,
    targets: NDArray[np.int64],
    orders: list[NDArray[np.uint32]],
    rows: NDArray[np.int64] | None,
    source: NDArray[np.int64] | None,
    earlier: ModelStatistics | None,
) -> StatisticTraining:
    """The table of a fit; ``rows``: that are trained on, None for all; ``source``: for holdout, those that give statistics."""
    schema = table.schema
    codes = category_codes(table)
    own = LabelledCodes(codes, targets) if rows is None else _taken(codes, targets, rows)
    categorical = np.flatnonzero(schema.categorical_mask)
    statistics = TrainingStatistics(
        own,
        np.array([len(schema.columns[column].categories) + 1 for column in categorical]),
        orders,
        StatisticChoices(plan.kind, plan.priors, plan.prior_weight, plan.counters),
        None if source is None else _taken(codes, targets, source),
    )
    single = columns_by_statistics(plan.max_onehot, schema)
    kept = np.setdiff1d(np.arange(schema.n_columns), categorical[[place for (place,) in single]])
    n_slots = SLOTS if has_combinations(plan.max_combination, schema) else 0
    first = first_derived(schema, earlier)
    made = StatisticBins(bins, kept, statistics, single, n_slots, plan.bins, first)
    return StatisticTraining(schema, made, kept, earlier)


def held_out(rows: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A random half of the rows to train on, and the other half to give statistics."""
    order = permutation(len(rows), stream_key(seed, HOLDOUT))
    half = (len(rows) + 1) // 2
    return rows[np.sort(order[:half])], rows[np.sort(order[half:])]


def _taken(codes: NDArray[np.uint32], targets: NDArray[np.int64], rows: NDArray[np.int64]) -> LabelledCodes:
    return LabelledCodes(np.ascontiguousarray(codes[:, rows]), np.ascontiguousarray(targets[:, rows]))


def targets_of(y: NDArray[np.float64], loss: Loss, n_classes: int, borders: int) -> NDArray[np.int64]:
    """Zeros and ones, (targets, rows): for the second of two classes, for every class, or for labels above each border."""
    if n_classes:
        return class_targets(y.astype(np.int64), n_classes).values
    if loss.task == "classification" and loss.n_outputs > 1:  # labels are codes, whoever has read them
        return class_targets(y.astype(np.int64), loss.n_outputs).values
    cuts = target_borders(y, borders)
    return border_targets(y, cuts if len(cuts) else y[:1]).values  # of equal labels none is above
