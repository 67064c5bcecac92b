"""Kernels of the search: from a value to its bin, written to both layouts.

The bin of x is the number of cuts below x. A plain binary search needs eight dependent steps for 255 bins.
Here a linear grid over the middle of a feature's cuts gives the number of cuts below the grid's cell, and the
search goes on among the few cuts within the cell: two steps for normal data, three for log-normal data, at
about 3 ns a value on one thread of a Zen 3, where a plain search takes 6. The grid is exact whatever its
rounding: the cell of x is a monotone function of x, and the cells of the cuts come from the same function.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weald.runtime.arrays import BinCodes, Float, Floats, Int32s, Int64s
from weald.runtime.jit import kernel
from weald.runtime.tasks import shared_kernel

CELLS = 512  # of a grid; twice the cuts, and small enough that a feature's grid and cuts stay in the L1 cache
BLOCK = 1024  # rows at a time: their values and places stay in the L1 cache
_GROUP = 16  # columns read together: a cache line of float32
_STRIDE = BLOCK + 16  # of the values' buffer: not a power of two, so that its columns do not alias
_GRID_WORTH = 2  # steps of the search that a grid must save to pay for itself
LEAST_CUTS = 1 << _GRID_WORTH  # for a grid: fewer are searched in as many steps as it must save


class BlockPart(NamedTuple):
    """Rows of a block of values that one call bins.

    The value of row r and feature f is flat[r * row_stride + f * column_stride]. Row r is row base + r of the outputs.
    """

    flat: Floats  # float32 or float64, read-only, 1-D contiguous
    row_stride: int
    column_stride: int
    first: int  # row
    last: int  # row, not included
    base: int


class SearchTable(NamedTuple):
    """What the search needs of d features; ``cuts``, ``lowest`` and ``scale`` have the blocks' float type.

    first_feature: the one that the table begins with.
    cuts: the features' cuts one after the other, each feature's followed by as many +inf and one more.
    cut_offsets: int64 (d,), a feature's first cut.
    steps: int64 (d,), of the binary search within a cell.
    lowest, scale: (d,); the cell of x is (x - lowest) * scale, clipped.
    starts: the number of cuts below each cell, CELLS entries for every feature with a grid.
    start_offsets: int64 (d,), a feature's first entry there, -1 without a grid.
    missing: (d,), the bin of NaN; as ``starts`` of the type of the bins, uint8 or uint16.
    """

    first_feature: int
    cuts: Floats
    cut_offsets: Int64s
    steps: Int64s
    lowest: Floats
    scale: Floats
    starts: BinCodes
    start_offsets: Int64s
    missing: BinCodes


@kernel
def _cell(value: Float, lowest: Float, scale: Float, zero: Float, top: Float) -> np.int32:
    """The grid's cell of a value, 0 ... top: monotone in the value; 0 for NaN, whatever the grid.

    ``zero`` and ``top`` have the value's type, so that nothing is widened.
    """
    position = (value - lowest) * scale
    position = position if position > zero else zero
    return np.int32(position if position < top else top)


@kernel
def _most_in_a_cell(cuts: Floats, lowest: Float, scale: Float) -> int:
    """The largest number of cuts that share a cell of the grid."""
    zero, top = cuts.dtype.type(0), cuts.dtype.type(CELLS - 1)
    most, together, previous = 0, 0, np.int32(-1)
    for i in range(len(cuts)):
        cell = _cell(cuts[i], lowest, scale, zero, top)
        together = together + 1 if cell == previous else 1
        most = max(most, together)
        previous = cell
    return most


@kernel
def _count_below_cells(cuts: Floats, lowest: Float, scale: Float, starts: BinCodes) -> None:
    """Fill ``starts``, (CELLS,), with the number of cuts below each cell."""
    zero, top = cuts.dtype.type(0), cuts.dtype.type(CELLS - 1)
    begin: int | np.int32 = 0
    for i in range(len(cuts)):
        cell = _cell(cuts[i], lowest, scale, zero, top)
        if cell >= begin:
            starts[begin : cell + 1] = i
            begin = cell + 1
    starts[begin:] = len(cuts)


@kernel
def fill_grids(counts: Int64s, table: SearchTable) -> None:
    """Choose every feature's grid and number of steps.

    counts: int64 (d,), number of cuts. A grid that serves with few steps leaves out the outermost cuts, so
    that long tails do not widen its cells: an outer cell may hold as many cuts as the steps can search.
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
            if _most_in_a_cell(cuts, lowest, scale) < (1 << steps):
                _count_below_cells(cuts, lowest, scale, table.starts[used : used + CELLS])
                table.steps[feature] = steps
                table.lowest[feature] = lowest
                table.scale[feature] = scale
                table.start_offsets[feature] = used
                used += CELLS
                break


@kernel
def _start_places(values: Floats, n: np.uint64, feature: int, table: SearchTable, places: Int32s) -> None:
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
def _search(values: Floats, n: np.uint64, feature: int, table: SearchTable, places: Int32s) -> None:
    """Number of cuts below each value: all values go a step before any goes the next, so that loads overlap.

    Indices are unsigned throughout: Numba checks signed ones for being negative, which doubles the time.
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
    part: BlockPart,
    first: int,
    last: int,
    table: SearchTable,
    values: Floats,
    places: Int32s,
    columns: BinCodes,
    rows: BinCodes,
) -> None:
    """Bins of the rows ``first`` to ``last`` (at most BLOCK) of a part."""
    flat, row_stride, column_stride, base = part.flat, part.row_stride, part.column_stride, part.base
    d = len(columns)
    begin, end = table.first_feature, table.first_feature + len(table.steps)
    n = np.uint64(last - first)
    row_step, column_step, width = np.uint64(row_stride), np.uint64(column_stride), np.uint64(d)
    target = rows[(base + first) * d : (base + last) * d]
    for group in range(begin, end, _GROUP):
        size = np.uint64(min(_GROUP, end - group))
        source = flat[first * row_stride + group * column_stride :]
        if row_stride == 1:
            # Column by column: side by side they would push each other out of the cache, as columns are often
            # a power of two apart.
            for j in range(size):
                for i in range(n):
                    values[j, i] = source[j * column_step + i]
        else:
            for i in range(n):
                for j in range(size):
                    values[j, i] = source[i * row_step + j * column_step]
        for feature in range(group, group + np.int64(size)):
            column_values = values[feature - group]
            _search(column_values, n, feature - begin, table, places)
            missing = table.missing[feature - begin]
            column = columns[feature, base + first : base + last]
            for i in range(n):
                value = column_values[i]
                column[i] = columns.dtype.type(places[i]) if value == value else missing
            for i in range(n):
                target[i * width + np.uint64(feature)] = column[i]


@shared_kernel
def bin_rows(
    task: int, tasks: int, part: BlockPart, table: SearchTable, columns: BinCodes, rows: BinCodes
) -> None:
    """Bins of the rows of a part, into both layouts; every cell is written by one task.

    table: SearchTable of the part's float type; only its features are binned.
    columns: uint8 or uint16 (d, n); rows: the same (n * d,).
    Exact: the outcome rests on comparisons of values with cuts only.
    """
    blocks = (part.last - part.first + BLOCK - 1) // BLOCK
    first = part.first + blocks * task // tasks * BLOCK
    last = min(part.first + blocks * (task + 1) // tasks * BLOCK, part.last)
    values = np.empty((_GROUP, _STRIDE), part.flat.dtype)
    places = np.empty(BLOCK, np.int32)
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        _bin_block(part, begin, end, table, values, places, columns, rows)
