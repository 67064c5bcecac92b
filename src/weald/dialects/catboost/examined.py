"""What CatBoost's models say of single trees and columns: borders, leaves, and statistics of a column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.catboost.leaves import leaf_nodes, leaves_of
from weald.dialects.catboost.pool import Pool, as_pool, feature_positions
from weald.dialects.catboost.refusals import OF_STATISTICS, REFUSALS
from weald.dialects.shared.tables import with_column
from weald.forest.disk import save
from weald.forest.forest import Forest
from weald.runtime.errors import InputError, NotSupportedError

if TYPE_CHECKING:
    from weald.dialects.catboost.trained import Trained

Float64s = NDArray[np.float64]


class ExaminedModel:
    """A model that can be looked into; mixed into `CatBoost`."""

    if TYPE_CHECKING:  # what the model has

        def _trained(self) -> Trained: ...

        def get_param(self, key: str) -> Any: ...

        def _codes(self, pool: Pool) -> Float64s: ...

        def predict(self, data: Any, prediction_type: str) -> Any: ...

        def calc_leaf_indexes(self, data: Any, ntree_start: int, ntree_end: int) -> Any: ...

    # --- trees --------------------------------------------------------------------------------------

    def get_borders(self) -> dict[int, list[float]]:
        """The thresholds of every column of numbers that the trees split on, ascending."""
        trained = self._trained()
        forest, categorical = trained._trees("get_borders"), trained.categorical
        columns = [place for place in range(len(trained.names)) if place not in categorical]
        return {place: np.unique(forest.threshold[forest.feature == place]).tolist() for place in columns}

    def save_borders(self, fname: str) -> None:
        """Write `get_borders`: a line a threshold, the column's position before it."""
        borders = self.get_borders()
        lines = [f"{place}\t{border!r}\n" for place, values in borders.items() for border in values]
        save(fname, "".join(lines).encode())

    def get_leaf_values(self) -> Float64s:
        """The values of all leaves, tree after tree, in the order of `calc_leaf_indexes`."""
        forest = self._single_scores("get_leaf_values")
        parts = [
            forest.value[forest.tree_offsets[place] + leaf_nodes(forest.tree(place))]
            for place in range(forest.n_trees)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def set_leaf_values(self, new_leaf_values: Sequence[float]) -> None:
        """Give all leaves other values, in the order of `get_leaf_values`."""
        forest, trained = self._single_scores("set_leaf_values"), self._trained()
        given = np.asarray(new_leaf_values, np.float64).reshape(-1)
        if len(given) != forest.n_leaves or not np.isfinite(given).all():
            raise InputError(
                f"new_leaf_values must be {forest.n_leaves} finite numbers, one a leaf, but there are {len(given)}."
            )
        value, first = forest.value.copy(), 0
        for place in range(forest.n_trees):
            nodes = forest.tree_offsets[place] + leaf_nodes(forest.tree(place))
            value[nodes] = given[first : first + len(nodes)]
            first += len(nodes)
        trained._set_model(replace(trained._fitted(), predictor=replace(forest, value=value)))

    def _single_scores(self, method: str) -> Forest:
        forest = self._trained()._trees(method)
        if forest.n_outputs > 1:
            raise NotSupportedError(
                f"{method} is of models with one score a row, but this one has {forest.n_outputs}; use calc_leaf_indexes."
            )
        return forest

    def iterate_leaf_indexes(self, data: Any, ntree_start: int = 0, ntree_end: int = 0) -> Iterator[Any]:
        """The leaves of `calc_leaf_indexes`, row after row."""
        yield from self.calc_leaf_indexes(data, ntree_start, ntree_end)

    def drop_unused_features(self) -> None:
        """Nothing: a model holds only what its trees use."""

    def get_sklearn_estimator_xfail_checks(self) -> dict[str, str]:
        """The checks of scikit-learn's that need not hold: there are none."""
        return {}

    # --- columns ------------------------------------------------------------------------------------

    @REFUSALS.arguments(OF_STATISTICS)
    def calc_feature_statistics(
        self,
        data: Any,
        target: Any = None,
        feature: Any = None,
        prediction_type: str | None = None,
        cat_feature_values: Any = None,
        plot: bool = True,
        max_cat_features_on_plot: int = 10,
        thread_count: int = -1,
        plot_file: Any = None,
    ) -> dict[str, Any]:
        """Labels and predictions by the bins of a column, which its thresholds in the trees or its categories make.

        feature : name or position of a column, or a list of these, for a dict of them; None: all columns
        prediction_type : of predictions; Probability where loss_function was given as Logloss or CrossEntropy, RawFormulaVal
            otherwise
        plot : must be False, as there are no pictures

        Returns "borders" (or "cat_values"), "binarized_feature" (the bin of every row), and a number a bin: "mean_target",
        "mean_weighted_target" (with weights), "mean_prediction", "objects_per_bin", and "predictions_on_varying_feature",
        the mean prediction if all rows were in the bin.
        """
        if plot:
            raise NotSupportedError(
                "calc_feature_statistics draws no picture; set plot=False, and draw the numbers with matplotlib."
            )
        pool = (
            data
            if isinstance(data, Pool)
            else as_pool(data, target, cat_features=self._trained().categorical)
        )
        if not pool.has_label():
            raise InputError("calc_feature_statistics needs labels: give target, or a Pool with label.")
        names = pool.get_feature_names()
        several = list(names) if feature is None else feature if isinstance(feature, list) else [feature]
        by_name = self.get_param("loss_function") in ("Logloss", "CrossEntropy")
        kind = prediction_type or ("Probability" if by_name else "RawFormulaVal")
        found = {
            given: self._statistics(pool, position, kind)
            for given, position in zip(several, feature_positions("feature", several, names), strict=True)
        }
        return found if feature is None or isinstance(feature, list) else next(iter(found.values()))

    def _statistics(self, pool: Pool, position: int, kind: str) -> dict[str, Any]:
        column = pool.column(position)
        if position in pool.get_cat_feature_indices():
            values, bins = np.unique(column.astype(str), return_inverse=True)
            first = np.unique(bins, return_index=True)[1]
            named, shown = {"cat_values": values}, [column[row] for row in first]
        else:
            borders = np.array(self.get_borders().get(position, []))
            bins = np.searchsorted(borders, column.astype(np.float64), side="left")
            bins = np.where(np.isnan(column.astype(np.float64)), 0, bins)
            named, shown = {"borders": borders.astype(np.float32)}, _inside(borders)
        count = np.bincount(bins, minlength=len(shown))
        labels, weight = self._codes(pool), pool.weights
        predicted = self._numbers(pool.table, kind)
        return {
            **named,
            "binarized_feature": bins.astype(np.uint32),
            "mean_target": _means(bins, labels, None, len(shown)),
            "mean_weighted_target": np.empty(0, np.float32)
            if weight is None
            else _means(bins, labels, weight, len(shown)),
            "mean_prediction": _means(bins, predicted, None, len(shown)),
            "objects_per_bin": count.astype(np.uint32),
            "predictions_on_varying_feature": np.array(
                [self._numbers(with_column(pool.table, position, value), kind).mean() for value in shown]
            ),
        }

    def _numbers(self, table: Any, kind: str) -> Float64s:
        """One prediction a row; of two classes the probability of the second."""
        found = np.asarray(self.predict(table, kind), np.float64)
        if found.ndim == 2 and found.shape[1] > 2:
            raise NotSupportedError(
                "calc_feature_statistics is of models with one score a row, but this one has several."
            )
        return found if found.ndim == 1 else found[:, -1]


def leaf_indexes(forest: Forest, nodes: NDArray[Any]) -> NDArray[np.uint32]:
    """The leaves' numbers for the nodes (rows, trees) that rows reach."""
    found = np.empty(nodes.shape, np.uint32)
    for place in range(forest.n_trees):
        found[:, place] = leaves_of(forest.tree(place))[nodes[:, place]]
    return found


def _inside(borders: Float64s) -> list[float]:
    """A value in every bin."""
    if not len(borders):
        return [0.0]
    middle = (borders[1:] + borders[:-1]) / 2.0
    return [float(borders[0] - 1.0), *middle.tolist(), float(borders[-1] + 1.0)]


def _means(bins: NDArray[Any], values: Float64s, weight: Float64s | None, n_bins: int) -> NDArray[np.float32]:
    """The mean of every bin, 0 where it has no rows."""
    share = np.ones(len(values)) if weight is None else weight
    total = np.bincount(bins, share, n_bins)
    summed = np.bincount(bins, values * share, n_bins)
    return np.divide(summed, total, out=np.zeros(n_bins), where=total > 0).astype(np.float32)
