"""Losses of counts and amounts under a log link: Poisson, gamma and Tweedie.

All three are half the Tweedie deviance of one power: 1 for Poisson, 2 for gamma, between for Tweedie.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weald.losses import kernels
from weald.losses.base import LARGEST_LABEL, Float64s, refuse_labels
from weald.losses.by_kernel import OneOutput
from weald.losses.elementary import exp_of
from weald.losses.means import weighted_mean
from weald.runtime.errors import InputError
from weald.runtime.mathlib import log

# Where all labels that have a weight are 0 the best score is minus infinity; the first score is log of this.
ZERO_MEAN_FLOOR = 1e-9


class _Deviance(OneOutput):
    link = "log"
    _kernel = staticmethod(kernels.deviance_gradients)
    _power: float
    # A Newton step is far too long where the labels are many times exp(score); one of 0.7 doubles or halves.
    max_delta_step = 0.7

    def check_target(self, y: Float64s) -> None:
        bad = ~((y >= 0.0) & (y <= LARGEST_LABEL))
        refuse_labels(bad, y, f"0 or more and at most {LARGEST_LABEL:g} for loss={self.name!r}")

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        mean = weighted_mean(y, weight)
        return np.array([log(mean if mean > 0.0 else ZERO_MEAN_FLOOR)])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        score: Float64s = scores[0]
        if self._power == 1.0:
            return exp_of(score) - y * score
        if self._power == 2.0:
            return score + y * exp_of(-score)
        one, two = 1.0 - self._power, 2.0 - self._power
        return exp_of(two * score) / two - y * exp_of(one * score) / one

    @property
    def _constants(self) -> tuple[float, ...]:
        return (self._power,)


class Poisson(_Deviance):
    """exp(score) - y * score: gradient exp(score) - y, hessian exp(score)."""

    name = "poisson"
    default_metric = "poisson_deviance"
    _power = 1.0

    def check_target(self, y: Float64s) -> None:
        super().check_target(y)
        if not np.any(y > 0.0):
            raise InputError("y must have at least one count above 0 for loss='poisson', but all of it is 0.")


class Gamma(_Deviance):
    """score + y * exp(-score): gradient 1 - y * exp(-score), hessian y * exp(-score)."""

    name = "gamma"
    default_metric = "gamma_deviance"
    _power = 2.0

    def check_target(self, y: Float64s) -> None:
        bad = ~((y > 0.0) & (y <= LARGEST_LABEL))
        refuse_labels(bad, y, f"above 0 and at most {LARGEST_LABEL:g} for loss='gamma'")


class TweedieLoss(_Deviance):
    """-y * exp((1-p) * score) / (1-p) + exp((2-p) * score) / (2-p), p = `tweedie_power` between 1 and 2."""

    name = "tweedie"
    default_metric = "tweedie_deviance"
    # Its hessian grows with the labels, so that a step needs no limit; one would only slow it down.
    max_delta_step = 0.0

    def __init__(self, tweedie_power: float = 1.5) -> None:
        if not 1.0 < tweedie_power < 2.0:
            raise InputError(
                f"tweedie_power must lie between 1 and 2, both excluded, not {tweedie_power!r}; "
                "for 1 use loss='poisson', for 2 loss='gamma'."
            )
        self._power = float(tweedie_power)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"tweedie_power": self._power}
