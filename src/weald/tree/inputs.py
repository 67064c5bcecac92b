"""The kernels' view of a binned table, dense or sparse: where its bins are, and where its columns lie in a histogram."""

from __future__ import annotations

import numpy as np

from weald.binning import Bins, SparseBins
from weald.tree.sparse import fill_row_cells
from weald.tree.state import PACKED_BLOCK, STRIDE, TreeInput

WIDEST_WASTE = 2.0  # cells of a uniform layout over those needed; above, the ragged layout


def tree_input(bins: Bins | SparseBins) -> TreeInput:
    """What the kernels read of a table."""
    return _sparse_input(bins) if isinstance(bins, SparseBins) else _dense_input(bins)


def histogram_shape(data: TreeInput, precision: str) -> tuple[tuple[int, int], int]:
    """Words of a node's histogram as an array's shape, and how many of them are written to, as a rule."""
    if not data.sparse:
        return (3, data.n_cells), 3 * data.n_cells
    plane = data.n_cells if precision == "wide" else data.n_frequent
    # Gradients that do not fit packed integers need three words everywhere, in rounds that are known only later.
    longest = data.n_cells + 2 * (plane if precision == "packed_always" else data.n_cells)
    return (1, longest), data.n_cells + 2 * plane


def _dense_input(bins: Bins) -> TreeInput:
    mapper = bins.mapper
    width = len(mapper.n_bins)
    needed = (mapper.n_bins + 1 + 7) // 8 * 8  # whole cache lines
    uniform = width * STRIDE <= WIDEST_WASTE * int(needed.sum())
    sizes = np.full(width, STRIDE) if uniform else np.where(needed % 256 == 0, needed + 8, needed)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return TreeInput(
        rows=bins.rows,
        columns=bins.columns,
        offsets=offsets[:-1].astype(np.uint64),
        n_bins=mapper.n_bins,
        categorical=mapper.categorical,
        gathers=mapper.n_categories > mapper.n_bins,
        uniform=bool(uniform),
        n_cells=int(offsets[-1]),
    )


def _sparse_input(bins: SparseBins) -> TreeInput:
    mapper = bins.mapper
    frequent = np.diff(bins.starts) > PACKED_BLOCK
    order = np.argsort(~frequent, kind="stable")
    sizes = mapper.n_bins + 1
    offsets = np.empty(len(sizes), np.uint64)
    offsets[order] = np.cumsum(sizes[order]) - sizes[order]
    row_starts, row_cells = np.zeros(bins.n_rows + 1, np.int64), np.empty(len(bins.rows), np.uint32)
    fill_row_cells(bins.starts, bins.rows, bins.bins, order, offsets, row_starts, row_cells)
    return TreeInput(
        rows=np.empty(0, np.uint8),
        columns=np.empty((0, bins.n_rows), np.uint8),
        offsets=offsets,
        n_bins=mapper.n_bins,
        categorical=mapper.categorical,
        gathers=mapper.n_categories > mapper.n_bins,
        uniform=False,
        sparse=True,
        entry_starts=bins.starts,
        entry_rows=bins.rows,
        entry_bins=bins.bins,
        default_bins=bins.default,
        row_starts=row_starts,
        row_cells=row_cells,
        n_frequent=int(sizes[frequent].sum()),
        n_cells=int(sizes.sum()),
    )
