"""Pseudo-Huber, fair, squared-log, hinge and cross-entropy losses: one score a row, Newton leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weald.losses import margin_kernels
from weald.losses.base import LARGEST_LABEL, Float64s, RealTarget, positive, refuse_labels
from weald.losses.by_kernel import OneOutput
from weald.losses.classification import log_odds
from weald.losses.elementary import exp_of, log_of
from weald.losses.means import weighted_mean
from weald.losses.quantiles import weighted_quantile
from weald.runtime.mathlib import exp


class _Margin(OneOutput):
    _kind: Any
    _option = 0.0
    _kernel = staticmethod(margin_kernels.margin_gradients)

    @property
    def _constants(self) -> tuple[Any, ...]:
        return (self._kind, self._option)


class PseudoHuberLoss(_Margin, RealTarget):
    """delta**2 * (sqrt(1 + (z / delta)**2) - 1), z = score - y: the Huber loss without its corner.

    gradient z / root, hessian 1 / root**3, with root = sqrt(1 + (z / delta)**2). It starts at the median.
    """

    name = "pseudo_huber"
    default_metric = "pseudo_huber"
    starts_at_optimum = False
    _kind = margin_kernels.PSEUDO_HUBER

    def __init__(self, huber_delta: float = 1.0) -> None:
        self._option = positive("huber_delta", huber_delta)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"huber_delta": self._option}

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_quantile(y, weight, 0.5)])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        ratio = (scores[0] - y) / self._option
        lost: Float64s = self._option**2 * (np.sqrt(1.0 + ratio * ratio) - 1.0)
        return lost


class FairLoss(_Margin, RealTarget):
    """c * abs(z) - c**2 * log(1 + abs(z) / c), z = score - y, c = `fair_scale`: square near the label, linear far from it.

    gradient c * z / (abs(z) + c), hessian (c / (abs(z) + c))**2. It starts at the mean, as LightGBM does.
    """

    name = "fair"
    default_metric = "fair"
    starts_at_optimum = False
    _kind = margin_kernels.FAIR

    def __init__(self, fair_scale: float = 1.0) -> None:
        self._option = positive("fair_scale", fair_scale)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"fair_scale": self._option}

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_mean(y, weight)])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        ratio = np.abs(scores[0] - y) / self._option
        lost: Float64s = self._option**2 * (ratio - log_of(1.0 + ratio))
        return lost


class SquaredLog(_Margin):
    """(log(1 + score) - log(1 + y))**2 / 2, for labels above -1; scores of -1 and less count as just above it.

    gradient d / (1 + score), hessian (1 - d) / (1 + score)**2, not below 1e-6, d the difference of logarithms.
    """

    name = "squared_log"
    default_metric = "rmsle"
    _kind = margin_kernels.SQUARED_LOG

    def check_target(self, y: Float64s) -> None:
        bad = ~((y > -1.0) & (y <= LARGEST_LABEL))
        refuse_labels(bad, y, f"above -1 and at most {LARGEST_LABEL:g} for loss='squared_log'")

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([exp(weighted_mean(log_of(1.0 + y), weight)) - 1.0])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        lowest = float(margin_kernels.LOWEST_LOG_SCORE)
        lost: Float64s = 0.5 * (log_of(1.0 + np.maximum(scores[0], lowest)) - log_of(1.0 + y)) ** 2
        return lost


class Hinge(_Margin):
    """max(0, 1 - z * score), z = -1 and 1 for the labels 0 and 1: gradient -z and hessian 1 within the margin, else 0.

    Scores are no log-odds; the prediction is 0 or 1.
    """

    name = "hinge"
    link = "step"
    task = "classification"
    default_metric = "error"
    starts_at_optimum = False
    _kind = margin_kernels.HINGE

    def check_target(self, y: Float64s) -> None:
        refuse_labels((y != 0.0) & (y != 1.0), y, "0 or 1 for loss='hinge'")

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.zeros(1)

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        lost: Float64s = np.maximum(0.0, 1.0 + (1.0 - 2.0 * y) * scores[0])
        return lost


class CrossEntropy(_Margin):
    """Cross-entropy of labels from 0 to 1, which are shares or probabilities: gradient p - y, hessian p * (1 - p)."""

    name = "cross_entropy"
    link = "logit"
    default_metric = "cross_entropy"
    _kind = margin_kernels.CROSS_ENTROPY

    def check_target(self, y: Float64s) -> None:
        refuse_labels(~((y >= 0.0) & (y <= 1.0)), y, "from 0 to 1 for loss='cross_entropy'")

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([log_odds(y, weight)])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        score = scores[0]
        lost: Float64s = np.maximum(score, 0.0) - y * score + log_of(1.0 + exp_of(-np.abs(score)))
        return lost
