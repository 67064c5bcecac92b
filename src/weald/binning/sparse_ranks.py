"""Column blocks of a sparse table: the codes of its stored cells alone.

What a column does not store is its *rest*: missing values, or zeros, which are then one value among the others. Zeros are
written out only in columns that store missing values too, as a column has one rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.binning.blocks import MARK, ColumnBlocks
from weald.binning.sparse import PARALLEL_ENTRIES, SparseCells, cells_of_entries
from weald.data.sparse import Entries
from weald.runtime.arrays import Int64s, Uint32s
from weald.runtime.tasks import shared_kernel

if TYPE_CHECKING:
    from weald.binning.ranks import RankMapper


@dataclass(frozen=True)
class SparseRanks(SparseCells):
    """A sparse table of codes, uint32, and its columns sorted by them when a tree is to be grown.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from weald.binning import fit_ranks
    >>> from weald.data import read_table
    >>> table = read_table(csr_array(np.array([[0.0], [7.0], [-2.0], [0.0], [5.0]])))
    >>> ranks = fit_ranks(table, None, tasks=1).transform(table, tasks=1)
    >>> ranks.default.tolist(), ranks.rows.tolist(), ranks.bins.tolist()
    ([1], [1, 2, 4], [3, 0, 2])
    >>> (ranks.blocks.rows & (MARK - 1)).tolist(), ranks.blocks.middles.tolist()
    ([2, 4, 1], [1])
    """

    mapper: RankMapper
    tasks: int = 1

    def take(self, rows: Int64s) -> SparseRanks:
        """The chosen rows, in the order asked for."""
        return SparseRanks(**vars(self._taken(rows)), mapper=self.mapper, tasks=self.tasks)

    @cached_property
    def blocks(self) -> ColumnBlocks:
        """The columns, sorted; all cells that are kept are present values."""
        n_bins = self.mapper.n_bins
        rows = np.empty(len(self.rows), np.uint32)
        used = self.tasks if len(rows) >= PARALLEL_ENTRIES else 1
        _sort(used, self.starts, self.rows, self.bins, n_bins, rows)
        is_below = self.bins < np.repeat(self.default, np.diff(self.starts))
        below = np.concatenate(([0], np.cumsum(is_below)))
        n_below = np.where(self.default < n_bins, below[self.starts[1:]] - below[self.starts[:-1]], 0)
        return ColumnBlocks(rows, self.starts, self.starts[:-1] + n_below, self.default.astype(np.int64))


def ranks_of_entries(mapper: RankMapper, entries: Entries, tasks: int) -> SparseRanks:
    """The stored cells of a table with the mapper's columns, all numeric, as codes."""
    cells = cells_of_entries(mapper, entries, np.uint32, tasks)
    return SparseRanks(**vars(_with_zeros(cells, mapper.n_bins)), mapper=mapper, tasks=tasks)


def _with_zeros(cells: SparseCells, n_bins: Int64s) -> SparseCells:
    """The cells with the rest of those columns written out that store missing values; these are the rest then."""
    column = np.repeat(np.arange(cells.n_columns), np.diff(cells.starts))
    is_missing = cells.bins == n_bins[column]
    mixed = np.unique(column[is_missing])
    if not len(mixed):
        return cells
    default = cells.default.copy()
    default[mixed] = n_bins[mixed]
    columns, rows, bins = [column[~is_missing]], [cells.rows[~is_missing]], [cells.bins[~is_missing]]
    for position in mixed:
        is_stored = np.zeros(cells.n_rows, np.bool_)
        is_stored[cells.rows[cells.starts[position] : cells.starts[position + 1]]] = True
        rest = np.flatnonzero(~is_stored)
        columns.append(np.full(len(rest), position))
        rows.append(rest.astype(np.uint32))
        bins.append(np.full(len(rest), cells.default[position], cells.bins.dtype))
    order = np.lexsort((np.concatenate(rows), np.concatenate(columns)))
    counts = np.bincount(np.concatenate(columns), minlength=cells.n_columns)
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return SparseCells(
        starts, np.concatenate(rows)[order], np.concatenate(bins)[order], default, cells.n_rows
    )


@shared_kernel
def _sort(
    task: int, tasks: int, starts: Int64s, rows: Uint32s, codes: Uint32s, n_bins: Int64s, sorted_rows: Uint32s
) -> None:
    """Sort every column by counting; rows of one code stay in their order."""
    for column in range(task, len(n_bins), tasks):
        begin, end = starts[column], starts[column + 1]
        places = np.zeros(n_bins[column] + 1, np.int64)
        for i in range(begin, end):
            places[np.int64(codes[i]) + 1] += 1
        for code in range(n_bins[column]):
            places[code + 1] += places[code]
        block = sorted_rows[begin:end]
        for i in range(begin, end):
            value = np.int64(codes[i])
            block[places[value]] = rows[i]
            places[value] += 1
        first: Any = 0
        for code in range(n_bins[column]):  # a code's rows now end where the next one's begin
            if places[code] > first:
                block[first] |= np.uint32(MARK)
            first = places[code]
