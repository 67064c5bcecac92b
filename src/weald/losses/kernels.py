"""Gradients and hessians of residuals, counts and classes, and the links of all losses, compiled.

Every kernel works row by row in plain IEEE arithmetic, so its results depend neither on the number of tasks
nor on the CPU. ``weight`` is an empty array where rows have no weights. Other families have files of their own,
`smooth_kernels` and `margin_kernels`.
"""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Float32s, Float64s
from weald.runtime.jit import inlined, kernel
from weald.runtime.mathlib import exp, exp32, log, sigmoid, sigmoid64
from weald.runtime.tasks import part, shared_kernel

# The smallest hessian of a row before its weight: a leaf of certain rows still divides by something.
HESSIAN_FLOOR = np.float32(1e-16)
# Gradients under a log link grow like exp(score); what a float32 cannot hold is stored as this instead.
LARGEST = np.float64(3e38)
# Rows that softmax treats together: their maxima and sums stay in the first-level cache.
SOFTMAX_BLOCK = 512


@shared_kernel
def clipped_gradients(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    limit: float,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient[i] = w * clip(score - y, -limit, limit), hessian[i] = w; squared: limit infinite."""
    weighted = weight.shape[0] > 0
    begin, end = part(score.shape[0], task, tasks)
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        residual = score[i] - y[i]
        residual = limit if residual > limit else residual
        residual = -limit if residual < -limit else residual
        gradient[i] = residual * w
        hessian[i] = w


@shared_kernel
def stepped_gradients(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    above: float,
    below: float,
    level: float,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient[i] = w * (above where score > y, below where score < y, else level), hessian[i] = w."""
    weighted = weight.shape[0] > 0
    begin, end = part(score.shape[0], task, tasks)
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        slope = above if score[i] > y[i] else level
        slope = below if score[i] < y[i] else slope
        gradient[i] = slope * w
        hessian[i] = w


@kernel
def bounded(x: float) -> float:
    """x, or the largest number that a float32 can hold in its place."""
    x = LARGEST if x > LARGEST else x
    return -LARGEST if x < -LARGEST else x


@inlined
def _poisson_gradients(
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
        mean = exp(score[i])
        gradient[i] = bounded((mean - y[i]) * w)
        hessian[i] = bounded(mean * w)


@inlined
def _gamma_gradients(
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
        ratio = y[i] * exp(-score[i])
        gradient[i] = bounded((1.0 - ratio) * w)
        hessian[i] = bounded(ratio * w)


@inlined
def _tweedie_gradients(
    begin: np.uint64,
    end: np.uint64,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    power: float,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    weighted = weight.shape[0] > 0
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        label_part = y[i] * exp((1.0 - power) * score[i])
        mean_part = exp((2.0 - power) * score[i])
        gradient[i] = bounded((mean_part - label_part) * w)
        hessian[i] = bounded(((power - 1.0) * label_part + (2.0 - power) * mean_part) * w)


@shared_kernel
def deviance_gradients(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    power: float,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient and hessian of the Tweedie deviance of `power` under a log link; 1 is Poisson, 2 gamma.

    The two ends need one exponential instead of two; there the general formula gives the same values.
    """
    begin, end = part(score.shape[0], task, tasks)
    if power == 1.0:
        _poisson_gradients(begin, end, score, y, weight, gradient, hessian)
    elif power == 2.0:
        _gamma_gradients(begin, end, score, y, weight, gradient, hessian)
    else:
        _tweedie_gradients(begin, end, score, y, weight, power, gradient, hessian)


@shared_kernel
def logistic_gradients(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient[i] = w * (p - y), hessian[i] = w * max(p * (1 - p), floor) with p = sigmoid(score).

    Computed from the probability of the *other* class, miss = p where y = 0 and 1 - p where y = 1, so that
    the small gradient of a well predicted row is as precise in one class as in the other.
    """
    weighted = weight.shape[0] > 0
    begin, end = part(score.shape[0], task, tasks)
    one = np.float32(1.0)
    for i in range(begin, end):
        w = np.float32(weight[i] if weighted else 1.0)
        direction = np.float32(1.0 - 2.0 * y[i])
        miss = sigmoid(np.float32(score[i]) * direction)
        curvature = miss * (one - miss)
        curvature = HESSIAN_FLOOR if curvature < HESSIAN_FLOOR else curvature
        gradient[i] = miss * direction * w
        hessian[i] = curvature * w


@shared_kernel
def exponential_gradients(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient[i] = w * d * exp(d * score), hessian[i] = w * exp(d * score), d = 1 where y = 0, -1 where y = 1."""
    weighted = weight.shape[0] > 0
    begin, end = part(score.shape[0], task, tasks)
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        direction = 1.0 - 2.0 * y[i]
        size = bounded(exp(direction * score[i]) * w)
        gradient[i] = direction * size
        hessian[i] = size


@kernel
def _keep_larger(score: Float64s, maximum: Float64s) -> None:
    for i in range(maximum.shape[0]):
        a = score[i]
        b = maximum[i]
        maximum[i] = a if a > b else b


@kernel
def _subtract(score: Float64s, maximum: Float64s, out: Float32s) -> None:
    for i in range(out.shape[0]):
        out[i] = np.float32(score[i] - maximum[i])


@kernel
def _exponentiate(values: Float32s, total: Float32s) -> None:
    for i in range(values.shape[0]):
        exponential = exp32(values[i])
        values[i] = exponential
        total[i] = total[i] + exponential


@kernel
def _softmax_exponentials(
    scores: Float64s, first: int, maximum: Float64s, total: Float32s, gradient: Float32s
) -> None:
    """OUT gradient[k, first + i] = exp(score - largest score of the row), total[i] = its sum over k.

    Passes over one type each: mixed with float64, the float32 exponentials would fill half a vector.
    """
    last = first + maximum.shape[0]
    maximum[:] = scores[0][first:last]
    total[:] = np.float32(0.0)
    for k in range(1, scores.shape[0]):
        _keep_larger(scores[k][first:last], maximum)
    for k in range(scores.shape[0]):
        _subtract(scores[k][first:last], maximum, gradient[k][first:last])
        _exponentiate(gradient[k][first:last], total)


@shared_kernel
def softmax_gradients(
    task: int,
    tasks: int,
    scores: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """OUT gradient[k, i] = w * (p_k - [y = k]), hessian[k, i] = w * K/(K-1) * p_k * (1 - p_k).

    All matrices are (K, n). K/(K-1) enlarges the diagonal because the K scores of
    a row are coupled but fitted by separate trees: the factor of Friedman (2001) and of LightGBM.
    """
    classes = scores.shape[0]
    factor = np.float32(classes / (classes - 1.0))
    one = np.float32(1.0)
    weighted = weight.shape[0] > 0
    maximum = np.empty(SOFTMAX_BLOCK, np.float64)
    total = np.empty(SOFTMAX_BLOCK, np.float32)
    begin, end = part(scores.shape[1], task, tasks)
    first, last = np.int64(begin), np.int64(end)
    for start in range(first, last, SOFTMAX_BLOCK):
        rows = SOFTMAX_BLOCK if start + SOFTMAX_BLOCK < last else last - start
        _softmax_exponentials(scores, start, maximum[:rows], total[:rows], gradient)
        labels = y[start : start + rows]
        weights = weight[start : start + rows]
        for k in range(classes):
            gradients = gradient[k][start : start + rows]
            hessians = hessian[k][start : start + rows]
            label = np.float64(k)
            for i in range(rows):
                w = np.float32(weights[i] if weighted else 1.0)
                probability = gradients[i] / total[i]
                hit = np.float32(1.0 if labels[i] == label else 0.0)
                curvature = factor * (probability * (one - probability))
                curvature = HESSIAN_FLOOR if curvature < HESSIAN_FLOOR else curvature
                gradients[i] = (probability - hit) * w
                hessians[i] = curvature * w


@shared_kernel
def softmax_gradients64(
    task: int,
    tasks: int,
    scores: Float64s,
    y: Float64s,
    weight: Float64s,
    gradient: Float32s,
    hessian: Float32s,
) -> None:
    """`softmax_gradients` in double precision: the small gradient of a well predicted row keeps its digits."""
    classes = scores.shape[0]
    factor = classes / (classes - 1.0)
    weighted = weight.shape[0] > 0
    probability = np.empty(classes, np.float64)
    begin, end = part(scores.shape[1], task, tasks)
    for i in range(begin, end):
        w = weight[i] if weighted else 1.0
        maximum = scores[0, i]
        for k in range(1, classes):
            maximum = max(maximum, scores[k, i])
        total = 0.0
        for k in range(classes):
            probability[k] = exp(scores[k, i] - maximum)
            total += probability[k]
        for k in range(classes):
            p = probability[k] / total
            curvature = max(factor * (p * (1.0 - p)), np.float64(HESSIAN_FLOOR))
            gradient[k, i] = (p - (1.0 if y[i] == k else 0.0)) * w
            hessian[k, i] = curvature * w


@kernel
def exponentials(values: Float64s, out: Float64s) -> None:
    """OUT out[i] = exp(values[i])."""
    for i in range(values.shape[0]):
        out[i] = exp(values[i])


@kernel
def logarithms(values: Float64s, out: Float64s) -> None:
    """OUT out[i] = log(values[i])."""
    for i in range(values.shape[0]):
        out[i] = log(values[i])


@kernel
def sigmoids(values: Float64s, out: Float64s) -> None:
    """OUT out[i] = 1 / (1 + exp(-values[i]))."""
    for i in range(values.shape[0]):
        out[i] = sigmoid64(values[i])


@kernel
def softmaxes(scores: Float64s, out: Float64s) -> None:
    """OUT out[i, k] = exp(scores[k, i]) / sum over classes; scores are (K, n), out is (n, K)."""
    for i in range(scores.shape[1]):
        maximum = scores[0, i]
        for k in range(1, scores.shape[0]):
            maximum = max(maximum, scores[k, i])
        total = 0.0
        for k in range(scores.shape[0]):
            out[i, k] = exp(scores[k, i] - maximum)
            total += out[i, k]
        for k in range(scores.shape[0]):
            out[i, k] /= total
