"""A tree's rows: how often each was drawn, its weight as an integer, and its entry."""

from __future__ import annotations

import math

import numpy as np

from weald.runtime.arrays import Float64s, Int32s, Int64s, Uint64s
from weald.runtime.jit import bare_inner_kernel, bare_kernel, inlined
from weald.runtime.random import ROWS, below, mix, stream
from weald.tree.cart.state import HALF, LOW, NUMBERS, ONE_CLASS_OUTPUT, CartPlan, CartRows, Labels

_WEIGHT_BITS = 30  # float weights are scaled so that their sum stays below; rounding may double it
_SUM_BITS = 61


@bare_kernel
def draw_counts(key: np.uint64, bootstrap: bool, n_draws: int, order: Int64s, counts: Int32s) -> None:
    """How often every row is drawn by the tree of this key; ``counts``: int32 (rows,).

    ``order``: int64 (rows,), used where rows are drawn without replacement.
    """
    n_rows = len(counts)
    rows_key = stream(key, ROWS)
    all_rows = not bootstrap and n_draws >= n_rows
    for row in range(n_rows):
        counts[row] = 1 if all_rows else 0
    if all_rows:
        return
    if bootstrap:
        for draw in range(n_draws):
            counts[below(mix(rows_key + np.uint64(draw)), n_rows)] += 1
        return
    for row in range(n_rows):
        order[row] = row
    for place in range(n_draws):
        other = place + below(mix(rows_key + np.uint64(place)), n_rows - place)
        order[place], order[other] = order[other], order[place]
        counts[order[place]] = 1


def bootstrap_counts(key: int, n_rows: int, n_draws: int, replace: bool = True) -> Int32s:
    """Times each row was drawn by the tree of that key, int32 (rows,); 0 is out of bag.

    >>> int(bootstrap_counts(7, 1000, 1000).sum())
    1000
    """
    counts = np.empty(n_rows, np.int32)
    order = np.empty(1 if replace else n_rows, np.int64)
    draw_counts(np.uint64(key), replace, n_draws, order, counts)
    return counts


@inlined
def _weight_scale(weight: Float64s, counts: Int32s, largest_weight: float) -> float:
    """A power of two that makes weights integers: their sum below 2**30 and each below ``largest_weight``."""
    total, largest = 0.0, 0.0
    for row in range(len(counts)):
        own = counts[row] * weight[row]
        total += own
        largest = max(largest, own)
    if total == 0.0:
        return 0.0
    exponent = min(_WEIGHT_BITS - math.frexp(total)[1], 1000)
    while largest * math.ldexp(1.0, exponent) >= 0.5 * largest_weight:  # half: rounding may add to it
        exponent -= 1
    return math.ldexp(1.0, exponent)


@inlined
def _fill_amounts(plan: CartPlan, labels: Labels, entries: Uint64s, n_rows: int, amounts: Int64s) -> float:
    """What the tree's rows add to the sums: weight << 32 | 1, and weight * label as an integer; the labels' unit is returned."""
    values, centres, n_outputs, n_slots = labels.values, labels.centres, plan.n_outputs, plan.n_slots
    total = 0.0
    for i in range(n_rows):
        row, weight = np.int64(entries[i] >> HALF), np.float64(np.int64(entries[i] & LOW))
        for output in range(n_outputs):
            total += weight * abs(values[row * n_outputs + output] - centres[output])
    exponent = min(_SUM_BITS - math.frexp(total)[1], 1000) if total > 0.0 else 0
    scale = math.ldexp(1.0, exponent)
    for i in range(n_rows):
        row, low = np.int64(entries[i] >> HALF), np.int64(entries[i] & LOW)
        amounts[row * n_slots] = (low << 32) + 1
        for output in range(n_outputs):
            label = np.int64(np.rint((values[row * n_outputs + output] - centres[output]) * scale))
            amounts[row * n_slots + 1 + output] = low * label
    return 1.0 / scale


@inlined
def _write_entry(
    plan: CartPlan, labels: Labels, scale: float, counts: Int32s, row: int, entries: Uint64s, size: int
) -> int:
    """Append the row's entry if it was drawn; the new size."""
    if counts[row] == 0:
        return size
    weight = np.int64(counts[row])
    if len(labels.weight) > 0:
        weight *= max(np.int64(1), np.int64(np.rint(labels.weight[row] * scale)))
    low = weight << plan.code_bits
    if plan.kind == ONE_CLASS_OUTPUT:
        low |= np.int64(labels.codes[row])
    entries[size] = (np.uint64(row) << HALF) | np.uint64(low)
    return size + 1


@bare_inner_kernel
def open_tree(plan: CartPlan, key: np.uint64, labels: Labels, rows: CartRows) -> tuple[int, float]:
    """Draw the tree's rows and write their entries and amounts; their number and the unit of the labels are returned.

    Should no row of positive weight be drawn, the tree takes all rows.
    """
    counts, weight = rows.counts, labels.weight
    draw_counts(key, plan.bootstrap, plan.n_draws, rows.shuffled, counts)
    scale = 1.0
    if len(weight) > 0:
        largest_weight = np.float64(np.int64(1) << (32 - max(plan.code_bits, 1)))
        scale = 0.0
        while scale == 0.0:
            scale = _weight_scale(weight, counts, largest_weight)
            for row in range(len(counts)):
                if scale == 0.0:
                    counts[row] = 1
                elif weight[row] == 0.0:
                    counts[row] = 0
    size = 0
    for row in range(len(counts)):
        size = _write_entry(plan, labels, scale, counts, row, rows.entries[0, 0], size)
    for output in range(len(labels.by_value)):
        size = 0
        for i in range(len(counts)):
            row = labels.by_value[output, i]
            size = _write_entry(plan, labels, scale, counts, row, rows.entries[0, 1 + output], size)
    unit = 1.0
    if plan.kind == NUMBERS:
        unit = _fill_amounts(plan, labels, rows.entries[0, 0], size, rows.amounts)
    return size, unit
