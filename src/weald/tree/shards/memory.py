"""A shard of rows in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.binning import DenseBins
from weald.tree.histograms.quantise import Rounding, fill_entries, largest_of, meaning_of, sum_sizes
from weald.tree.inputs import tree_input
from weald.tree.rows.leaf import LeafNumbers, add_leaf_values, whole_leaf_sums
from weald.tree.shards.kernels import count_nodes, group_entries, move_rows
from weald.tree.shards.shard import Extremes, Largest
from weald.tree.shards.state import Splits
from weald.tree.splits.noise import sum_squares
from weald.tree.state import Workspace

Float32s = NDArray[np.float32]


class MemoryShard:
    """The rows of ``bins``, whose first has the number ``first`` in the whole table.

    ``take`` gives it the gradients of a tree, ``follow`` the scores that `add` is to change: it keeps no labels. ``leaf_of_row``:
    memory for the leaf of every row.
    """

    def __init__(self, bins: DenseBins, first: int, leaf_of_row: LeafNumbers, tasks: int) -> None:
        n_rows = bins.n_rows
        self._data = tree_input(bins)
        self._first = first
        self._tasks = tasks
        self._leaf_of_row = leaf_of_row
        self._n_leaves = 0
        #: which of the rows the tree is grown on, ascending; None: all
        self.rows: NDArray[np.uint32] | None = None
        self._node_of_row = np.zeros(n_rows, np.int32)
        self._entries = np.empty(n_rows, np.uint64)
        self._wide = np.empty(n_rows, np.uint64)
        n_cells = self._data.n_cells
        self._work = Workspace(
            entries=np.empty((2, n_rows), np.uint64),
            pool=np.empty((1, 3, n_cells), np.int64),
            buffers=np.zeros((tasks, 2, n_cells), np.int64),
            totals=np.empty((tasks, 3, n_cells), np.int64),
            heap=np.empty(0, np.int64),
            chunk_counts=np.empty(tasks, np.int64),
            column=np.zeros(0, bins.columns.dtype),
        )

    def take(self, gradient: Float32s, hessian: Float32s, rows: NDArray[np.uint32] | None) -> None:
        """Two numbers for each of the shard's rows, and which of these are sampled, ascending; None: all."""
        self._gradient, self._hessian, self.rows = gradient, hessian, rows

    def follow(self, score: NDArray[np.float64]) -> None:
        """The scores, (rows,), that `add` adds to."""
        self._score = score

    def extremes(self) -> Extremes:
        """See `Shard`."""
        n_rows = len(self._gradient)
        n_sampled = n_rows if self.rows is None else len(self.rows)
        return Extremes(largest_of(self._gradient, self._hessian, self._tasks), n_rows, n_sampled)

    def sizes(self, largest: Largest) -> tuple[int, int]:
        """See `Shard`."""
        return sum_sizes(self._gradient, self._hessian, largest, self._tasks)

    def squares(self, largest: Largest) -> tuple[int, int]:
        """See `Shard`."""
        if self.rows is not None and len(self.rows) == 0:  # which to a kernel means all
            return 0, 0
        return sum_squares(self._gradient, self._hessian, self._all_or_rows, largest)

    @property
    def _all_or_rows(self) -> NDArray[np.uint32]:
        return np.empty(0, np.uint32) if self.rows is None else self.rows

    def begin(self, rounding: Rounding, columns: NDArray[np.int64]) -> None:
        """See `Shard`."""
        self._columns = columns
        self._node_of_row.fill(0)
        self._n_sampled = self.extremes().n_sampled
        own = rounding._replace(first=np.uint32(self._first))
        self._gradients = meaning_of(rounding, self._wide)
        if self._n_sampled > 0:
            fill_entries(
                self._gradient, self._hessian, self._all_or_rows, own, self._tasks, self._wide, self._entries
            )

    def histograms(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Shard`."""
        starts = np.empty(len(nodes) + 1, np.int64)
        grouped = self._work.entries[0]
        group_entries(
            self._entries[: self._n_sampled], self._node_of_row, self._places(nodes), starts, grouped
        )
        out = np.empty((len(nodes), self._data.n_cells, 3), np.int64)
        count_nodes(self._data, self._columns, self._gradients, grouped, starts, self._tasks, self._work, out)
        return out

    def split(self, splits: Splits) -> None:
        """See `Shard`."""
        data = self._data
        move_rows(
            data.columns, data.n_bins, data.categorical, splits, self._places(splits.node), self._node_of_row
        )

    def _places(self, nodes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The place of every node among some, -1 for none."""
        most = max(int(nodes.max(initial=0)), int(self._node_of_row.max(initial=0)))
        places = np.full(most + 1, -1, np.int32)
        places[nodes] = np.arange(len(nodes), dtype=np.int32)
        return places

    def settle(self, leaf_of_node: NDArray[np.int64], n_leaves: int) -> None:
        """See `Shard`; rows that were not sampled get ``n_leaves``, until `place_others`."""
        self._n_leaves = n_leaves
        self._leaf_of_all = leaf_of_node.astype(self._leaf_of_row.dtype)[self._node_of_row]
        self._leaf_of_row[:] = self._leaf_of_all
        if self.rows is not None:
            self._leaf_of_row[:] = n_leaves
            self._leaf_of_row[self.rows] = self._leaf_of_all[self.rows]

    def place_others(self) -> None:
        """Tell the rows that were not sampled their leaves, too; sums are then no longer those of the sampled rows."""
        self._leaf_of_row[:] = self._leaf_of_all

    def sampled_nodes(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The sampled rows, from 0 on, and the node that each is in."""
        rows = np.arange(len(self._node_of_row)) if self.rows is None else self.rows.astype(np.int64)
        return rows, self._node_of_row[rows]

    def leaf_sums(self, scales: tuple[float, float]) -> NDArray[np.int64]:
        """See `Shard`."""
        return whole_leaf_sums(
            self._leaf_of_row, self._n_leaves, self._gradient, self._hessian, scales, self._tasks
        )

    def add(self, values: NDArray[np.float64]) -> None:
        """See `Shard`."""
        add_leaf_values(self._leaf_of_all, values, self._tasks, self._score)
