"""Compiled gradients of the pseudo-Huber, squared-log, hinge, cross-entropy and fair losses; as in `kernels`, row by row."""

from __future__ import annotations

import numpy as np

from weald.losses.kernels import HESSIAN_FLOOR
from weald.runtime.arrays import Float32s, Float64s
from weald.runtime.jit import inlined
from weald.runtime.mathlib import log, sigmoid64
from weald.runtime.tasks import part, shared_kernel

PSEUDO_HUBER, SQUARED_LOG, HINGE, CROSS_ENTROPY, FAIR = (np.int64(kind) for kind in range(5))
# A score of -1 or less has no logarithm of 1 + score: it counts as this.
LOWEST_LOG_SCORE = np.float64(-1.0 + 1e-6)
# The squared-log loss is concave far above the label; a leaf needs something to divide by.
SQUARED_LOG_FLOOR = np.float64(1e-6)
_FLOOR = np.float64(HESSIAN_FLOOR)


@inlined
def _pseudo_huber(
    begin: np.uint64,
    end: np.uint64,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    delta: float,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    weighted = weight.shape[0] > 0
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        residual = score[i] - y[i]
        ratio = residual / delta
        square = 1.0 + ratio * ratio
        root = np.sqrt(square)
        curvature = 1.0 / (square * root)
        curvature = _FLOOR if curvature < _FLOOR else curvature
        gradient[i] = residual / root * w
        hessian[i] = curvature * w


@inlined
def _squared_log(
    begin: np.uint64,
    end: np.uint64,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    weighted = weight.shape[0] > 0
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        above = score[i]
        above = 1.0 + (LOWEST_LOG_SCORE if above < LOWEST_LOG_SCORE else above)
        difference = log(above) - log(1.0 + y[i])
        curvature = (1.0 - difference) / (above * above)
        curvature = SQUARED_LOG_FLOOR if curvature < SQUARED_LOG_FLOOR else curvature
        gradient[i] = difference / above * w
        hessian[i] = curvature * w


@inlined
def _hinge(
    begin: np.uint64,
    end: np.uint64,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    weighted = weight.shape[0] > 0
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        direction = 1.0 - 2.0 * y[i]
        inside = direction * score[i] > -1.0
        gradient[i] = direction * w if inside else 0.0
        hessian[i] = w if inside else _FLOOR * w


@inlined
def _cross_entropy(
    begin: np.uint64,
    end: np.uint64,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    weighted = weight.shape[0] > 0
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        probability = sigmoid64(score[i])
        curvature = probability * (1.0 - probability)
        curvature = _FLOOR if curvature < _FLOOR else curvature
        gradient[i] = (probability - y[i]) * w
        hessian[i] = curvature * w


@inlined
def _fair(
    begin: np.uint64,
    end: np.uint64,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    scale: float,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    weighted = weight.shape[0] > 0
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        residual = score[i] - y[i]
        share = scale / (abs(residual) + scale)
        curvature = share * share
        curvature = _FLOOR if curvature < _FLOOR else curvature
        gradient[i] = residual * share * w
        hessian[i] = curvature * w


@shared_kernel
def margin_gradients(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    kind: int,
    option: float,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient and hessian of one of the five losses; ``option``: delta of pseudo-Huber, the scale of fair."""
    begin, end = part(score.shape[0], task, tasks)
    if kind == PSEUDO_HUBER:
        _pseudo_huber(begin, end, score, y, weight, option, gradient, hessian)
    elif kind == SQUARED_LOG:
        _squared_log(begin, end, score, y, weight, gradient, hessian)
    elif kind == HINGE:
        _hinge(begin, end, score, y, weight, gradient, hessian)
    elif kind == FAIR:
        _fair(begin, end, score, y, weight, option, gradient, hessian)
    else:
        _cross_entropy(begin, end, score, y, weight, gradient, hessian)
