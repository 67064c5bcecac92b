"""A shard whose rows are on an OpenCL device: the Python side of the kernels in `kernels/`.

Bins, rounded gradients and the rows' places stay on the device from tree to tree. Blocks that it has no room for pass through it,
one after another, in every question that needs them. What the host does, it does with the kernels of `RowShard`: on a device
whose doubles are missing or inexact it rounds gradients and sums leaves, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded import Block, ShardedBins
from weald.devices.pieces import COUNTED_ROWS, MOVED_ROWS, Tiles, pieces_of, targets_of, tiles_of
from weald.devices.program import Buffer, Program
from weald.devices.room import Room, RoomPlan
from weald.runtime.row_memory import RowMemory
from weald.tree.histograms.quantise import Rounding, fill_entries, largest_of, sum_sizes
from weald.tree.rows.leaf import LeafNumbers, add_leaf_values, whole_leaf_sums
from weald.tree.shards.shard import Extremes, Largest, Walk
from weald.tree.shards.state import Splits
from weald.tree.splits.noise import sum_squares
from weald.tree.state import TreeInput

Float32s = NDArray[np.float32]

_NO_ROWS = np.empty(0, np.uint32)
_FEWEST_NODES = 64
_PACKED_WORDS, _WIDE_WORDS = 3, 5  # of a cell in local memory
_MOST_LOCAL = 32 * 2**10  # bytes of a group: more leaves room for fewer groups at once
_SUMMED_ROWS = 4_096  # of a group that sums leaves
_MOST_SUMS = 64 * 2**20  # bytes of the histograms that are counted in one pass


@dataclass
class _Rows:
    """What a block's rows have while a tree grows."""

    block: Block
    first: int  # the number of the first row, among the shard's
    room: Room | None  # None: the block passes through the shared one, and has its entries here in between
    entries: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    wide: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    n_sampled: int = 0
    # (nodes, 2, 2): begin and end of the sampled rows of a node, and of its others, among the entries
    segments: NDArray[np.int64] = field(default_factory=lambda: np.zeros((_FEWEST_NODES, 2, 2), np.int64))
    n_divided: int = 0  # how many of the tree's splits the rows have followed
    given: tuple[Float32s, Float32s] | None = None  # the gradients and hessians that its room has

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.block.n_rows

    @property
    def here(self) -> slice:
        """Where the rows are among the shard's."""
        return slice(self.first, self.first + self.n_rows)

    def make_room(self, n_nodes: int) -> None:
        """For the segments of so many nodes."""
        missing = n_nodes - len(self.segments)
        if missing > 0:
            more = np.zeros((max(missing, len(self.segments)), 2, 2), np.int64)
            self.segments = np.concatenate([self.segments, more])


class DeviceShard:
    """The rows of some blocks of ``bins`` on a device; the other arguments are those of `RowShard`.

    ``memory_limit``: bytes that rows may take on the device.
    """

    def __init__(
        self,
        program: Program,
        memory_limit: int,
        bins: ShardedBins,
        first: int,
        data: TreeInput,
        leaf_of_row: LeafNumbers,
        tasks: int,
    ) -> None:
        self._program = program
        self._data = data
        self._first = first
        self._memory: RowMemory = bins.memory
        self._leaf_of_row = leaf_of_row
        self._n_leaves = 0
        self.tasks = tasks
        #: which of the rows the tree is grown on, ascending; None: all
        self.rows: NDArray[np.uint32] | None = None
        self._all_columns = np.arange(bins.n_columns)
        plan = RoomPlan(bins.n_columns, bins.codes, leaf_of_row.dtype, memory_limit)
        stay = plan.blocks_that_stay(program.device, [block.n_rows for block in bins.blocks])
        largest = max((block.n_rows for block in bins.blocks), default=0)
        self._spare = program.room(largest, np.uint64)
        self._blocks: list[_Rows] = []
        begin = 0
        for block, stays in zip(bins.blocks, stay, strict=True):
            own = _Rows(block, begin, plan.room(program, block.n_rows) if stays else None)
            if own.room is not None:
                program.put(block.read(), own.room.codes)
            self._blocks.append(own)
            begin += block.n_rows
        passing = [own.n_rows for own in self._blocks if own.room is None]
        self._shared = plan.room(program, max(passing)) if passing else None

    def turn(self, blocks: Sequence[Block]) -> None:
        """See `Shard`."""
        for own, block in zip(self._blocks, blocks, strict=True):
            own.block = block
            if own.room is not None:
                self._program.put(block.read(), own.room.codes)

    @property
    def n_passing(self) -> int:
        """How many blocks the device has no room for."""
        return sum(own.room is None for own in self._blocks)

    def take(self, gradient: Float32s, hessian: Float32s, rows: NDArray[np.uint32] | None) -> None:
        """See `Shard`."""
        self._gradient, self._hessian, self.rows = gradient, hessian, rows

    def follow(self, score: NDArray[np.float64]) -> None:
        """See `Shard`."""
        self._score = score

    def extremes(self) -> Extremes:
        """See `Shard`."""
        n_rows = len(self._gradient)
        n_sampled = n_rows if self.rows is None else len(self.rows)
        return Extremes(largest_of(self._gradient, self._hessian, self.tasks), n_rows, n_sampled)

    def sizes(self, largest: Largest) -> tuple[int, int]:
        """See `Shard`."""
        return sum_sizes(self._gradient, self._hessian, largest, self.tasks)

    def squares(self, largest: Largest) -> tuple[int, int]:
        """See `Shard`."""
        rows = self.rows
        if rows is not None and len(rows) == 0:  # which to a kernel means all
            return 0, 0
        return sum_squares(self._gradient, self._hessian, _NO_ROWS if rows is None else rows, largest)

    def begin(self, rounding: Rounding, columns: NDArray[np.int64]) -> None:
        """See `Shard`."""
        self._splits: list[Splits] = []
        self._packed = bool(rounding.packed)
        self._columns = columns
        for own in self._blocks:
            sampled = self._sampled(own)
            own.n_sampled = own.n_rows if sampled is None else len(sampled)
            own.segments[0] = [0, own.n_sampled], [own.n_sampled, own.n_rows]
            own.n_divided, own.given = 0, None
            room = own.room or self._shared_room
            if not self._packed:
                room.make_wide(self._program)
            here = rounding._replace(first=np.uint32((self._first + own.first) & 0xFFFFFFFF))
            if self._program.has_exact_doubles:
                self._round(own, room, here, sampled)
            else:
                self._put_rounded(own, room, here, sampled)
            self._keep(own, room, wide=True)

    def _round(self, own: _Rows, room: Room, rounding: Rounding, sampled: NDArray[np.uint32] | None) -> None:
        program, n_rows = self._program, np.uint32(own.n_rows)
        self._give(own, room)
        if sampled is not None:
            program.put(_order_of(own.n_rows, sampled), self._spare)
        scales = np.float64(rounding.gradient_scale), np.float64(rounding.hessian_scale)
        groups = (-(-own.n_rows // program.device.group),)
        in_order = np.int32(sampled is None)
        arguments = (room.gradient, room.hessian, self._spare, in_order, n_rows, *scales)
        if self._packed:
            key, first = np.uint32(rounding.key), np.uint32(rounding.first)
            program.run("round_packed", groups, *arguments, key, first, room.entries)
        else:
            program.run("round_wide", groups, *arguments, room.wide, room.entries)

    def _put_rounded(
        self, own: _Rows, room: Room, rounding: Rounding, sampled: NDArray[np.uint32] | None
    ) -> None:
        """The same on the host."""
        entries = _order_of(own.n_rows, sampled).astype(np.uint64) << np.uint64(32)
        wide = np.empty(1 if self._packed else own.n_rows, np.uint64)
        if own.n_sampled:
            rows = _NO_ROWS if sampled is None else sampled
            gradient, hessian = self._gradient[own.here], self._hessian[own.here]
            fill_entries(gradient, hessian, rows, rounding, self.tasks, wide, entries[: own.n_sampled])
        self._program.put(entries, room.entries)
        if not self._packed:
            self._program.put(wide, room.wide)

    def histograms(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Shard`."""
        n_cells = self._data.n_cells
        found = np.empty((len(nodes), 3, n_cells), np.int64)
        at_once = max(1, _MOST_SUMS // (24 * n_cells))
        for begin in range(0, len(nodes), at_once):
            part = nodes[begin : begin + at_once]
            sums = self._program.zeros(3 * n_cells * len(part), np.int64)
            for own, room, place in self._followed(self._columns):
                segments = own.segments[part, 0]
                pieces, _ = pieces_of(np.arange(len(part)), segments, COUNTED_ROWS)
                self._count(own, room, pieces, place, sums)
            self._program.get(sums, found[begin : begin + at_once])
        return found

    def _count(
        self, own: _Rows, room: Room, pieces: NDArray[np.uint32], place: NDArray[np.int64], sums: Buffer
    ) -> None:
        program, n_rows, n_cells = self._program, np.uint32(own.n_rows), np.uint32(self._data.n_cells)
        if not len(pieces):
            return
        here, tiles = program.constant(pieces), self._tiles(place)
        if tiles.count:
            words = _PACKED_WORDS if self._packed else _WIDE_WORDS
            program.run(
                "count_packed" if self._packed else "count_wide",
                (len(pieces), tiles.count),
                room.codes,
                n_rows,
                room.entries,
                *(() if self._packed else (room.wide,)),
                here,
                program.constant(tiles.firsts),
                program.constant(tiles.columns),
                np.uint32(tiles.n_cells),
                n_cells,
                sums,
                program.local(4 * words * tiles.n_cells),
            )
        wide, packed = room.entries if self._packed else room.wide, np.int32(self._packed)
        for column, offset in tiles.large:
            where = np.uint32(column), np.uint32(offset)
            program.run(
                "count_directly",
                (len(pieces),),
                room.codes, n_rows, room.entries, wide, packed, here, *where, n_cells, sums,
            )  # fmt: skip

    def _tiles(self, place: NDArray[np.int64]) -> Tiles:
        data, columns = self._data, self._columns
        words = _PACKED_WORDS if self._packed else _WIDE_WORDS
        most = min(self._program.device.local_memory, _MOST_LOCAL) // (4 * words)
        return tiles_of(place[columns], data.n_bins[columns] + 1, data.offsets[columns], most)

    def split(self, splits: Splits) -> None:
        """See `Shard`; the rows follow when they are asked for the next time."""
        self._splits.append(splits)

    def _followed(self, columns: NDArray[np.int64]) -> Iterator[tuple[_Rows, Room, NDArray[np.int64]]]:
        """Blocks whose rows have followed all splits, where they are, and the places of their columns there."""
        for own in self._blocks:
            behind = self._splits[own.n_divided :]
            room, place = self._bring(own, [columns, *(splits.feature for splits in behind)])
            for splits in behind:
                self._divide(own, room, place, splits)
            own.n_divided = len(self._splits)
            if behind:
                self._keep(own, room)
            yield own, room, place

    def _divide(self, own: _Rows, room: Room, place: NDArray[np.int64], splits: Splits) -> None:
        """Give the children of nodes that are split the two parts of their segments."""
        own.make_room(int(splits.left.max()) + 2)
        program, data, count = self._program, self._data, len(splits.node)
        segments = own.segments[splits.node].transpose(1, 0, 2).reshape(-1, 2)
        pieces, owner = pieces_of(np.arange(2 * count), segments, MOVED_ROWS)
        pieces[:, 0] %= count
        middles = segments[:, 0]
        if len(pieces):
            features = splits.feature
            asked = (place[features], data.n_bins[features], data.categorical[features])
            numbers = np.stack([*asked, splits.split_bin, splits.missing_left], axis=1).astype(np.uint32)
            here, lefts = program.constant(pieces), program.room(len(pieces), np.uint32)
            questions = program.constant(numbers), program.constant(splits.left_bins)
            n_rows, n_words = np.uint32(own.n_rows), np.uint32(splits.left_bins.shape[1])
            rows, groups = (room.codes, n_rows, room.entries, here), (len(pieces),)
            program.run("count_left", groups, *rows, *questions, n_words, lefts)
            counts = np.empty(len(pieces), np.uint32)
            program.get(lefts, counts)
            targets, middles = targets_of(segments, pieces, owner, counts)
            where = program.constant(targets)
            program.run("move", groups, *rows, where, *questions, n_words, self._spare)
            program.run("move_back", groups, self._spare, here, room.entries)
        parts = np.stack([segments[:, 0], middles, segments[:, 1]], axis=1).reshape(2, count, 3)
        own.segments[splits.left] = parts[:, :, :2].transpose(1, 0, 2)
        own.segments[splits.left + 1] = parts[:, :, 1:].transpose(1, 0, 2)

    def settle(self, leaf_of_node: NDArray[np.int64], n_leaves: int) -> None:
        """See `Shard`; rows that were not sampled get the number of leaves, until `place_others`."""
        self._n_leaves = n_leaves
        # A node that was opened in vain has all the rows of its children.
        topmost = leaf_of_node >= 0
        for splits in self._splits:
            below = splits.left[leaf_of_node[splits.node] >= 0]
            topmost[below] = topmost[below + 1] = False
        self._leaf_nodes = np.flatnonzero(topmost)
        self._leaves = leaf_of_node[self._leaf_nodes]
        for own, room, _ in self._followed(np.empty(0, np.int64)):
            own.make_room(len(leaf_of_node))
            here = self._leaf_of_row[own.here]
            if own.n_sampled < own.n_rows:
                here.fill(n_leaves)
                self._program.put(here, room.leaves)
            self._tell(own, room, 0)

    def place_others(self, walk: Walk) -> None:
        """See `Shard`; these rows have gone along with the others, and need no walk."""
        for own in self._blocks:
            if own.n_sampled < own.n_rows:
                room, _ = self._bring(own, [])
                if own.room is None:
                    self._program.put(self._leaf_of_row[own.here], room.leaves)
                self._tell(own, room, 1)

    def _tell(self, own: _Rows, room: Room, which: int) -> None:
        """Tell the sampled rows (0) or the others (1) their leaves, on the device and here."""
        pieces, _ = pieces_of(self._leaves, own.segments[self._leaf_nodes, which], COUNTED_ROWS)
        if len(pieces):
            here = self._program.constant(pieces)
            self._program.run("tell_leaves", (len(pieces),), room.entries, here, room.leaves)
        leaves = self._leaf_of_row[own.here]
        self._program.get(room.leaves, leaves)
        self._memory.release(leaves)

    def rows_of(self, node: int) -> NDArray[np.int64]:
        """See `Shard`."""
        found = []
        for own in self._blocks:
            begin, end = own.segments[node, 0].tolist() if own.n_sampled else (0, 0)
            entries = own.entries[begin:end]
            if own.room is not None:
                entries = np.empty(end - begin, np.uint64)
                self._program.get(own.room.entries, entries, begin)
            found.append(np.sort(entries >> np.uint64(32)).astype(np.int64) + own.first)
        return np.concatenate([np.empty(0, np.int64), *found])

    def leaf_sums(self, scales: tuple[float, float]) -> NDArray[np.int64]:
        """See `Shard`."""
        if not self._program.has_exact_doubles:
            given = self._gradient, self._hessian
            return whole_leaf_sums(self._leaf_of_row, self._n_leaves, *given, scales, self.tasks)
        program, n_leaves = self._program, self._n_leaves
        sums = program.zeros(2 * n_leaves, np.int64)
        in_local = 16 * n_leaves <= min(program.device.local_memory, _MOST_LOCAL)
        for own in self._blocks:
            room = own.room or self._shared_room
            self._give(own, room)
            if own.room is None:
                program.put(self._leaf_of_row[own.here], room.leaves)
            program.run(
                "leaf_sums",
                (-(-own.n_rows // _SUMMED_ROWS),),
                room.leaves,
                room.gradient,
                room.hessian,
                np.uint32(own.n_rows),
                np.uint32(_SUMMED_ROWS),
                np.uint32(n_leaves),
                *map(np.float64, scales),
                np.int32(in_local),
                sums,
                program.local(16 * n_leaves if in_local else 4),
            )
        found = np.empty((n_leaves, 2), np.int64)
        program.get(sums, found)
        return found

    def add(self, values: NDArray[np.float64]) -> None:
        """See `Shard`; scores are kept by the host."""
        add_leaf_values(self._leaf_of_row, values, self.tasks, self._score)
        self._memory.release(self._leaf_of_row, self._score)

    @property
    def _shared_room(self) -> Room:
        assert self._shared is not None
        return self._shared

    def _bring(self, own: _Rows, columns: Sequence[NDArray[np.int64]]) -> tuple[Room, NDArray[np.int64]]:
        """Where a block's rows are on the device, with the bins of these columns at least, and the places of columns there."""
        if own.room is not None:
            return own.room, self._all_columns
        room, program = self._shared_room, self._program
        needed = np.unique(np.concatenate([np.empty(0, np.int64), *columns]))
        place = np.full(len(self._all_columns), -1)
        place[needed] = np.arange(len(needed))
        if len(needed):
            program.put(own.block.read(None if len(needed) == len(place) else needed), room.codes)
        program.put(own.entries, room.entries)
        program.put(own.wide, room.wide)
        return room, place

    def _keep(self, own: _Rows, room: Room, wide: bool = False) -> None:
        """Take what a block has that passes through; ``wide``: the rounded gradients, too."""
        if own.room is not None:
            return
        if not len(own.entries):
            own.entries = self._memory.zeros((own.n_rows,), np.uint64)
        self._program.get(room.entries, own.entries)
        if wide:
            own.wide = np.empty(0 if self._packed else own.n_rows, np.uint64)
            self._program.get(room.wide, own.wide)

    def _give(self, own: _Rows, room: Room) -> None:
        """Let a room have the gradients and hessians of a block, if it has others."""
        gradient, hessian = self._gradient[own.here], self._hessian[own.here]
        if own.room is not None and own.given is not None and all(map(_is, own.given, (gradient, hessian))):
            return
        self._program.put(gradient, room.gradient)
        self._program.put(hessian, room.hessian)
        own.given = gradient, hessian
        self._memory.release(gradient, hessian)

    def _sampled(self, own: _Rows) -> NDArray[np.uint32] | None:
        """Which of a block's rows are sampled, from 0 on; None: all."""
        if self.rows is None:
            return None
        begin, end = np.searchsorted(self.rows, [own.here.start, own.here.stop])
        return self.rows[begin:end] - np.uint32(own.first)


def _order_of(n_rows: int, sampled: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    """The numbers of rows, those that are sampled first."""
    if sampled is None:
        return np.arange(n_rows, dtype=np.uint32)
    others = np.ones(n_rows, np.bool_)
    others[sampled] = False
    return np.concatenate([sampled, np.flatnonzero(others).astype(np.uint32)])


def _is(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether two arrays are the same memory."""
    return bool(first.__array_interface__ == second.__array_interface__)
