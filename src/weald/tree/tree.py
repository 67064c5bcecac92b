"""From gradients to one finished tree: the Python side of the kernels.

A `Grower` owns the memory that is reused from tree to tree; there is one for every kind of binned table. `GrownTree` is what
boosting sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper, Bins, BundledBins, SparseBins
from weald.runtime.errors import InputError
from weald.tree.growth.grower import grow_tree
from weald.tree.growth.oblivious import grow_oblivious
from weald.tree.growth.prune import prune
from weald.tree.histograms.quantise import largest_values, quantise
from weald.tree.inputs import bin_words, dividing_columns, histogram_shape, tree_input
from weald.tree.rows.leaf import LeafNumbers, Leaves, add_leaf_values, assign_leaves, leaf_rows, leaf_sums
from weald.tree.rows.sweep import fewest_rows, is_worth_a_sweep, questions_of, sweep_rows
from weald.tree.rows.walk import walk_rows
from weald.tree.splits.constraints import Constraints
from weald.tree.splits.forced import ForcedSplit, forced_splits
from weald.tree.splits.noise import noise_unit
from weald.tree.splits.thresholds import split_thresholds
from weald.tree.splits.values import clip, fill_small_leaves, newton, node_totals, smooth_path
from weald.tree.state import (
    DEPTHWISE,
    LEAFWISE,
    LEFT_BINS,
    Gradients,
    Nodes,
    Rules,
    Workspace,
)

POOL_BYTES = 256 * 2**20  # histograms that are kept for subtraction; beyond, nodes are counted anew
LARGEST_LEVEL_BYTES = 4 * 2**30  # histograms of the widest level of an oblivious tree
UNLIMITED = 2**30
MOST_SMALL_LEAVES = 2**8 - 1  # leaves whose numbers, and one for "none", fit in one byte a row
ALMOST_ALL = 1.0 - 1e-7  # integers keep 25 bits of a hessian


@dataclass(frozen=True)
class TreeRules:
    """What limits a tree and how its splits are scored; None means no limit."""

    growth: str = "leafwise"
    max_leaves: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_child_weight: float = 1e-3
    reg_lambda: float = 0.0
    reg_alpha: float = 0.0
    gamma: float = 0.0
    max_delta_step: float = 0.0
    colsample_bylevel: float = 1.0
    colsample_bynode: float = 1.0
    min_samples_split: int = 2
    min_weight_fraction_leaf: float = 0.0  # of the hessians of the tree's rows
    min_impurity_decrease: float = 0.0  # gain, doubled, a unit of these hessians; CART's with hessians of 1
    max_cat_to_onehot: int | None = None  # categories up to which one is split from the rest; None: always
    max_cat_threshold: int = 64  # categories on the scanned side of a split into two sets
    cat_smooth: float = 0.0  # in the order of categories; 0: lambda
    cat_l2: float = 0.0  # added to lambda for the children of a split into two sets
    min_samples_category: int = 1  # rows between two cuts that are tried
    path_smooth: float = 0.0  # rows of its parent's value that a node's own is averaged with
    extra_trees: bool = False  # a node looks at one threshold a column, drawn at random
    split_score: str = "newton_l2"  # what a split is chosen by, see gain.py and cosine.py
    forced: tuple[ForcedSplit, ...] = ()  # the splits at the top of every tree, level by level
    constraints: Constraints = field(default_factory=Constraints)

    @property
    def counts_rows(self) -> bool:
        """Whether splits are chosen by the rows' weights in place of hessians."""
        return self.split_score in ("l2", "cosine")

    @property
    def cosine(self) -> bool:
        """Whether splits are chosen by cosines (cosine.py)."""
        return self.split_score in ("cosine", "newton_cosine")

    @property
    def prunes(self) -> bool:
        """Whether gamma is asked for after growth, see prune.py, and not while a tree grows."""
        return self.growth == "depthwise" and self.gamma > 0.0

    def most_leaves(self, n_rows: int) -> int:
        """The largest number of leaves that a tree of so many rows can have."""
        by_depth = 2 ** min(self.max_depth, 30) if self.max_depth is not None else UNLIMITED
        if self.growth == "oblivious":
            return by_depth
        by_rows = max(1, n_rows // max(1, self.min_samples_leaf)) + len(self.forced)
        return min(by_depth, by_rows, self.max_leaves or UNLIMITED)

    def for_kernel(self, n_rows: int) -> Rules:
        """The same as plain numbers."""
        return Rules(
            DEPTHWISE if self.growth == "depthwise" else LEAFWISE,
            self.most_leaves(n_rows),
            UNLIMITED if self.max_depth is None else self.max_depth,
            self.min_samples_leaf,
            float(self.min_child_weight),
            float(self.reg_lambda),
            float(self.reg_alpha),
            0.0 if self.prunes else float(self.gamma),
            # Other scores than Newton's are not of the final values, which alone are limited.
            float(self.max_delta_step) if self.split_score == "newton_l2" else 0.0,
            float(self.colsample_bylevel),
            float(self.colsample_bynode),
            self.min_samples_split,
            0.0,
            UNLIMITED if self.max_cat_to_onehot is None else self.max_cat_to_onehot,
            self.max_cat_threshold,
            float(self.cat_smooth),
            float(self.cat_l2),
            self.min_samples_category,
            float(self.path_smooth),
            bool(self.extra_trees),
            self.cosine,
        )

    def for_weight(self, rules: Rules, hessian: NDArray[np.float32], rows: NDArray[np.uint32]) -> Rules:
        """The kernel's rules with the limits that are shares of the hessians of a tree's rows (empty: all)."""
        if self.min_weight_fraction_leaf == 0.0 and self.min_impurity_decrease == 0.0:
            return rules
        total = float((hessian[rows] if len(rows) else hessian).sum(dtype=np.float64))
        # Slightly less than the limits, so that what reaches them exactly is not lost to rounding.
        return rules._replace(
            min_child_weight=max(rules.min_child_weight, ALMOST_ALL * self.min_weight_fraction_leaf * total),
            min_gain=0.5 * ALMOST_ALL * self.min_impurity_decrease * total,
        )


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
        self._sampled = sampled
        self._placed = sampled  # rows whose leaves are known
        self.nodes = nodes
        leaf_nodes = np.flatnonzero(nodes["feature"] < 0)
        #: node numbers of the leaves, in the order of their rows' places
        self.leaf_nodes = leaf_nodes[np.argsort(nodes["begin"][leaf_nodes], kind="stable")]
        self._leaves = Leaves(*(nodes[name][self.leaf_nodes] for name in ("side", "begin", "end")))
        self._assign()

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.leaf_nodes)

    def _assign(self) -> None:
        grower = self._grower
        if self._sampled < len(grower.leaf_of_row):
            grower.leaf_of_row.fill(self.n_leaves)
        assign_leaves(grower.entries, self._leaves, self._sampled, grower.tasks, grower.leaf_of_row)

    def use_hessian(self, hessian: NDArray[np.float32]) -> None:
        """Take values by other hessians, (rows,), than those that the splits were chosen by; before scores are added to."""
        largest = (largest_values(self._gradients)[0], float(hessian.max()))
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
        grower = self._grower
        return leaf_sums(grower.leaf_of_row, self.n_leaves, gradient, hessian, largest, grower.tasks)

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of its leaf for every sampled row, 0 for the others; before the tree is added to scores."""
        spread: NDArray[np.float64] = np.append(values, 0.0)[self._grower.leaf_of_row]
        return spread

    def rows_by_leaf(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Sampled row numbers leaf after leaf, and where each leaf's begin (with the end of the last)."""
        rows = np.empty(self._sampled, np.uint32)
        leaf_rows(self._grower.entries, self._leaves, rows)
        return rows, np.append(self._leaves.begin, self._sampled)

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

    def leaf_of_all_rows(self) -> LeafNumbers:
        """The leaf of every row, sampled or not; sums are then no longer those of the sampled rows."""
        self._place_others()
        return self._grower.leaf_of_row

    def _place_others(self) -> None:
        """Find the leaves of the rows that were not sampled."""
        grower = self._grower
        if self._placed < len(grower.leaf_of_row):
            self._walk(grower.bins, self.n_leaves, grower.leaf_of_row)
            self._placed = len(grower.leaf_of_row)

    def leaves_in(self, bins: Any) -> LeafNumbers:
        """The leaf of every row of another table, binned by the same mapper."""
        leaf_of_row = np.full(bins.n_rows, self.n_leaves, self._grower.leaf_of_row.dtype)
        self._walk(self._grower.binned(bins), self.n_leaves, leaf_of_row)
        return leaf_of_row

    def add_to(self, score: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Add the leaves' values to the training scores, also to those of rows that were not sampled."""
        add_leaf_values(self.leaf_of_all_rows(), values, self._grower.tasks, score)

    def add_to_binned(self, bins: Any, score: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Add the leaves' values to the scores of other rows, binned by the same mapper."""
        add_leaf_values(self.leaves_in(bins), values, self._grower.tasks, score)

    def _walk(self, bins: Any, waiting: int, leaf_of_row: LeafNumbers) -> None:
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
    """Grows trees on the same binned rows: what the growers of all kinds of tables share."""

    def __init__(self, bins: Any, rules: TreeRules, precision: str, tasks: int) -> None:
        self.bins = bins
        self.rules = rules
        self.precision = precision
        self.tasks = tasks
        #: the columns that trees may be split by
        self.columns: NDArray[np.int64] = np.arange(bins.n_columns)
        n_rows = bins.n_rows
        self.entries = np.empty((2, n_rows), np.uint64)
        self._kernel_rules = rules.for_kernel(n_rows)
        most_leaves = self._kernel_rules.max_leaves
        self._nodes = _empty_nodes(2 * most_leaves, bin_words(bins.mapper))
        self._state = rules.constraints.state(bins.n_columns, 2 * most_leaves, rules.path_smooth > 0.0)
        self._forced = forced_splits(rules.forced, bins.mapper)
        self._wide = np.empty(n_rows, np.uint64)
        self.leaf_of_row: LeafNumbers = np.empty(
            n_rows, np.dtype(np.uint8 if most_leaves < MOST_SMALL_LEAVES else np.int32)
        )

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
        gradients = quantise(
            gradient,
            hessian,
            rows,
            rounding_key,
            self.precision,
            self.tasks,
            self._wide,
            self.entries[0],
        )
        n_rows = len(rows) or len(gradient)
        rules = self.rules.for_weight(self._kernel_rules, hessian, rows)
        if noise > 0.0:
            unit = noise_unit(gradient, hessian, rows, gradients, self.rules.cosine)
            rules = rules._replace(noise=noise * unit)
        if self.rules.forced:
            columns = np.union1d(columns, self._forced.feature)
        n_nodes = self._grow_nodes(columns, gradients, rules, np.uint64(column_key), n_rows)
        nodes = {name: values[:n_nodes] for name, values in self._nodes._asdict().items()}
        if self.rules.constraints.monotone:
            nodes |= {"lower": self._state.lower[:n_nodes], "upper": self._state.upper[:n_nodes]}
        if self.rules.prunes:
            nodes = prune(nodes, self.rules.gamma, self.entries, self._forced.node)
        return GrownTree(self, nodes, (gradient, hessian), gradients, n_rows)

    def _grow_nodes(
        self, columns: NDArray[np.int64], gradients: Gradients, rules: Rules, key: Any, n_rows: int
    ) -> int:
        """Grow a tree from ``entries[0, :n_rows]`` into ``_nodes``; the number of nodes is returned."""
        raise NotImplementedError

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


class TreeGrower(Grower):
    """Grows trees from histograms of bins, dense, sparse or in bundles."""

    _pool: NDArray[np.int64] = np.empty(0, np.int64)  # the memory of histograms

    def __init__(
        self, bins: Bins | SparseBins | BundledBins, rules: TreeRules, precision: str, tasks: int
    ) -> None:
        super().__init__(bins, rules, precision, tasks)
        pool = self._read(bins)
        sparse, cells = self._data.sparse, pool.shape[2]
        self._work = Workspace(
            entries=self.entries,
            pool=pool,
            buffers=np.zeros((tasks, 2, 0 if sparse else cells), np.int64),
            totals=np.empty((tasks, 3, 0 if sparse else cells), np.int64),
            heap=np.empty(self._kernel_rules.max_leaves + 1, np.int64),
            chunk_counts=np.empty(tasks, np.int64),
            added=np.zeros(bins.n_rows if sparse else 0, np.int64),
            column=np.zeros(bins.n_rows if sparse else 0, self._data.columns.dtype),
        )

    def _read(self, bins: Bins | SparseBins | BundledBins) -> NDArray[np.int64]:
        """Take what the kernels read of a table; room for its histograms is returned, the same as before if that is enough."""
        rules = self.rules
        self._divides = np.ones(bins.n_columns, np.bool_)
        if rules.colsample_bylevel == 1.0 and rules.colsample_bynode == 1.0:  # which draw from all columns
            self._divides = dividing_columns(bins, rules.min_samples_leaf)
            self._divides[self._forced.feature] = True
        self._data = tree_input(bins, self._divides)
        shape, n_words = histogram_shape(self._data, self.precision)
        most_leaves = self._kernel_rules.max_leaves
        # Two slots at least: a node's own and the shared one. The shared one is never needed below the limit.
        wanted = most_leaves if rules.growth != "oblivious" else max(1, most_leaves // 2)
        slots = 1 + max(1, min(wanted, POOL_BYTES // (8 * max(1, n_words))))
        if rules.growth == "oblivious":
            slots = 1 + wanted  # a level needs the histograms of all its nodes
            if 8 * n_words * slots > LARGEST_LEVEL_BYTES:
                raise InputError(
                    f"max_depth={rules.max_depth} with growth='oblivious' and {bins.n_columns} columns needs "
                    f"{8 * n_words * slots / 2**30:.0f} GB of histograms; choose a smaller max_depth."
                )
        size = slots * shape[0] * shape[1]
        if len(self._pool) < size:
            self._pool = np.empty(0, np.int64)  # free before the larger one is taken
            self._pool = np.empty(size, np.int64)
        return self._pool[:size].reshape(slots, *shape)

    def _grow_nodes(
        self, columns: NDArray[np.int64], gradients: Gradients, rules: Rules, key: Any, n_rows: int
    ) -> int:
        common = (
            self._data,
            columns[self._divides[columns]],
            gradients,
            rules,
            key,
            n_rows,
            self.tasks,
            self._work,
            self._nodes,
            self._state,
        )
        if self.rules.growth == "oblivious":
            return int(grow_oblivious(*common))
        return int(grow_tree(*common, self._forced))

    def is_sparse(self, bins: Bins | SparseBins | BundledBins) -> bool:
        """Whether the table does not have all its cells as they are."""
        return not isinstance(bins, Bins)

    def cells(
        self, bins: Bins | SparseBins | BundledBins, columns: NDArray[np.int64]
    ) -> Iterable[tuple[int, NDArray[Any]]]:
        """The bins, row after row in memory."""
        if not isinstance(bins, Bins):
            for first, rows in bins.rows_of(columns, self.tasks):
                yield first, rows.reshape(-1, len(columns))
        else:
            yield 0, bins.rows.reshape(bins.n_rows, bins.n_columns)

    def whole_columns(self, bins: Bins | SparseBins) -> NDArray[np.unsignedinteger[Any]] | None:
        """The bins of a dense table."""
        return bins.columns if isinstance(bins, Bins) else None

    def turn(self, bins: Bins, columns: NDArray[np.int64]) -> None:
        """The kernels read the other table's cells from now on."""
        self.bins, self.columns = bins, columns
        self._data = self._data._replace(rows=bins.rows, columns=bins.columns)

    def replace(self, bins: SparseBins) -> None:
        """Go on with a table of the same rows and columns in other bins, in the memory that there is."""
        self.bins = bins
        self._forced = forced_splits(self.rules.forced, bins.mapper)
        self._work = self._work._replace(pool=np.empty((0, 1, 0), np.int64))  # which may be too small
        self._work = self._work._replace(pool=self._read(bins))

    def rebin(self, mapper: BinMapper) -> None:
        """The bins were filled anew, by a mapper with at most as many a column as the first had."""
        self.bins = Bins(self.bins.columns, self.bins.rows, mapper)
        self._data = self._data._replace(n_bins=mapper.n_bins)
        self._forced = forced_splits(self.rules.forced, mapper)


def _compact(feature: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The columns that a tree tests, at least one, and its nodes' columns as places among them."""
    columns, place = np.unique(feature[feature >= 0], return_inverse=True)
    compact = np.full_like(feature, -1)
    compact[feature >= 0] = place
    return (columns if len(columns) else np.zeros(1)).astype(np.int64), compact


def _empty_nodes(size: int, n_words: int) -> Nodes:
    return Nodes(
        feature=np.empty(size, np.int32),
        split_bin=np.zeros(size, np.int32),
        left_bins=np.zeros((size, n_words), np.int64),
        missing_left=np.zeros(size, np.uint8),
        left=np.empty(size, np.int32),
        gain=np.empty(size, np.float64),
        depth=np.empty(size, np.int32),
        begin=np.empty(size, np.int64),
        end=np.empty(size, np.int64),
        side=np.empty(size, np.int64),
        slot=np.empty(size, np.int64),
        gradient_sum=np.empty(size, np.int64),
        hessian_sum=np.empty(size, np.int64),
        candidate=np.zeros((size, LEFT_BINS + n_words), np.int64),
        candidate_gain=np.empty(size, np.float64),
    )
