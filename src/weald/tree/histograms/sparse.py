"""Histograms, column sums and columns of a sparse binned table: time grows with the cells that are kept.

The histogram of a node adds the kept cells of its rows. The cell of a column's *default bin* (see binning/sparse.py) is never
stored: it is what the node's totals leave when all other cells of the column are subtracted.

A cell has a number: its column's offset plus its bin. Columns with more than ``PACKED_BLOCK`` kept cells, the *frequent* ones,
come first and have three words a cell (gradient, hessian, count), in three planes; all others never overflow a packed word, in
a node of any size, so they have one. Wide gradients have three words everywhere. A node's histogram is one row of words:

    frequent gradients | frequent hessians | frequent counts | packed words of the other cells

so sums and differences are integers of one format, whatever the number of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import BinCodes, Bools, Int, Int64s, Uint8s, Uint64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ONE, ZERO, bare_inner_kernel, inlined, inner_kernel, kernel
from weald.runtime.prefetch import prefetch
from weald.runtime.tasks import shared_kernel
from weald.tree.histograms.bundled import in_bundle, read_member
from weald.tree.histograms.cells import (
    cell_words,
    packed_count,
    packed_gradient,
    packed_hessian,
    read_cell,
    spread_packed,
)
from weald.tree.histograms.histogram import subtract_words
from weald.tree.state import PACKED_BLOCK, Codes, Gradients, TreeInput, Workspace

if TYPE_CHECKING:
    from weald.tree.histograms.prefixes import Scratch

AHEAD = 8  # rows between a prefetch and its use
# A kept cell costs so many times as much when rows are added one after the other (3.2 ns) as when columns are (1.7 ns), whose
# cells stay in the first-level cache; but columns are passed over whole, also for a node of few rows.
ROW_COST = 2
PARALLEL_CELLS = (
    200_000  # cells of a histogram from which two threads look for promising columns faster than one
)

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@inlined
def plane_size(data: TreeInput, packed: bool) -> int:
    """Cells that have three words: those of frequent columns, or all."""
    return data.n_frequent if packed else data.n_cells


@inlined
def _add_rows(
    data: TreeInput, gradients: Gradients, entries: Uint64s, begin: int, end: int, words: Int64s
) -> None:
    """Add rows one after the other; a row's cells ascend, so those with three words come first."""
    plane = plane_size(data, gradients.packed)
    final = end - 1
    for i in range(begin, end):
        further = entries[min(i + 2 * AHEAD, final)] >> _HALF
        prefetch(data.row_starts, np.int64(further))
        prefetch(data.row_cells, data.row_starts[entries[min(i + AHEAD, final)] >> _HALF])
        row = entries[i] >> _HALF
        if gradients.packed:
            cell = spread_packed(entries[i])
            gradient, hessian = packed_gradient(cell), packed_hessian(cell)
        else:
            cell = ZERO
            gradient = np.int64(gradients.wide[row]) >> 32
            hessian = np.int64(gradients.wide[row] & _LOW)
        place, last = np.uint64(data.row_starts[row]), np.uint64(data.row_starts[row + np.uint64(1)])
        while place < last and data.row_cells[place] < plane:
            at = np.uint64(data.row_cells[place])
            words[at] += gradient
            words[at + np.uint64(plane)] += hessian
            words[at + np.uint64(2 * plane)] += 1
            place += np.uint64(1)
        while place < last:
            words[np.uint64(data.row_cells[place]) + np.uint64(2 * plane)] += cell
            place += np.uint64(1)


@inlined
def _add_frequent(
    data: TreeInput, added: Int64s, begin: int, end: int, offset: Int, size: int, plane: int, words: Int64s
) -> None:
    """A frequent column, packed: summed in blocks that cannot overflow."""
    block = np.zeros(size, np.int64)
    for start in range(begin, end, PACKED_BLOCK):
        for i in range(np.uint64(start), np.uint64(min(start + PACKED_BLOCK, end))):
            block[data.entry_bins[i]] += added[data.entry_rows[i]]
        for b in range(size):
            if block[b] != 0:
                words[offset + b] += packed_gradient(block[b])
                words[offset + plane + b] += packed_hessian(block[b])
                words[offset + 2 * plane + b] += packed_count(block[b])
                block[b] = 0


@inner_kernel
def _add_column(data: TreeInput, feature: int, gradients: Gradients, added: Int64s, words: Int64s) -> None:
    """Fill the cells of one column; ``added``: what a row adds to a packed cell, or 1 when wide, and 0 outside of the node."""
    plane = plane_size(data, gradients.packed)
    offset = np.int64(data.offsets[feature])
    begin, end = data.entry_starts[feature], data.entry_starts[feature + 1]
    size = data.n_bins[feature] + 1
    if offset >= plane:
        cells = words[offset + 2 * plane : offset + 2 * plane + size]
        cells[:] = 0
        for i in range(np.uint64(begin), np.uint64(end)):
            cells[data.entry_bins[i]] += added[data.entry_rows[i]]
        return
    for p in range(3):
        words[offset + p * plane : offset + p * plane + size] = 0
    if gradients.packed:
        _add_frequent(data, added, begin, end, offset, size, plane, words)
        return
    for i in range(np.uint64(begin), np.uint64(end)):
        row = data.entry_rows[i]
        if added[row] != 0:
            at = offset + data.entry_bins[i]
            words[at] += np.int64(gradients.wide[row]) >> 32
            words[at + plane] += np.int64(gradients.wide[row] & _LOW)
            words[at + 2 * plane] += 1


@shared_kernel
def _add_columns(
    task: int,
    tasks: int,
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    added: Int64s,
    words: Int64s,
) -> None:
    for j in range(task, len(features), tasks):
        _add_column(data, features[j], gradients, added, words)


@returns(types.none)
@kernel
def build_sparse_histogram(
    data: TreeInput,
    features: NDArray[np.int64],
    gradients: Gradients,
    entries: NDArray[np.uint64],
    begin: int,
    end: int,
    tasks: int,
    work: Workspace,
    out: NDArray[np.int64],
) -> None:
    """Histogram of the rows ``entries[begin:end]`` into ``out``, int64 (1, words), without the default bins' cells.

    Many rows are added column after column, few row after row: which never changes a sum. Cells of features that are not in
    ``features`` are undefined.
    """
    words = out[0]
    n_rows = len(data.row_starts) - 1
    if ROW_COST * tasks * (end - begin) * data.n_dividing < n_rows * len(features):
        words[: data.n_cells + 2 * plane_size(data, gradients.packed)] = 0
        _add_rows(data, gradients, entries, begin, end, words)
        return
    for i in range(begin, end):
        added = spread_packed(entries[i]) if gradients.packed else ONE
        work.added[entries[i] >> _HALF] = added
    _add_columns(tasks, data, features, gradients, work.added, words)
    for i in range(begin, end):
        work.added[entries[i] >> _HALF] = 0


@returns(types.UniTuple(types.int64, 2))
@kernel
def sum_entries(gradients: Gradients, entries: NDArray[np.uint64], n_rows: int) -> tuple[Int, Int]:
    """Integer gradient and hessian of so many rows."""
    gradient, hessian = ZERO, ZERO
    for i in range(n_rows):
        if gradients.packed:
            cell = spread_packed(entries[i])
            gradient += packed_gradient(cell)
            hessian += packed_hessian(cell)
        else:
            word = gradients.wide[entries[i] >> _HALF]
            gradient += np.int64(word) >> 32
            hessian += np.int64(word & _LOW)
    return gradient, hessian


@returns(types.none)
@kernel
def subtract_sparse_histogram(
    data: TreeInput, packed: bool, tasks: int, parent: NDArray[np.int64], child: NDArray[np.int64]
) -> None:
    """Turn the parent's histogram into that of the other child, in place."""
    size = data.n_cells + 2 * plane_size(data, packed)
    subtract_words((ONE, ONE, ONE), size, tasks, parent, child)


@inlined
def _kept_sums(words: Int64s, plane: int, offset: np.uint64, n_bins: int) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of all cells of a column but the default one's."""
    first, size = np.uint64(offset), np.uint64(n_bins + 1)
    if first >= plane:
        first += np.uint64(2 * plane)
        word = ZERO
        for b in range(size):
            word += words[first + b]
        return packed_gradient(word), packed_hessian(word), packed_count(word)
    gradient, hessian, count = ZERO, ZERO, ZERO
    for b in range(size):
        gradient += words[first + b]
        hessian += words[first + np.uint64(plane) + b]
        count += words[first + np.uint64(2 * plane) + b]
    return gradient, hessian, count


@shared_kernel
def _mark(
    task: int,
    tasks: int,
    words: Int64s,
    offsets: Uint64s,
    n_bins: Int64s,
    plane: int,
    features: Int64s,
    fewest: int,
    smallest: float,
    marks: Bools,
) -> None:
    for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
        feature = features[j]
        _, hessian, count = _kept_sums(words, plane, offsets[feature], n_bins[feature])
        marks[j] |= (count >= fewest) & (hessian >= smallest)


@returns(types.none)
@kernel
def mark_promising(
    histogram: NDArray[np.int64],
    data: TreeInput,
    features: NDArray[np.int64],
    packed: bool,
    fewest: int,
    smallest: float,
    tasks: int,
    marks: NDArray[np.bool_],
) -> None:
    """Mark the features that may divide a node, besides those marked already.

    Any split has the default bin on one side. So where the kept rows are fewer than ``fewest``, or their hessians add up to less
    than ``smallest``, there is none. Of tens of thousands of columns most have hardly a row in a small node.
    """
    plane = plane_size(data, packed)
    used = tasks if data.n_cells >= PARALLEL_CELLS else ONE
    _mark(used, histogram[0], data.offsets, data.n_bins, plane, features, fewest, smallest, marks)


@inlined
def read_bin(
    histogram: Int64s, data: TreeInput, feature: int, b: int, totals: tuple[Int, Int, Int], packed: bool
) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of one bin of a column, dense, sparse or in a bundle; ``totals``: the node's."""
    if in_bundle(data, feature):
        return far(read_member, (histogram, data, feature, b, totals, packed))
    if data.sparse:
        return far(_read_sparse, (histogram, data, feature, b, totals, packed))
    return read_cell(histogram, cell_words(packed, totals[2]), data.offsets[feature] + np.uint64(b))


@returns(types.UniTuple(types.int64, 3))
@bare_inner_kernel
def _read_sparse(
    histogram: Int64s, data: TreeInput, feature: int, b: int, totals: tuple[Int, Int, Int], packed: bool
) -> tuple[Int, Int, Int]:
    """`read_bin` of a sparse table."""
    words = histogram[0]
    if b == np.int64(data.default_bins[feature]):
        plane = plane_size(data, packed)
        gradient, hessian, count = _kept_sums(words, plane, data.offsets[feature], data.n_bins[feature])
        return totals[0] - gradient, totals[1] - hessian, totals[2] - count
    plane = plane_size(data, packed)
    at = np.int64(data.offsets[feature]) + b
    if at >= plane:
        word = words[at + 2 * plane]
        return packed_gradient(word), packed_hessian(word), packed_count(word)
    return words[at], words[at + plane], words[at + 2 * plane]


@returns(types.Tuple([types.int64, types.UniTuple(types.int64, 3)]))
@bare_inner_kernel
def sparse_prefix_sums(
    histogram: Int64s,
    data: TreeInput,
    feature: int,
    totals: tuple[Int, Int, Int],
    packed: bool,
    every_bin: bool,
    prefix: Scratch,
) -> tuple[Int, tuple[Int, Int, Int]]:
    """Prefix sums of a column at every bin, or at every bin that has rows; their number, and what is in the default bin."""
    words, plane = histogram[0], plane_size(data, packed)
    n_bins, default = np.uint64(data.n_bins[feature]), np.uint64(data.default_bins[feature])
    gradient, hessian, count = _kept_sums(words, plane, data.offsets[feature], data.n_bins[feature])
    left_out = (totals[0] - gradient, totals[1] - hessian, totals[2] - count)
    size, first = np.uint64(0), np.uint64(data.offsets[feature])
    has_default = left_out[2] > 0
    if first >= plane:
        first += np.uint64(2 * plane)
        total = ZERO
        for b in range(n_bins):
            word = words[first + b]
            total += word  # three sums in one
            prefix.rows[size] = total
            prefix.bins[size] = b
            size += np.uint64(every_bin | (word != 0) | (has_default & (b == default)))
        for i in range(size):
            word = prefix.rows[i]
            from_default = np.int64(np.uint64(prefix.bins[i]) >= default)
            prefix.gradient[i] = packed_gradient(word) + from_default * left_out[0]
            prefix.hessian[i] = packed_hessian(word) + from_default * left_out[1]
            prefix.rows[i] = packed_count(word) + from_default * left_out[2]
        return np.int64(size), left_out
    g_left, h_left, n_left = ZERO, ZERO, ZERO
    for b in range(n_bins):
        n_bin = words[first + np.uint64(2 * plane) + b]
        g_left += words[first + b]
        h_left += words[first + np.uint64(plane) + b]
        n_left += n_bin
        if b == default:
            g_left += left_out[0]
            h_left += left_out[1]
            n_left += left_out[2]
        prefix.gradient[size] = g_left
        prefix.hessian[size] = h_left
        prefix.rows[size] = n_left
        prefix.bins[size] = b
        size += np.uint64(every_bin | (n_bin != 0) | (has_default & (b == default)))
    return np.int64(size), left_out


@returns(types.none)
@kernel
def fill_column(
    data: TreeInput, feature: int, entries: Uint64s, begin: int, end: int, column: BinCodes, goes_left: Uint8s
) -> None:
    """Make ``column``, all zero, hold a sparse column for the rows of a node, and ``goes_left`` fit it.

    A bin is written as its difference (exclusive or) to the default bin, so that the cells that are not kept are zero already.
    ``goes_left`` is a power of two long, so that the difference of two bins has a place in it.
    """
    default = np.uint64(data.default_bins[feature])
    turned = goes_left.copy()
    for b in range(np.uint64(len(turned))):
        goes_left[b ^ default] = turned[b]
    if _is_searched(data, feature, begin, end):
        first = np.uint32(data.offsets[feature])
        for i in range(begin, end):
            row = entries[i] >> _HALF
            place, last = data.row_starts[row], data.row_starts[row + np.uint64(1)]
            place += np.searchsorted(data.row_cells[place:last], first)
            if place < last and data.row_cells[place] <= first + data.n_bins[feature]:
                column[row] = np.uint64(data.row_cells[place] - first) ^ default
        return
    for i in range(np.uint64(data.entry_starts[feature]), np.uint64(data.entry_starts[feature + 1])):
        column[data.entry_rows[i]] = np.uint64(data.entry_bins[i]) ^ default


@returns(types.none)
@kernel
def clear_column(
    data: TreeInput, feature: int, entries: Uint64s, begin: int, end: int, column: BinCodes
) -> None:
    """Undo `fill_column`."""
    if _is_searched(data, feature, begin, end):
        for i in range(begin, end):
            column[entries[i] >> _HALF] = 0
        return
    for i in range(np.uint64(data.entry_starts[feature]), np.uint64(data.entry_starts[feature + 1])):
        column[data.entry_rows[i]] = 0


@inlined
def _is_searched(data: TreeInput, feature: int, begin: int, end: int) -> bool:
    """Whether a node has so few rows that looking up each of them is quicker than passing over the column."""
    return 32 * (end - begin) < data.entry_starts[feature + 1] - data.entry_starts[feature]


@kernel
def fill_row_cells(
    starts: NDArray[np.int64],
    rows: NDArray[np.uint32],
    bins: Codes,
    order: NDArray[np.int64],
    offsets: NDArray[np.uint64],
    row_starts: NDArray[np.int64],
    row_cells: NDArray[np.uint32],
) -> None:
    """The kept cells row after row, as ascending cell numbers; ``order``: the columns by ascending offset.

    row_starts: int64 (rows + 1,), zero before.
    """
    for i in range(len(rows)):
        row_starts[rows[i]] += 1
    total = ZERO
    for row in range(len(row_starts)):
        size = row_starts[row]
        row_starts[row] = total
        total += size
    for j in range(len(order)):
        for i in range(starts[order[j]], starts[order[j] + 1]):
            row = rows[i]
            row_cells[row_starts[row]] = np.uint32(offsets[order[j]]) + bins[i]
            row_starts[row] += 1
    # Every start has moved to the next row's.
    for row in range(len(row_starts) - 1, 0, -1):
        row_starts[row] = row_starts[row - 1]
    row_starts[0] = 0
