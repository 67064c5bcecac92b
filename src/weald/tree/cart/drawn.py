"""Random splits (Geurts, Ernst and Wehenkel 2006): one threshold a feature, uniformly between the node's extreme values.

The value of a bin is the middle between its cuts. Of a categorical feature a set of the node's categories is drawn; for the
absolute error a single one. The rows on both sides of what was drawn are summed as a histogram of three bins: on the left, on
the right, and missing.
"""

from __future__ import annotations

import numpy as np
from numba import types

from weald.runtime.arrays import Index, Int64s, Uint8s, Uint64s
from weald.runtime.far import returns
from weald.runtime.jit import bare_inner_kernel, inlined
from weald.runtime.random import below, mix
from weald.tree.cart.categories import draw_set
from weald.tree.cart.items import STRIDE
from weald.tree.cart.search import search_cuts
from weald.tree.cart.state import (
    ABSOLUTE,
    CLASS_OUTPUTS,
    HALF,
    LOW,
    ONE_CLASS_OUTPUT,
    CartPlan,
    CartTable,
    Node,
    NodeRows,
    Scratch,
)
from weald.tree.splits.categories import has_bin

MISSING = 2  # the third of the three bins
BLOCK = 256  # rows that are passed over feature by feature: their bins stay in the first-level cache
NOTHING = -1  # is drawn where a feature is constant in a node


@inlined
def _fill_ranges(
    bins: Uint8s,
    width: int,
    features: Int64s,
    entries: Uint64s,
    begin: int,
    end: int,
    lowest: Int64s,
    highest: Int64s,
) -> None:
    """Smallest and largest bin of every feature in the node."""
    for j in range(len(features)):
        lowest[j], highest[j] = 255, 0
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        for j in range(len(features)):
            feature, low, high = np.uint64(features[j]), lowest[j], highest[j]
            for i in range(np.uint64(start), np.uint64(stop)):
                value = np.int64(bins[(entries[i] >> HALF) * np.uint64(width) + feature])
                low, high = min(low, value), max(high, value)
            lowest[j], highest[j] = low, high


@inlined
def _draw_threshold(table: CartTable, feature: int, first: int, last: int, bits: np.uint64) -> int:
    """The last bin on the left, of the bins ``first`` to ``last`` of the node: the last whose value is below the threshold."""
    share = np.float64(bits >> np.uint64(11)) * 2.0**-53
    threshold = (1.0 - share) * table.middles[feature, first] + share * table.middles[feature, last]
    return search_cuts(table.middles, feature, threshold, first + 1, last) - 1


@inlined
def _last_value(table: CartTable, feature: int, entries: Uint64s, begin: int, end: int) -> np.int64:
    """The node's largest bin but for missing values."""
    last, width, missing = np.int64(0), len(table.n_bins), table.n_bins[feature]
    for i in range(begin, end):
        value = np.int64(table.rows[np.int64(entries[i] >> HALF) * width + feature])
        last = max(last, value if value < missing else np.int64(0))
    return last


@inlined
def _draw_category(
    table: CartTable, feature: int, entries: Uint64s, begin: int, end: int, bits: np.uint64, seen: Int64s
) -> np.int64:
    """One of the node's categories."""
    n_seen, width = np.int64(0), len(table.n_bins)
    for b in range(table.n_bins[feature] + 1):
        seen[b] = 0
    for i in range(begin, end):
        value = np.int64(table.rows[np.int64(entries[i] >> HALF) * width + feature])
        n_seen += 1 - seen[value]
        seen[value] = 1
    wanted, category = below(bits, n_seen), np.int64(-1)
    while wanted >= 0:
        category += 1
        wanted -= seen[category]
    return category


@returns(types.none)
@bare_inner_kernel
def draw_bins(
    plan: CartPlan,
    node: Node,
    table: CartTable,
    features: Int64s,
    key: np.uint64,
    entries: Uint64s,
    scratch: Scratch,
) -> None:
    """The split to be tried on every feature: ``scratch.drawn``, the last bin on the left or the category, or ``drawn_sets``."""
    begin, end, lowest, drawn = node.begin, node.end, scratch.lowest, scratch.drawn
    _fill_ranges(table.rows, len(table.n_bins), features, entries, begin, end, lowest, drawn)
    for j in range(len(features)):
        feature, first, last = features[j], lowest[j], drawn[j]
        bits = mix(key + np.uint64(feature))
        if first == last:
            drawn[j] = NOTHING
        elif table.categorical[feature] and plan.criterion == ABSOLUTE:
            drawn[j] = _draw_category(table, feature, entries, begin, end, bits, scratch.starts)
        elif table.categorical[feature]:
            drawn[j] = 0
            draw_set(table, feature, entries, begin, end, bits, scratch.drawn_sets[j])
        else:
            if last == table.n_bins[feature]:
                last = _last_value(table, feature, entries, begin, end)
            drawn[j] = first if first == last else _draw_threshold(table, feature, first, last, bits)


@inlined
def _fill_groups_of(
    plan: CartPlan,
    table: CartTable,
    feature: Index,
    place: int,
    begin: int,
    end: int,
    rows: NodeRows,
    scratch: Scratch,
) -> None:
    """Rows begin..end of one feature, the one at ``place`` of those that are looked at together."""
    entries, codes, amounts, cells = rows.entries, rows.codes, rows.amounts, scratch.cells
    drawn, drawn_set = scratch.drawn[place], scratch.drawn_sets[place]
    # Unsigned, or Numba adds a test for negative indices.
    bins, width, feature = table.rows, np.uint64(len(table.n_bins)), np.uint64(feature)
    slots, outputs, code_bits = np.uint64(plan.n_slots), np.uint64(plan.n_outputs), np.uint64(plan.code_bits)
    mask, one, first = (np.uint64(1) << code_bits) - np.uint64(1), np.uint64(1), place * STRIDE * plan.n_slots
    categorical, missing = table.categorical[feature], table.n_bins[feature]
    for i in range(np.uint64(begin), np.uint64(end)):
        row, low = entries[i] >> HALF, entries[i] & LOW
        value = np.int64(bins[row * width + feature])
        group = np.uint64(value > drawn) + np.uint64(value == missing)
        if categorical:
            group = np.uint64(1 - has_bin(drawn_set, value))
        cell = np.uint64(first) + group * slots
        word = (np.int64(low >> code_bits) << 32) + 1
        if plan.kind == ONE_CLASS_OUTPUT:
            cells[cell + (low & mask)] += word
        elif plan.kind == CLASS_OUTPUTS:
            cells[cell + np.uint64(codes[row * outputs])] += word
            for output in range(one, outputs):
                cells[cell + np.uint64(codes[row * outputs + output])] += word - 1
        else:
            for slot in range(slots):
                cells[cell + slot] += amounts[row * slots + slot]


@returns(types.none)
@bare_inner_kernel
def fill_groups(
    plan: CartPlan,
    node: Node,
    table: CartTable,
    features: Int64s,
    rows: NodeRows,
    scratch: Scratch,
) -> None:
    """`fill_cells` with three bins: on the left of what was drawn, on the right, and missing.

    Of a categorical feature missing values are a category like the others.
    """
    for start in range(node.begin, node.end, BLOCK):
        end = min(start + BLOCK, node.end)
        for j in range(len(features)):
            _fill_groups_of(plan, table, features[j], j, start, end, rows, scratch)
