"""Segments of the column blocks: filled once a tree, divided when a node is split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Index, Int, Int64s, Uint8s, Uint32s, Uint64s
from weald.runtime.jit import inlined, inner_kernel
from weald.runtime.prefetch import prefetch
from weald.tree.exact.state import MARK, NOT_SAMPLED, ROW_MASK, ROW_SHIFT, ExactInput, ExactWork

AHEAD = 16  # items between a prefetch and its use

BEGIN, MIDDLE, END = 0, 1, 2  # of a segment

_NO_MARK = ~MARK
_ROW_BITS = np.uint32(0x7FFFFFFF)
_MARK_32 = np.uint32(0x80000000)


@inlined
def row_of(item: np.uint64) -> np.uint64:
    """The number of an item's row."""
    return (item >> ROW_SHIFT) & ROW_MASK


@inlined
def code_of(data: ExactInput, feature: int, row: np.uint64) -> Int:
    """The code of a row that has an item in the column."""
    if data.codes.shape[0] > 0:
        return np.int64(data.codes[feature, row])
    low, high = data.entry_starts[feature], data.entry_starts[feature + 1]
    while low < high:
        middle = (low + high) // 2
        if data.entry_rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return np.int64(data.entry_codes[low])


@inner_kernel
def _fill_range(
    data: ExactInput,
    feature: int,
    coded: bool,
    words: Uint32s,
    begin: int,
    end: int,
    at: Index,
    items: Uint64s,
) -> Int:
    """Items of the sorted rows begin..end, from the place ``at`` on; where they end is returned."""
    source = data.sorted_rows
    pending, final = np.uint32(0), np.uint64(end - 1)
    at = np.uint64(at)
    for i in range(np.uint64(begin), np.uint64(end)):
        prefetch(words, np.int64(source[min(i + np.uint64(AHEAD), final)] & _ROW_BITS))
        row = source[i] & _ROW_BITS
        word = words[row]
        pending |= source[i] & _MARK_32
        sampled = word != NOT_SAMPLED
        low = np.uint64(word)
        if coded and sampled:
            low = np.uint64(code_of(data, feature, row))
        items[at] = (np.uint64(row | pending) << ROW_SHIFT) | low
        at += np.uint64(sampled)
        pending = np.uint32(0) if sampled else pending
    return np.int64(at)


@inner_kernel
def fill_segment(
    data: ExactInput, feature: int, coded: bool, words: Uint32s, items: Uint64s, segment: NDArray[np.int64]
) -> None:
    """Make the root's segment of a column from its sorted rows, and say where it begins, passes the rest, and ends.

    ``coded``: the low half is the value's code, otherwise what ``words`` has for the row. Rows that were not sampled are left
    out, and a mark on one of them moves on to the next row that was.
    """
    begin, middle, end = data.offsets[feature], data.middles[feature], data.offsets[feature + 1]
    segment[BEGIN] = begin
    segment[MIDDLE] = begin
    if middle > begin:
        segment[MIDDLE] = _fill_range(data, feature, coded, words, begin, middle, begin, items)
    segment[END] = _fill_range(data, feature, coded, words, middle, end, segment[MIDDLE], items)


@inner_kernel
def divide_segment(
    source: Uint64s, begin: int, end: int, n_left: int, goes_left: Uint8s, target: Uint64s
) -> None:
    """Copy items to ``target``, those of left rows first, both sides in their old order.

    An item keeps or gets a mark when a distinct value began between it and the item before it on its side.
    """
    left, right = np.uint64(begin), np.uint64(begin + n_left)
    left_mark, right_mark = np.uint64(0), np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        item = source[i]
        go = np.uint64(goes_left[row_of(item)])
        mark = item & MARK
        left_mark |= mark
        right_mark |= mark
        target[left if go else right] = (item & _NO_MARK) | (left_mark if go else right_mark)
        left_mark = np.uint64(0) if go else left_mark
        right_mark = right_mark if go else np.uint64(0)
        left += go
        right += np.uint64(1) - go


@inner_kernel
def count_left(items: Uint64s, begin: int, end: int, goes_left: Uint8s) -> Int:
    """How many items of a segment have rows that go left."""
    count = np.int64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        count += np.int64(goes_left[row_of(items[i])])
    return count


@inlined
def fill_goes_left(work: ExactWork, side: int, rows: tuple[Int, Int], segment: Int64s, place: Int64s) -> None:
    """Say for every row of a node whether it goes left.

    ``rows``: where the node's entries begin and end; ``segment``: the split column's; ``place``: where its items that go left
    begin and end, and whether the rows without an item do.
    """
    entries, items, goes_left = work.entries[side], work.items[side], work.goes_left
    if segment[END] - segment[BEGIN] < rows[1] - rows[0]:
        for i in range(np.uint64(rows[0]), np.uint64(rows[1])):
            goes_left[entries[i] >> ROW_SHIFT] = np.uint8(place[2])
    for i in range(np.uint64(segment[BEGIN]), np.uint64(segment[END])):
        goes_left[row_of(items[i])] = np.uint8(np.uint64(place[0]) <= i < np.uint64(place[1]))
