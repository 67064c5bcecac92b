"""Bins of a sparse table that are chosen anew for every tree, from its stored cells alone.

The cuts are those that `weald.binning.proposals` would choose of the same table written out. What a column does not store is
one value, whose weight in a block of rows is the weight of the block less that of the cells which it stores there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.binning.blocks import MARK
from weald.binning.mapper import BinMapper
from weald.binning.sketch import (
    BLOCK,
    FIELDS,
    build_pruned,
    entries_wanted,
    fill_look_up,
    merge_blocks,
    propose_cuts,
)
from weald.binning.sparse import PARALLEL_ENTRIES, SparseBins
from weald.binning.sparse_kernels import drop_default
from weald.binning.sparse_ranks import SparseRanks
from weald.runtime.arrays import Int64s, Uint8s, Uint32s
from weald.runtime.jit import ZERO, kernel
from weald.runtime.tasks import shared_kernel

if TYPE_CHECKING:
    from weald.binning.proposals import ProposalMapper


@dataclass(frozen=True)
class SparseProposalTable(SparseRanks):
    """A sparse table of codes whose bins are chosen for every tree, or in every node.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from weald.binning import fit_ranks
    >>> from weald.binning.proposals import with_buckets
    >>> from weald.data import read_table
    >>> table = read_table(csr_array(np.array([[0.0], [7.0], [-2.0], [0.0], [5.0]])))
    >>> codes = with_buckets(fit_ranks(table, None, tasks=1).transform(table, tasks=1), 2, 255)
    >>> proposer = SparseProposer(codes, tasks=1)
    >>> mapper = proposer.propose(np.array([1, 1, 9, 1, 1], np.uint32))
    >>> mapper.cuts[0].tolist(), proposer.bins_of(codes, mapper).columns().tolist()
    ([-1.0], [[1, 1, 0, 1, 1]])
    """

    mapper: ProposalMapper

    def take(self, rows: Int64s) -> SparseProposalTable:
        """The chosen rows, in the order asked for."""
        return SparseProposalTable(**vars(self._taken(rows)), mapper=self.mapper, tasks=self.tasks)


class CellOrder(NamedTuple):
    """The stored cells of every column, block of rows after block, by code within a block."""

    rows: Uint32s
    codes: Uint32s
    ends: Int64s  # (columns, blocks): where the cells of a block end
    rest: NDArray[
        np.int64
    ]  # (columns,): the code of the cells that are not stored, -1 where they are missing values


class SparseScratch(NamedTuple):
    """Memory of the tasks."""

    values: Int64s  # (tasks, cells of a column in a block, and one)
    weights: Int64s  # the same
    summaries: Int64s  # (tasks, blocks, entries, 4)
    counts: Int64s  # (tasks, blocks)
    merged: Int64s  # (tasks, 2 * entries, 4)


class ChosenCuts(NamedTuple):
    """What was chosen: for column c the codes ``cuts[cut_starts[c]:]`` to cut after, and the bin of every code."""

    cuts: Int64s
    cut_starts: Int64s  # (columns + 1,)
    bins: Uint8s
    bin_starts: Int64s  # (columns + 1,); a column's last is the bin of missing values
    n_bins: Int64s


class SparseProposer:
    """Chooses the bins of one sparse table again and again."""

    def __init__(self, table: SparseProposalTable, tasks: int) -> None:
        mapper = self._fine = table.mapper
        self._tasks = self._most_tasks = tasks if len(table.rows) >= PARALLEL_ENTRIES else 1
        self._order = _cell_order(table)
        n_blocks = self._order.ends.shape[1]
        entries = entries_wanted(n_blocks, mapper.buckets)
        longest = 1 + int(min(np.diff(table.starts).max(), BLOCK))
        self._scratch = SparseScratch(
            np.empty((self._tasks, longest), np.int64),
            np.empty((self._tasks, longest), np.int64),
            np.empty((self._tasks, n_blocks, entries, FIELDS), np.int64),
            np.empty((self._tasks, n_blocks), np.int64),
            np.empty((self._tasks, 2 * entries, FIELDS), np.int64),
        )
        cut_starts = np.concatenate(([0], np.cumsum(np.minimum(mapper.n_bins, mapper.buckets))))
        bin_starts = np.concatenate(([0], np.cumsum(mapper.n_bins + 1)))
        self._choice = ChosenCuts(
            np.zeros(int(cut_starts[-1]), np.int64),
            cut_starts.astype(np.int64),
            np.zeros(int(bin_starts[-1]), np.uint8),
            bin_starts.astype(np.int64),
            np.zeros(table.n_columns, np.int64),
        )

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, at most those that there is memory for."""
        self._tasks = min(tasks, self._most_tasks)

    def propose(self, weight: Uint32s) -> BinMapper:
        """Cuts between which there is about the same weight; rows of weight 0 take no part."""
        fine, choice = self._fine, self._choice
        totals = np.add.reduceat(weight, np.arange(0, len(weight), BLOCK), dtype=np.int64)
        _propose(self._tasks, self._order, weight, totals, fine.buckets, self._scratch, choice)
        n_bins = choice.n_bins.copy()
        cuts, starts = fine.flat_cuts
        sizes = n_bins - 1
        ends = np.cumsum(sizes)
        within = np.arange(int(ends[-1])) - np.repeat(ends - sizes, sizes)
        codes = choice.cuts[np.repeat(choice.cut_starts[:-1], sizes) + within]
        chosen = cuts[np.repeat(starts[:-1], sizes) + codes]
        return BinMapper(tuple(np.split(chosen, ends[:-1])), n_bins, fine.categorical, fine.n_categories)

    def bins_of(self, table: SparseProposalTable, mapper: BinMapper) -> SparseBins:
        """The bins last proposed, with their mapper, of any rows in these codes."""
        choice = self._choice
        default = choice.bins[choice.bin_starts[:-1] + table.default]
        bins, rows, starts = (
            np.empty(len(table.bins), np.uint8),
            table.rows.copy(),
            np.empty_like(table.starts),
        )
        _look_up(self._tasks, table.starts, table.bins, choice, bins)
        drop_default(table.starts, rows, bins, default, starts)
        last = int(starts[-1])
        return SparseBins(starts, rows[:last].copy(), bins[:last].copy(), default, table.n_rows, mapper)


def _cell_order(table: SparseProposalTable) -> CellOrder:
    n_bins = table.mapper.n_bins
    rest = np.where(table.default < n_bins, table.default.astype(np.int64), -1)
    n_blocks = -(-table.n_rows // BLOCK)
    order = CellOrder(
        np.empty(len(table.rows), np.uint32),
        np.empty(len(table.rows), np.uint32),
        np.empty((table.n_columns, n_blocks), np.int64),
        rest,
    )
    _order_cells(table.blocks.rows, table.starts, table.rows, table.bins, order)
    return order


@kernel
def _order_cells(
    sorted_rows: Uint32s, starts: Int64s, rows: Uint32s, codes: Uint32s, order: CellOrder
) -> None:
    """Deal the cells of every column, sorted by code, out to their blocks."""
    for column in range(len(starts) - 1):
        begin, end = starts[column], starts[column + 1]
        ends = order.ends[column]
        ends[:] = 0
        for i in range(begin, end):
            ends[np.int64(rows[i]) // BLOCK] += 1
        place = begin
        for block in range(len(ends)):
            place += ends[block]
            ends[block] = place - ends[block]
        for i in range(begin, end):
            row = sorted_rows[i] & np.uint32(MARK - 1)
            own = np.int64(row) // BLOCK
            order.rows[ends[own]] = row
            order.codes[ends[own]] = codes[begin + np.searchsorted(rows[begin:end], row)]
            ends[own] += 1


@kernel
def _weigh_cells(
    order: CellOrder,
    begin: int,
    end: int,
    rest: int,
    total: int,
    weight: Uint32s,
    values: Int64s,
    weights: Int64s,
) -> int:
    """The distinct codes of a column in a block, ascending, with their weights; their number.

    ``total``: the weight of the block's rows, of which those that store no cell have the code ``rest``.
    """
    count, left = 0, np.int64(total)
    for i in range(begin, end):
        added = np.int64(weight[order.rows[i]])
        if added == 0:
            continue
        code = np.int64(order.codes[i])
        if count == 0 or values[count - 1] != code:
            values[count] = code
            weights[count] = 0
            count += 1
        weights[count - 1] += added
        left -= added
    if rest < 0 or left == 0:
        return count
    place = count
    while place > 0 and values[place - 1] > rest:
        values[place], weights[place] = values[place - 1], weights[place - 1]
        place -= 1
    values[place], weights[place] = rest, left
    return count + 1


@shared_kernel
def _propose(
    task: int,
    tasks: int,
    order: CellOrder,
    weight: Uint32s,
    totals: Int64s,
    buckets: int,
    scratch: SparseScratch,
    choice: ChosenCuts,
) -> None:
    """Cuts and bins of the columns."""
    values, weights = scratch.values[task], scratch.weights[task]
    summaries, counts, merged = scratch.summaries[task], scratch.counts[task], scratch.merged[task]
    most = summaries.shape[1]
    for column in range(task, len(order.rest), tasks):
        begin = order.ends[column - 1, -1] if column > 0 else ZERO
        for block in range(len(totals)):
            end = order.ends[column, block]
            count = _weigh_cells(
                order, begin, end, order.rest[column], totals[block], weight, values, weights
            )
            counts[block] = build_pruned(values[:count], weights[:count], most, summaries[block])
            begin = end
        entries = merge_blocks(summaries, counts, merged)
        cuts = choice.cuts[choice.cut_starts[column] : choice.cut_starts[column + 1]]
        count = propose_cuts(merged[:entries], buckets, cuts)
        choice.n_bins[column] = count + 1
        fill_look_up(cuts, count, choice.bins[choice.bin_starts[column] : choice.bin_starts[column + 1]])


@shared_kernel
def _look_up(task: int, tasks: int, starts: Int64s, codes: Uint32s, choice: ChosenCuts, bins: Uint8s) -> None:
    """The bins of stored cells."""
    for column in range(task, len(starts) - 1, tasks):
        own = choice.bins[choice.bin_starts[column] :]
        for i in range(starts[column], starts[column + 1]):
            bins[i] = own[np.int64(codes[i])]
