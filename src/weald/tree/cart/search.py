"""The best split of a node on one feature: a walk over its items.

A score is what a split leaves of the node's impurity, up to what all splits of the node have in common, times the weight:

- gini (Breiman and others 1984): sum over classes and children of W_k^2 / W
- entropy: sum over children of (sum over classes of W_k log W_k) - W log W
- squared error: sum over children of S^2 / W, with S the sum of weight * label
- poisson, half its deviance: sum over children of S log(S / W); a child without a positive S is not allowed

The decrease of impurity is (score of the children - score of the node) / (outputs * weight of the tree). The absolute error
is in ``absolute.py``.
"""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Bool, Float64s, Int, Int64s
from weald.runtime.jit import bare_inner_kernel, inlined
from weald.runtime.mathlib import log
from weald.tree.cart.state import (
    BIN,
    ENTROPY,
    FEATURE,
    FOLLOWING,
    GINI,
    LEFT_ROWS,
    LEFT_WEIGHT,
    MISSING_LEFT,
    NO_BIN,
    POISSON,
    ROWS_MASK,
    SQUARED,
    CartPlan,
    CartTable,
    Node,
    Scratch,
)

NO_SCORE = -np.inf
LN2 = 0.6931471805599453


@inlined
def _term(criterion: int, own: float, weight: float) -> float:
    """What one slot's sum adds to a child's score."""
    if criterion == ENTROPY:
        return own * (log(own) / LN2) if own > 0.0 else 0.0
    if criterion == POISSON:
        return own * log(own / weight) if own > 0.0 else NO_SCORE
    return own * own / weight


@bare_inner_kernel
def children_score(
    criterion: int, n_outputs: int, weight: int, left_weight: float | np.int64, totals: Int64s, left: Int64s
) -> float:
    """The score of a split by the sums of the node, ``totals``, and of its left child; int64 (slots).

    With nothing on the left it is the score of the node itself.
    """
    first_slot = 0 if criterion < SQUARED else 1
    left_weight = np.float64(left_weight)
    right_weight = np.float64(weight) - left_weight
    left_score, right_score = 0.0, 0.0
    for slot in range(first_slot, len(totals)):
        if left_weight > 0.0:
            left_score += _term(criterion, np.float64(left[slot]), left_weight)
        right_score += _term(criterion, np.float64(totals[slot] - left[slot]), right_weight)
    if criterion == ENTROPY:
        left_score -= n_outputs * _term(criterion, left_weight, left_weight)
        right_score -= n_outputs * _term(criterion, right_weight, right_weight)
    return left_score + right_score


@inlined
def fits(plan: CartPlan, node: Node, rows: Int, weight: Int) -> Bool:
    """Whether both children are large enough when the left one has so much."""
    return (
        rows >= plan.min_samples_leaf
        and node.end - node.begin - rows >= plan.min_samples_leaf
        and weight >= node.least_weight
        and node.weight - weight >= node.least_weight
    )


@bare_inner_kernel
def walk_items(
    plan: CartPlan,
    node: Node,
    n_values: Int,
    n_items: Int,
    scratch: Scratch,
    best: Int64s,
) -> float:
    """Score of the best split between items; NO_SCORE where there is none. Its place goes to ``best``.

    Every threshold, from left to right, with missing values (the items behind ``n_values``) on the right and then, in a
    second pass, on the left.
    """
    keys, amounts, left, totals = scratch.keys, scratch.amounts, scratch.left, scratch.totals
    best_score, n_missing, first_classes = NO_SCORE, n_items - n_values, np.uint64(plan.first_classes)
    for with_missing in range(2 if n_missing > 0 else 1):
        word, square_left, square_right = np.int64(0), np.int64(0), node.square
        for place in range(len(left)):
            left[place] = 0
        for i in range(-n_missing * with_missing, n_values):
            item = np.uint64(i if i >= 0 else n_items + i)
            slot, amount = np.uint64(keys[item] & ROWS_MASK), amounts[item]
            if plan.criterion < SQUARED:
                own, before = amount >> 32, left[slot]
                square_left += own * (2 * before + own)
                square_right += own * (own - 2 * (totals[slot] - before))
                left[slot] = before + own
                word += amount if slot < first_classes else np.int64(0)
            else:
                left[slot] += amount
                word = left[0]
            if i < 0:  # a missing value: no threshold is behind it
                continue
            value = keys[item] >> 32
            following = keys[np.uint64(i + 1)] >> 32 if i + 1 < n_values else np.int64(NO_BIN)
            if following == value:
                continue
            rows, weight = word & ROWS_MASK, word >> 32
            if fits(plan, node, rows, weight):
                if plan.criterion == GINI:
                    score: float = np.float64(square_left) / np.float64(weight)
                    score += np.float64(square_right) / np.float64(node.weight - weight)
                elif plan.criterion == SQUARED and plan.n_outputs == 1:
                    own, other = np.float64(left[1]), np.float64(totals[1] - left[1])
                    score = own * own / np.float64(weight)
                    score += other * other / np.float64(node.weight - weight)
                else:
                    score = children_score(plan.criterion, plan.n_outputs, node.weight, weight, totals, left)
                if score > best_score:
                    best_score = score
                    best[BIN], best[FOLLOWING], best[MISSING_LEFT] = value, following, with_missing
                    best[LEFT_ROWS], best[LEFT_WEIGHT] = rows, weight
    return best_score


@inlined
def search_cuts(cuts: Float64s, feature: int, value: float, first: int, last: int) -> int:
    """The first cut of first..last that is not below ``value``, or ``last``."""
    while first < last:
        middle = (first + last) // 2
        if cuts[feature, middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


@bare_inner_kernel
def settle_threshold(table: CartTable, best: Int64s) -> None:
    """Move a numeric split to the middle between the node's bins on both sides of it, the value of a bin being its middle.

    Where all values go left, and missing ones right, the split is after the last bin.
    """
    feature = best[FEATURE]
    if table.categorical[feature]:
        return
    if best[FOLLOWING] == NO_BIN:
        best[BIN] = table.n_bins[feature] - 1
        return
    middle = 0.5 * table.middles[feature, best[BIN]] + 0.5 * table.middles[feature, best[FOLLOWING]]
    best[BIN] = search_cuts(table.cuts, feature, middle, best[BIN], best[FOLLOWING] - 1)
