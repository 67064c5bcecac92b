"""From gradients to one finished tree: the Python side of the kernels.

A grower owns the memory that is reused from tree to tree; there is one for every kind of binned table, and one for tables in
shards.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper, BundledBins, DenseBins, SparseBins
from weald.runtime.errors import InputError
from weald.tree.grown import Grower, GrownTree
from weald.tree.growth.grower import grow_tree
from weald.tree.growth.oblivious import grow_oblivious
from weald.tree.growth.prune import prune
from weald.tree.histograms.quantise import largest_values, quantise
from weald.tree.inputs import bin_words, dividing_columns, histogram_shape, tree_input
from weald.tree.rows.leaf import (
    assign_leaves,
    fixed_total,
    leaf_rows,
)
from weald.tree.rules import TreeRules
from weald.tree.search import Search
from weald.tree.splits.forced import forced_splits
from weald.tree.splits.noise import noise_unit
from weald.tree.state import (
    LEFT_BINS,
    Gradients,
    Nodes,
    Rules,
    Workspace,
)

POOL_BYTES = 256 * 2**20  # histograms that are kept for subtraction; beyond, nodes are counted anew
LARGEST_LEVEL_BYTES = 4 * 2**30  # histograms of the widest level of an oblivious tree


class KernelGrower(Grower):
    """Grows trees by kernels that do all of a tree in one call, from the *entries* of state.py."""

    def __init__(self, bins: Any, rules: TreeRules, precision: str, tasks: int) -> None:
        super().__init__(bins, rules, precision, tasks)
        n_rows, most_nodes = bins.n_rows, 2 * self._kernel_rules.max_leaves
        self.entries = np.empty((2, n_rows), np.uint64)
        self._wide = np.empty(n_rows, np.uint64)
        self._nodes = empty_nodes(most_nodes, bin_words(bins.mapper))
        self._state = rules.constraints.state(bins.n_columns, most_nodes, rules.path_smooth > 0.0)
        self._forced = forced_splits(rules.forced, bins.mapper)

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
        """Grow a tree in one call of a kernel."""
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
        rules = self._kernel_rules
        if self.rules.weighs:
            total = fixed_total(hessian, rows, largest_values(gradients)[1])
            rules = self.rules.for_weight(rules, total)
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

    def place_sampled(self, tree: GrownTree) -> None:
        """From where a leaf's entries are."""
        if tree.n_sampled < len(self.leaf_of_row):
            self.leaf_of_row.fill(tree.n_leaves)
        assign_leaves(self.entries, tree.leaves, tree.n_sampled, self.tasks, self.leaf_of_row)

    def place_others(self, tree: GrownTree) -> None:
        """They walk down the tree."""
        tree.walk(self.bins, tree.n_leaves, self.leaf_of_row)

    def rows_by_leaf(self, tree: GrownTree) -> NDArray[np.uint32]:
        """From the entries, which keep the order of the rows."""
        rows = np.empty(tree.n_sampled, np.uint32)
        leaf_rows(self.entries, tree.leaves, rows)
        return rows


class TreeGrower(KernelGrower):
    """Grows trees from histograms of bins, dense, sparse or in bundles."""

    _pool: NDArray[np.int64] = np.empty(0, np.int64)  # the memory of histograms

    def __init__(
        self, bins: DenseBins | SparseBins | BundledBins, rules: TreeRules, precision: str, tasks: int
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

    def _read(self, bins: DenseBins | SparseBins | BundledBins) -> NDArray[np.int64]:
        """Take what the kernels read of a table; room for its histograms is returned, the same as before if that is enough."""
        rules = self.rules
        self._divides = np.ones(bins.n_columns, np.bool_)
        if rules.colsample_bylevel == 1.0 and rules.colsample_bynode == 1.0:  # which draw from all columns
            self._divides = dividing_columns(bins, rules.min_samples_leaf)
            self._divides[self._forced.feature] = True
        self._data = tree_input(bins, self._divides)
        shape, n_words = histogram_shape(self._data, self.precision)
        most_leaves = self._kernel_rules.max_leaves
        slots = count_slots(rules, most_leaves, n_words, bins.n_columns)
        size = slots * shape[0] * shape[1]
        if len(self._pool) < size:
            self._pool = np.empty(0, np.int64)  # free before the larger one is taken
            self._pool = np.empty(size, np.int64)
        return self._pool[:size].reshape(slots, *shape)

    def _grow_nodes(
        self, columns: NDArray[np.int64], gradients: Gradients, rules: Rules, key: Any, n_rows: int
    ) -> int:
        search = Search(self._data, gradients, rules, key, self._work, self._nodes, self._state)
        features = columns[self._divides[columns]]
        if self.rules.growth == "oblivious":
            return int(grow_oblivious(search, features, n_rows, self.tasks))
        return int(grow_tree(search, features, n_rows, self.tasks, self._forced))

    def is_sparse(self, bins: DenseBins | SparseBins | BundledBins) -> bool:
        """Whether the table does not have all its cells as they are."""
        return not isinstance(bins, DenseBins)

    def cells(
        self, bins: DenseBins | SparseBins | BundledBins, columns: NDArray[np.int64]
    ) -> Iterable[tuple[int, NDArray[Any]]]:
        """The bins, row after row in memory."""
        if not isinstance(bins, DenseBins):
            for first, rows in bins.rows_of(columns, self.tasks):
                yield first, rows.reshape(-1, len(columns))
        else:
            yield 0, bins.rows.reshape(bins.n_rows, bins.n_columns)

    def whole_columns(self, bins: DenseBins | SparseBins) -> NDArray[np.unsignedinteger[Any]] | None:
        """The bins of a dense table."""
        return bins.columns if isinstance(bins, DenseBins) else None

    def turn(self, bins: DenseBins, columns: NDArray[np.int64]) -> None:
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
        self.bins = DenseBins(self.bins.columns, self.bins.rows, mapper)
        self._data = self._data._replace(n_bins=mapper.n_bins)
        self._forced = forced_splits(self.rules.forced, mapper)


def count_slots(rules: TreeRules, most_leaves: int, n_words: int, n_columns: int) -> int:
    """How many histograms of so many words are kept while a tree grows."""
    # Two slots at least: a node's own and the shared one. The shared one is never needed below the limit.
    wanted = most_leaves if rules.growth != "oblivious" else max(1, most_leaves // 2)
    slots = 1 + max(1, min(wanted, POOL_BYTES // (8 * max(1, n_words))))
    if rules.growth == "oblivious":
        slots = 1 + wanted  # a level needs the histograms of all its nodes
        if 8 * n_words * slots > LARGEST_LEVEL_BYTES:
            raise InputError(
                f"max_depth={rules.max_depth} with growth='oblivious' and {n_columns} columns needs "
                f"{8 * n_words * slots / 2**30:.0f} GB of histograms; choose a smaller max_depth."
            )
    return slots


def empty_nodes(size: int, n_words: int) -> Nodes:
    """Memory for so many nodes, with so many words of bins each."""
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
