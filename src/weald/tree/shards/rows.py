"""A shard of rows that this machine's cores work on, block by block: in memory, or on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded import Block, ShardedBins
from weald.runtime.in_turn import in_turn
from weald.runtime.row_memory import RowMemory
from weald.tree.histograms.quantise import Rounding, fill_entries, largest_of, meaning_of, sum_sizes
from weald.tree.rows.leaf import LeafNumbers, add_leaf_values, whole_leaf_sums
from weald.tree.shards.kernels import (
    Counts,
    Layout,
    count_nodes_of_block,
    divide_nodes_of_block,
    finish_counts,
    rows_of_node,
    tell_leaves,
)
from weald.tree.shards.shard import Extremes, Largest, Walk
from weald.tree.shards.state import Splits
from weald.tree.splits.noise import sum_squares
from weald.tree.state import TreeInput

Float32s = NDArray[np.float32]
Made = TypeVar("Made")

_NO_ROWS = np.empty(0, np.uint32)
_FEWEST_NODES = 64


@dataclass
class _Rows:
    """What a block's rows have while a tree grows."""

    block: Block
    first: int  # the number of the first row, among the shard's
    entries: NDArray[np.uint64]
    wide: NDArray[np.uint64] | None = None
    n_sampled: int = 0
    segments: NDArray[np.int64] = field(default_factory=lambda: np.zeros((_FEWEST_NODES, 2), np.int64))
    n_divided: int = 0  # how many of the tree's splits the rows have followed

    @property
    def here(self) -> slice:
        """Where the rows are among the shard's."""
        return slice(self.first, self.first + self.block.n_rows)

    def make_room(self, n_nodes: int) -> None:
        """For the segments of so many nodes."""
        missing = n_nodes - len(self.segments)
        if missing > 0:
            more = np.zeros((max(missing, len(self.segments)), 2), np.int64)
            self.segments = np.concatenate([self.segments, more])


class RowShard:
    """The rows of some blocks of ``bins``, whose first has the number ``first`` in the whole table.

    ``take`` gives it the gradients of a tree, ``follow`` the scores that `add` is to change: it keeps no labels. ``leaf_of_row``:
    memory for the leaf of every row. ``data``: where columns lie in a histogram.
    """

    def __init__(
        self, bins: ShardedBins, first: int, data: TreeInput, leaf_of_row: LeafNumbers, tasks: int
    ) -> None:
        self._data = data
        self._first = first
        self._memory: RowMemory = bins.memory
        self._reads_ahead = bins.reads_ahead
        self._leaf_of_row = leaf_of_row
        self._n_leaves = 0
        self.tasks = tasks
        #: which of the rows the tree is grown on, ascending; None: all
        self.rows: NDArray[np.uint32] | None = None
        entries = self._memory.zeros((len(leaf_of_row),), np.uint64)
        self._wide: NDArray[np.uint64] | None = None
        self._blocks: list[_Rows] = []
        begin = 0
        for block in bins.blocks:
            self._blocks.append(_Rows(block, begin, entries[begin : begin + block.n_rows]))
            begin += block.n_rows

    def take(self, gradient: Float32s, hessian: Float32s, rows: NDArray[np.uint32] | None) -> None:
        """Two numbers for each of the shard's rows, and which of these are sampled, ascending; None: all."""
        self._gradient, self._hessian, self.rows = gradient, hessian, rows

    def turn(self, blocks: Sequence[Block]) -> None:
        """See `Shard`."""
        for own, block in zip(self._blocks, blocks, strict=True):
            own.block = block

    def follow(self, score: NDArray[np.float64]) -> None:
        """The scores, (rows,), that `add` adds to."""
        self._score = score

    def extremes(self) -> Extremes:
        """See `Shard`."""
        n_rows = len(self._gradient)
        n_sampled = n_rows if self.rows is None else len(self.rows)
        found = self._of_rows(lambda own, g, h, _: largest_of(g, h, 1))
        largest = np.array(found or [(0.0, 0.0)]).max(axis=0).tolist()
        return Extremes((largest[0], largest[1]), n_rows, n_sampled)

    def sizes(self, largest: Largest) -> tuple[int, int]:
        """See `Shard`."""
        return _sums(self._of_rows(lambda own, g, h, _: sum_sizes(g, h, largest, 1)))

    def squares(self, largest: Largest) -> tuple[int, int]:
        """See `Shard`."""

        def of_block(own: _Rows, g: Float32s, h: Float32s, rows: NDArray[np.uint32] | None) -> Any:
            if rows is not None and len(rows) == 0:  # which to a kernel means all
                return 0, 0
            return sum_squares(g, h, _NO_ROWS if rows is None else rows, largest)

        return _sums(self._of_rows(of_block))

    def begin(self, rounding: Rounding, columns: NDArray[np.int64]) -> None:
        """See `Shard`."""
        self._splits: list[Splits] = []
        self._gradients = meaning_of(rounding, np.empty(1, np.uint64))
        whole = len(columns) == len(self._data.n_bins)
        place = np.full(len(self._data.n_bins), -1, np.int64)
        place[columns] = columns if whole else np.arange(len(columns))
        self._layout = Layout(
            columns, place, self._data.offsets, self._data.n_bins, self._data.categorical
        )
        if not rounding.packed and self._wide is None:
            self._wide = self._memory.zeros((len(self._leaf_of_row),), np.uint64)
            for own in self._blocks:
                own.wide = self._wide[own.here]

        def fill(own: _Rows, g: Float32s, h: Float32s, rows: NDArray[np.uint32] | None) -> None:
            own.n_sampled = len(g) if rows is None else len(rows)
            own.segments[0] = 0, own.n_sampled
            own.n_divided = 0
            if own.n_sampled:
                here = rounding._replace(first=np.uint32((self._first + own.first) & 0xFFFFFFFF))
                wide = np.empty(1, np.uint64) if own.wide is None else own.wide
                fill_entries(g, h, _NO_ROWS if rows is None else rows, here, 1, wide, own.entries)
                self._memory.release(own.entries, wide)

        self._of_rows(fill)

    def count_only(self, columns: NDArray[np.int64]) -> None:
        """Let histograms of this tree have no more than some of its columns, which may be split by all the same."""
        self._layout = self._layout._replace(columns=columns)

    def histograms(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Shard`."""
        packed, size = self._gradients.packed, (len(nodes), self._data.n_cells)

        def count(pieces: Iterator[tuple[int, Any]]) -> NDArray[np.int64]:
            counts = Counts(
                np.zeros((size[0], 2, size[1]), np.int64),
                np.zeros(size[0], np.int64),
                np.zeros((size[0], 3, size[1]), np.int64),
            )
            for own, codes in self._followed(pieces, layout):
                gradients = self._gradients
                if own.wide is not None and not packed:
                    gradients = gradients._replace(wide=own.wide)
                count_nodes_of_block(
                    codes, layout, gradients, nodes, own.segments, own.entries, counts
                )
                self._done(own)
            finish_counts(packed, counts)
            return counts.sums

        layout = self._layout
        total, *others = self._in_turn(count, lambda place: self._read(place, layout), self._reads_ahead)
        for other in others:
            total += other
        return total

    def split(self, splits: Splits) -> None:
        """See `Shard`; the rows follow when their block is read the next time."""
        self._splits.append(splits)

    def settle(self, leaf_of_node: NDArray[np.int64], n_leaves: int) -> None:
        """See `Shard`; rows that were not sampled get the number of leaves, until `place_others`."""
        self._n_leaves = n_leaves
        # A node that was opened in vain has all the rows of its children.
        topmost = leaf_of_node >= 0
        for splits in self._splits:
            below = splits.left[leaf_of_node[splits.node] >= 0]
            topmost[below] = topmost[below + 1] = False
        leaf_nodes = np.flatnonzero(topmost)
        leaves = leaf_of_node[leaf_nodes]

        def tell(pieces: Iterator[tuple[int, Any]]) -> None:
            for own, _ in self._followed(pieces, layout):
                here = self._leaf_of_row[own.here]
                if own.n_sampled < len(here):
                    here.fill(n_leaves)
                own.make_room(len(leaf_of_node))
                tell_leaves(own.entries, own.segments, leaf_nodes, leaves, here)
                self._done(own, here)

        layout = self._layout_behind()
        self._in_turn(tell, lambda place: self._read(place, layout), self._reads_ahead)

    def _layout_behind(self) -> Layout:
        """No more columns than the splits that some rows have not followed ask for."""
        behind = self._splits[min((own.n_divided for own in self._blocks), default=0) :]
        columns = np.unique(np.concatenate([np.empty(0, np.int64), *(splits.feature for splits in behind)]))
        if len(columns) == np.count_nonzero(self._layout.place >= 0):
            return self._layout
        place = np.full(len(self._data.n_bins), -1, np.int64)
        place[columns] = np.arange(len(columns))
        return self._layout._replace(columns=columns, place=place)

    def place_others(self, walk: Walk) -> None:
        """See `Shard`."""

        def place(pieces: Iterator[tuple[int, Any]]) -> None:
            for number, _ in pieces:
                own = self._blocks[number]
                here = self._leaf_of_row[own.here]
                if own.n_sampled < len(here):
                    walk(own.block.read(), here)
                    self._memory.release(here)

        self._in_turn(place)

    def rows_of(self, node: int) -> NDArray[np.int64]:
        """The sampled rows of a node, ascending, from 0 on."""
        found = []
        for own in self._blocks:
            begin, end = own.segments[node].tolist() if own.n_sampled else (0, 0)
            rows = np.empty(end - begin, np.int64)
            rows_of_node(own.entries, begin, end, own.first, rows)
            rows.sort()  # those of a node that was opened in vain are its children's, one after the other
            found.append(rows)
        return np.concatenate([np.empty(0, np.int64), *found])

    def leaf_sums(self, scales: tuple[float, float]) -> NDArray[np.int64]:
        """See `Shard`."""
        sums = self._of_rows(
            lambda own, g, h, _: whole_leaf_sums(self._leaf_of_row[own.here], self._n_leaves, g, h, scales, 1)
        )
        return np.sum([np.zeros((self._n_leaves, 2), np.int64), *sums], axis=0)

    def add(self, values: NDArray[np.float64]) -> None:
        """See `Shard`; the leaves of all rows are known."""

        def add(pieces: Iterator[tuple[int, Any]]) -> None:
            for place, _ in pieces:
                here = self._blocks[place].here
                add_leaf_values(self._leaf_of_row[here], values, 1, self._score[here])
                self._memory.release(self._leaf_of_row[here], self._score[here])

        self._in_turn(add)

    def _of_rows(
        self, make: Callable[[_Rows, Float32s, Float32s, NDArray[np.uint32] | None], Made]
    ) -> list[Made]:
        """What is made of every block's gradients, hessians and sampled rows, in any order."""

        def work(pieces: Iterator[tuple[int, Any]]) -> list[Made]:
            made = []
            for place, _ in pieces:
                own = self._blocks[place]
                gradient, hessian = self._gradient[own.here], self._hessian[own.here]
                made.append(make(own, gradient, hessian, self._sampled(own)))
                self._memory.release(gradient, hessian)
            return made

        return [one for part in self._in_turn(work) for one in part]

    def _sampled(self, own: _Rows) -> NDArray[np.uint32] | None:
        """Which of a block's rows are sampled, from 0 on; None: all."""
        if self.rows is None:
            return None
        begin, end = np.searchsorted(self.rows, [own.here.start, own.here.stop])
        return self.rows[begin:end] - np.uint32(own.first)

    def _in_turn(
        self,
        work: Callable[[Iterator[tuple[int, Any]]], Made],
        read: Callable[[int], Any] = lambda place: None,
        reads_ahead: bool = False,
    ) -> list[Made]:
        return in_turn(len(self._blocks), read, work, self.tasks, reads_ahead)

    def _read(self, place: int, layout: Layout) -> Any:
        """The bins of a block that a layout has a place for."""
        columns = np.flatnonzero(layout.place >= 0)
        if len(columns) == 0:
            return np.empty((0, 0), np.uint8)
        return self._blocks[place].block.read(None if len(columns) == len(layout.place) else columns)

    def _followed(
        self, pieces: Iterator[tuple[int, Any]], layout: Layout
    ) -> Iterator[tuple[_Rows, Any]]:
        """Blocks whose rows have followed all splits; ``pieces``: with their bins."""
        spare = np.empty(0, np.uint64)
        for place, codes in pieces:
            own = self._blocks[place]
            if len(spare) < own.n_sampled:
                spare = np.empty(own.n_sampled, np.uint64)
            for splits in self._splits[own.n_divided :]:
                own.make_room(int(splits.left.max()) + 2)
                divide_nodes_of_block(codes, layout, splits, own.segments, own.entries, spare)
            own.n_divided = len(self._splits)
            yield own, codes

    def _done(self, own: _Rows, *more: NDArray[Any]) -> None:
        self._memory.release(own.entries, *more)
        if own.wide is not None:
            self._memory.release(own.wide)


def _sums(found: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(one[0] for one in found), sum(one[1] for one in found)
