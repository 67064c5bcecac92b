"""The log-cosh loss, and the normal loss of a mean and a deviation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from weald.losses import smooth_kernels
from weald.losses.base import Float64s, RealTarget, Rows, weight_or_empty
from weald.losses.by_kernel import OneOutput, SeveralOutputs
from weald.losses.elementary import exp_of, log_of
from weald.losses.means import weighted_mean
from weald.runtime.errors import InputError
from weald.runtime.mathlib import log

_LOG_2 = float(log(2.0))
HALF_LOG_2_PI = 0.5 * float(log(2.0 * math.pi))
# The deviation of labels that are all alike, as a share of them or of 1: the first score stays finite.
_SMALLEST_DEVIATION = 1e-8


class LogCosh(OneOutput, RealTarget):
    """log(cosh(score - y)), square near the label and absolute far from it: gradient tanh(score - y).

    The hessian is its bound 1, as for the absolute loss: the second derivative vanishes so fast that rows far from
    their score would not count. A leaf is the exact minimum.
    """

    name = "log_cosh"
    refits_leaves = True
    default_metric = "log_cosh"
    _kernel = staticmethod(smooth_kernels.log_cosh_gradients)

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        if len(y) == 0 or (weight is not None and not (weight > 0.0).any()):
            raise InputError("The log_cosh loss needs at least one row with a weight, but there is none.")
        best, offsets = np.zeros(1), np.array([0, len(y)], np.int64)
        rows = np.arange(len(y), dtype=np.uint32)
        self.refit_leaves(np.zeros(len(y)), y, weight, rows, offsets, best)
        return best

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        distance = np.abs(scores[0] - y)
        lost: Float64s = distance + log_of(1.0 + exp_of(-2.0 * distance)) - _LOG_2
        return lost

    def refit_leaves(
        self,
        score: Float64s,
        y: Float64s,
        weight: Float64s | None,
        leaf_rows: Rows,
        leaf_offsets: NDArray[np.int64],
        values: Float64s,
    ) -> None:
        w = weight_or_empty(weight)
        smooth_kernels.refit_log_cosh_leaves(score, y, w, leaf_rows, leaf_offsets, values)


class Normal(SeveralOutputs, RealTarget):
    """Minus the logarithm of a normal density: one output is its mean, the other the logarithm of its deviation.

    The mean's gradient is the natural one, mean - y with hessian 1: what the loss's own, both over the variance, are
    once Fisher's information is divided out (Duan et al. 2020, NGBoost). The other's is 1 - z**2, z = (y - mean) / deviation,
    with the larger of the second derivative 2 z**2 and its mean 2 as hessian, so that no step is longer than a half.
    """

    name = "normal"
    link = "normal"
    n_outputs = 2
    default_metric = "normal_nloglik"
    _kernel = staticmethod(smooth_kernels.normal_gradients)

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        mean = weighted_mean(y, weight)
        deviation = math.sqrt(weighted_mean((y - mean) ** 2, weight))
        return np.array([mean, log(max(deviation, _SMALLEST_DEVIATION * max(1.0, abs(mean))))])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        return normal_surprise(scores, y)


def normal_surprise(scores: Float64s, y: Float64s) -> Float64s:
    """Minus the logarithm of the normal density of every label, (n,); scores: means and logarithms of deviations, (2, n)."""
    ratio = (y - scores[0]) * exp_of(-scores[1])
    surprise: Float64s = HALF_LOG_2_PI + scores[1] + 0.5 * ratio * ratio
    return surprise
