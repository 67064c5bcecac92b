"""XGBoost's objectives as losses: Weald's own, with the curvature that XGBoost gives them where it differs.

Softmax has twice the diagonal of the hessian, and Poisson's hessian is stretched by exp(max_delta_step), both to keep
Newton's steps short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weald.losses.base import Float64s, Loss
from weald.losses.classification import Softmax
from weald.losses.count import Gamma, Poisson, TweedieLoss
from weald.losses.margins import CrossEntropy, Hinge, PseudoHuberLoss, SquaredLog
from weald.losses.means import weighted_mean
from weald.losses.regression import Absolute, Squared, quantile_loss
from weald.runtime.mathlib import exp


class TwiceSoftmax(Softmax):
    """`Softmax` with the hessian 2 * p * (1 - p); ``start``: its first scores, in place of the best ones."""

    def __init__(self, n_classes: int = 0, start: Float64s | None = None) -> None:
        super().__init__(n_classes)
        self._stretch = 2.0 * (self.n_outputs - 1) / self.n_outputs
        self._start = start
        self.starts_at_optimum = start is None

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return super().initial_score(y, weight) if self._start is None else self._start


class StretchedPoisson(Poisson):
    """`Poisson` with the hessian exp(score + max_delta_step)."""

    def __init__(self, max_delta_step: float = 0.7) -> None:
        self._stretch = float(exp(float(max_delta_step)))


class LogitRaw(CrossEntropy):
    """`CrossEntropy` whose predictions are the raw scores. The first is the mean label, which XGBoost takes for a score."""

    link = "identity"
    starts_at_optimum = False
    default_metric = "rmse"  # cross-entropy is of probabilities

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_mean(y, weight)])


def xgboost_loss(
    objective: str,
    *,
    num_class: int = 0,
    huber_slope: float = 1.0,
    quantile_alpha: Any = 0.5,
    tweedie_variance_power: float = 1.5,
    max_delta_step: float = 0.7,
    start: Float64s | None = None,
) -> Loss:
    """The loss of one of XGBoost's objectives; each takes the options that are its own; ``start``: of several classes.

    >>> xgboost_loss("reg:tweedie", tweedie_variance_power=1.2)
    make_loss('tweedie', tweedie_power=1.2)
    """
    makers: dict[str, Callable[[], Loss]] = {
        "reg:squarederror": Squared,
        "reg:absoluteerror": Absolute,
        "reg:pseudohubererror": lambda: PseudoHuberLoss(huber_slope),
        "reg:squaredlogerror": SquaredLog,
        "reg:quantileerror": lambda: quantile_loss(quantile_alpha),
        "reg:logistic": CrossEntropy,
        "binary:logistic": CrossEntropy,
        "binary:logitraw": LogitRaw,
        "binary:hinge": Hinge,
        "multi:softmax": lambda: TwiceSoftmax(num_class, start),
        "multi:softprob": lambda: TwiceSoftmax(num_class, start),
        "count:poisson": lambda: StretchedPoisson(max_delta_step),
        "reg:gamma": Gamma,
        "reg:tweedie": lambda: TweedieLoss(tweedie_variance_power),
    }
    return makers[objective]()
