"""The absolute error: weighted absolute distances from the weighted median, in O(log n) a row.

Rows are added to the left child one after another. A Fenwick tree (1994) over the ranks of the node's labels holds
the left child's weights and weighted labels; the right child's are the node's prefix sums minus these. A descent
finds a child's median, and with the sums below it the distances: all integers.
"""

from __future__ import annotations

import numpy as np
from numba import types

from weald.runtime.arrays import Bool, Int, Int64s
from weald.runtime.far import returns
from weald.runtime.jit import bare_inner_kernel, inlined
from weald.tree.cart.drawn import NOTHING
from weald.tree.cart.search import NO_SCORE, fits
from weald.tree.cart.state import (
    BIN,
    FOLLOWING,
    HALF,
    LEFT_ROWS,
    LOW,
    MISSING_LEFT,
    NO_BIN,
    ROWS_MASK,
    CartPlan,
    CartRows,
    Medians,
    Node,
    Scratch,
)


@returns(types.none)
@bare_inner_kernel
def rank_rows(n_outputs: int, side: int, begin: int, end: int, rows: CartRows, medians: Medians) -> None:
    """Rank the node's rows by their labels; no row is in the left child yet."""
    slots = 1 + n_outputs
    for output in range(n_outputs):
        weight_sum, label_sum = np.int64(0), np.int64(0)
        for rank in range(end - begin + 1):
            place = rank * n_outputs + output
            medians.weight_below[place] = weight_sum
            medians.sum_below[place] = label_sum
            medians.weight_tree[place] = 0
            medians.sum_tree[place] = 0
            if rank == end - begin:
                break
            entry = rows.entries[side, 1 + output, begin + rank]
            row, weight = np.int64(entry >> HALF), np.int64(entry & LOW)
            amount = rows.amounts[row * slots + 1 + output]
            medians.rank[row * n_outputs + output] = rank
            medians.label[place] = amount // weight
            weight_sum += weight
            label_sum += amount


@inlined
def _empty_left(n_outputs: int, n_rows: int, left: Int64s, medians: Medians) -> None:
    for slot in range(1 + n_outputs):
        left[slot] = 0
    for place in range((n_rows + 1) * n_outputs):
        medians.weight_tree[place] = 0
        medians.sum_tree[place] = 0


@bare_inner_kernel
def _move_row(
    n_outputs: int, n_rows: int, row: int, sign: Int, amounts: Int64s, left: Int64s, medians: Medians
) -> None:
    """Move a row to the left child (``sign`` 1) or back (-1)."""
    slots = 1 + n_outputs
    weight = sign * (amounts[row * slots] >> 32)
    left[0] += sign * amounts[row * slots]
    for output in range(n_outputs):
        amount = sign * amounts[row * slots + 1 + output]
        left[1 + output] += amount
        node = medians.rank[row * n_outputs + output] + 1
        while node <= n_rows:
            medians.weight_tree[node * n_outputs + output] += weight
            medians.sum_tree[node * n_outputs + output] += amount
            node += node & -node


@inlined
def _distances(
    n_outputs: int, n_rows: int, output: int, right: bool, weight: Int, total: int, medians: Medians
) -> float:
    """Weighted absolute distances of a child's labels, which sum to ``total``, from their median.

    The median is the smallest label with at least half of the weight at or below it.
    """
    below, weight_below, sum_below = np.int64(0), np.int64(0), np.int64(0)
    step = np.int64(1)
    while 2 * step <= n_rows:
        step *= 2
    while step > 0:
        start, place = below * n_outputs + output, (below + step) * n_outputs + output
        if below + step <= n_rows:
            own_weight, own_sum = medians.weight_tree[place], medians.sum_tree[place]
            if right:
                own_weight = medians.weight_below[place] - medians.weight_below[start] - own_weight
                own_sum = medians.sum_below[place] - medians.sum_below[start] - own_sum
            if 2 * (weight_below + own_weight) < weight:
                below += step
                weight_below += own_weight
                sum_below += own_sum
        step //= 2
    median = medians.label[below * n_outputs + output]
    return np.float64(median * (2 * weight_below - weight) + total - 2 * sum_below)


@returns(types.float64)
@bare_inner_kernel
def absolute_score(
    n_outputs: int, n_rows: int, weight: int, left_weight: Int, totals: Int64s, left: Int64s, medians: Medians
) -> float:
    """`children_score` of the absolute error: minus the distances of both children."""
    left_score, right_score = 0.0, 0.0
    for output in range(n_outputs):
        own = left[1 + output]
        other = totals[1 + output] - own
        if left_weight > 0:
            left_score -= _distances(n_outputs, n_rows, output, False, left_weight, own, medians)
        right_score -= _distances(n_outputs, n_rows, output, True, weight - left_weight, other, medians)
    return left_score + right_score


@inlined
def _is_wanted(categorical: bool, only_bin: int, value: int, following: Int) -> Bool:
    """Whether the split after ``value`` (of the category ``value``) is the one to be tried."""
    if only_bin == NOTHING or (following == NO_BIN and not categorical):
        return True
    return value == only_bin if categorical else value <= only_bin and only_bin < following


@returns(types.float64)
@bare_inner_kernel
def walk_rows(
    plan: CartPlan,
    node: Node,
    categorical: bool,
    n_bins: int,
    sizes: tuple[int, int],
    only_bin: int,
    row_amounts: Int64s,
    medians: Medians,
    scratch: Scratch,
    best: Int64s,
) -> float:
    """`walk_items` for the absolute error: the items are rows, their keys bin << 32 | row.

    ``sizes``: items that have a value, and all; ``only_bin``: of the thresholds or categories the only one to be tried, or
    NOTHING.
    """
    n_values, n_items = sizes
    keys, left, totals = scratch.keys, scratch.left, scratch.totals
    n_outputs = plan.n_outputs
    n_rows = node.end - node.begin
    best_score, n_missing, group = NO_SCORE, n_items - n_values, 0
    for with_missing in range(2 if n_missing > 0 else 1):
        _empty_left(n_outputs, n_rows, left, medians)
        for i in range(-n_missing * with_missing, n_values):
            item = i if i >= 0 else n_items + i
            _move_row(n_outputs, n_rows, keys[item] & ROWS_MASK, np.int64(1), row_amounts, left, medians)
            if i < 0:  # a missing value: no threshold is behind it
                continue
            value = keys[item] >> 32
            following = keys[i + 1] >> 32 if i + 1 < n_values else np.int64(NO_BIN)
            if following == value:
                continue
            n_left, weight = left[0] & ROWS_MASK, left[0] >> 32
            if _is_wanted(categorical, only_bin, value, following) and fits(plan, node, n_left, weight):
                score = absolute_score(n_outputs, n_rows, node.weight, weight, totals, left, medians)
                if score > best_score:
                    best_score = score
                    best[BIN], best[FOLLOWING], best[LEFT_ROWS] = value, following, n_left
                    best[MISSING_LEFT] = np.int64(value == n_bins) if categorical else np.int64(with_missing)
            if categorical:
                for item in range(group, i + 1):
                    _move_row(
                        n_outputs, n_rows, keys[item] & ROWS_MASK, np.int64(-1), row_amounts, left, medians
                    )
                group = i + 1
    return best_score
