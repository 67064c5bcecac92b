"""One finished tree as boosting sees it, and what it asks of the grower that made it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.tree.histograms.quantise import largest_values
from weald.tree.rows.leaf import (
    LeafNumbers,
    LeafPlaces,
    add_leaf_values,
    leaf_sums,
)
from weald.tree.rows.sweep import fewest_rows, is_worth_a_sweep, questions_of, sweep_rows
from weald.tree.rows.walk import walk_rows
from weald.tree.rules import TreeRules
from weald.tree.splits.thresholds import split_thresholds
from weald.tree.splits.values import clip, fill_small_leaves, newton, node_totals, smooth_path
from weald.tree.state import (
    Gradients,
)

MOST_SMALL_LEAVES = 2**8 - 1  # leaves whose numbers, and one for "none", fit in one byte a row


class GrownTree:
    """One tree with its rows in their leaves."""

    def __init__(
        self,
        grower: Grower,
        nodes: dict[str, NDArray[Any]],
        exact: tuple[NDArray[np.float32], NDArray[np.float32]],
        gradients: Gradients,
        sampled: int,
    ) -> None:
        self._grower = grower
        self._exact = exact
        self._gradients = gradients
        self._sums: NDArray[np.float64] | None = None  # of the leaves, by other hessians than the splits'
        self._placed = sampled  # rows whose leaves are known
        #: how many rows the tree was grown on
        self.n_sampled = sampled
        self.nodes = nodes
        leaf_nodes = np.flatnonzero(nodes["feature"] < 0)
        #: node numbers of the leaves, in the order of their rows' places
        self.leaf_nodes = leaf_nodes[np.argsort(nodes["begin"][leaf_nodes], kind="stable")]
        #: where the rows of every leaf are
        self.leaves = LeafPlaces(*(nodes[name][self.leaf_nodes] for name in ("side", "begin", "end")))
        grower.place_sampled(self)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.leaf_nodes)

    def use_hessian(self, hessian: NDArray[np.float32]) -> None:
        """Take values by other hessians, (rows,), than those that the splits were chosen by; before scores are added to."""
        largest = (largest_values(self._gradients)[0], self._grower.largest_of(hessian))
        self._sums = self.leaf_sums(self._exact[0], hessian, largest)

    def leaf_values(self) -> NDArray[np.float64]:
        """Newton's leaf values, from exact sums of the gradients; a leaf with too few rows takes an ancestor's."""
        grower = self._grower
        sums = self._sums
        if sums is None:
            sums = self.leaf_sums(*self._exact, largest_values(self._gradients))
        penalty = self._penalty()
        if self.smooths:
            totals = node_totals(self.nodes, self.leaf_nodes, sums)
            own = newton(totals[:, 0], totals[:, 1], penalty, grower.rules)
            return smooth_path(self.nodes, own, grower.rules.path_smooth, self._fewest)[self.leaf_nodes]
        values = newton(sums[:, 0], sums[:, 1], penalty[self.leaf_nodes], grower.rules)
        self.fill_small_leaves(sums, values)
        self.bound(values)
        return values

    def fill_small_leaves(self, sums: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Give leaves with too few rows, which only oblivious trees have, the value of one step of an ancestor."""
        rules = self._grower.rules
        if rules.growth == "oblivious":
            fill_small_leaves(self.nodes, self.leaf_nodes, sums, self._penalty(), rules, values)

    def leaf_penalties(self) -> NDArray[np.float64]:
        """Lambda of every leaf."""
        return self._penalty()[self.leaf_nodes]

    @property
    def smooths(self) -> bool:
        """Whether values are averaged with those of the nodes above."""
        return self._grower.rules.path_smooth > 0.0

    @property
    def _fewest(self) -> int:
        """Rows below which a node has its parent's value: only oblivious trees have such nodes."""
        rules = self._grower.rules
        return max(1, rules.min_samples_leaf) if rules.growth == "oblivious" else 1

    def smooth(self, inner: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Average the leaves' ``values`` with those of the nodes above; ``inner``: of the inner nodes, in their order."""
        own = np.empty(len(self.nodes["feature"]))
        own[self.nodes["feature"] >= 0] = inner
        own[self.leaf_nodes] = values
        smoothed = smooth_path(self.nodes, own, self._grower.rules.path_smooth, self._fewest)
        values[:] = smoothed[self.leaf_nodes]

    def _penalty(self) -> NDArray[np.float64]:
        """Lambda of every node, with ``cat_l2`` for the children of splits into two sets of categories."""
        rules, mapper, feature = self._grower.rules, self._grower.bins.mapper, self.nodes["feature"]
        penalty = np.full(len(feature), float(rules.reg_lambda))
        if rules.cat_l2 > 0.0 and rules.max_cat_to_onehot is not None:
            by_set = mapper.categorical[feature] & (mapper.n_bins[feature] > rules.max_cat_to_onehot)
            left = self.nodes["left"][(feature >= 0) & by_set]
            penalty[left] += rules.cat_l2
            penalty[left + 1] += rules.cat_l2
        return penalty

    def bound(self, values: NDArray[np.float64]) -> None:
        """Clip values of the leaves, wherever they come from, to the bounds of monotone constraints, if there are any."""
        clip(self.nodes, self.leaf_nodes, values)

    def leaf_sums(
        self, gradient: NDArray[np.float32], hessian: NDArray[np.float32], largest: tuple[float, float]
    ) -> NDArray[np.float64]:
        """Exact sums of two numbers a row over the sampled rows of every leaf, (leaves, 2); ``largest``: their bounds."""
        return self._grower.leaf_sums(self, gradient, hessian, largest)

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of its leaf for every sampled row, 0 for the others; before the tree is added to scores."""
        spread: NDArray[np.float64] = np.append(values, 0.0)[self._grower.leaf_of_row]
        return spread

    def rows_by_leaf(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Sampled row numbers leaf after leaf, and where each leaf's begin (with the end of the last)."""
        return self._grower.rows_by_leaf(self), np.append(self.leaves.begin, self.n_sampled)

    def rows_by_inner_node(self, rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The same for the inner nodes, from the rows leaf after leaf."""
        inner = np.flatnonzero(self.nodes["feature"] >= 0)
        begin, end = self.nodes["begin"][inner], self.nodes["end"][inner]
        parts = [rows[first:last] for first, last in zip(begin, end, strict=True)]
        return np.concatenate([rows[:0], *parts]), np.concatenate(([0], np.cumsum(end - begin)))

    def all_rows_by_leaf(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The same with the rows that were not sampled; sums are then no longer those of the sampled rows."""
        leaf_of_row = self.leaf_of_all_rows()
        ends = np.cumsum(np.bincount(leaf_of_row, minlength=self.n_leaves))
        return leaf_of_row.argsort(kind="stable").astype(np.uint32), np.append(0, ends)

    def leaf_of_sampled_rows(self) -> LeafNumbers:
        """The leaf of every row; of one that was not sampled the number of leaves, until it is asked for, too."""
        return self._grower.leaf_of_row

    def leaf_of_all_rows(self) -> LeafNumbers:
        """The leaf of every row, sampled or not; sums are then no longer those of the sampled rows."""
        self._place_others()
        return self._grower.leaf_of_row

    def _place_others(self) -> None:
        """Find the leaves of the rows that were not sampled."""
        grower = self._grower
        if self._placed < grower.n_all_rows:
            grower.place_others(self)
            self._placed = grower.n_all_rows

    def leaves_in(self, bins: Any) -> LeafNumbers:
        """The leaf of every row of another table, binned by the same mapper."""
        leaf_of_row = np.full(bins.n_rows, self.n_leaves, self._grower.leaf_of_row.dtype)
        self.walk(self._grower.binned(bins), self.n_leaves, leaf_of_row)
        return leaf_of_row

    def add_to(self, score: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Add the leaves' values to the training scores, also to those of rows that were not sampled."""
        self._place_others()
        self._grower.add_values(score, values)

    def add_to_binned(self, bins: Any, score: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Add the leaves' values to the scores of other rows, binned by the same mapper."""
        add_leaf_values(self.leaves_in(bins), values, self._grower.tasks, score)

    def walk(self, bins: Any, waiting: int, leaf_of_row: LeafNumbers) -> None:
        """Write the leaf of every row of a table whose entry is ``waiting``."""
        nodes, mapper = self.nodes, bins.mapper
        leaf_of_node = np.full(len(nodes["feature"]), -1, np.int32)
        leaf_of_node[self.leaf_nodes] = np.arange(self.n_leaves, dtype=np.int32)
        if self._sweep(bins, leaf_of_node, waiting, leaf_of_row):
            return
        feature, columns = nodes["feature"], np.arange(bins.n_columns)
        if self._grower.is_sparse(bins):
            columns, feature = _compact(feature)
        for first, cells in self._grower.cells(bins, columns):
            walk_rows(
                cells,
                mapper.n_bins[columns],
                mapper.categorical[columns],
                feature,
                nodes["split_bin"],
                nodes["left_bins"],
                nodes["missing_left"],
                nodes["left"],
                leaf_of_node,
                self._grower.tasks,
                waiting,
                leaf_of_row[first : first + len(cells)],
            )

    def _sweep(
        self, bins: Any, leaf_of_node: NDArray[np.int32], waiting: int, leaf_of_row: LeafNumbers
    ) -> bool:
        """Find the leaves by whole columns, where that is possible and quicker; whether it was."""
        columns, nodes, mapper = self._grower.whole_columns(bins), self.nodes, bins.mapper
        if columns is None or leaf_of_row.dtype != np.uint8:
            return False
        if len(leaf_of_row) < fewest_rows(mapper.n_bins, mapper.categorical):
            return False
        questions = questions_of(
            columns.dtype,
            mapper.n_bins,
            mapper.categorical,
            *(nodes[name] for name in ("feature", "split_bin", "left_bins", "missing_left", "left")),
        )
        worth = is_worth_a_sweep(questions)
        if worth:
            sweep_rows(columns, questions, leaf_of_node, self._grower.tasks, waiting, leaf_of_row)
        return worth

    def for_forest(self, values: NDArray[np.float64], shrinkage: float) -> dict[str, NDArray[Any]]:
        """The tree as `ForestBuilder.append` takes it; ``values`` are the leaves' final outputs."""
        nodes, gradients, mapper = self.nodes, self._gradients, self._grower.bins.mapper
        gradient = nodes["gradient_sum"] * gradients.gradient_unit
        hessian = nodes["hessian_sum"] * gradients.hessian_unit
        if self._sums is not None:
            gradient, hessian = node_totals(nodes, self.leaf_nodes, self._sums).T
        value = newton(gradient, hessian, self._penalty(), self._grower.rules)
        if self.smooths:
            value = smooth_path(nodes, value, self._grower.rules.path_smooth, self._fewest)
        clip(nodes, slice(None), value)
        value *= shrinkage
        value[self.leaf_nodes] = values
        return {
            "feature": nodes["feature"],
            "left": nodes["left"],
            "missing_left": np.where(nodes["feature"] < 0, 0, nodes["missing_left"]),
            "value": value,
            "gain": nodes["gain"],
            "cover": hessian,
            "count": nodes["end"] - nodes["begin"],
            **split_thresholds(nodes["feature"], nodes["split_bin"], nodes["left_bins"], mapper),
        }


class Grower:
    """Grows trees on the same binned rows: what boosting and `GrownTree` ask of the growers of all kinds of tables."""

    def __init__(self, bins: Any, rules: TreeRules, precision: str, tasks: int) -> None:
        self.bins = bins
        self.rules = rules
        self.precision = precision
        self.tasks = tasks
        #: the columns that trees may be split by
        self.columns: NDArray[np.int64] = np.arange(bins.n_columns)
        #: how many rows trees are grown on or walked by, here and elsewhere
        self.n_all_rows = self._all_rows(bins)
        self._kernel_rules = rules.for_kernel(self.n_all_rows)
        is_small = self._kernel_rules.max_leaves < MOST_SMALL_LEAVES
        self.leaf_of_row: LeafNumbers = self._row_array(bins, np.dtype(np.uint8 if is_small else np.int32))

    def _all_rows(self, bins: Any) -> int:
        """How many rows trees are grown on, here and elsewhere."""
        return int(bins.n_rows)

    def largest_of(self, values: NDArray[np.float32]) -> float:
        """The largest of numbers that all rows have, those of the rows here given."""
        return float(values.max())

    def _row_array(self, bins: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Room for a number a row."""
        return np.empty(bins.n_rows, dtype)

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, no more than the grower was made for; they never change a tree."""
        self.tasks = tasks

    def grow(
        self,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        rows: NDArray[np.uint32],
        columns: NDArray[np.int64],
        rounding_key: int,
        column_key: int,
        noise: float = 0.0,
    ) -> GrownTree:
        """Grow a tree on the given rows (empty: all) and columns; it stays valid until the next one is grown.

        ``noise``: the strength of that in the choice of columns, see noise.py.
        """
        raise NotImplementedError

    def place_sampled(self, tree: GrownTree) -> None:
        """Write the leaves of the rows that the tree was grown on to ``leaf_of_row``, and of the others its number of leaves."""
        raise NotImplementedError

    def place_others(self, tree: GrownTree) -> None:
        """Write the leaves of the rows that were not sampled, too."""
        raise NotImplementedError

    def leaf_sums(
        self,
        tree: GrownTree,
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        largest: tuple[float, float],
    ) -> NDArray[np.float64]:
        """See `GrownTree.leaf_sums`."""
        return leaf_sums(self.leaf_of_row, tree.n_leaves, gradient, hessian, largest, self.tasks)

    def rows_by_leaf(self, tree: GrownTree) -> NDArray[np.uint32]:
        """The sampled rows' numbers, leaf after leaf, ascending in each."""
        raise NotImplementedError

    def add_values(self, score: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Add to every row's score the value of its leaf; the leaves of all rows are known."""
        add_leaf_values(self.leaf_of_row, values, self.tasks, score)

    def is_sparse(self, bins: Any) -> bool:
        """Whether only the columns that a tree tests are to be asked of a table of this kind."""
        raise NotImplementedError

    def cells(self, bins: Any, columns: NDArray[np.int64]) -> Iterable[tuple[int, NDArray[Any]]]:
        """(first row, bins (rows, columns)) of a table of this kind, all at once or in parts."""
        raise NotImplementedError

    def whole_columns(self, bins: Any) -> NDArray[np.unsignedinteger[Any]] | None:
        """The cells of a table of this kind, (columns, rows), if it keeps them so."""
        return None

    def turn(self, bins: Any, columns: NDArray[np.int64]) -> None:
        """Go on with another table of the same rows and columns; trees may be split by these of them."""
        raise NotImplementedError

    def binned(self, table: Any) -> Any:
        """Other rows, binned by the training table's mapper, in the bins of the tree that was grown last."""
        return table


def _compact(feature: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The columns that a tree tests, at least one, and its nodes' columns as places among them."""
    columns, place = np.unique(feature[feature >= 0], return_inverse=True)
    compact = np.full_like(feature, -1)
    compact[feature >= 0] = place
    return (columns if len(columns) else np.zeros(1)).astype(np.int64), compact
