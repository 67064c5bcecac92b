"""Bins that are chosen anew for every tree: cuts at quantiles of the rows, weighted by their hessians.

Chen and Guestrin (2016), Algorithm 2 with the global proposal. What stays the same is made once: the code of every cell (its
place among the distinct values of its column) and, for every block of rows, their order by code. For a tree, each block of a
column is walked in that order and summarised, the summaries are merged two by two and pruned, and the one that is left
proposes the cuts. From a code to its bin is a look-up then.

Blocks have a fixed size and are merged in a fixed order, so nothing depends on the number of tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weald.binning.blocks import MARK
from weald.binning.mapper import PARALLEL_CELLS, BinMapper, DenseBins
from weald.binning.ranks import RankMapper, Ranks
from weald.binning.sketch import (
    BLOCK,
    FIELDS,
    build_pruned,
    entries_wanted,
    fill_look_up,
    merge_blocks,
    propose_cuts,
)
from weald.binning.sparse_proposals import SparseProposalTable
from weald.binning.sparse_ranks import SparseRanks
from weald.data import Dataset
from weald.runtime.arrays import Float32s, Int64s, Uint8s, Uint16s, Uint32s
from weald.runtime.jit import kernel
from weald.runtime.tasks import shared_kernel

LARGEST_WEIGHT = 2**20  # of a row; sums over all rows stay far below 2**56
_PIECE = 1_024  # rows that are copied from columns to rows at a time


@dataclass(frozen=True)
class ProposalMapper(RankMapper):
    """The codes of every column, and how many bins may be chosen among them; `with_buckets` makes mappers."""

    buckets: int = 255  # bins of a numeric column
    max_bins: int = 255  # bins of a categorical column
    local: bool = False  # chosen in every node, not once for a tree

    def transform(self, dataset: Dataset, tasks: int) -> ProposalTable | SparseProposalTable:
        """The codes of a data set with the same columns; the same for every number of tasks."""
        return _with_mapper(super().transform(dataset, tasks), self)


@dataclass(frozen=True)
class ProposalTable(Ranks):
    """A table of codes whose bins are chosen for every tree, or in every node.

    >>> import numpy as np
    >>> from weald.binning import fit_ranks
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[5.0], [4.0], [9.0], [np.nan], [7.0]]))
    >>> codes = with_buckets(fit_ranks(table, None, tasks=1).transform(table, tasks=1), 2, 255)
    >>> proposer = Proposer(codes, tasks=1)
    >>> proposer.propose(np.array([1, 1, 1, 1, 1], np.uint32)).cuts[0].tolist()
    [8.0]
    >>> mapper = proposer.propose(np.array([9, 1, 1, 1, 1], np.uint32))
    >>> mapper.cuts[0].tolist(), proposer.bins_of(codes, mapper).columns.tolist()
    ([6.0], [[0, 0, 1, 2, 1]])
    """

    mapper: ProposalMapper

    def take(self, rows: Int64s) -> ProposalTable:
        """The chosen rows, in the order asked for."""
        return ProposalTable(np.ascontiguousarray(self.codes[:, rows]), self.mapper, self.tasks)


def with_buckets(
    ranks: Ranks | SparseRanks, buckets: int, max_bins: int, local: bool = False
) -> ProposalTable | SparseProposalTable:
    """A table of codes, of which a tree may make so many bins a numeric and a categorical column."""
    fine = ranks.mapper
    mapper = ProposalMapper(
        fine.cuts, fine.n_bins, fine.categorical, fine.n_categories, buckets, max_bins, local
    )
    return _with_mapper(ranks, mapper)


def _with_mapper(ranks: Ranks | SparseRanks, mapper: ProposalMapper) -> ProposalTable | SparseProposalTable:
    if isinstance(ranks, SparseRanks):
        return SparseProposalTable(**vars(ranks) | {"mapper": mapper})
    return ProposalTable(ranks.codes, mapper, ranks.tasks)


def weigh_rows(hessian: Float32s, rows: Uint32s) -> Uint32s:
    """Hessians as whole numbers, at least 1 for the rows of a tree (none given: all) and 0 for the others."""
    largest = float(hessian.max())
    scale = LARGEST_WEIGHT / largest if largest > 0.0 else 0.0
    weight: Uint32s = np.maximum(np.rint(hessian * np.float64(scale)), 1.0).astype(np.uint32)
    if len(rows) == 0:
        return weight
    sampled = np.zeros_like(weight)
    sampled[rows] = weight[rows]
    return sampled


class BlockOrder(NamedTuple):
    """The rows of every block, by the code that they have in a numeric column."""

    columns: Int64s  # (c,): the numeric columns
    rows: Uint16s  # (c, n): the numbers of a block's rows within it, ascending by code
    ends: Int64s  # (c, blocks): where the rows of a block end that have a value


class ProposalScratch(NamedTuple):
    """Memory of the tasks."""

    values: Int64s  # (tasks, BLOCK)
    weights: Int64s  # (tasks, BLOCK)
    summaries: Int64s  # (tasks, blocks, entries, 4)
    counts: Int64s  # (tasks, blocks)
    merged: Int64s  # (tasks, 2 * entries, 4)


class LookUp(NamedTuple):
    """From codes to bins: that of a code of column c is ``bins[offsets[c] + code]``, also of the code of missing values."""

    bins: Uint8s
    offsets: Int64s  # (d + 1,)
    n_bins: Int64s  # (d,)


class Proposer:
    """Chooses the bins of one table again and again."""

    def __init__(self, table: ProposalTable, tasks: int) -> None:
        mapper = self._fine = table.mapper
        self._table = table
        self._tasks = self._most_tasks = tasks if table.codes.size >= PARALLEL_CELLS else 1
        self._order = _block_order(table, self._tasks)
        n_blocks = self._order.ends.shape[1]
        self.entries = entries_wanted(n_blocks, mapper.buckets)
        self._scratch = ProposalScratch(
            np.empty((self._tasks, min(BLOCK, table.n_rows)), np.int64),
            np.empty((self._tasks, min(BLOCK, table.n_rows)), np.int64),
            np.empty((self._tasks, n_blocks, self.entries, FIELDS), np.int64),
            np.empty((self._tasks, n_blocks), np.int64),
            np.empty((self._tasks, 2 * self.entries, FIELDS), np.int64),
        )
        self._cuts = np.zeros((table.n_columns, mapper.buckets), np.int64)
        self._look_up = _empty_look_up(mapper)

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, at most those that there is memory for."""
        self._tasks = min(tasks, self._most_tasks)

    def most_bins(self) -> BinMapper:
        """A mapper with as many bins as any that is proposed may have."""
        limit = np.where(self._fine.categorical, self._fine.max_bins, self._fine.buckets)
        cuts = tuple(own[: self._fine.buckets - 1] for own in self._fine.cuts)
        return BinMapper(
            cuts, np.minimum(self._fine.n_bins, limit), self._fine.categorical, self._fine.n_categories
        )

    def propose(self, weight: Uint32s) -> BinMapper:
        """Cuts between which there is about the same weight; rows of weight 0 take no part."""
        numbers = (self._table.codes, self._order, weight, self._fine.buckets)
        _propose(self._tasks, *numbers, self._scratch, self._cuts, self._look_up)
        n_bins = self._look_up.n_bins.copy()
        cuts = list(self._fine.cuts)
        for column in self._order.columns:
            cuts[column] = cuts[column][self._cuts[column, : n_bins[column] - 1]]
        return BinMapper(tuple(cuts), n_bins, self._fine.categorical, self._fine.n_categories)

    def fill(self, table: ProposalTable, columns: Uint8s, rows: Uint8s) -> None:
        """The bins last proposed, of any rows in these codes, in both layouts of `DenseBins`."""
        used = self._tasks if table.codes.size >= PARALLEL_CELLS else 1
        _look_up(used, table.codes, self._look_up, columns, rows)

    def bins_of(self, table: ProposalTable, mapper: BinMapper | None = None) -> DenseBins:
        """The same as a new table."""
        columns = np.empty(table.codes.shape, np.uint8)
        rows = np.empty(table.codes.size, np.uint8)
        self.fill(table, columns, rows)
        return DenseBins(columns, rows, mapper or self.most_bins())


def _empty_look_up(mapper: ProposalMapper) -> LookUp:
    """Room for the numeric columns' bins; those of the categories are filled in and stay."""
    offsets = np.concatenate(([0], np.cumsum(mapper.n_bins + 1)))
    bins = np.zeros(int(offsets[-1]), np.uint8)
    n_bins = mapper.n_bins.copy()
    for column in np.flatnonzero(mapper.categorical):
        n_bins[column] = min(n_bins[column], mapper.max_bins)
        own = bins[offsets[column] : offsets[column + 1]]
        own[:] = np.minimum(np.arange(len(own)), n_bins[column] - 1)
        own[-1] = n_bins[column]
    return LookUp(bins, offsets, n_bins)


def _block_order(table: ProposalTable, tasks: int) -> BlockOrder:
    columns = np.flatnonzero(~table.mapper.categorical)
    n_blocks = -(-table.n_rows // BLOCK)
    order = BlockOrder(
        columns,
        np.empty((len(columns), table.n_rows), np.uint16),
        np.empty((len(columns), n_blocks), np.int64),
    )
    blocks = Ranks(table.codes, table.mapper, tasks).blocks  # of a passing table, so that they do not stay
    _order_blocks(blocks.rows, blocks.offsets, order)
    return order


@kernel
def _order_blocks(sorted_rows: Uint32s, offsets: Int64s, order: BlockOrder) -> None:
    """Deal the rows of every column, sorted by code, out to their blocks."""
    for index in range(len(order.columns)):
        column = order.columns[index]
        ends, own = order.ends[index], order.rows[index]
        ends[:] = np.arange(len(ends)) * BLOCK
        for i in range(offsets[column], offsets[column + 1]):
            row = np.int64(sorted_rows[i] & np.uint32(MARK - 1))
            block = row // BLOCK
            own[ends[block]] = row - block * BLOCK
            ends[block] += 1


@kernel
def _weigh_codes(codes: Uint32s, order: Uint16s, weight: Uint32s, values: Int64s, weights: Int64s) -> int:
    """The distinct codes of a block's rows, ascending, with their weights; the number of codes that weigh something.

    ``codes``, ``weight``: of the block's rows in their own order; ``order``: uint16, the rows by their code.
    """
    count = 0
    for i in range(len(order)):
        row = np.uint64(order[i])
        added = np.int64(weight[row])
        if added == 0:
            continue
        code = np.int64(codes[row])
        if count == 0 or values[count - 1] != code:
            values[count] = code
            weights[count] = 0
            count += 1
        weights[count - 1] += added
    return count


@kernel
def _summarise(
    codes: Uint32s, order: Uint16s, ends: Int64s, weight: Uint32s, task: int, scratch: ProposalScratch
) -> int:
    """The summary of a column in ``scratch.merged``, from those of its blocks; the number of its entries is returned."""
    summaries, counts, merged = scratch.summaries[task], scratch.counts[task], scratch.merged[task]
    values, weights, most = scratch.values[task], scratch.weights[task], summaries.shape[1]
    for block in range(len(ends)):
        begin, end = block * BLOCK, min((block + 1) * BLOCK, len(codes))
        count = _weigh_codes(codes[begin:end], order[begin : ends[block]], weight[begin:end], values, weights)
        counts[block] = build_pruned(values[:count], weights[:count], most, summaries[block])
    return merge_blocks(summaries, counts, merged)


@shared_kernel
def _propose(
    task: int,
    tasks: int,
    codes: Uint32s,
    order: BlockOrder,
    weight: Uint32s,
    buckets: int,
    scratch: ProposalScratch,
    cuts: Int64s,
    look_up: LookUp,
) -> None:
    """Cuts and look-ups of the numeric columns."""
    for index in range(task, len(order.columns), tasks):
        column = order.columns[index]
        entries = _summarise(codes[column], order.rows[index], order.ends[index], weight, task, scratch)
        count = propose_cuts(scratch.merged[task, :entries], buckets, cuts[column])
        look_up.n_bins[column] = count + 1
        own = look_up.bins[look_up.offsets[column] : look_up.offsets[column + 1]]
        fill_look_up(cuts[column], count, own)


@shared_kernel
def _look_up(task: int, tasks: int, codes: Uint32s, look_up: LookUp, columns: Uint8s, rows: Uint8s) -> None:
    """The bins of all rows, a column at a time, then copied to ``rows`` piece by piece."""
    first, last = codes.shape[1] * task // tasks, codes.shape[1] * (task + 1) // tasks
    width = np.uint64(len(codes))
    for column in range(len(codes)):
        bins = look_up.bins[look_up.offsets[column] :]
        own, target = codes[column], columns[column]
        for row in range(np.uint64(first), np.uint64(last)):
            target[row] = bins[np.uint64(own[row])]
    for begin in range(first, last, _PIECE):
        end = min(begin + _PIECE, last)
        for column in range(len(codes)):
            source = columns[column]
            for row in range(np.uint64(begin), np.uint64(end)):
                rows[row * width + np.uint64(column)] = source[row]
