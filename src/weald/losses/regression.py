"""Losses of a real-valued target: squared, absolute, absolute as a share of the label, Huber and quantile."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.losses import kernels
from weald.losses.base import Float32s, Float64s, Loss, RealTarget, Rows, positive, weight_or_empty
from weald.losses.by_kernel import OneOutput, SeparateOutputs
from weald.losses.means import weighted_mean
from weald.losses.quantiles import refit_huber_leaves, refit_quantile_leaves, weighted_quantile
from weald.runtime.errors import InputError


class _Clipped(OneOutput, RealTarget):
    """gradient = the residual score - y, clipped to ± `_limit`."""

    _kernel = staticmethod(kernels.clipped_gradients)
    _limit = math.inf

    @property
    def _constants(self) -> tuple[float, ...]:
        return (self._limit,)

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        distance = np.abs(scores[0] - y)
        near = np.minimum(distance, self._limit)
        lost: Float64s = near * (distance - 0.5 * near)
        return lost


class Squared(_Clipped):
    """(score - y)**2 / 2: gradient score - y, hessian 1."""

    name = "squared"
    default_metric = "rmse"

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_mean(y, weight)])


class HuberLoss(_Clipped):
    """Squared near the label, linear beyond `huber_delta` of it: gradient clip(score - y, -delta, delta).

    A leaf is refitted in one step from its median (Friedman 2001, Algorithm 4).
    """

    name = "huber"
    refits_leaves = True
    default_metric = "huber"
    _ties = 1.0  # where two residuals are equally good medians: 1 their midpoint, `LOWER` the lower one

    def __init__(self, huber_delta: float = 1.0) -> None:
        self._limit = positive("huber_delta", huber_delta)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"huber_delta": self._limit}

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_quantile(y, weight, 0.5)])

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
        refit_huber_leaves(score, y, w, leaf_rows, leaf_offsets, 0.5 * self._ties, self._limit, values)


class Stepped(OneOutput, RealTarget):
    """A piecewise linear loss: slope `_above` where the score is above the label, `_below` where below."""

    _kernel = staticmethod(kernels.stepped_gradients)
    _alpha = 0.5
    _above = 1.0
    _below = -1.0
    _level = 0.0  # the slope where the score is the label
    _ties = 1.0  # as in `HuberLoss`
    refits_leaves = True

    def _weight(self, y: Float64s, weight: Float64s | None) -> Float64s | None:
        """What a row's slopes are multiplied by."""
        return weight

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_quantile(y, self._weight(y, weight), self._alpha)])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        excess = scores[0] - y
        lost: Float64s = np.where(excess > 0.0, self._above, self._below) * excess
        return lost

    def best_step(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        output: int,
        direction: Float64s,
        tasks: int,
    ) -> float:
        """A weighted quantile of residual / direction: there the slopes of the rows on both sides balance.

        For the absolute loss it is the weighted median of Friedman (2001, section 4.2).
        """
        used = direction != 0.0
        if not used.any():
            return 0.0
        direction, weight = direction[used], self._weight(y, weight)
        reach = np.abs(direction) if weight is None else np.abs(direction) * weight[used]
        rising = weighted_mean((direction > 0.0).astype(np.float64), reach)
        alpha = rising * self._alpha + (1.0 - rising) * (1.0 - self._alpha)
        return max(0.0, weighted_quantile((y - scores[0])[used] / direction, reach, alpha))

    @property
    def _constants(self) -> tuple[float, ...]:
        return self._above, self._below, self._level

    def refit_leaves(
        self,
        score: Float64s,
        y: Float64s,
        weight: Float64s | None,
        leaf_rows: Rows,
        leaf_offsets: NDArray[np.int64],
        values: Float64s,
    ) -> None:
        w = weight_or_empty(self._weight(y, weight))
        refit_quantile_leaves(score, y, w, leaf_rows, leaf_offsets, self._alpha * self._ties, values)


class Absolute(Stepped):
    """abs(score - y): gradient sign(score - y), hessian 1; a leaf is the median of its residuals."""

    name = "absolute"
    default_metric = "mae"


class AbsoluteShare(Stepped):
    """abs(score - y) / max(1, abs(y)): gradient sign(score - y) over that divisor, hessian 1.

    The error as a share of the label, where that is above 1 (LightGBM's mape). A leaf is the median of its residuals,
    weighted by the reciprocals of the divisors.
    """

    name = "mape"
    default_metric = "bounded_mape"

    def _weight(self, y: Float64s, weight: Float64s | None) -> Float64s:
        share: Float64s = 1.0 / np.maximum(1.0, np.abs(y))
        return share if weight is None else share * weight

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        return super().values(scores, y) * self._weight(y, None)

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        super().gradients(scores, y, self._weight(y, weight), gradient, hessian, tasks)
        hessian[0] = 1.0 if weight is None else weight


class QuantileLoss(Stepped):
    """The pinball loss, least at the `quantile_alpha`-quantile; a leaf is that quantile of its residuals."""

    name = "quantile"
    default_metric = "pinball"

    def __init__(self, quantile_alpha: Any = 0.5) -> None:
        if not isinstance(quantile_alpha, float | int | np.number) or not 0.0 < quantile_alpha < 1.0:
            raise InputError(
                f"quantile_alpha must be between 0 and 1, both excluded, not {quantile_alpha!r}."
            )
        self._alpha = float(quantile_alpha)
        self._above = 1.0 - self._alpha
        self._below = -self._alpha

    @property
    def options(self) -> Mapping[str, Any]:
        return {"quantile_alpha": self._alpha}


class Quantiles(SeparateOutputs, RealTarget):
    """Several quantiles at once: an output for every alpha, each with its own pinball loss."""

    name = "quantile"
    refits_leaves = True
    default_metric = "pinball"

    def __init__(self, quantile_alpha: Sequence[float]) -> None:
        self._outputs = [QuantileLoss(alpha) for alpha in quantile_alpha]
        self.n_outputs = len(self._outputs)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"quantile_alpha": [output._alpha for output in self._outputs]}

    def of_output(self, output: int) -> Loss:
        return self._outputs[output]

    def _part(self, k: int, y: Float64s) -> tuple[Loss, Float64s, Float64s | None]:
        return self._outputs[k], y, None


def quantile_loss(quantile_alpha: Any = 0.5) -> Loss:
    """The pinball loss of one quantile, or of several.

    >>> quantile_loss([0.1, 0.9]).n_outputs
    2
    """
    if isinstance(quantile_alpha, Sequence | np.ndarray) and not isinstance(quantile_alpha, str):
        alphas = list(quantile_alpha)
        if not alphas:
            raise InputError("quantile_alpha must name at least one quantile, not an empty list.")
        return QuantileLoss(alphas[0]) if len(alphas) == 1 else Quantiles(alphas)
    return QuantileLoss(quantile_alpha)
