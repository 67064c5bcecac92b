"""Losses of classes: logistic and exponential for two, softmax and one-vs-rest for more. Labels are class codes 0, 1, ..."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weald.losses import kernels
from weald.losses.base import Float64s, Loss, refuse_labels
from weald.losses.by_kernel import OneOutput, SeparateOutputs, SeveralOutputs
from weald.losses.elementary import exp_of, log_of
from weald.losses.means import weighted_mean
from weald.runtime.errors import InputError
from weald.runtime.mathlib import log

# Priors are kept this far from 0 and 1, so that the first score of a class without rows is finite.
SMALLEST_PRIOR = 1e-15


class _TwoClasses(OneOutput):
    task = "classification"
    default_metric = "logloss"

    def check_target(self, y: Float64s) -> None:
        refuse_labels((y != 0.0) & (y != 1.0), y, f"0 or 1 for loss={self.name!r}")

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([log_odds(y, weight)])


def log_odds(hit: Float64s, weight: Float64s | None) -> float:
    """Of the share of rows where `hit` is 1; within what floats can tell from 0 and 1."""
    prior = min(max(weighted_mean(hit, weight), SMALLEST_PRIOR), 1.0 - SMALLEST_PRIOR)
    return log(prior / (1.0 - prior))


class Logistic(_TwoClasses):
    """Binary cross-entropy, labels 0 and 1: gradient p - y, hessian p * (1 - p), with p = sigmoid(score)."""

    name = "logistic"
    link = "logit"
    is_logistic = True
    _kernel = staticmethod(kernels.logistic_gradients)

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        # log(1 + exp(z)) of the score towards the other class, written so that no exponential overflows.
        towards = (1.0 - 2.0 * y) * scores[0]
        lost: Float64s = np.maximum(towards, 0.0) + log_of(1.0 + exp_of(-np.abs(towards)))
        return lost


class Exponential(_TwoClasses):
    """AdaBoost's loss exp(-z * score), z = -1 and 1 for the labels 0 and 1: gradient -z * exp(-z * score).

    The score estimates half the log-odds (Friedman, Hastie and Tibshirani 2000, Lemma 1).
    """

    name = "exponential"
    link = "half_logit"
    _kernel = staticmethod(kernels.exponential_gradients)

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return 0.5 * super().initial_score(y, weight)

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        return exp_of((1.0 - 2.0 * y) * scores[0])


class _SeveralClasses(Loss):
    task = "classification"
    default_metric = "logloss"

    def __init__(self, n_classes: int = 0) -> None:
        if n_classes < 2:
            raise InputError(f"loss={self.name!r} needs n_classes of 2 or more, not {n_classes!r}.")
        self.n_outputs = int(n_classes)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"n_classes": self.n_outputs}

    def check_target(self, y: Float64s) -> None:
        bad = ~((y >= 0.0) & (y < self.n_outputs) & (y == np.floor(y)))
        refuse_labels(bad, y, f"a class code from 0 to {self.n_outputs - 1} for loss={self.name!r}")


class Softmax(SeveralOutputs, _SeveralClasses):
    """Cross-entropy of K classes, K scores a row: gradient p_k - [y = k].

    The hessian is p_k * (1 - p_k) * K / (K - 1): the diagonal, enlarged to bound the coupling of the classes.
    """

    name = "softmax"
    link = "softmax"
    _kernel = staticmethod(kernels.softmax_gradients)

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        priors = [weighted_mean((y == k).astype(np.float64), weight) for k in range(self.n_outputs)]
        scores = np.array([log(max(prior, SMALLEST_PRIOR)) for prior in priors], dtype=np.float64)
        return scores - weighted_mean(scores, None)

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        largest = scores.max(axis=0)
        total = np.zeros(scores.shape[1])
        for score in scores:
            total += exp_of(score - largest)
        lost: Float64s = log_of(total) + largest - scores[y.astype(np.int64), np.arange(scores.shape[1])]
        return lost


class OneVsRest(SeparateOutputs, _SeveralClasses):
    """A logistic loss for each of K classes, by itself: is a row of the class or of any other?

    The K probabilities of a row are divided by their sum; the link "sigmoids" leaves them as they are.
    """

    name = "one_vs_rest"
    link = "one_vs_rest"

    def __init__(self, n_classes: int = 0) -> None:
        super().__init__(n_classes)
        self._single = Logistic()

    def _part(self, k: int, y: Float64s) -> tuple[Loss, Float64s, Float64s | None]:
        return self._single, (y == k).astype(np.float64), None
