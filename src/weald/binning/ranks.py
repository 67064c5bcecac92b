"""Every distinct value is its own bin: codes without a limit, and columns that are sorted once.

This is the table of the exact split finder (Chen and Guestrin 2016, section 4.1, "column block"). A column block holds the
row numbers of a column's present values in ascending order of value; missing values are not stored. A mark at the first row of
every distinct value stands in for the values themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weald.binning.blocks import MARK, ColumnBlocks
from weald.binning.choices import BinChoices
from weald.binning.cuts import fit_bins
from weald.binning.kernels import BLOCK, BlockPart
from weald.binning.mapper import PARALLEL_CELLS, CutMapper, contiguous_parts
from weald.binning.sparse_ranks import SparseRanks, ranks_of_entries
from weald.data import Dataset
from weald.runtime.arrays import Float64s, Int64s, Uint32s
from weald.runtime.errors import InputError
from weald.runtime.tasks import shared_kernel

_MOST_ROWS = MARK - 1
MOST_CATEGORIES = 255  # of a column; rare ones beyond share a bin, as by default in a table of bins


@dataclass(frozen=True)
class RankMapper(CutMapper):
    """Which of a column's distinct values a value is; `fit_ranks` makes mappers.

    >>> import numpy as np
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[1.0], [2.0], [4.0], [np.nan]]))
    >>> ranks = fit_ranks(table, None, tasks=1).transform(table, tasks=1)
    >>> ranks.codes.tolist(), ranks.mapper.cuts[0].tolist()
    ([[0, 1, 2, 3]], [1.5, 3.0])
    """

    def transform(self, dataset: Dataset, tasks: int) -> Ranks | SparseRanks:
        """The codes of a data set with the same columns; the same for every number of tasks."""
        if dataset.is_sparse:
            return ranks_of_entries(self, dataset.entries, tasks)
        codes = np.empty((len(self.cuts), dataset.n_rows), np.uint32)
        searched = self.searched_cuts(0, len(self.cuts))
        offsets = np.cumsum([0] + [len(cuts) for cuts in searched])
        flat = np.concatenate(searched).astype(np.float64)
        for base, block in dataset.blocks():
            for part in contiguous_parts(block, base):
                used = tasks if (part.last - part.first) * len(codes) >= PARALLEL_CELLS else 1
                _rank(used, part, flat, offsets, self.n_bins, codes)
        return Ranks(codes, self, tasks)


@dataclass(frozen=True)
class Ranks:
    """A table of codes, uint32 (d, n), and its columns sorted by them when a tree is to be grown.

    >>> import numpy as np
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[5.0, 0.1], [4.0, 0.2], [5.0, np.nan]]))
    >>> ranks = fit_ranks(table, None, tasks=1).transform(table, tasks=1)
    >>> (ranks.blocks.rows & (MARK - 1)).tolist(), ranks.blocks.offsets.tolist()
    ([1, 0, 2, 0, 1], [0, 3, 5])
    """

    codes: Uint32s
    mapper: RankMapper
    tasks: int = 1

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[1])

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.codes.shape[0])

    def take(self, rows: Int64s) -> Ranks:
        """The chosen rows, in the order asked for."""
        return Ranks(np.ascontiguousarray(self.codes[:, rows]), self.mapper, self.tasks)

    @cached_property
    def blocks(self) -> ColumnBlocks:
        """The columns, sorted."""
        n_bins = self.mapper.n_bins
        present = np.array(
            [np.count_nonzero(codes != missing) for codes, missing in zip(self.codes, n_bins, strict=True)]
        )
        offsets = np.concatenate(([0], np.cumsum(present))).astype(np.int64)
        rows = np.empty(int(offsets[-1]), np.uint32)
        used = self.tasks if self.codes.size >= PARALLEL_CELLS else 1
        _sort(used, self.codes, n_bins, offsets, rows)
        return ColumnBlocks(rows, offsets, offsets[:-1].copy(), n_bins)


def fit_ranks(dataset: Dataset, weight: Float64s | None, tasks: int) -> RankMapper:
    """A cut half-way between every two neighbouring values of a column, from all rows of positive weight."""
    if dataset.n_rows > _MOST_ROWS:
        raise InputError(
            f"split_finder='exact' takes at most {_MOST_ROWS:,} rows, not {dataset.n_rows:,}; use split_finder='hist'."
        )
    most_values = int(np.diff(dataset.entries.starts).max()) + 1 if dataset.is_sparse else dataset.n_rows
    choices = BinChoices(max(2, most_values), MOST_CATEGORIES, sample_rows=dataset.n_rows)
    fitted = fit_bins(dataset, weight, choices, tasks=tasks)
    return RankMapper(fitted.cuts, fitted.n_bins, fitted.categorical, fitted.n_categories)


@shared_kernel
def _rank(
    task: int, tasks: int, part: BlockPart, cuts: Float64s, offsets: Int64s, n_bins: Int64s, codes: Uint32s
) -> None:
    """Number of cuts below each value; NaN gets the number of bins."""
    flat, row_stride, column_stride, base = part.flat, part.row_stride, part.column_stride, part.base
    places = np.empty(BLOCK, np.int64)
    for column in range(task, len(codes), tasks):
        start, count = offsets[column], offsets[column + 1] - offsets[column]
        target = codes[column]
        for begin in range(part.first, part.last, BLOCK):
            n = np.uint64(min(BLOCK, part.last - begin))
            source = flat[begin * row_stride + column * column_stride :]
            step = np.uint64(row_stride)
            places[:] = start
            size = count
            while size > 0:  # all values go a step before any goes the next, so that loads overlap
                half = (size + 1) // 2
                for i in range(n):
                    place = places[i]
                    below = cuts[np.uint64(place + half - 1)] < source[i * step]
                    places[i] = place + half if below else place
                size -= half
            for i in range(n):
                value = source[i * step]
                target[base + begin + np.int64(i)] = places[i] - start if value == value else n_bins[column]


@shared_kernel
def _sort(task: int, tasks: int, codes: Uint32s, n_bins: Int64s, offsets: Int64s, rows: Uint32s) -> None:
    """Sort every column by counting; rows of one code stay in their order."""
    for column in range(task, len(codes), tasks):
        own, missing = codes[column], n_bins[column]
        places = np.zeros(missing + 2, np.int64)
        for row in range(len(own)):
            places[np.int64(own[row]) + 1] += 1
        for code in range(missing):
            places[code + 1] += places[code]
        block = rows[offsets[column] : offsets[column + 1]]
        for row in range(len(own)):
            value = np.int64(own[row])
            if value < missing:
                block[places[value]] = row
                places[value] += 1
        begin: Any = 0
        for code in range(missing):  # a code's rows now end where the next one's begin
            if places[code] > begin:
                block[begin] |= np.uint32(MARK)
            begin = places[code]
