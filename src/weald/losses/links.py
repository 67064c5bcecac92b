"""From raw scores to predictions: the inverse of each link function, by the link's name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from weald.losses import kernels
from weald.losses.elementary import exp_of, log_of

Float64s = NDArray[np.float64]

# Links of a score for each of several classes.
SEVERAL = frozenset({"softmax", "one_vs_rest", "sigmoids"})


def _identity(scores: Float64s) -> Float64s:
    return scores[0].copy() if scores.shape[0] == 1 else np.ascontiguousarray(scores.T)


def _first(scores: Float64s) -> Float64s:
    first: Float64s = scores[0].copy()
    return first


def _exponential(scores: Float64s) -> Float64s:
    # A mean beyond float64 is told as the largest float64.
    means: Float64s = np.minimum(exp_of(scores[0]), np.finfo(np.float64).max)
    return means


def _sigmoid(scores: Float64s) -> Float64s:
    out = np.empty(scores.shape[1], dtype=np.float64)
    kernels.sigmoids(np.ascontiguousarray(scores[0]), out)
    return out


def _half_sigmoid(scores: Float64s) -> Float64s:
    return _sigmoid(2.0 * scores)


def _log1p_exp(scores: Float64s) -> Float64s:
    """log(1 + exp(score)), above 0 from the score itself, which is exact where exp would overflow."""
    found: Float64s = np.maximum(scores[0], 0.0) + log_of(1.0 + exp_of(-np.abs(scores[0])))
    return found


def _signed_square(scores: Float64s) -> Float64s:
    found: Float64s = scores[0] * np.abs(scores[0])
    return found


def _step(scores: Float64s) -> Float64s:
    above: Float64s = (scores[0] > 0.0).astype(np.float64)
    return above


def _softmax(scores: Float64s) -> Float64s:
    out = np.empty((scores.shape[1], scores.shape[0]), dtype=np.float64)
    kernels.softmaxes(np.ascontiguousarray(scores), out)
    return out


def _sigmoids(scores: Float64s) -> Float64s:
    return np.stack([_sigmoid(score[None]) for score in scores], axis=1)


def _one_vs_rest(scores: Float64s) -> Float64s:
    """Sigmoids over their sum; of a row whose scores are all below 0, without the factor exp(largest) that could underflow."""
    shift = np.minimum(scores.max(axis=0), 0.0)
    out = np.empty((scores.shape[1], scores.shape[0]), dtype=np.float64)
    total = np.zeros(scores.shape[1])
    for k, score in enumerate(scores):
        above = score > 0.0
        out[:, k] = np.where(above, 1.0, exp_of(np.where(above, 0.0, score) - shift))
        out[:, k] /= 1.0 + exp_of(-np.abs(score))
        total += out[:, k]
    out /= total[:, None]
    return out


def scores_of(link: str, prediction: Float64s) -> Float64s:
    """Raw scores (K, n) of predictions (n,) or (n, K): the link function itself; probabilities inside (0, 1).

    >>> scores_of("half_logit", np.array([0.5])).tolist()
    [[0.0]]
    """
    if link in ("identity", "step"):  # a step has no inverse: what is given is the score
        return np.array(prediction, dtype=np.float64, ndmin=2)
    odds = prediction if link in ("log", "softmax") else prediction / (1.0 - prediction)
    logarithm = log_of(np.asarray(odds, dtype=np.float64).reshape(-1))
    if link in SEVERAL:
        logarithm = logarithm.reshape(prediction.shape)
        if link == "softmax":
            logarithm = logarithm - logarithm.mean(axis=1, keepdims=True)
        return np.ascontiguousarray(logarithm.T)
    return (0.5 if link == "half_logit" else 1.0) * logarithm[None]


# Each maps scores (K, n) to (n,) or (n, K). "logit" and "half_logit" give the probability of class 1, "step" 0 or 1,
# "normal" the mean, the first of two scores; "softmax" and "one_vs_rest" K probabilities that add up to 1, "sigmoids" K that
# need not. "log1p_exp" and "signed_square" are those of models that others have trained.
LINKS: dict[str, Callable[[Float64s], Float64s]] = {
    "identity": _identity,
    "normal": _first,
    "log": _exponential,
    "log1p_exp": _log1p_exp,
    "signed_square": _signed_square,
    "logit": _sigmoid,
    "half_logit": _half_sigmoid,
    "step": _step,
    "softmax": _softmax,
    "one_vs_rest": _one_vs_rest,
    "sigmoids": _sigmoids,
}
