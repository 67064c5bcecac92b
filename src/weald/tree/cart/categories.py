"""Two sets of categories: a node's categories in the order of what they predict, cut like numbers.

For a regression with one output, and for two classes, the order is that of the mean label, and the best cut is the best of
all ways to form two sets (Fisher 1958; Breiman and others 1984, section 4.2.2). That holds for all criteria but the absolute
error, which splits one category from the rest. For several classes or outputs no order is sure to hold the best split; the
categories are sorted along a direction in which their means differ much (Coppersmith, Hong and Hosking 1999, take the first
principal one): one step of the power method towards it, from the class or output whose means differ most.

A missing value is a category like the others. The lighter side becomes the left child; see ``weald.tree.splits.categories``.
"""

from __future__ import annotations

import numpy as np
from numba import types

from weald.runtime.arrays import Int, Int64s, Uint64s
from weald.runtime.far import returns
from weald.runtime.jit import bare_inner_kernel, inlined
from weald.runtime.random import below, mix
from weald.tree.cart.state import (
    BIN,
    HALF,
    LEFT_BINS,
    LEFT_ROWS,
    LEFT_WEIGHT,
    MISSING_LEFT,
    NUMBERS,
    ROWS_MASK,
    CartPlan,
    CartTable,
    Node,
    Scratch,
)
from weald.tree.splits.categories import has_bin, put_bin, put_no_bin, sort_bins
from weald.tree.state import BIN_WORDS


@inlined
def _sum_categories(plan: CartPlan, n_items: Int, scratch: Scratch) -> np.int64:
    """Sums and weight of every category from its items, which lie together; the number of categories."""
    keys, sums, n_slots = scratch.keys, scratch.category_sums, plan.n_slots
    size, last = np.int64(0), np.int64(-1)
    for i in range(n_items):
        b, slot = keys[i] >> 32, keys[i] & ROWS_MASK
        if b != last:
            for place in range(size * n_slots, (size + 1) * n_slots):
                sums[place] = 0
            scratch.category_bins[size], last = b, b
            size += 1
        sums[(size - 1) * n_slots + slot] += scratch.amounts[i]
    for category in range(size):
        weight = np.int64(0)
        for slot in range(1 if plan.kind == NUMBERS else plan.first_classes):
            weight += sums[category * n_slots + slot] >> 32
        scratch.category_weights[category] = weight
    return size


@inlined
def _mean(plan: CartPlan, category: int, slot: int, scratch: Scratch) -> float:
    """A category's mean label of an output, or share of a class."""
    own = scratch.category_sums[category * plan.n_slots + slot]
    if plan.kind != NUMBERS:
        own = own >> 32
    return np.float64(own) / scratch.category_weights[category]


@bare_inner_kernel
def _product(plan: CartPlan, node: Node, size: Int, one: int, other: int, scratch: Scratch) -> float:
    """How the categories' means of two slots vary together."""
    one_mean = np.float64(scratch.totals[one]) / np.float64(node.weight)
    other_mean = np.float64(scratch.totals[other]) / np.float64(node.weight)
    product = 0.0
    for category in range(size):
        first = _mean(plan, category, one, scratch) - one_mean
        second = _mean(plan, category, other, scratch) - other_mean
        product += scratch.category_weights[category] * first * second
    return product


@inlined
def _fill_keys(plan: CartPlan, node: Node, size: Int, scratch: Scratch) -> None:
    """What the categories are sorted by."""
    first_slot, n_slots, direction = 1 if plan.kind == NUMBERS else 0, plan.n_slots, scratch.sums
    if n_slots == 2:
        for category in range(size):
            scratch.category_keys[category] = _mean(plan, category, 1, scratch)
        return
    widest, largest = first_slot, -1.0
    for slot in range(first_slot, n_slots):
        spread = _product(plan, node, size, slot, slot, scratch)
        if spread > largest:
            widest, largest = slot, spread
    for slot in range(first_slot, n_slots):
        direction[slot] = _product(plan, node, size, slot, widest, scratch)
    for category in range(size):
        key = 0.0
        for slot in range(first_slot, n_slots):
            key += direction[slot] * _mean(plan, category, slot, scratch)
        scratch.category_keys[category] = key


@returns(types.int64)
@bare_inner_kernel
def sort_items(plan: CartPlan, node: Node, n_items: Int, scratch: Scratch) -> Int:
    """Turn items by bin into items by the order of the categories, whose keys are place << 32 | slot; their number.

    ``scratch.category_bins`` are the bins in that order, behind them -1.
    """
    size, n_slots, order = _sum_categories(plan, n_items, scratch), plan.n_slots, scratch.category_order
    _fill_keys(plan, node, size, scratch)
    for category in range(size):
        order[category] = category
    sort_bins(scratch.category_keys, order, size)
    n_items = np.int64(0)
    for place in range(size):
        for slot in range(n_slots):
            amount = scratch.category_sums[order[place] * n_slots + slot]
            if amount != 0:
                scratch.keys[n_items] = (place << 32) | slot
                scratch.amounts[n_items] = amount
                n_items += 1
        order[place] = scratch.category_bins[order[place]]
    order[size] = -1
    return n_items


@inlined
def settle_cut(n_bins: int, gathers: bool, node: Node, order: Int64s, best: Int64s) -> None:
    """From a cut of the order, after the place ``best[BIN]``, to the set of bins that goes left."""
    left_bins = best[LEFT_BINS:]
    put_no_bin(left_bins)
    size, rare = np.int64(0), np.int64(-1)
    while order[size] >= 0:
        if gathers and order[size] == n_bins - 1:
            rare = size
        size += 1
    turn = rare <= best[BIN] if rare >= 0 else 2 * best[LEFT_WEIGHT] > node.weight
    best[MISSING_LEFT] = 0
    for place in range(best[BIN] + 1 if turn else 0, size if turn else best[BIN] + 1):
        if order[place] < n_bins:
            put_bin(left_bins, order[place])
        else:
            best[MISSING_LEFT] = 1
    if turn:
        best[LEFT_ROWS] = node.end - node.begin - best[LEFT_ROWS]
    best[BIN] = 0


@bare_inner_kernel
def draw_set(
    table: CartTable, feature: int, entries: Uint64s, begin: int, end: int, bits: np.uint64, sets: Int64s
) -> None:
    """A random set of the node's categories into ``sets[:4]``, and all of them into ``sets[4:]``.

    Every category is on a side by the toss of a coin; if all fall on one side, one of them changes it.
    """
    drawn, present = sets[:BIN_WORDS], sets[BIN_WORDS:]
    put_no_bin(drawn)
    put_no_bin(present)
    width = len(table.n_bins)
    for i in range(begin, end):
        put_bin(present, table.rows[np.int64(entries[i] >> HALF) * width + feature])
    n_seen, n_left = np.int64(0), np.int64(0)
    for b in range(table.n_bins[feature] + 1):
        if has_bin(present, b):
            n_seen += 1
            if mix(bits + np.uint64(b)) >> np.uint64(63):
                put_bin(drawn, b)
                n_left += 1
    if n_left == 0 or n_left == n_seen:
        wanted, changed = below(mix(bits + np.uint64(256)), n_seen), np.int64(-1)
        while wanted >= 0:
            changed += 1
            wanted -= has_bin(present, changed)
        drawn[changed >> 6] ^= np.int64(1) << (changed & 63)


@inlined
def settle_drawn(n_bins: int, gathers: bool, node: Node, sets: Int64s, best: Int64s) -> None:
    """`settle_cut` for a drawn set."""
    left_bins = best[LEFT_BINS:]
    turn = 2 * best[LEFT_WEIGHT] > node.weight
    if gathers and has_bin(sets[BIN_WORDS:], n_bins - 1):
        turn = has_bin(sets, n_bins - 1) == 1
    for word in range(BIN_WORDS):
        left_bins[word] = sets[BIN_WORDS + word] & ~sets[word] if turn else sets[word]
    best[MISSING_LEFT] = has_bin(left_bins, n_bins)
    left_bins[n_bins >> 6] &= ~(np.int64(1) << (n_bins & 63))
    if turn:
        best[LEFT_ROWS] = node.end - node.begin - best[LEFT_ROWS]
    best[BIN] = 0
