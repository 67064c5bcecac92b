"""Naive twins of the kernels in ``runtime/mathlib.py`` and ``losses``: slow, plain, obviously right."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]

LN2_HIGH = float.fromhex("0x1.62e42feep-1")
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


def exp(x: Float64s) -> Float64s:
    """Range reduction by ln 2, Taylor's series to the 13th power, scaling by a power of two."""
    x = np.where(x < -746.0, -746.0, np.where(x > 710.0, 710.0, x))
    exponent = np.rint(x * 1.4426950408889634)
    r = (x - exponent * LN2_HIGH) - exponent * LN2_LOW
    tail = np.full_like(r, 1.0 / math.factorial(13))
    for n in range(12, 1, -1):
        tail = 1.0 / math.factorial(n) + r * tail
    series = 1.0 + (r + r * r * tail)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(series, np.where(np.isnan(x), 0, exponent).astype(np.int64))


def log(x: float) -> float:
    """frexp, the series of log((1 + s) / (1 - s)) to the 21st power, and exponent * ln 2."""
    if math.isnan(x) or x < 0.0:
        return math.nan
    if x in (0.0, math.inf):
        return -math.inf if x == 0.0 else math.inf
    mantissa, exponent = math.frexp(x)
    if mantissa < math.sqrt(0.5):
        mantissa, exponent = mantissa * 2.0, exponent - 1
    fraction = mantissa - 1.0
    s = fraction / (2.0 + fraction)
    z = s * s
    tail = 2.0 / 21.0
    for odd in range(19, 1, -2):
        tail = 2.0 / odd + z * tail
    half_square = 0.5 * fraction * fraction
    correction = s * (half_square + z * tail) + exponent * LN2_LOW
    return exponent * LN2_HIGH - ((half_square - correction) - fraction)


def exp32(x: Float32s) -> Any:
    """`exp` in single precision, to the 7th power, of x clamped to ± 87."""
    x = np.where(x < -87.0, np.float32(-87.0), np.where(x > 87.0, np.float32(87.0), x))
    exponent = np.rint(x * np.float32(1.4426950408889634))
    high = np.float32(float.fromhex("0x1.62e4p-1"))
    r = (x - exponent * high) - exponent * np.float32(math.log(2.0) - float(high))
    tail = np.full_like(r, 1.0 / math.factorial(7))
    for n in range(6, 1, -1):
        tail = np.float32(1.0 / math.factorial(n)) + r * tail
    series = np.float32(1.0) + (r + r * r * tail)
    return np.ldexp(series, np.where(np.isnan(x), 0, exponent).astype(np.int32))


def sigmoid(x: Float32s) -> Any:
    return np.float32(1.0) / (np.float32(1.0) + exp32(-x))


def _weights(weight: Float64s | None, rows: int) -> Float64s:
    return np.ones(rows) if weight is None else weight


def gradients(
    name: str, scores: Float64s, y: Float64s, weight: Float64s | None, parameter: float = 0.0
) -> tuple[Float32s, Float32s]:
    """Gradient and hessian (K, n) by the formulas, in the precision of the kernels."""
    w = _weights(weight, y.shape[0])
    s = scores[0]
    if name == "logistic":
        return _logistic(s, y, w)
    if name == "softmax":
        return _softmax(scores, y, w)
    if name == "one_vs_rest":
        parts = [_logistic(score, (y == k).astype(np.float64), w) for k, score in enumerate(scores)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    if name == "mape":
        share = 1.0 / np.maximum(1.0, np.abs(y)) * w
        return (np.sign(s - y) * share).astype(np.float32)[None], w.astype(np.float32)[None]
    if name == "normal":
        return _normal(scores, y, w)
    hessian = np.ones_like(s)
    if name == "squared":
        gradient = s - y
    elif name == "absolute":
        gradient = np.sign(s - y)
    elif name == "huber":
        gradient = np.clip(s - y, -parameter, parameter)
    elif name == "quantile":
        gradient = np.where(s > y, 1.0 - parameter, np.where(s < y, -parameter, 0.0))
    elif name == "log_cosh":
        small = exp(-2.0 * np.abs(s - y))
        gradient = np.where(s >= y, 1.0, -1.0) * ((1.0 - small) / (1.0 + small))
    elif name == "pseudo_huber":
        root = np.sqrt(1.0 + ((s - y) / parameter) * ((s - y) / parameter))
        square = 1.0 + ((s - y) / parameter) * ((s - y) / parameter)
        gradient, hessian = (s - y) / root, np.maximum(1.0 / (square * root), np.float64(np.float32(1e-16)))
    elif name == "fair":
        share = parameter / (np.abs(s - y) + parameter)
        gradient, hessian = (s - y) * share, np.maximum(share * share, np.float64(np.float32(1e-16)))
    elif name == "squared_log":
        above = 1.0 + np.maximum(s, -1.0 + 1e-6)
        difference = np.array([log(a) - log(1.0 + label) for a, label in zip(above, y, strict=True)])
        gradient = difference / above
        hessian = np.maximum((1.0 - difference) / (above * above), 1e-6)
    elif name == "hinge":
        direction = np.where(y == 1.0, -1.0, 1.0)
        inside = direction * s > -1.0
        gradient = np.where(inside, direction, 0.0)
        hessian = np.where(inside, 1.0, np.float64(np.float32(1e-16)))
    elif name == "cross_entropy":
        p = 1.0 / (1.0 + exp(-s))
        gradient, hessian = p - y, np.maximum(p * (1.0 - p), np.float64(np.float32(1e-16)))
    elif name == "poisson":
        gradient, hessian = exp(s) - y, exp(s)
    elif name == "exponential":
        direction = np.where(y == 1.0, -1.0, 1.0)
        hessian = exp(direction * s)
        gradient = direction * hessian
    elif name == "gamma":
        gradient, hessian = 1.0 - y * exp(-s), y * exp(-s)
    else:
        label_part, mean_part = y * exp((1.0 - parameter) * s), exp((2.0 - parameter) * s)
        gradient = mean_part - label_part
        hessian = (parameter - 1.0) * label_part + (2.0 - parameter) * mean_part
    return (gradient * w).astype(np.float32)[None], (hessian * w).astype(np.float32)[None]


def _logistic(score: Float64s, y: Float64s, w: Float64s) -> tuple[Float32s, Float32s]:
    direction = np.where(y == 1.0, -1.0, 1.0).astype(np.float32)
    miss = sigmoid(score.astype(np.float32) * direction)
    hessian = np.maximum(miss * (np.float32(1.0) - miss), np.float32(1e-16))
    single = w.astype(np.float32)
    return (miss * direction * single)[None], (hessian * single)[None]


def _normal(scores: Float64s, y: Float64s, w: Float64s) -> tuple[Float32s, Float32s]:
    ratio = (scores[0] - y) * exp(-scores[1])
    square = ratio * ratio
    gradient = np.array([(scores[0] - y) * w, (1.0 - square) * w])
    return gradient.astype(np.float32), np.array([w, 2.0 * np.maximum(square, 1.0) * w]).astype(np.float32)


def least_log_cosh(residuals: Float64s, weights: Float64s) -> float:
    """The constant of the least log-cosh loss, by bisection of the slope."""
    low, high = float(residuals.min()), float(residuals.max())
    for _ in range(200):
        middle = 0.5 * (low + high)
        slope = math.fsum(weights * np.tanh(middle - residuals))
        low, high = (low, middle) if slope > 0.0 else (middle, high)
    return 0.5 * (low + high)


def _softmax(scores: Float64s, y: Float64s, w: Float64s) -> tuple[Float32s, Float32s]:
    classes = scores.shape[0]
    exponentials = exp32((scores - scores.max(axis=0)).astype(np.float32))
    total = exponentials[0].copy()
    for k in range(1, classes):
        total += exponentials[k]
    p = exponentials / total
    hit = (y == np.arange(classes)[:, None]).astype(np.float32)
    hessian = np.float32(classes / (classes - 1.0)) * (p * (np.float32(1.0) - p))
    single = w.astype(np.float32)
    return (p - hit) * single, np.maximum(hessian, np.float32(1e-16)) * single


def precise_softmax(scores: Float64s, y: Float64s, weight: Float64s | None) -> tuple[Float32s, Float32s]:
    """Gradient and hessian of softmax (K, n), in double precision until they are stored."""
    w = _weights(weight, y.shape[0])
    classes = scores.shape[0]
    exponentials = [exp(score - scores.max(axis=0)) for score in scores]
    total = np.zeros_like(scores[0])
    for exponential in exponentials:
        total = total + exponential
    p = np.array(exponentials) / total
    hit = (y == np.arange(classes)[:, None]).astype(np.float64)
    hessian = np.maximum(classes / (classes - 1.0) * (p * (1.0 - p)), np.float64(np.float32(1e-16)))
    return ((p - hit) * w).astype(np.float32), (hessian * w).astype(np.float32)


def loss_of_score(name: str, scores: Float64s, y: Float64s, parameter: float = 0.0) -> Any:
    """The loss of every row, whose derivatives the gradients are."""
    s = scores[0]
    if name == "squared":
        return 0.5 * (s - y) ** 2
    if name == "absolute":
        return np.abs(s - y)
    if name == "huber":
        far = np.abs(s - y) > parameter
        return np.where(far, parameter * (np.abs(s - y) - 0.5 * parameter), 0.5 * (s - y) ** 2)
    if name == "quantile":
        return np.where(s > y, (1.0 - parameter) * (s - y), parameter * (y - s))
    if name == "pseudo_huber":
        return parameter**2 * (np.sqrt(1.0 + ((s - y) / parameter) ** 2) - 1.0)
    if name == "log_cosh":
        return np.logaddexp(s - y, y - s) - np.log(2.0)
    if name == "normal":
        return 0.5 * np.log(2.0 * np.pi) + scores[1] + 0.5 * ((y - s) * np.exp(-scores[1])) ** 2
    if name == "fair":
        return parameter * np.abs(s - y) - parameter**2 * np.log(np.abs(s - y) / parameter + 1.0)
    if name == "mape":
        return np.abs(s - y) / np.maximum(1.0, np.abs(y))
    if name == "one_vs_rest":
        hit = y == np.arange(scores.shape[0])[:, None]
        return (np.logaddexp(0.0, scores) - hit * scores).sum(axis=0)
    if name == "squared_log":
        return 0.5 * (np.log1p(s) - np.log1p(y)) ** 2
    if name == "hinge":
        return np.maximum(0.0, 1.0 - np.where(y == 1.0, 1.0, -1.0) * s)
    if name == "poisson":
        return np.exp(s) - y * s
    if name == "gamma":
        return s + y * np.exp(-s)
    if name == "tweedie":
        one, two = 1.0 - parameter, 2.0 - parameter
        return np.exp(two * s) / two - y * np.exp(one * s) / one
    if name == "exponential":
        return np.exp(np.where(y == 1.0, -s, s))
    if name in ("logistic", "cross_entropy"):
        return np.logaddexp(0.0, s) - y * s
    return np.log(np.exp(scores).sum(axis=0)) - scores[y.astype(int), np.arange(y.shape[0])]


def weighted_quantile(values: list[float], weights: list[Fraction], alpha: float) -> float:
    """The definition: the smallest value reaching alpha of the weight, or the midpoint with the next."""
    pairs = sorted((v, w) for v, w in zip(values, weights, strict=True) if w > 0)
    target = Fraction(alpha * float(sum(w for _, w in pairs)))
    distinct = sorted({v for v, _ in pairs})
    for place, value in enumerate(distinct):
        reached = sum(w for v, w in pairs if v <= value)
        if reached > target or place + 1 == len(distinct):
            return value
        if reached == target:
            return (value + distinct[place + 1]) / 2.0
    raise AssertionError("no row has a weight")


def exact_sum(values: Float64s, weight: Float64s | None) -> float:
    """The sum of values * weight in rational numbers, rounded once."""
    w = _weights(weight, values.shape[0])
    return float(sum(Fraction(float(v)) * Fraction(float(u)) for v, u in zip(values, w, strict=True)))


def huber_leaf(residuals: Float64s, weight: Float64s | None, delta: float) -> float:
    """Friedman's one step from the median."""
    w = _weights(weight, residuals.shape[0])
    median = weighted_quantile(list(residuals), [Fraction(float(u)) for u in w], 0.5)
    rest = residuals - median
    return median + float(np.average(np.sign(rest) * np.minimum(delta, np.abs(rest)), weights=w))
