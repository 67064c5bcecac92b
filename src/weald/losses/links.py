"""From raw scores to predictions: the inverse of each link function, by the link's name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from weald.losses import kernels
from weald.losses.elementary import exp_of, log_of

Float64s = NDArray[np.float64]


def _identity(scores: Float64s) -> Float64s:
    return scores[0].copy() if scores.shape[0] == 1 else np.ascontiguousarray(scores.T)


def _exponential(scores: Float64s) -> Float64s:
    return exp_of(scores[0])


def _sigmoid(scores: Float64s) -> Float64s:
    out = np.empty(scores.shape[1], dtype=np.float64)
    kernels.sigmoids(np.ascontiguousarray(scores[0]), out)
    return out


def _half_sigmoid(scores: Float64s) -> Float64s:
    return _sigmoid(2.0 * scores)


def _step(scores: Float64s) -> Float64s:
    above: Float64s = (scores[0] > 0.0).astype(np.float64)
    return above


def _softmax(scores: Float64s) -> Float64s:
    out = np.empty((scores.shape[1], scores.shape[0]), dtype=np.float64)
    kernels.softmaxes(np.ascontiguousarray(scores), out)
    return out


def scores_of(link: str, prediction: Float64s) -> Float64s:
    """Raw scores (K, n) of predictions (n,) or (n, K): the link function itself; probabilities inside (0, 1).

    >>> scores_of("half_logit", np.array([0.5])).tolist()
    [[0.0]]
    """
    if link == "identity":
        return np.array(prediction, dtype=np.float64, ndmin=2)
    odds = prediction if link in ("log", "softmax") else prediction / (1.0 - prediction)
    logarithm = log_of(np.asarray(odds, dtype=np.float64).reshape(-1))
    if link == "softmax":
        logarithm = logarithm.reshape(prediction.shape)
        return np.ascontiguousarray((logarithm - logarithm.mean(axis=1, keepdims=True)).T)
    return (0.5 if link == "half_logit" else 1.0) * logarithm[None]


# Each maps scores (K, n) to (n,) or (n, K). "logit" and "half_logit" give the probability of class 1,
# "step" 0 or 1.
LINKS: dict[str, Callable[[Float64s], Float64s]] = {
    "identity": _identity,
    "log": _exponential,
    "logit": _sigmoid,
    "half_logit": _half_sigmoid,
    "step": _step,
    "softmax": _softmax,
}
