"""A sparse table in bins: only the cells whose bin is not that of the cells that are not stored.

The *default bin* of a column holds what the matrix does not store: the bin of 0.0, or that of missing values. A stored cell
that falls into it is not kept either. Time and memory grow with the cells that are kept, not with rows times columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.quantile import new_cut_scratch
from weald.binning.sparse_kernels import (
    Counted,
    Kept,
    StoredBits,
    bin_entries,
    drop_default,
    find_sparse_cuts,
    gather_bins,
)
from weald.data.sparse import Entries
from weald.runtime.arrays import Words

if TYPE_CHECKING:
    from weald.binning.mapper import BinMapper, CutMapper

# Kept cells, of all, above which a byte for every cell is the better layout. A tree of depth 6 on 50,000 x 200 takes 21 ms sparse
# and 26 ms dense when 5 % are kept, 27 and 29 ms at 10 %, 52 and 32 ms at 20 %.
DENSE_SHARE = 0.1
PARALLEL_ENTRIES = 32_768  # stored cells from which two threads win over one
_COLUMNS_PER_CALL = 4096  # whose cuts are found at a time
_CUTS_PER_CALL = 2**20  # room for them is made at once
_CELLS_PER_WALK = 2**22  # gathered at a time


@dataclass(frozen=True)
class SparseCells:
    """The cells outside of the columns' default bins, column after column: what all kinds of sparse tables share."""

    starts: NDArray[np.int64]  # (columns + 1,), where a column's cells begin
    rows: NDArray[np.uint32]  # ascending within a column
    bins: NDArray[Any]  # of an unsigned type
    default: NDArray[Any]  # (columns,), the bin of all other cells; of the same type
    n_rows: int

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.default)

    def columns(self) -> NDArray[Any]:
        """All cells, (columns, rows), as a dense table has them."""
        filled = np.repeat(self.default[:, None], self.n_rows, axis=1)
        filled[np.repeat(np.arange(self.n_columns), np.diff(self.starts)), self.rows] = self.bins
        return filled

    def rows_of(self, features: NDArray[np.int64], tasks: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first row, bins row after row) of chosen columns, a part of the rows at a time."""
        step = max(1, _CELLS_PER_WALK // len(features))
        for first in range(0, self.n_rows, step):
            last = min(first + step, self.n_rows)
            out = np.empty((last - first) * len(features), self.bins.dtype)
            gather_bins(tasks, self.starts, self.rows, self.bins, self.default, features, first, last, out)
            yield first, out

    def _taken(self, rows: NDArray[np.int64]) -> SparseCells:
        from scipy.sparse import csc_array

        shape = (self.n_rows, self.n_columns)
        kept: Any = csc_array((self.bins, self.rows, self.starts), shape=shape)[rows]
        kept.sort_indices()
        starts, numbers = kept.indptr.astype(np.int64), kept.indices.astype(np.uint32)
        return SparseCells(starts, numbers, kept.data, self.default, len(rows))


@dataclass(frozen=True)
class SparseBins(SparseCells):
    """A binned table that keeps, column after column, the cells outside of the columns' default bins; bins are uint8 or uint16.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(csr_array(np.diag(np.arange(1.0, 21.0))))
    >>> bins = fit_bins(table, None).transform(table, tasks=1)
    >>> bins.default[:3].tolist(), bins.rows[:3].tolist(), bins.bins[:3].tolist()
    ([0, 0, 0], [0, 1, 2], [1, 1, 1])
    """

    mapper: BinMapper

    def take(self, rows: NDArray[np.int64]) -> SparseBins:
        """The chosen rows, in the order asked for."""
        return SparseBins(**vars(self._taken(rows)), mapper=self.mapper)


def find_cuts_of_entries(
    entries: Entries,
    counted: NDArray[np.int64],
    weight: NDArray[np.float64],
    limits: NDArray[np.int64],
    least: float,
    tasks: int,
) -> list[NDArray[np.float64]]:
    """The cuts of every column from the rows ``counted`` (ascending); ``weight``: theirs, empty when all are 1.

    ``limits``: the most bins of every column, 0: no cuts; ``least``: what the values of a bin must weigh.
    """
    n_columns = len(entries.starts) - 1
    bits: Words = entries.values.view(np.uint32 if entries.values.dtype.itemsize == 4 else np.uint64)
    position = np.empty(0, np.int64)
    if len(counted) < entries.n_rows:
        position = np.full(entries.n_rows, -1, np.int64)
        position[counted] = np.arange(len(counted))
    longest = int(np.diff(entries.starts).max()) + 1
    limits = np.minimum(limits, max(2, longest))  # no column has more different values
    most = max(2, int(limits.max()))
    if len(bits) < PARALLEL_ENTRIES:
        tasks = 1
    scratch = new_cut_scratch(tasks, longest, longest if len(weight) else 0, most, bits.dtype)
    kept = Kept(np.empty((tasks, longest), bits.dtype), np.empty((tasks, longest if len(weight) else 0)))
    zeros = entries.unstored == "zero"
    rows = Counted(position, len(counted), weight, float(weight.sum()), float(least), zeros)
    stored = StoredBits(entries.starts, entries.rows, bits)
    found: list[NDArray[np.float64]] = []
    step = max(tasks, min(_COLUMNS_PER_CALL, _CUTS_PER_CALL // most))
    for first in range(0, n_columns, step):
        size = min(step, n_columns - first)
        cuts, counts = np.empty((size, most - 1)), np.empty(size, np.int64)
        find_sparse_cuts(tasks, stored, rows, limits, first, scratch, kept, cuts, counts)
        found += [row[:count].copy() for row, count in zip(cuts, counts.tolist(), strict=True)]
    return found


def column_of_entries(entries: Entries, column: int, rows: NDArray[np.int64]) -> NDArray[Any]:
    """The values of some rows (ascending) of a column, those that are not stored among them."""
    stored = slice(entries.starts[column], entries.starts[column + 1])
    values = entries.values[stored]
    filled = np.full(entries.n_rows, 0.0 if entries.unstored == "zero" else np.nan, values.dtype)
    filled[entries.rows[stored]] = values
    return filled[rows]


def weighed_entries(
    entries: Entries, counted: NDArray[np.int64], weight: NDArray[np.float64]
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
    """(values, their weights) of every column, from the rows ``counted``; all zeros that are not stored are one value."""
    position = np.full(entries.n_rows, -1, np.int64)
    position[counted] = np.arange(len(counted))
    weight = weight if len(weight) else np.ones(len(counted))
    total = weight.sum()
    for first, last in zip(entries.starts[:-1], entries.starts[1:], strict=True):
        place = position[entries.rows[first:last]]
        values, own = entries.values[first:last][place >= 0], weight[place[place >= 0]]
        if entries.unstored == "zero" and len(own) < len(counted):
            values = np.append(values, values.dtype.type(0.0))
            own = np.append(own, total - own.sum())  # exact, as all sums of the weights are: see `fit_bins`
        yield values, own


def bins_of_entries(mapper: BinMapper, entries: Entries, tasks: int) -> SparseBins:
    """The stored cells of a table with the mapper's columns, all numeric, in bins."""
    return SparseBins(**vars(cells_of_entries(mapper, entries, mapper.dtype, tasks)), mapper=mapper)


def cells_of_entries(mapper: CutMapper, entries: Entries, dtype: Any, tasks: int) -> SparseCells:
    """The same with bins of any unsigned type, without the mapper."""
    cuts, cut_starts = mapper.flat_cuts
    bins: NDArray[Any] = np.empty(len(entries.rows), dtype)
    used = tasks if len(bins) >= PARALLEL_ENTRIES else 1
    bin_entries(used, entries.starts, entries.values, cuts, cut_starts, mapper.n_bins, bins)
    default = mapper.n_bins.copy()
    if entries.unstored == "zero":
        below = np.concatenate(([0], np.cumsum(cuts < 0.0)))
        default = below[cut_starts[1:]] - below[cut_starts[:-1]]
    rows, starts = entries.rows.copy(), np.empty_like(entries.starts)
    drop_default(entries.starts, rows, bins, default, starts)
    last = int(starts[-1])
    return SparseCells(starts, rows[:last].copy(), bins[:last].copy(), default.astype(dtype), entries.n_rows)
