"""From raw scores to predictions: the inverse of each link function, by the link's name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from weald.losses import kernels

Float64s = NDArray[np.float64]


def _identity(scores: Float64s) -> Float64s:
    return scores[0].copy() if scores.shape[0] == 1 else np.ascontiguousarray(scores.T)


def _exponential(scores: Float64s) -> Float64s:
    out = np.empty(scores.shape[1], dtype=np.float64)
    kernels.exponentials(np.ascontiguousarray(scores[0]), out)
    return out


def _sigmoid(scores: Float64s) -> Float64s:
    out = np.empty(scores.shape[1], dtype=np.float64)
    kernels.sigmoids(np.ascontiguousarray(scores[0]), out)
    return out


def _softmax(scores: Float64s) -> Float64s:
    out = np.empty((scores.shape[1], scores.shape[0]), dtype=np.float64)
    kernels.softmaxes(np.ascontiguousarray(scores), out)
    return out


# Each maps scores (K, n) to (n,) or (n, K). "logit" gives the probability of class 1.
LINKS: dict[str, Callable[[Float64s], Float64s]] = {
    "identity": _identity,
    "log": _exponential,
    "logit": _sigmoid,
    "softmax": _softmax,
}
