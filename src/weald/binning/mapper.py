"""Values to bins and back: cuts of every feature, and the two layouts of a binned table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.kernels import (
    BLOCK,
    CELLS,
    LEAST_CUTS,
    BlockPart,
    SearchTable,
    bin_rows,
    fill_grids,
)
from weald.binning.sparse import DENSE_SHARE, SparseBins, bins_of_entries
from weald.data import Dataset

PARALLEL_CELLS = 32_768  # values from which two threads win over one
_CELLS_PER_CALL = 7_000_000  # a call takes some 20 ms; between calls an interrupt is answered
_CELLS_PER_COPY = 500_000  # of a block with odd strides, which is copied part by part
MOST_BYTE_BINS = 255  # bins for values, and one for missing values, that a byte can tell apart
_FEATURES_PER_TABLE = 2_048  # searched at a time: their tables take some 6 MB


@dataclass(frozen=True)
class CutMapper:
    """Where the bins of every feature lie, and the way back from a bin to values; its kinds say how bins are found.

    A number's bin is the number of ``cuts[feature]`` below it, so that x <= cuts[b] for all values in bins up
    to b. A category's bin is its dictionary code; when there are more categories than bins, all rare ones
    share the last. A missing value is in bin ``n_bins[feature]``, behind those for values.
    """

    cuts: tuple[NDArray[np.float64], ...]
    n_bins: NDArray[np.int64]
    categorical: NDArray[np.bool_]
    n_categories: NDArray[np.int64]

    def threshold(self, feature: int, bin: int) -> float:
        """The t with x <= t exactly for the values in bins up to ``bin``; +inf for the last bin of values."""
        cuts = self.cuts[feature]
        return float(cuts[bin]) if bin < len(cuts) else float("inf")

    def thresholds(self, features: NDArray[np.integer], bins: NDArray[np.integer]) -> NDArray[np.float64]:
        """`threshold` of many bins at once; the features are numeric."""
        cuts, starts = self.flat_cuts
        places = starts[features] + bins
        is_last = places >= starts[features + 1]
        found: NDArray[np.float64] = np.append(cuts, np.inf)[np.where(is_last, len(cuts), places)]
        return found

    @cached_property
    def flat_cuts(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """All cuts, feature after feature, and where each feature's begin (with the end of the last)."""
        starts = np.cumsum([0, *map(len, self.cuts)])
        return np.concatenate(self.cuts), starts.astype(np.int64)

    def category_codes(
        self, features: NDArray[np.integer], bins: NDArray[np.integer]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The dictionary codes in bins of categorical features, ascending, bin after bin, and how many each has."""
        is_last = bins == self.n_bins[features] - 1
        counts = np.where(is_last, self.n_categories[features] - bins, 1)
        before = np.cumsum(counts) - counts
        return (np.repeat(bins - before, counts) + np.arange(counts.sum())).astype(np.int32), counts

    def searched_cuts(self, first: int, last: int) -> list[NDArray[np.float64]]:
        """The cuts of some features; a category's code is found as a number is, by cuts half-way between the codes."""
        searched = list(self.cuts[first:last])
        for place in np.flatnonzero(self.categorical[first:last]):
            searched[place] = np.arange(self.n_bins[first + place] - 1) + 0.5
        return searched


@dataclass(frozen=True)
class BinMapper(CutMapper):
    """Which bin, of at most 65,535, a value of a feature falls in. `fit_bins` makes mappers.

    >>> import numpy as np
    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[1.0], [2.0], [4.0], [np.nan]]))
    >>> mapper = fit_bins(table, None)
    >>> mapper.cuts[0].tolist(), mapper.n_bins.tolist()
    ([1.5, 3.0], [3])
    >>> mapper.transform(table, tasks=1).columns.tolist()
    [[0, 1, 2, 3]]
    """

    #: (columns, 2), the least and the greatest value of every column, where `with_extremes` has looked for them
    extremes: NDArray[np.float64] | None = None

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of a table's bins: bytes, or uint16 for all columns where one has more than 255."""
        return np.dtype(np.uint8 if self.n_bins.max() <= MOST_BYTE_BINS else np.uint16)

    def transform(self, dataset: Dataset, tasks: int) -> DenseBins | SparseBins:
        """The bins of a data set with the same columns; the same for every number of tasks.

        A sparse table stays sparse, unless so much of it is stored that a code a cell is quicker.
        """
        if dataset.is_sparse:
            return settled(bins_of_entries(self, dataset.entries, tasks))
        n, d = dataset.n_rows, len(self.cuts)
        columns, rows = np.empty((d, n), self.dtype), np.empty(n * d, self.dtype)
        tables: dict[int, SearchTable] = {}
        for base, block in dataset.blocks():
            for first in range(0, d, _FEATURES_PER_TABLE):
                table = tables.get(first) or self._search_table(first, block.dtype)
                if len(block) < n:  # other blocks will need it, of the same type
                    tables[first] = table
                for part in contiguous_parts(block, base):
                    _bin(part, table, tasks, columns, rows)
        return DenseBins(columns, rows, self)

    def parts(self, dataset: Dataset, tasks: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first row, bins (columns, rows)) of a data set that is not sparse, some rows at a time."""
        tables: dict[int, SearchTable] = {}
        for base, block in dataset.blocks():
            for first in range(0, len(self.cuts), _FEATURES_PER_TABLE):
                if first not in tables:
                    tables[first] = self._search_table(first, block.dtype)
            for part in contiguous_parts(block, base):
                columns = np.empty((len(self.cuts), part.last - part.first), self.dtype)
                rows = np.empty(columns.size, self.dtype)
                for table in tables.values():
                    _bin(part._replace(base=-part.first), table, tasks, columns, rows)
                yield part.base + part.first, columns

    def _search_table(self, first: int, dtype: np.dtype[Any]) -> SearchTable:
        """What the kernels need to search features from ``first`` on, in blocks of this float type."""
        searched = self.searched_cuts(first, first + _FEATURES_PER_TABLE)
        counts = np.array([len(cuts) for cuts in searched], dtype=np.int64)
        ends = np.cumsum(2 * counts + 1)
        offsets = ends - (2 * counts + 1)
        padded = np.full(int(ends[-1]), np.inf, dtype=dtype)
        target = np.arange(counts.sum()) + np.repeat(offsets - (np.cumsum(counts) - counts), counts)
        padded[target] = _at_most(np.concatenate(searched), dtype)
        table = SearchTable(
            first_feature=first,
            cuts=padded,
            cut_offsets=offsets,
            steps=np.zeros(len(counts), np.int64),
            lowest=np.zeros(len(counts), dtype),
            scale=np.zeros(len(counts), dtype),
            starts=np.zeros(CELLS * np.count_nonzero(counts >= LEAST_CUTS), self.dtype),
            start_offsets=np.zeros(len(counts), np.int64),
            missing=self.n_bins[first : first + len(searched)].astype(self.dtype),
        )
        fill_grids(counts, table)
        return table


@dataclass(frozen=True)
class DenseBins:
    """A binned table, in both layouts: ``columns`` is uint8 or uint16 (d, n), ``rows`` the same row after row, flat.

    >>> import numpy as np
    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(np.array([[5.0, 0.1], [4.0, 0.2], [5.0, np.nan]]))
    >>> bins = fit_bins(table, None).transform(table, tasks=1)
    >>> bins.columns.tolist(), bins.rows.tolist()
    ([[1, 0, 1], [0, 1, 2]], [1, 0, 0, 1, 1, 2])
    """

    columns: NDArray[Any]
    rows: NDArray[Any]
    mapper: BinMapper

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.columns.shape[1])

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.columns.shape[0])

    def take(self, rows: NDArray[np.int64]) -> DenseBins:
        """The chosen rows, in the order asked for."""
        columns = np.ascontiguousarray(self.columns[:, rows])
        return DenseBins(columns, np.ascontiguousarray(columns.T).reshape(-1), self.mapper)

    def take_columns(self, features: NDArray[np.int64]) -> DenseBins:
        """The chosen columns, in the order asked for."""
        columns = np.ascontiguousarray(self.columns[features])
        mapper = BinMapper(
            tuple(self.mapper.cuts[feature] for feature in features),
            self.mapper.n_bins[features],
            self.mapper.categorical[features],
            self.mapper.n_categories[features],
            None if self.mapper.extremes is None else self.mapper.extremes[features],
        )
        return DenseBins(columns, np.ascontiguousarray(columns.T).reshape(-1), mapper)


def stays_sparse(bins: SparseBins) -> bool:
    """Whether so little of a table is kept that this is the quicker layout."""
    return len(bins.rows) <= DENSE_SHARE * bins.n_rows * bins.n_columns


def settled(bins: SparseBins) -> DenseBins | SparseBins:
    """The table in the quicker layout."""
    return bins if stays_sparse(bins) else filled(bins)


def filled(bins: SparseBins) -> DenseBins:
    """The table with a byte a cell; its floats are not written out on the way."""
    columns = bins.columns()
    return DenseBins(columns, np.ascontiguousarray(columns.T).reshape(-1), bins.mapper)


def _at_most(cuts: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The largest numbers of a float type that are not above the cuts.

    A float32 is below a cut exactly when it is below the largest float32 that is not above the cut, so
    float32 data can be searched in float32 whatever the cuts are.
    """
    with np.errstate(over="ignore"):
        rounded = cuts.astype(dtype)
        below = np.nextafter(rounded, np.array(-np.inf, dtype))
    lowered: NDArray[Any] = np.where(rounded > cuts, below, rounded)
    return lowered


def contiguous_parts(block: NDArray[Any], base: int) -> Iterator[BlockPart]:
    """A block in parts for one kernel call each; without a copy when contiguous by rows or by columns."""
    n, d = block.shape
    if block.flags.c_contiguous or block.flags.f_contiguous:
        by_rows = block.flags.c_contiguous
        flat = read_only(block.reshape(-1) if by_rows else block.T.reshape(-1))
        row_stride, column_stride = (d, 1) if by_rows else (1, n)
        for first, last in _row_ranges(n, _CELLS_PER_CALL // d):
            yield BlockPart(flat, row_stride, column_stride, first, last, base)
        return
    for first, last in _row_ranges(n, _CELLS_PER_COPY // d):
        copied = np.ascontiguousarray(block[first:last])
        yield BlockPart(read_only(copied.reshape(-1)), d, 1, 0, last - first, base + first)


def _row_ranges(n: int, rows: int) -> Iterator[tuple[int, int]]:
    """(first, last) for every so many rows, in whole blocks of the kernel where it is at least one."""
    step = max(1, rows - rows % BLOCK if rows > BLOCK else rows)
    for first in range(0, n, step):
        yield first, min(first + step, n)


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """A view that is read-only. Users' arrays may be: if all are, the kernels have one signature."""
    view = values.view()
    view.flags.writeable = False
    return view


def _bin(part: BlockPart, table: SearchTable, tasks: int, columns: NDArray[Any], rows: NDArray[Any]) -> None:
    used = tasks if (part.last - part.first) * len(columns) >= PARALLEL_CELLS else 1
    bin_rows(used, part, table, columns, rows)
