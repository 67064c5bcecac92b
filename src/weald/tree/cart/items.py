"""A node's rows in the order of one feature's bins, as *items*: single rows (sorted) or whole cells of a histogram.

An item has a key, ``bin << 32 | slot``, and an amount that it adds to the sum of that slot. A search is a walk over
the items, so it does not matter which of the two ways made them: the sums are the same integers.
"""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Int, Int32s, Int64s, Uint8s, Uint64s
from weald.runtime.jit import bare_inner_kernel
from weald.runtime.prefetch import prefetch
from weald.tree.cart.state import ABSOLUTE, CLASS_OUTPUTS, HALF, LOW, ONE_CLASS_OUTPUT, ROWS_MASK, CartPlan

# Cells a feature and slot: 256 bins, padded so that no stride is a multiple of 2,048 bytes (4K aliasing).
STRIDE = 264
AHEAD = 12  # rows between a prefetch and its use
INSERTION_ROWS = 16  # up to so many rows insertion sort wins over counting


@bare_inner_kernel
def fill_cells(
    plan: CartPlan,
    bins: Uint8s,
    width: int,
    features: Int64s,
    entries: Uint64s,
    begin: int,
    end: int,
    codes: Int32s,
    amounts: Int64s,
    cells: Int64s,
) -> None:
    """Add the rows ``entries[begin:end]`` to the histograms of ``features``, (features, STRIDE, slots) flat."""
    slots = np.uint64(plan.n_slots)
    stride = np.uint64(STRIDE) * slots
    mask = (np.uint64(1) << np.uint64(plan.code_bits)) - np.uint64(1)
    final = end - 1
    for i in range(begin, end):
        prefetch(bins, np.int64(entries[min(i + AHEAD, final)] >> HALF) * width)
        row, low = entries[i] >> HALF, entries[i] & LOW
        word = (np.int64(low >> np.uint64(plan.code_bits)) << 32) + 1
        start, cell = row * np.uint64(width), np.uint64(0)
        for j in range(len(features)):
            place = cell + np.uint64(bins[start + np.uint64(features[j])]) * slots
            cell += stride
            if plan.kind == ONE_CLASS_OUTPUT:
                cells[place + (low & mask)] += word
            elif plan.kind == CLASS_OUTPUTS:
                first_code = row * np.uint64(plan.n_outputs)
                cells[place + np.uint64(codes[first_code])] += word
                for output in range(1, plan.n_outputs):
                    cells[place + np.uint64(codes[first_code + np.uint64(output)])] += word - 1
            else:
                for slot in range(slots):
                    cells[place + slot] += amounts[row * slots + slot]


@bare_inner_kernel
def items_from_cells(
    n_bins: int, n_slots: int, first: Int, cells: Int64s, keys: Int64s, item_amounts: Int64s
) -> np.int64:
    """One feature's cells, from ``first`` on, as items; their number. The cells are left zero."""
    size, cell = np.uint64(0), np.uint64(first)
    for b in range(n_bins + 1):
        for slot in range(n_slots):
            # Written in any case, kept if there is something in the cell: no branch to be guessed.
            keys[size] = (b << 32) | slot
            item_amounts[size] = cells[cell]
            size += np.uint64(cells[cell] != 0)
            cells[cell] = 0
            cell += np.uint64(1)
    return np.int64(size)


@bare_inner_kernel
def sort_rows(
    bins: Uint8s,
    width: int,
    feature: int,
    entries: Uint64s,
    begin: int,
    end: int,
    starts: Int64s,
    keys: Int64s,
) -> None:
    """``keys[:rows]`` = bin << 32 | place among the node's rows, ascending: by bin, then in the old order."""
    # Unsigned, or Numba adds a test for negative indices.
    first, n_rows, one = np.uint64(begin), np.uint64(end - begin), np.uint64(1)
    row_size, column = np.uint64(width), np.uint64(feature)
    if n_rows <= INSERTION_ROWS:
        for i in range(n_rows):
            place = np.uint64(i)
            key = (np.int64(bins[(entries[first + i] >> HALF) * row_size + column]) << 32) | np.int64(i)
            while place > 0 and keys[place - one] > key:
                keys[place] = keys[place - one]
                place -= one
            keys[place] = key
        return
    for b in range(257):
        starts[b] = 0
    for i in range(n_rows):
        starts[np.uint64(bins[(entries[first + i] >> HALF) * row_size + column]) + one] += 1
    for b in range(256):
        starts[b + 1] += starts[b]
    for i in range(n_rows):
        value = bins[(entries[first + i] >> HALF) * row_size + column]
        keys[np.uint64(starts[value])] = (np.int64(value) << 32) | np.int64(i)
        starts[value] += 1


@bare_inner_kernel
def items_from_rows(
    plan: CartPlan,
    entries: Uint64s,
    begin: int,
    end: int,
    codes: Int32s,
    amounts: Int64s,
    keys: Int64s,
    item_amounts: Int64s,
) -> Int:
    """Turn sorted rows, ``keys`` as `sort_rows` leaves them, into items; their number.

    For the absolute error an item is a row, with its number in place of a slot.
    """
    n_rows = end - begin
    if plan.criterion == ABSOLUTE:
        for i in range(n_rows):
            keys[i] = (keys[i] & ~ROWS_MASK) | np.int64(entries[begin + (keys[i] & ROWS_MASK)] >> HALF)
        return n_rows
    if plan.kind == ONE_CLASS_OUTPUT:
        mask = (np.int64(1) << plan.code_bits) - 1
        for i in range(np.uint64(n_rows)):
            key = keys[i]
            low = np.int64(entries[np.uint64(begin + (key & ROWS_MASK))] & LOW)
            keys[i] = (key & ~ROWS_MASK) | (low & mask)
            item_amounts[i] = ((low >> plan.code_bits) << 32) + 1
        return n_rows
    # Several items a row: from the last row to the first, so that no key is overwritten before it was read.
    per_row = plan.n_outputs if plan.kind == CLASS_OUTPUTS else plan.n_slots
    for i in range(n_rows - 1, -1, -1):
        key = keys[i]
        entry = entries[begin + (key & ROWS_MASK)]
        row = np.int64(entry >> HALF)
        for j in range(per_row - 1, -1, -1):
            if plan.kind == CLASS_OUTPUTS:
                slot, amount = (
                    np.int64(codes[row * per_row + j]),
                    (np.int64(entry & LOW) << 32) + np.int64(j == 0),
                )
            else:
                slot, amount = np.int64(j), amounts[row * per_row + j]
            keys[i * per_row + j] = (key & ~ROWS_MASK) | slot
            item_amounts[i * per_row + j] = amount
    return n_rows * per_row
