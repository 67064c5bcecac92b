"""Target statistics, combinations and orders of a fit: from an estimator's parameters to tables and a booster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import AnyBins, BinnedTable, Bins
from weald.binning.statistics import StatisticBins
from weald.data import Dataset, Schema
from weald.encoding.combinations import Projection
from weald.encoding.model import ModelStatistics, codes_of
from weald.encoding.targets import border_targets, class_targets, target_borders
from weald.encoding.training import LabelledCodes, StatisticChoices, TrainingStatistics
from weald.estimators.boosted.used_statistics import used_statistics
from weald.estimators.shared.labels import Labels
from weald.forest.forest import Forest
from weald.params import PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.random import HOLDOUT, ORDERS, permutation, stream_key
from weald.training.boosting.combinations import CombinationSearch
from weald.training.boosting.leaf_steps import LeafSteps
from weald.training.boosting.ordered import Ordered
from weald.tree.tree import TreeRules

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

KINDS = ("ordered", "greedy", "holdout", "leave_one_out")
OF_STATISTICS = ("max_combination", "prior", "prior_weight", "statistic_bins", "target_borders", "counters")
SLOTS = 4  # for combinations; more gave trees more chances to fit noise


def uses_statistics(estimator: BoostedTrees, schema: Schema) -> bool:
    """Whether any column of a table is to be split by statistics."""
    return estimator.categories in KINDS and bool(_single(estimator, schema) or _combines(estimator, schema))


def uses_orders(estimator: BoostedTrees, schema: Schema) -> bool:
    """Whether the booster is one that takes turns between orders of the rows."""
    return estimator.booster == "ordered" or uses_statistics(estimator, schema)


def _single(estimator: BoostedTrees, schema: Schema) -> list[Projection]:
    """The categorical columns with too many categories to be split one from the rest, by place among the categorical ones."""
    sizes = [len(column.categories) for column in schema.columns if column.kind == "categorical"]
    return [(place,) for place, size in enumerate(sizes) if size > estimator.max_cat_to_onehot]


def _combines(estimator: BoostedTrees, schema: Schema) -> bool:
    return estimator.max_combination > 1 and int(schema.categorical_mask.sum()) > 1


@dataclass(frozen=True)
class StatisticTraining:
    """The training rows with their statistics, and all that a model keeps of these."""

    schema: Schema
    tables: StatisticBins
    kept: NDArray[np.int64]  # columns that are split as they are

    def other(self, dataset: Dataset, bins: Any) -> Bins:
        """An evaluation set with its statistics; ``bins``: its columns, binned as those of the training table."""
        return self.tables.other(bins, self.kept, codes_of(dataset))

    @property
    def first_slot(self) -> int:
        """The first column of combinations: behind those that are split as they are, and the statistics of single columns."""
        n_kept, tables = len(self.kept), self.tables
        return n_kept + tables.n_single * ((tables.n_columns - n_kept) // len(tables.slots))

    def rules(self, rules: TreeRules) -> TreeRules:
        """A tree's rules with the constraints of the columns where they are now."""
        signs = rules.constraints.signs
        if not signs:
            return rules
        moved = [signs[column] for column in self.kept]
        moved += [0] * (self.tables.n_columns - len(moved))
        return replace(rules, constraints=replace(rules.constraints, signs=tuple(moved)))

    def finish(self, forest: Forest) -> tuple[Forest, ModelStatistics]:
        """The model with the statistics that its trees use, and no others."""
        n_columns, derived = self.schema.n_columns, self.tables.derived
        used = np.unique(forest.feature[forest.feature >= n_columns]) - n_columns
        features = np.arange(n_columns + len(derived) + 1)
        features[-1] = -1
        tables, first = [], {}
        n_features = n_columns
        for projection in sorted({derived[number].projection for number in used}):
            tables.append(self.tables.table_of(projection))
            first[projection] = n_features
            n_features += len(tables[-1].numbers)
        for number in used:
            features[n_columns + number] = first[derived[number].projection] + derived[number].place
        moved = features[forest.feature].astype(np.int32)
        return used_statistics(
            replace(forest, n_features=n_features, feature=moved), ModelStatistics(self.schema, tuple(tables))
        )


def orders_of(estimator: BoostedTrees, n_rows: int, seed: int) -> list[NDArray[np.uint32]]:
    """The orders of the rows: that of the model, and those that take turns; one where nothing depends on it."""
    turns = estimator.permutations
    if estimator.categories != "ordered" and estimator.booster != "ordered":
        turns = 0
    return [permutation(n_rows, stream_key(seed, ORDERS, number)) for number in range(turns + 1)]


def make_statistics(
    estimator: BoostedTrees,
    table: Dataset | BinnedTable,
    bins: AnyBins | StatisticBins,
    labels: Labels,
    orders: list[NDArray[np.uint32]],
    rows: NDArray[np.int64] | None,
    source: NDArray[np.int64] | None,
) -> StatisticTraining:
    """The table of a fit; ``rows``: that are trained on, None for all; ``source``: for holdout, those that give statistics."""
    schema = table.schema
    assert isinstance(bins, Bins)
    codes, targets = codes_of(table), targets_of(labels, estimator.target_borders)
    own = LabelledCodes(codes, targets) if rows is None else _taken(codes, targets, rows)
    statistics = TrainingStatistics(
        own,
        np.array(
            [len(schema.columns[column].categories) + 1 for column in np.flatnonzero(schema.categorical_mask)]
        ),
        orders,
        StatisticChoices(
            estimator.categories, _priors(estimator.prior), float(estimator.prior_weight), estimator.counters
        ),
        None if source is None else _taken(codes, targets, source),
    )
    single = _single(estimator, schema)
    categorical = np.flatnonzero(schema.categorical_mask)
    kept = np.setdiff1d(np.arange(schema.n_columns), categorical[[place for (place,) in single]])
    n_slots = SLOTS if _combines(estimator, schema) else 0
    return StatisticTraining(
        schema, StatisticBins(bins, kept, statistics, single, n_slots, estimator.statistic_bins), kept
    )


def make_ordered(
    estimator: BoostedTrees,
    statistics: StatisticTraining | None,
    orders: list[NDArray[np.uint32]],
    steps: LeafSteps,
    seed: int,
) -> Ordered:
    """The booster."""
    search = None
    if statistics is not None and len(statistics.tables.slots) > statistics.tables.n_single:
        n_categorical = int(statistics.schema.categorical_mask.sum())
        search = CombinationSearch(
            statistics.tables, statistics.first_slot, n_categorical, estimator.max_combination, seed
        )
    growth = float(estimator.prefix_growth) if estimator.booster == "ordered" else None
    tables = None if statistics is None else statistics.tables
    return Ordered(seed, orders, steps, growth, tables, search)


def held_out(rows: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A random half of the rows to train on, and the other half to give statistics."""
    order = permutation(len(rows), stream_key(seed, HOLDOUT))
    half = (len(rows) + 1) // 2
    return rows[np.sort(order[:half])], rows[np.sort(order[half:])]


def _taken(codes: NDArray[np.uint32], targets: NDArray[np.int64], rows: NDArray[np.int64]) -> LabelledCodes:
    return LabelledCodes(np.ascontiguousarray(codes[:, rows]), np.ascontiguousarray(targets[:, rows]))


def targets_of(labels: Labels, borders: int) -> NDArray[np.int64]:
    """Zeros and ones, (targets, rows): for the second of two classes, for every class, or for labels above each border."""
    loss = labels.loss
    several = (
        loss.task == "classification" and loss.n_outputs > 1
    )  # its labels are codes, whoever has read them
    if labels.classes is not None or several:
        n_classes = loss.n_outputs if labels.classes is None else len(labels.classes)
        return class_targets(labels.y.astype(np.int64), n_classes).values
    cuts = target_borders(labels.y, borders)
    return border_targets(
        labels.y, cuts if len(cuts) else labels.y[:1]
    ).values  # of equal labels none is above


def _priors(prior: Any) -> tuple[float, ...] | None:
    """The priors that all statistics are made for; None: the mean of the labels."""
    if isinstance(prior, str) and prior == "mean":
        return None
    several = prior if isinstance(prior, list | tuple | np.ndarray) else [prior]
    numbers = [value for value in several if isinstance(value, int | float | np.number) and 0 <= value <= 1]
    if not len(several) or len(numbers) != len(several):
        raise InputError(
            f"prior must be 'mean', a number from 0 to 1, or a list of such numbers, not {prior!r}."
        )
    return tuple(float(value) for value in numbers)


def check_statistics(estimator: BoostedTrees) -> None:
    """Refuse what statistics and orders leave without a meaning, and what only they have without them."""
    statistics, ordered = estimator.categories in KINDS, estimator.booster == "ordered"
    if not statistics:
        _refuse_changed(estimator, OF_STATISTICS, "target statistics; set categories='ordered'")
    if not ordered:
        _refuse_changed(estimator, ("prefix_growth",), "booster='ordered'; set that")
    if not ordered and estimator.categories != "ordered":
        _refuse_changed(
            estimator, ("permutations",), "categories='ordered' or booster='ordered'; set one of them"
        )
    if ordered and estimator.permutations == 0:
        raise InputError(
            "permutations=0 leaves booster='ordered' no order to take gradients in; set it to 1 or more."
        )
    what = f"categories={estimator.categories!r}" if statistics else "booster='ordered'"
    if not statistics and not ordered:
        return
    if statistics:
        _priors(estimator.prior)
    if estimator.booster not in ("plain", "ordered"):
        raise NotSupportedError(
            f"{what} does not go with booster={estimator.booster!r}; use 'plain' or 'ordered'."
        )
    if estimator.split_finder != "hist":
        raise NotSupportedError(
            f"{what} needs bins that stay the same, not split_finder={estimator.split_finder!r}; use 'hist'."
        )
    for name in ("path_smooth", "forced_splits", "interaction_constraints"):
        if getattr(estimator, name):
            raise NotSupportedError(
                f"{name}={getattr(estimator, name)!r} does not go with {what}; leave it out."
            )


def check_starts_anew(estimator: BoostedTrees, schema: Schema) -> None:
    """Refuse to go on from an earlier fit: the scores that every order had then are not in its model."""
    if uses_orders(estimator, schema):
        raise NotSupportedError(
            "warm_start and resume_from do not go with target statistics and booster='ordered', whose orders of the rows "
            "have scores of their own; fit anew with more n_estimators."
        )


def check_may_pause(estimator: BoostedTrees, schema: Schema) -> None:
    """Refuse checkpoints that no training could go on from."""
    if uses_orders(estimator, schema):
        raise NotSupportedError(
            "Checkpoint does not go with target statistics and booster='ordered', which cannot be resumed; leave it out."
        )


def _refuse_changed(estimator: BoostedTrees, names: tuple[str, ...], whose: str) -> None:
    for name in names:
        value = getattr(estimator, name)
        if value != PARAMETERS[name].default:
            raise NotSupportedError(f"{name}={value!r} belongs to {whose}.")
