"""Compiled kernels of the log-cosh and normal losses; as in `kernels`, row by row."""

from __future__ import annotations

import math

import numpy as np

from weald.losses.kernels import bounded
from weald.losses.quantiles import gather_leaf, integer_exponent, largest_leaf, select_quantile
from weald.runtime.arrays import Float32s, Float64s, Int64s, Rows
from weald.runtime.jit import kernel
from weald.runtime.mathlib import exp
from weald.runtime.tasks import part, shared_kernel

_MOST_STEPS = 200
# A move this small, relative to the residuals' range, changes no prediction.
_NARROW = 1e-14


@shared_kernel
def log_cosh_gradients(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient[i] = w * tanh(score - y), hessian[i] = w."""
    weighted = weight.shape[0] > 0
    begin, end = part(score.shape[0], task, tasks)
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        residual = score[i] - y[i]
        small = exp(-2.0 * abs(residual))
        slope = (1.0 - small) / (1.0 + small)
        gradient[i] = (slope if residual >= 0.0 else -slope) * w
        hessian[i] = w


@kernel
def _least_log_cosh(residuals: Float64s, weights: Int64s, start: float) -> float:
    """The value v where sum(w * tanh(v - residual)) is 0, by Newton's steps inside a shrinking bracket.

    Slopes and curvatures are added as integers, so that the order of the rows does not matter.
    """
    low, high, heaviest = residuals[0], residuals[0], np.int64(1)
    for i in range(residuals.shape[0]):
        low, high = min(low, residuals[i]), max(high, residuals[i])
        heaviest = max(heaviest, weights[i])
    exponent = integer_exponent(np.float64(heaviest), residuals.shape[0])
    scale = math.ldexp(1.0, exponent)
    enough = _NARROW * max(abs(low), abs(high))
    value = start
    for _ in range(_MOST_STEPS):
        slope, curvature = np.int64(0), np.int64(0)
        for i in range(residuals.shape[0]):
            small = exp(-2.0 * abs(value - residuals[i]))
            w = np.float64(weights[i]) * scale
            height = np.int64(np.rint((1.0 - small) / (1.0 + small) * w))
            slope += height if value >= residuals[i] else -height
            curvature += np.int64(np.rint(4.0 * small / ((1.0 + small) * (1.0 + small)) * w))
        if slope > 0:
            high = value
        elif slope < 0:
            low = value
        else:
            break
        moved = value - np.float64(slope) / np.float64(max(curvature, np.int64(1)))
        if not low < moved < high:
            moved = 0.5 * low + 0.5 * high
        if abs(moved - value) <= enough:
            break
        value = moved
    return value


@kernel
def refit_log_cosh_leaves(
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    leaf_rows: Rows,
    leaf_offsets: Int64s,
    values: Float64s,
) -> None:
    """OUT values[leaf] = the constant step of the least log-cosh loss; leaves without weight stay as they are."""
    largest = largest_leaf(leaf_offsets)
    residuals = np.empty(largest, np.float64)
    weights = np.empty(largest if weight.shape[0] > 0 else 0, np.float64)
    rounded = np.empty(largest, np.int64)
    for leaf in range(values.shape[0]):
        rows = leaf_rows[leaf_offsets[leaf] : leaf_offsets[leaf + 1]]
        count = gather_leaf(score, y, weight, rows, residuals, weights, rounded)
        if count > 0:
            median = select_quantile(residuals[:count], rounded[:count], 0.5)
            values[leaf] = _least_log_cosh(residuals[:count], rounded[:count], median)


@shared_kernel
def normal_gradients(
    task: int,
    tasks: int,
    scores: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient[0, i] = w * (mean - y), hessian[0, i] = w; gradient[1, i] = w * (1 - z**2), hessian[1, i] = 2 w max(1, z**2).

    Scores are the mean and the logarithm of the deviation, z = (y - mean) / deviation.
    """
    weighted = weight.shape[0] > 0
    begin, end = part(scores.shape[1], task, tasks)
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        residual = scores[0, i] - y[i]
        ratio = residual * exp(-scores[1, i])
        square = ratio * ratio
        gradient[0, i] = residual * w
        hessian[0, i] = w
        gradient[1, i] = bounded((1.0 - square) * w)
        hessian[1, i] = bounded(2.0 * (1.0 if square < 1.0 else square) * w)
