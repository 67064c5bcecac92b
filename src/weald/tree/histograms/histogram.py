"""Histograms of integer gradients: one addition a (row, feature) when packed.

Integer sums do not depend on their order, so a histogram is the same for any number of tasks and blocks, and a
sibling's histogram is exactly the parent's minus the other child's.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import BinCodes, Int, Int64s, Uint64s
from weald.runtime.far import returns
from weald.runtime.jit import ONE, ZERO, bare_inner_kernel, inlined, inner_kernel, kernel
from weald.runtime.prefetch import prefetch
from weald.runtime.tasks import part, shared_kernel
from weald.tree.histograms.cells import (
    COUNT_BITS,
    GRADIENT_SHIFT,
    LOW,
    WIDE_SHIFT,
    cell_words,
    packed_count,
    packed_gradient,
    packed_hessian,
    read_cell,
    spread_packed,
)
from weald.tree.state import PACKED_BLOCK, STRIDE, WIDE_BLOCK, Gradients, TreeInput, Workspace

AHEAD = 16  # rows between a prefetch and its use
PARALLEL_CELLS = 40_000  # (row, feature) pairs from which two threads win over one
TILE = 96  # columns a pass: their cells (200 KB) stay in the second-level cache
PARALLEL_SUBTRACTION = 50_000  # cells from which two threads subtract faster than one

_HALF = np.uint64(32)


@bare_inner_kernel
def _add_rows_uniform(
    rows: BinCodes, width: int, first: int, last: int, entries: Uint64s, begin: int, end: int, cells: Int64s
) -> None:
    """Add rows to the cells of the features first..last where a feature has STRIDE cells: a constant lets the loop unroll."""
    final = end - 1
    for i in range(begin, end):
        ahead = np.int64(entries[min(i + AHEAD, final)] >> _HALF) * width + first
        prefetch(rows, ahead)
        prefetch(rows, ahead + last - first - 1)
        entry = entries[i]
        cell = spread_packed(entry)
        start = (entry >> _HALF) * np.uint64(width) + np.uint64(first)
        offset = np.uint64(first * STRIDE)
        for j in range(last - first):
            cells[offset + np.uint64(rows[start + np.uint64(j)])] += cell
            offset += np.uint64(STRIDE)


@bare_inner_kernel
def _add_columns_uniform(
    columns: BinCodes, start: int, stop: int, entries: Uint64s, begin: int, end: int, cells: Int64s
) -> None:
    """The same for rows that are all there and in order: four columns a pass, whose cells stay in the first-level cache."""
    fours = stop - (stop - start) % 4
    for first in range(start, fours, 4):
        column_0, column_1, column_2, column_3 = (
            columns[first],
            columns[first + 1],
            columns[first + 2],
            columns[first + 3],
        )
        place = first * STRIDE
        cells_0, cells_1 = cells[place : place + STRIDE], cells[place + STRIDE : place + 2 * STRIDE]
        cells_2, cells_3 = (
            cells[place + 2 * STRIDE : place + 3 * STRIDE],
            cells[place + 3 * STRIDE : place + 4 * STRIDE],
        )
        for i in range(np.uint64(begin), np.uint64(end)):
            cell = spread_packed(entries[i])
            cells_0[column_0[i]] += cell
            cells_1[column_1[i]] += cell
            cells_2[column_2[i]] += cell
            cells_3[column_3[i]] += cell
    for feature in range(fours, stop):
        column, place = columns[feature], feature * STRIDE
        own_cells = cells[place : place + STRIDE]
        for i in range(np.uint64(begin), np.uint64(end)):
            own_cells[column[i]] += spread_packed(entries[i])


@bare_inner_kernel
def _add_rows_chosen(
    rows: BinCodes,
    width: int,
    features: Int64s,
    offsets: Uint64s,
    entries: Uint64s,
    begin: int,
    end: int,
    cells: Int64s,
) -> None:
    """Add rows to packed cells for chosen features with cells of any number."""
    final = end - 1
    for i in range(begin, end):
        ahead = np.int64(entries[min(i + AHEAD, final)] >> _HALF) * width
        prefetch(rows, ahead)
        prefetch(rows, ahead + width - 1)
        entry = entries[i]
        cell = spread_packed(entry)
        start = (entry >> _HALF) * np.uint64(width)
        for j in range(len(features)):
            feature = np.uint64(features[j])
            cells[offsets[feature] + np.uint64(rows[start + feature])] += cell


@bare_inner_kernel
def _add_rows_wide(
    rows: BinCodes,
    width: int,
    features: Int64s,
    offsets: Uint64s,
    wide: Uint64s,
    entries: Uint64s,
    begin: int,
    end: int,
    cells: Int64s,
) -> None:
    """Add rows to wide cells: gradient, and hessian << 20 | 1."""
    gradient_cells, hessian_cells = cells[0], cells[1]
    final = end - 1
    for i in range(begin, end):
        ahead = np.int64(entries[min(i + AHEAD, final)] >> _HALF)
        prefetch(rows, ahead * width)
        prefetch(rows, ahead * width + width - 1)
        prefetch(wide, ahead)
        row = entries[i] >> _HALF
        word = wide[row]
        gradient = np.int64(word) >> 32
        hessian = (np.int64(word & LOW) << WIDE_SHIFT) + 1
        start = row * np.uint64(width)
        for j in range(len(features)):
            feature = np.uint64(features[j])
            cell = offsets[feature] + np.uint64(rows[start + feature])
            gradient_cells[cell] += gradient
            hessian_cells[cell] += hessian


@inlined
def _add_block(
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    entries: Uint64s,
    in_order: bool,
    begin: int,
    end: int,
    cells: Int64s,
) -> None:
    """Add at most one block of rows to ``cells`` (words, cells)."""
    width = data.columns.shape[0]
    offsets = data.stored_offsets if len(data.stored_offsets) > 0 else data.offsets
    if not gradients.packed:
        _add_rows_wide(data.rows, width, features, offsets, gradients.wide, entries, begin, end, cells)
    elif not data.uniform or 2 * len(features) <= width:
        _add_rows_chosen(data.rows, width, features, offsets, entries, begin, end, cells[0])
    elif in_order:
        _add_columns_uniform(data.columns, ZERO, width, entries, begin, end, cells[0])
    else:
        # All columns, even when some are not asked for: faster than choosing.
        _add_rows_uniform(data.rows, width, ZERO, width, entries, begin, end, cells[0])


@bare_inner_kernel
def unpack_cells(packed: bool, cells: Int64s, keep: int, begin: int, end: int, out: Int64s) -> None:
    """Move a block's sums to ``out`` (3, cells): added when keep is -1, stored when 0; the block is left zero.

    Only the cells begin..end.
    """
    gradient, hessian, count = out[0], out[1], out[2]
    first, second = cells[0], cells[1]
    if packed:
        for c in range(np.uint64(begin), np.uint64(end)):
            word = first[c]
            first[c] = 0
            gradient[c] = (gradient[c] & keep) + packed_gradient(word)
            hessian[c] = (hessian[c] & keep) + packed_hessian(word)
            count[c] = (count[c] & keep) + packed_count(word)
        return
    for c in range(np.uint64(begin), np.uint64(end)):
        gradient[c] = (gradient[c] & keep) + first[c]
        hessian[c] = (hessian[c] & keep) + np.int64(np.uint64(second[c]) >> np.uint64(WIDE_SHIFT))
        count[c] = (count[c] & keep) + (second[c] & ((1 << WIDE_SHIFT) - 1))
        first[c] = 0
        second[c] = 0


@bare_inner_kernel
def _fill_task(
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    entries: Uint64s,
    in_order: bool,
    begin: int,
    end: int,
    buffer: Int64s,
    total: Int64s,
) -> None:
    """Sum the rows begin..end; the last block stays in ``buffer``, those before it go to ``total``."""
    block = PACKED_BLOCK if gradients.packed else WIDE_BLOCK
    keep = 0
    start = begin
    while end - start > block:
        _add_block(data, features, gradients, entries, in_order, start, start + block, buffer)
        unpack_cells(gradients.packed, buffer, keep, ZERO, buffer.shape[1], total)
        keep = -1
        start += block
    _add_block(data, features, gradients, entries, in_order, start, end, buffer)


@shared_kernel
def _fill_tasks(
    task: int,
    tasks: int,
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    entries: Uint64s,
    in_order: bool,
    begin: int,
    end: int,
    work: Workspace,
) -> None:
    first = begin + (end - begin) * task // tasks
    last = begin + (end - begin) * (task + 1) // tasks
    _fill_task(
        data, features, gradients, entries, in_order, first, last, work.buffers[task], work.totals[task]
    )


@inner_kernel
def _fill_tile(
    data: TreeInput,
    entries: Uint64s,
    in_order: bool,
    begin: int,
    end: int,
    first: int,
    last: int,
    buffer: Int64s,
    out: Int64s,
) -> None:
    """The finished packed histogram of the columns first..last, STRIDE cells each; ``buffer``: zero before and after."""
    is_block = end - begin <= PACKED_BLOCK
    cells = out[0] if is_block else buffer[0]
    begin_cell, end_cell = first * STRIDE, last * STRIDE
    if is_block:
        for c in range(np.uint64(begin_cell), np.uint64(end_cell)):
            cells[c] = 0
    keep = 0
    for start in range(begin, end, PACKED_BLOCK):
        stop = min(start + PACKED_BLOCK, end)
        if in_order:
            _add_columns_uniform(data.columns, first, last, entries, start, stop, cells)
        else:
            _add_rows_uniform(data.rows, data.columns.shape[0], first, last, entries, start, stop, cells)
        if not is_block:
            unpack_cells(True, buffer, keep, begin_cell, end_cell, out)
            keep = -1


@shared_kernel
def _fill_tiles(
    task: int,
    tasks: int,
    data: TreeInput,
    entries: Uint64s,
    in_order: bool,
    begin: int,
    end: int,
    buffer: Int64s,
    out: Int64s,
) -> None:
    """Tasks have columns of their own, so that nothing is left to be added."""
    width = data.columns.shape[0]
    tiles = tasks * ((width + TILE * tasks - 1) // (TILE * tasks))
    for tile in range(task, tiles, tasks):
        first, last = width * tile // tiles, width * (tile + 1) // tiles
        _fill_tile(data, entries, in_order, begin, end, first, last, buffer, out)


@inlined
def _collect_words(words: int, tasks: int, buffers: Int64s, out: Int64s) -> None:
    """Add the tasks' blocks word by word: together they are still one block."""
    for w in range(words):
        target = out[w]
        for task in range(tasks):
            source = buffers[task, w]
            for c in range(len(target)):
                target[c] += source[c]
                source[c] = 0


@inlined
def _collect_totals(packed: bool, n_rows: int, tasks: int, work: Workspace, out: Int64s) -> None:
    """Add the tasks' last blocks and the totals of those before."""
    block = PACKED_BLOCK if packed else WIDE_BLOCK
    for task in range(tasks):
        unpack_cells(packed, work.buffers[task], -min(task, 1), ZERO, out.shape[1], out)
    for task in range(tasks):
        if n_rows * (task + 1) // tasks - n_rows * task // tasks > block:
            for field in range(3):
                target, source = out[field], work.totals[task, field]
                for c in range(len(target)):
                    target[c] += source[c]


@returns(types.none)
@kernel
def build_histogram(
    data: TreeInput,
    features: NDArray[np.int64],
    gradients: Gradients,
    entries: NDArray[np.uint64],
    in_order: bool,
    begin: int,
    end: int,
    tasks: int,
    work: Workspace,
    out: NDArray[np.int64],
) -> None:
    """Histogram of the rows ``entries[begin:end]`` into ``out``, int64 (3, cells), of which ``cell_words`` are used.

    ``in_order``: entry i is row i. Cells of features that are not in ``features`` are undefined; of a table of bundles these are
    its stored columns.
    """
    n_rows = end - begin
    words = cell_words(gradients.packed, n_rows)
    used = tasks if n_rows * len(features) >= PARALLEL_CELLS else 1
    width = data.columns.shape[0]
    if gradients.packed and data.uniform and width > TILE and 2 * len(features) > width:
        _fill_tiles(used, data, entries, in_order, begin, end, work.buffers[0], out)
        return
    if words < 3:
        for w in range(words):
            cells = out[w]
            for c in range(len(cells)):
                cells[c] = 0
    if used > 1:
        _fill_tasks(used, data, features, gradients, entries, in_order, begin, end, work)
    else:
        # A single block is summed where it stays.
        buffer = out if words < 3 else work.buffers[0]
        _fill_task(data, features, gradients, entries, in_order, begin, end, buffer, work.totals[0])
    if words < 3 and used == 1:
        return
    if words < 3:
        _collect_words(words, used, work.buffers, out)
    else:
        _collect_totals(gradients.packed, n_rows, used, work, out)


@shared_kernel
def _subtract(
    task: int,
    tasks: int,
    words: tuple[Int, Int, Int],
    n_cells: int,
    parent: Int64s,
    child: Int64s,
) -> None:
    parent_words, child_words, sibling_words = words
    begin, end = part(n_cells, task, tasks)
    if parent_words == child_words:
        for w in range(parent_words):
            target, source = parent[w], child[w]
            for c in range(begin, end):
                target[c] -= source[c]
        return
    gradient, hessian, count = parent[0], parent[1], parent[2]
    for c in range(begin, end):
        g, h, n = read_cell(child, child_words, c)
        gradient[c] -= g
        hessian[c] -= h
        count[c] -= n
    if sibling_words == 1:
        for c in range(begin, end):
            gradient[c] = (gradient[c] << GRADIENT_SHIFT) + (hessian[c] << COUNT_BITS) + count[c]
    elif sibling_words == 2:
        for c in range(begin, end):
            hessian[c] = (hessian[c] << WIDE_SHIFT) + count[c]


@inlined
def subtract_words(
    words: tuple[Int, Int, Int], n_cells: int, tasks: int, parent: Int64s, child: Int64s
) -> None:
    """Subtract the first ``n_cells`` cells of two histograms; ``words``: of a cell of parent, child and sibling."""
    _subtract(tasks if n_cells >= PARALLEL_SUBTRACTION else ONE, words, n_cells, parent, child)


@returns(types.none)
@kernel
def subtract_histogram(
    packed: bool,
    parent_rows: int,
    child_rows: int,
    tasks: int,
    parent: NDArray[np.int64],
    child: NDArray[np.int64],
) -> None:
    """Turn the parent's histogram into that of the other child, in place; ``child`` is the smaller one."""
    words = (
        cell_words(packed, parent_rows),
        cell_words(packed, child_rows),
        cell_words(packed, parent_rows - child_rows),
    )
    subtract_words(words, parent.shape[1], tasks, parent, child)
