"""A binned table whose columns share places: bundles of columns that are (almost) never away from their defaults together.

A stored column of the table is a *bundle*. Its code 0 means that all members are in their default bins; every other code is one
bin of one member. A member has a range of consecutive codes for its bins other than the default one, in their order, so code and
bin follow from each other. The bin of missing values has a code only where the table has some. Where two members are present
in one row, the later column wins (Ke et al. 2017, algorithm 4). A column that shares its place with no other is stored as it is,
its codes are its bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.binning.mapper import BinMapper, DenseBins, filled
from weald.binning.sparse import SparseBins, SparseCells
from weald.runtime.arrays import BinCodes, Bools, Int64s, Uint32s
from weald.runtime.tasks import shared_kernel

PARALLEL_CELLS = 200_000  # codes to be written from which two threads win over one
_CELLS_PER_WALK = 2**22  # decoded at a time


class Layout(NamedTuple):
    """Where the bins of every column are among the codes of the stored columns."""

    stored: Int64s  # (columns,): the stored column that it is in
    first: Int64s  # (columns,): its first code
    sizes: Int64s  # (columns,): its codes; all bins and that of missing values where it is stored as it is
    default: BinCodes  # (columns,): the bin of rows that have none of its codes; of the type of bins
    n_bins: Int64s  # (columns,): the mapper's
    n_codes: Int64s  # (stored columns,)

    @property
    def n_stored(self) -> int:
        """The number of stored columns."""
        return len(self.n_codes)

    @property
    def alone(self) -> Bools:
        """Columns that are stored as they are."""
        is_alone: Bools = self.sizes > self.n_bins
        return is_alone

    @property
    def code_type(self) -> type:
        """The smallest type that holds the codes."""
        return np.uint8 if self.n_codes.max() <= 256 else np.uint16


def make_layout(
    bundle: Int64s,
    sizes: Int64s,
    default: NDArray[Any],
    n_bins: Int64s,
) -> Layout:
    """The layout of columns in these bundles, numbered from 0; ``sizes``: the codes that each needs in a bundle.

    >>> import numpy as np
    >>> layout = make_layout(np.array([0, 1, 0]), np.array([1, 2, 3]), np.zeros(3, np.uint8), np.array([2, 3, 4]))
    >>> layout.first.tolist(), layout.sizes.tolist(), layout.n_codes.tolist()
    ([1, 0, 2], [1, 4, 3], [5, 4])
    """
    alone = np.bincount(bundle)[bundle] == 1
    sizes = np.where(alone, n_bins + 1, sizes)
    order = np.argsort(bundle, kind="stable")
    ends = np.cumsum(sizes[order])
    before = (ends - sizes[order]) - (ends - sizes[order])[np.searchsorted(bundle[order], bundle[order])]
    first = np.empty_like(sizes)
    first[order] = before
    first += ~alone  # the code 0 is for all defaults
    n_codes = np.zeros(int(bundle.max()) + 1, np.int64)
    np.maximum.at(n_codes, bundle, first + sizes)
    return Layout(bundle, first, sizes, default, n_bins, n_codes)


class Cells(NamedTuple):
    """The kept cells of some columns, as `SparseCells` has them."""

    starts: Int64s
    rows: Uint32s
    bins: BinCodes
    features: Int64s  # which columns


class CodeRules(NamedTuple):
    """Of a `Layout`, what turns a bin to a code."""

    stored: Int64s
    first: Int64s
    alone: Bools
    default: BinCodes


@shared_kernel
def fill_codes(task: int, tasks: int, cells: Cells, codes: CodeRules, columns: BinCodes) -> None:
    """Write the codes of columns whose kept cells are given to ``columns``, (stored columns, rows), zero before."""
    for j in range(len(cells.features)):
        feature = cells.features[j]
        place = codes.stored[feature]
        if place % tasks != task:
            continue
        column, own_default = columns[place], np.int64(codes.default[feature])
        shift = codes.first[feature]
        if codes.alone[feature]:
            column[:] = own_default
            own_default = np.int64(1) << 32  # no bin is left out
        for i in range(np.uint64(cells.starts[j]), np.uint64(cells.starts[j + 1])):
            b = np.int64(cells.bins[i])
            column[cells.rows[i]] = shift + b - np.int64(b > own_default)


@shared_kernel
def _decode(
    task: int,
    tasks: int,
    codes: BinCodes,
    features: Int64s,
    stored: Int64s,
    first: Int64s,
    sizes: Int64s,
    n_bins: Int64s,
    default: BinCodes,
    out: BinCodes,
) -> None:
    """Bins of chosen columns, (rows, len(features)), from the codes (rows, stored columns)."""
    for row in range(len(codes) * task // tasks, len(codes) * (task + 1) // tasks):
        for j in range(len(features)):
            feature = features[j]
            place = np.int64(codes[row, stored[feature]]) - first[feature]
            own_default = np.int64(default[feature])
            if place < 0 or place >= sizes[feature]:
                out[row, j] = own_default
            elif sizes[feature] > n_bins[feature]:
                out[row, j] = place
            else:
                out[row, j] = place + np.int64(place >= own_default)


@dataclass(frozen=True)
class BundledBins:
    """A binned table in stored columns: ``columns`` is uint8 or uint16 (stored, n), ``rows`` the same row after row, flat.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from weald.binning import Bundling, fit_bins
    >>> from weald.binning.bundles import bundle_or_bin
    >>> from weald.data import read_table
    >>> table = read_table(csr_array(np.eye(3)[[0, 2, 1, 0, 2]]))
    >>> bins = bundle_or_bin(fit_bins(table, None), table, Bundling(), tasks=1)
    >>> bins.columns.tolist(), bins.n_columns
    ([[1, 3, 2, 1, 3]], 3)
    """

    columns: NDArray[Any]
    rows: NDArray[Any]
    layout: Layout
    mapper: BinMapper

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.columns.shape[1])

    @property
    def n_columns(self) -> int:
        """The number of columns that the table was made from."""
        return len(self.layout.stored)

    def take(self, rows: Int64s) -> BundledBins:
        """The chosen rows, in the order asked for."""
        by_row = self.rows.reshape(self.n_rows, -1)[rows]
        return BundledBins(np.ascontiguousarray(by_row.T), by_row.reshape(-1), self.layout, self.mapper)

    def rows_of(self, features: Int64s, tasks: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first row, bins row after row) of chosen columns, a part of the rows at a time."""
        layout, codes = self.layout, self.rows.reshape(self.n_rows, -1)
        step = max(1, _CELLS_PER_WALK // len(features))
        for begin in range(0, self.n_rows, step):
            part = codes[begin : begin + step]
            out = np.empty((len(part), len(features)), layout.default.dtype)
            _decode(
                tasks,
                part,
                features,
                layout.stored,
                layout.first,
                layout.sizes,
                layout.n_bins,
                layout.default,
                out,
            )
            yield begin, out.reshape(-1)


def merge_columns(
    mapper: BinMapper,
    layout: Layout,
    cells: SparseCells,
    features: Int64s,
    others: Int64s,
    other_columns: NDArray[Any],
    tasks: int,
) -> BundledBins:
    """The bundled table of ``features``, whose kept cells are given, and of ``others``, which are stored as they are."""
    columns: NDArray[Any] = np.zeros((layout.n_stored, cells.n_rows), layout.code_type)
    kept = Cells(cells.starts, cells.rows, cells.bins, features)
    codes = CodeRules(layout.stored, layout.first, layout.alone, layout.default)
    fill_codes(tasks if columns.size >= PARALLEL_CELLS else 1, kept, codes, columns)
    columns[layout.stored[others]] = other_columns
    return BundledBins(columns, np.ascontiguousarray(columns.T).reshape(-1), layout, mapper)


def dense_bins(bins: DenseBins | SparseBins | BundledBins) -> DenseBins:
    """The table with a byte a cell, for those who need one."""
    if isinstance(bins, DenseBins):
        return bins
    if isinstance(bins, SparseBins):
        return filled(bins)
    parts = [rows for _, rows in bins.rows_of(np.arange(bins.n_columns), tasks=1)]
    rows = np.concatenate(parts)
    return DenseBins(np.ascontiguousarray(rows.reshape(bins.n_rows, -1).T), rows, bins.mapper)
