"""Sums of the items of a segment, and their prefixes, a chunk at a time."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Int, Uint64s
from weald.runtime.jit import inlined, inner_kernel
from weald.runtime.prefetch import prefetch
from weald.tree.exact.drawn import is_candidate
from weald.tree.exact.segments import AHEAD, row_of
from weald.tree.histograms.cells import packed_count, packed_gradient, packed_hessian, spread_packed
from weald.tree.histograms.prefixes import Scratch
from weald.tree.state import PACKED_BLOCK, Gradients

_MARK_SHIFT = np.uint64(63)


@inlined
def sum_packed(items: Uint64s, begin: Int, end: Int) -> tuple[Int, Int]:
    """Gradients and hessians of items that carry them."""
    gradient, hessian = np.int64(0), np.int64(0)
    for first in range(begin, end, PACKED_BLOCK):
        total = np.int64(0)
        for i in range(np.uint64(first), np.uint64(min(first + PACKED_BLOCK, end))):
            total += spread_packed(items[i])
        gradient += packed_gradient(total)
        hessian += packed_hessian(total)
    return gradient, hessian


@inlined
def sum_wide(items: Uint64s, begin: Int, end: Int, wide: Uint64s) -> tuple[Int, Int]:
    """The same where gradients are gathered by row."""
    gradient, hessian = np.int64(0), np.int64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        prefetch(wide, np.int64(row_of(items[min(i + np.uint64(AHEAD), np.uint64(end - 1))])))
        word = wide[row_of(items[i])]
        gradient += np.int64(word) >> 32
        hessian += np.int64(word & np.uint64(0xFFFFFFFF))
    return gradient, hessian


@inlined
def sum_items(items: Uint64s, begin: Int, end: Int, gradients: Gradients) -> tuple[Int, Int]:
    """Gradients and hessians of a stretch of a segment."""
    if gradients.packed:
        return sum_packed(items, begin, end)
    return sum_wide(items, begin, end, gradients.wide)


@inner_kernel
def _chunk_packed(
    items: Uint64s, begin: int, first: int, last: Int, end: Int, g_before: Int, h_before: Int, prefix: Scratch
) -> tuple[Int, Int, Int]:
    """Prefixes of items that carry their gradients; see `chunk_prefixes`."""
    rows, places, gradient, hessian = prefix.rows, prefix.bins, prefix.gradient, prefix.hessian
    size, total, final = np.uint64(0), np.int64(0), np.uint64(last - 1)
    for i in range(np.uint64(first), final):
        total += spread_packed(items[i])  # three sums in one
        rows[size] = total
        places[size] = i
        size += items[i + np.uint64(1)] >> _MARK_SHIFT
    total += spread_packed(items[final])
    rows[size] = total
    places[size] = final
    size += np.uint64(is_candidate(items, last, end))
    before = first - begin
    for k in range(size):
        word = rows[k]
        gradient[k] = g_before + packed_gradient(word)
        hessian[k] = h_before + packed_hessian(word)
        rows[k] = before + packed_count(word)
    return np.int64(size), g_before + packed_gradient(total), h_before + packed_hessian(total)


@inner_kernel
def _chunk_wide(
    items: Uint64s,
    begin: int,
    first: int,
    last: Int,
    end: Int,
    g_before: Int,
    h_before: Int,
    wide: Uint64s,
    prefix: Scratch,
) -> tuple[Int, Int, Int]:
    """Prefixes where gradients are gathered by row; see `chunk_prefixes`."""
    rows, places, gradient, hessian = prefix.rows, prefix.bins, prefix.gradient, prefix.hessian
    size, final = np.uint64(0), np.uint64(last - 1)
    for i in range(np.uint64(first), np.uint64(last)):
        prefetch(wide, np.int64(row_of(items[min(i + np.uint64(AHEAD), final)])))
        word = wide[row_of(items[i])]
        g_before += np.int64(word) >> 32
        h_before += np.int64(word & np.uint64(0xFFFFFFFF))
        gradient[size] = g_before
        hessian[size] = h_before
        rows[size] = np.int64(i) - begin + 1
        places[size] = i
        if i < final:
            size += items[i + np.uint64(1)] >> _MARK_SHIFT
    size += np.uint64(is_candidate(items, last, end))
    return np.int64(size), g_before, h_before


@inlined
def chunk_prefixes(
    items: Uint64s,
    begin: int,
    first: int,
    last: Int,
    end: Int,
    before: tuple[Int, Int],
    gradients: Gradients,
    prefix: Scratch,
) -> tuple[Int, tuple[Int, Int]]:
    """Prefix sums of the items first..last of a segment up to ``end``, where a value ends and a split can be made.

    Their number is returned, and the gradient and hessian up to ``last``. ``before``: those up to ``first``; rows are
    counted from the place ``begin`` on. An item's place stands for its bin.
    """
    if gradients.packed:
        size, gradient, hessian = _chunk_packed(items, begin, first, last, end, before[0], before[1], prefix)
    else:
        size, gradient, hessian = _chunk_wide(
            items, begin, first, last, end, before[0], before[1], gradients.wide, prefix
        )
    return size, (gradient, hessian)


@inlined
def missing_sums(
    items: Uint64s, begin: int, end: int, totals: tuple[Int, Int, Int], gradients: Gradients
) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of the node's rows that have no item in the segment."""
    if end - begin == totals[2]:
        return np.int64(0), np.int64(0), np.int64(0)
    gradient, hessian = sum_items(items, begin, end, gradients)
    return totals[0] - gradient, totals[1] - hessian, totals[2] - (end - begin)
