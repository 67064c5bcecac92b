"""The kernels' view of a binned table, dense, sparse or of bundles: where bins are, and where columns lie in a histogram."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.binning import BundledBins, CutMapper, DenseBins, SparseBins
from weald.tree.histograms.sparse import fill_row_cells
from weald.tree.state import BIN_WORDS, BYTE_BINS, PACKED_BLOCK, STRIDE, TreeInput

WIDEST_WASTE = 2.0  # cells of a uniform layout over those needed; above, the ragged layout


def tree_input(
    bins: DenseBins | SparseBins | BundledBins, divides: NDArray[np.bool_] | None = None
) -> TreeInput:
    """What the kernels read of a table; ``divides``: which columns of a sparse one trees may ask for, None for all."""
    if isinstance(bins, BundledBins):
        return _bundled_input(bins)
    return _sparse_input(bins, divides) if isinstance(bins, SparseBins) else _dense_input(bins)


def dividing_columns(bins: DenseBins | SparseBins | BundledBins, fewest: int) -> NDArray[np.bool_]:
    """Which columns may leave so many rows on both sides of a split.

    Any split of a sparse column has all cells that are not kept on one side. Of tens of thousands of words most are in fewer
    texts than a leaf must have, and a node's time goes with the columns that there are.
    """
    if isinstance(bins, SparseBins):
        return np.diff(bins.starts) >= max(1, fewest)
    return np.ones(bins.n_columns, np.bool_)


def histogram_shape(data: TreeInput, precision: str) -> tuple[tuple[int, int], int]:
    """Words of a node's histogram as an array's shape, and how many of them are written to, as a rule."""
    if not data.sparse:
        return (3, data.n_cells), 3 * data.n_cells
    plane = data.n_cells if precision == "wide" else data.n_frequent
    # Gradients that do not fit packed integers need three words everywhere, in rounds that are known only later.
    longest = data.n_cells + 2 * (plane if precision == "packed_always" else data.n_cells)
    return (1, longest), data.n_cells + 2 * plane


def bin_words(mapper: CutMapper) -> int:
    """Words of a set of bins, and of a bin of missing values, of any categorical column."""
    widest = int(mapper.n_bins[mapper.categorical].max(initial=0))
    return max(BIN_WORDS, widest // 64 + 1)


def _most_bins(mapper: CutMapper) -> int:
    return max(BYTE_BINS, 1 << int(mapper.n_bins.max()).bit_length())


def _dense_input(bins: DenseBins) -> TreeInput:
    mapper = bins.mapper
    offsets, uniform = _places(mapper.n_bins + 1)
    return TreeInput(
        rows=bins.rows,
        columns=bins.columns,
        offsets=offsets[:-1].astype(np.uint64),
        n_bins=mapper.n_bins,
        categorical=_writeable(mapper.categorical),
        gathers=mapper.n_categories > mapper.n_bins,
        uniform=uniform,
        n_cells=int(offsets[-1]),
        most_bins=_most_bins(mapper),
        entry_bins=np.empty(0, bins.columns.dtype),
        default_bins=np.empty(0, bins.columns.dtype),
    )


def _writeable(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A copy; a schema's mask is read-only, to Numba another type, for which all kernels would be compiled again."""
    return np.array(mask)


def _places(n_cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
    """The first cell of every column that needs so many, with the end; and whether they are STRIDE apart."""
    needed = (n_cells + 7) // 8 * 8  # whole cache lines
    uniform = len(needed) * STRIDE <= WIDEST_WASTE * int(needed.sum()) and int(needed.max()) <= STRIDE
    sizes = np.full(len(needed), STRIDE) if uniform else np.where(needed % 256 == 0, needed + 8, needed)
    return np.concatenate(([0], np.cumsum(sizes))), uniform


def _bundled_input(bins: BundledBins) -> TreeInput:
    mapper, layout = bins.mapper, bins.layout
    offsets, uniform = _places(layout.n_codes)
    return TreeInput(
        rows=bins.rows,
        columns=bins.columns,
        offsets=(offsets[layout.stored] + layout.first).astype(np.uint64),
        n_bins=mapper.n_bins,
        categorical=_writeable(mapper.categorical),
        gathers=mapper.n_categories > mapper.n_bins,
        uniform=uniform,
        n_cells=int(offsets[-1]),
        most_bins=_most_bins(mapper),
        entry_bins=np.empty(0, bins.columns.dtype),
        default_bins=layout.default.astype(bins.columns.dtype),
        sizes=layout.sizes,
        stored=layout.stored,
        stored_offsets=offsets.astype(np.uint64),
    )


def _sparse_input(bins: SparseBins, divides: NDArray[np.bool_] | None) -> TreeInput:
    mapper, starts, rows, codes = bins.mapper, bins.starts, bins.rows, bins.bins
    sizes, counts = mapper.n_bins + 1, np.diff(starts)
    if divides is not None and not divides.all():
        kept = np.repeat(divides, counts)
        rows, codes = rows[kept], codes[kept]
        sizes, counts = sizes * divides, counts * divides
        starts = np.concatenate(([0], np.cumsum(counts)))
    frequent = counts > PACKED_BLOCK
    order = np.argsort(~frequent, kind="stable")
    offsets = np.empty(len(sizes), np.uint64)
    offsets[order] = np.cumsum(sizes[order]) - sizes[order]
    row_starts, row_cells = np.zeros(bins.n_rows + 1, np.int64), np.empty(len(rows), np.uint32)
    fill_row_cells(starts, rows, codes, order, offsets, row_starts, row_cells)
    return TreeInput(
        rows=np.empty(0, codes.dtype),
        columns=np.empty((0, bins.n_rows), codes.dtype),
        offsets=offsets,
        n_bins=mapper.n_bins,
        categorical=_writeable(mapper.categorical),
        gathers=mapper.n_categories > mapper.n_bins,
        uniform=False,
        sparse=True,
        entry_starts=starts,
        entry_rows=rows,
        entry_bins=codes,
        default_bins=bins.default,
        row_starts=row_starts,
        row_cells=row_cells,
        n_frequent=int(sizes[frequent].sum()),
        n_dividing=len(sizes) if divides is None else int(divides.sum()),
        most_bins=_most_bins(mapper),
        n_cells=int(sizes.sum()),
    )
