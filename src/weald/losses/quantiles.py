"""Weighted quantiles, of a whole target and of the residuals in every leaf.

The alpha-quantile is the smallest value whose cumulative weight reaches alpha times the total; where it is
reached exactly, the midpoint of that value and the next larger one (NumPy's ``averaged_inverted_cdf``). A row
of weight w counts exactly like w rows.

Weights are added as integers: scaled by a power of two and rounded, so that the largest has 52 bits and the
sum at most 62 (with n > 1,023 rows the largest has 62 bits less those of n: 42 for a million). Integer
weights of ordinary size stay exact. Sums of integers do not depend on the order of rows, so neither does the
result, ties included.
"""

from __future__ import annotations

import math

import numpy as np

from weald.runtime.arrays import Float64s, Int64s, Rows
from weald.runtime.errors import InputError
from weald.runtime.jit import ZERO, kernel

_SUM_BITS = 62
_VALUE_BITS = 52

# Times this, an alpha that is reached exactly is passed: its quantile is the lower of two values, not their midpoint.
LOWER = 1.0 - 2.0**-40


@kernel
def integer_exponent(largest: float, count: int) -> int:
    """The power of two that scales `count` numbers up to `largest` so that their sum fits 62 bits."""
    bits = _SUM_BITS
    while count > 0:
        bits -= 1
        count >>= 1
    return min(bits, _VALUE_BITS) - math.frexp(largest)[1]


@kernel
def _pivot(values: Float64s, low: int, high: int, draw: int) -> float:
    """The median of three values at drawn places: no order of the rows makes the search slow on purpose."""
    span = high - low
    a = values[low + draw % span]
    b = values[low + (draw >> 7) % span]
    c = values[low + (draw >> 14) % span]
    return max(min(a, b), min(max(a, b), c))  # type: ignore[no-any-return]


@kernel
def _swap(values: Float64s, weights: Int64s, i: int, j: int) -> None:
    value = values[i]
    values[i] = values[j]
    values[j] = value
    weight = weights[i]
    weights[i] = weights[j]
    weights[j] = weight


@kernel
def select_quantile(values: Float64s, weights: Int64s, alpha: float) -> float:
    """The weighted alpha-quantile, 0 < alpha < 1, of at least one row; reorders both arrays.

    Weights are above 0. Quickselect with a three-way partition: the pivots are drawn, but the result does not
    depend on them.
    """
    total = np.int64(0)
    for i in range(weights.shape[0]):
        total += weights[i]
    target = alpha * np.float64(total)
    low = ZERO
    high = values.shape[0]
    below = np.int64(0)
    following = np.inf
    draw = 1
    while True:
        draw = (draw * 1103515245 + 12345) & 0x7FFFFFFF
        pivot = _pivot(values, low, high, draw)
        less = low
        greater = high
        less_weight = np.int64(0)
        equal_weight = np.int64(0)
        i = low
        while i < greater:
            if values[i] < pivot:
                less_weight += weights[i]
                _swap(values, weights, i, less)
                less += 1
                i += 1
            elif values[i] > pivot:
                greater -= 1
                _swap(values, weights, i, greater)
            else:
                equal_weight += weights[i]
                i += 1
        if less > low and np.float64(below + less_weight) >= target:
            high = less
            following = pivot
            continue
        reached = below + less_weight + equal_weight
        if np.float64(reached) < target and greater < high:
            below = reached
            low = greater
            continue
        if np.float64(reached) != target:
            return pivot
        for j in range(greater, high):
            following = min(following, values[j])
        # Halves first: the sum of two huge values could overflow.
        return 0.5 * pivot + 0.5 * following if following < np.inf else pivot


@kernel
def _scale_weights(weights: Float64s, rounded: Int64s) -> None:
    """OUT rounded[i] = weights[i] times the common power of two."""
    largest = 0.0
    for i in range(weights.shape[0]):
        largest = max(largest, weights[i])
    exponent = integer_exponent(largest, weights.shape[0])
    for i in range(weights.shape[0]):
        rounded[i] = np.int64(np.rint(math.ldexp(weights[i], exponent)))


@kernel
def _drop_weightless(values: Float64s, rounded: Int64s) -> int:
    """Move the rows with a weight to the front of both arrays; return how many there are."""
    kept = 0
    for i in range(values.shape[0]):
        values[kept] = values[i]
        rounded[kept] = rounded[i]
        kept += 1 if rounded[i] > 0 else 0
    return kept


@kernel
def gather_leaf(
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    rows: Rows,
    residuals: Float64s,
    weights: Float64s,
    rounded: Int64s,
) -> int:
    """OUT residuals y - score of the rows and their integer weights; return how many have a weight."""
    weighted = weight.shape[0] > 0
    for i in range(rows.shape[0]):
        row = rows[i]
        residuals[i] = y[row] - score[row]
        rounded[i] = 1
        if weighted:
            weights[i] = weight[row]
    if not weighted:
        return int(rows.shape[0])
    _scale_weights(weights[: rows.shape[0]], rounded[: rows.shape[0]])
    return int(_drop_weightless(residuals[: rows.shape[0]], rounded[: rows.shape[0]]))


@kernel
def largest_leaf(offsets: Int64s) -> int:
    """The number of rows of the leaf that has most."""
    largest = 0
    for leaf in range(offsets.shape[0] - 1):
        largest = max(largest, offsets[leaf + 1] - offsets[leaf])
    return largest


@kernel
def refit_quantile_leaves(
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    leaf_rows: Rows,
    leaf_offsets: Int64s,
    alpha: float,
    values: Float64s,
) -> None:
    """OUT values[leaf] = weighted alpha-quantile of y - score; leaves without weight stay as they are."""
    largest = largest_leaf(leaf_offsets)
    residuals = np.empty(largest, np.float64)
    weights = np.empty(largest if weight.shape[0] > 0 else 0, np.float64)
    rounded = np.empty(largest, np.int64)
    for leaf in range(values.shape[0]):
        rows = leaf_rows[leaf_offsets[leaf] : leaf_offsets[leaf + 1]]
        count = gather_leaf(score, y, weight, rows, residuals, weights, rounded)
        if count > 0:
            values[leaf] = select_quantile(residuals[:count], rounded[:count], alpha)


@kernel
def _clipped_mean(values: Float64s, weights: Int64s, center: float, limit: float) -> float:
    """The weighted mean of clip(values - center, -limit, limit), added as integers: in any order the same."""
    largest = 0.0
    total = np.int64(0)
    for i in range(values.shape[0]):
        values[i] = max(-limit, min(limit, values[i] - center)) * np.float64(weights[i])
        largest = max(largest, abs(values[i]))
        total += weights[i]
    exponent = integer_exponent(largest, values.shape[0])
    rounded = np.int64(0)
    for i in range(values.shape[0]):
        rounded += np.int64(np.rint(math.ldexp(values[i], exponent)))
    return math.ldexp(np.float64(rounded), -exponent) / np.float64(total)


@kernel
def refit_huber_leaves(
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    leaf_rows: Rows,
    leaf_offsets: Int64s,
    alpha: float,
    delta: float,
    values: Float64s,
) -> None:
    """OUT values[leaf] = median of y - score, plus the mean of the rest clipped to delta (Friedman 2001).

    `alpha` is the median's: 0.5, or that times `LOWER`.
    """
    largest = largest_leaf(leaf_offsets)
    residuals = np.empty(largest, np.float64)
    weights = np.empty(largest if weight.shape[0] > 0 else 0, np.float64)
    rounded = np.empty(largest, np.int64)
    for leaf in range(values.shape[0]):
        rows = leaf_rows[leaf_offsets[leaf] : leaf_offsets[leaf + 1]]
        count = gather_leaf(score, y, weight, rows, residuals, weights, rounded)
        if count > 0:
            median = select_quantile(residuals[:count], rounded[:count], alpha)
            values[leaf] = median + _clipped_mean(residuals[:count], rounded[:count], median, delta)


def weighted_quantile(values: Float64s, weight: Float64s | None, alpha: float) -> float:
    """The alpha-quantile of `values`, 0 < alpha < 1; an integer weight counts like as many copies.

    >>> weighted_quantile(np.array([1.0, 2.0, 10.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    6.0
    """
    if values.shape[0] == 0:
        raise InputError("A quantile needs at least one row, but there is none.")
    buffer = np.array(values, dtype=np.float64)
    rounded = np.ones(values.shape[0], dtype=np.int64)
    count = values.shape[0]
    if weight is not None:
        _scale_weights(np.ascontiguousarray(weight, dtype=np.float64), rounded)
        count = _drop_weightless(buffer, rounded)
    if count == 0:
        raise InputError("sample_weight must add up to more than 0, but it adds up to 0.")
    return float(select_quantile(buffer[:count], rounded[:count], alpha))
