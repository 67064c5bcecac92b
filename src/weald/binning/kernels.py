"""Kernels of the search: from a value to its bin, written to both layouts.

The bin of x is the number of cuts below x. A plain binary search needs eight dependent steps for 255 bins.
Here a linear grid over the middle of a feature's cuts gives the number of cuts below the grid's cell, and the
search goes on among the few cuts within the cell: two steps for normal data, three for log-normal data, 2.8 and
3.5 ns a value on one thread of a Zen 3 (a plain search: 6 ns). The grid is exact whatever its rounding: the cell
of x is a monotone function of x, and the cells of the cuts come from the same function.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import kernel, parallel_kernel

CELLS = 512  # of a grid; twice the cuts, and small enough that a feature's grid and cuts stay in the L1 cache
BLOCK = 1024  # rows at a time: their values and places stay in the L1 cache
_GROUP = 16  # columns read together: a cache line of float32
_STRIDE = BLOCK + 16  # of the values' buffer: not a power of two, so that its columns do not alias
_GRID_WORTH = 2  # steps of the search that a grid must save to pay for itself


class SearchTable(NamedTuple):
    """What the search needs of every feature; ``cuts``, ``lowest`` and ``scale`` have the blocks' float type.

    cuts: the features' cuts one after the other, each feature's followed by as many +inf and one more;
    cut_offsets: int64 (d,), a feature's first cut; steps: int64 (d,), of the binary search within a cell;
    lowest, scale: (d,), cell of x = (x - lowest) * scale, clipped; starts: uint8, number of cuts below each cell,
    CELLS entries for a feature with a grid; start_offsets: int64 (d,), a feature's first one, -1 without a grid;
    missing: uint8 (d,), the bin of NaN.
    """

    cuts: NDArray[Any]
    cut_offsets: NDArray[np.int64]
    steps: NDArray[np.int64]
    lowest: NDArray[Any]
    scale: NDArray[Any]
    starts: NDArray[np.uint8]
    start_offsets: NDArray[np.int64]
    missing: NDArray[np.uint8]


@kernel
def _cell(value: Any, lowest: Any, scale: Any, zero: Any, top: Any) -> Any:
    """The grid's cell of a value, 0 ... top: monotone in the value; 0 for NaN, whatever the grid.

    ``zero`` and ``top`` have the value's type, so that nothing is widened.
    """
    position = (value - lowest) * scale
    position = position if position > zero else zero
    return np.int32(position if position < top else top)


@kernel
def _count_below_cells(cuts: Any, lowest: Any, scale: Any, starts: Any) -> Any:
    """Fill ``starts`` with the number of cuts below each cell; return the largest number within one."""
    zero, top = cuts.dtype.type(0), cuts.dtype.type(CELLS - 1)
    largest, next_cut = 0, 0
    for cell in range(CELLS):
        starts[cell] = np.uint8(next_cut)
        first = next_cut
        while next_cut < len(cuts) and _cell(cuts[next_cut], lowest, scale, zero, top) == cell:
            next_cut += 1
        largest = max(largest, next_cut - first)
    return largest


@kernel
def fill_grids(counts: Any, table: Any) -> Any:
    """Choose every feature's grid and number of steps; return the number of entries used in ``table.starts``.

    counts: int64 (d,), number of cuts. A grid that serves with few steps leaves out the outermost cuts, so that
    long tails do not widen its cells: an outer cell may hold as many cuts as the steps can search.
    """
    used = 0
    for feature in range(len(counts)):
        count = counts[feature]
        plain_steps = 0
        while (1 << plain_steps) <= count:
            plain_steps += 1
        table.steps[feature] = plain_steps
        table.start_offsets[feature] = -1
        first = table.cut_offsets[feature]
        cuts = table.cuts[first : first + count]
        for steps in range(1, plain_steps - _GRID_WORTH + 1):
            outer = 1 << (steps - 1)
            lowest = cuts[outer]
            scale = cuts.dtype.type(CELLS) / (cuts[count - 1 - outer] - lowest)
            starts = table.starts[used : used + CELLS]
            if _count_below_cells(cuts, lowest, scale, starts) < (1 << steps):
                table.steps[feature] = steps
                table.lowest[feature] = lowest
                table.scale[feature] = scale
                table.start_offsets[feature] = used
                used += CELLS
                break
    return used


@kernel
def _start_places(values: Any, n: Any, feature: Any, table: Any, places: Any) -> None:
    """Where the search of each value begins: the number of cuts below its cell."""
    offset = table.start_offsets[feature]
    if offset < 0:
        places[:n] = 0
        return
    lowest, scale = table.lowest[feature], table.scale[feature]
    starts = table.starts[offset : offset + CELLS]
    zero, top = values.dtype.type(0), values.dtype.type(CELLS - 1)
    for i in range(n):
        places[i] = _cell(values[i], lowest, scale, zero, top)
    for i in range(n):
        places[i] = starts[np.uint64(np.uint32(places[i]))]


@kernel
def _search(values: Any, n: Any, feature: Any, table: Any, places: Any) -> None:
    """Number of cuts below each value: all values go a step before any goes the next, so that loads overlap.

    Indices are unsigned throughout: with signed ones Numba checks each for being negative, half of the time.
    """
    _start_places(values, n, feature, table, places)
    cuts = table.cuts[table.cut_offsets[feature] :]
    half = np.int32((1 << table.steps[feature]) >> 1)
    while half > 0:
        before = np.uint64(half - 1)
        for i in range(n):
            place = places[i]
            step = half if cuts[np.uint64(np.uint32(place)) + before] < values[i] else np.int32(0)
            places[i] = np.int32(place + step)
        half >>= 1


@kernel
def _bin_block(
    flat: Any, row_stride: Any, column_stride: Any, first: Any, last: Any, base: Any, table: Any, values: Any,
    places: Any, columns: Any, rows: Any,
) -> None:  # fmt: skip
    """Bins of the block's rows from ``first`` to ``last`` (at most BLOCK), ``base`` rows further in the outputs."""
    d = len(columns)
    n = np.uint64(last - first)
    row_step, column_step, width = np.uint64(row_stride), np.uint64(column_stride), np.uint64(d)
    target = rows[(base + first) * d : (base + last) * d]
    for group in range(0, d, _GROUP):
        size = np.uint64(min(_GROUP, d - group))
        source = flat[first * row_stride + group * column_stride :]
        for i in range(n):
            for j in range(size):
                values[j, i] = source[i * row_step + j * column_step]
        for feature in range(group, group + np.int64(size)):
            column_values = values[feature - group]
            _search(column_values, n, feature, table, places)
            missing = table.missing[feature]
            column = columns[feature, base + first : base + last]
            for i in range(n):
                value = column_values[i]
                column[i] = np.uint8(places[i]) if value == value else missing
            for i in range(n):
                target[i * width + np.uint64(feature)] = column[i]


@kernel
def _bin_blocks(
    flat: Any, row_stride: Any, column_stride: Any, first: Any, last: Any, base: Any, table: Any, columns: Any,
    rows: Any,
) -> None:  # fmt: skip
    values = np.empty((_GROUP, _STRIDE), flat.dtype)
    places = np.empty(BLOCK, np.int32)
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        _bin_block(flat, row_stride, column_stride, begin, end, base, table, values, places, columns, rows)


@kernel
def bin_rows(
    flat: Any, row_stride: Any, column_stride: Any, first: Any, last: Any, base: Any, table: Any, columns: Any,
    rows: Any,
) -> None:  # fmt: skip
    """Bins of the rows from ``first`` to ``last`` of a block, into both layouts.

    flat: the block's float32 or float64 values, read-only, 1-D contiguous; the value of row r and feature f is
    flat[r * row_stride + f * column_stride]. Row r of the block is row base + r of the outputs. table:
    SearchTable of the same float type. columns: uint8 (d, n); rows: uint8 (n * d,). Exact: comparisons only.
    """
    _bin_blocks(flat, row_stride, column_stride, first, last, base, table, columns, rows)


@parallel_kernel
def bin_rows_parallel(
    flat: Any, row_stride: Any, column_stride: Any, first: Any, last: Any, base: Any, table: Any, tasks: Any,
    columns: Any, rows: Any,
) -> None:  # fmt: skip
    """`bin_rows` with the blocks shared among tasks; every cell is written by one of them."""
    blocks = (last - first + BLOCK - 1) // BLOCK
    for task in prange(tasks):
        k = np.int64(task)
        begin = first + blocks * k // tasks * BLOCK
        end = min(first + blocks * (k + 1) // tasks * BLOCK, last)
        _bin_blocks(flat, row_stride, column_stride, begin, end, base, table, columns, rows)
