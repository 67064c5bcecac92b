"""Metrics of predictions: what is watched while training, and what `weald evaluate` reports.

A metric sees predictions, what `Loss.respond` returns, or raw scores where it says so. Class labels are codes 0, 1, ... Means
are compensated sums and logarithms are our own, so a training curve is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.losses.base import refuse_labels
from weald.losses.elementary import exp_of, log_of
from weald.losses.margin_kernels import LOWEST_LOG_SCORE
from weald.losses.means import compensated_dot, weighted_mean
from weald.losses.smooth import LogCosh, normal_surprise

Float64s = NDArray[np.float64]
Needs = Literal["regression", "positive", "classification", "binary", "share", "normal", "any"]

# Probabilities are kept this far from 0 and 1, as scikit-learn does for float64.
_SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)
_SMALLEST_MEAN = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Metric:
    """A named function(y, prediction, weight) -> float; `needs` and `option` are for `make_metric`.

    >>> METRICS["mae"](np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    1.0
    """

    name: str
    function: Callable[..., float]
    greater_is_better: bool = False
    needs: Needs = "any"
    option: str | None = None
    of_scores: bool = False  # the function wants raw scores, (outputs, rows), as predictions

    def __call__(self, y: Float64s, prediction: Float64s, weight: Float64s | None = None) -> float:
        return self.function(y, prediction, weight)


def _mse(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return weighted_mean((y - prediction) ** 2, weight)


def _rmse(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return math.sqrt(_mse(y, prediction, weight))


def _mae(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return weighted_mean(np.abs(y - prediction), weight)


def _r2(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """1 - residual / total variance; of a constant target 1 where it is met exactly, else 0."""
    residual = _mse(y, prediction, weight)
    total = weighted_mean((y - weighted_mean(y, weight)) ** 2, weight)
    if total == 0.0:
        return 1.0 if residual == 0.0 else 0.0
    return 1.0 - residual / total


def _huber(y: Float64s, prediction: Float64s, weight: Float64s | None, huber_delta: float = 1.0) -> float:
    distance = np.abs(y - prediction)
    near = np.minimum(distance, huber_delta)
    return weighted_mean(near * (distance - 0.5 * near), weight)


def _pseudo_huber(
    y: Float64s, prediction: Float64s, weight: Float64s | None, huber_delta: float = 1.0
) -> float:
    ratio = (y - prediction) / huber_delta
    return huber_delta**2 * weighted_mean(np.sqrt(1.0 + ratio * ratio) - 1.0, weight)


def _rmsle(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    refuse_labels(~(y > -1.0), y, "above -1 for the metric rmsle")
    known = np.maximum(prediction, float(LOWEST_LOG_SCORE))
    return math.sqrt(weighted_mean((log_of(1.0 + y) - log_of(1.0 + known)) ** 2, weight))


def _mape(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The mean error as a share of the label; labels of 0 count as the smallest share that is not."""
    return weighted_mean(
        np.abs(y - prediction) / np.maximum(np.abs(y), float(np.finfo(np.float64).eps)), weight
    )


def _bounded_mape(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The mean error as a share of the label; labels between -1 and 1 count as 1."""
    return weighted_mean(np.abs(y - prediction) / np.maximum(np.abs(y), 1.0), weight)


def _fair(y: Float64s, prediction: Float64s, weight: Float64s | None, fair_scale: float = 1.0) -> float:
    ratio = np.abs(y - prediction) / fair_scale
    return fair_scale**2 * weighted_mean(ratio - log_of(1.0 + ratio), weight)


def _log_cosh(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return weighted_mean(LogCosh().values(prediction[None], y), weight)


def _normal_nloglik(y: Float64s, scores: Float64s, weight: Float64s | None) -> float:
    """Minus the mean logarithm of the normal density of the labels."""
    return weighted_mean(normal_surprise(scores, y), weight)


def _pinball(y: Float64s, prediction: Float64s, weight: Float64s | None, quantile_alpha: Any = 0.5) -> float:
    """The pinball loss; with several quantiles, a column each, the mean of theirs."""
    if prediction.ndim == 2:
        columns = zip(prediction.T, quantile_alpha, strict=True)
        losses = [_pinball(y, column, weight, alpha) for column, alpha in columns]
        return math.fsum(losses) / len(losses)
    residual = y - prediction
    return weighted_mean(np.maximum(quantile_alpha * residual, (quantile_alpha - 1.0) * residual), weight)


def _poisson_deviance(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    refuse_labels(~(y >= 0.0), y, "0 or more for the metric poisson_deviance")
    mean = np.maximum(prediction, _SMALLEST_MEAN)
    surprise = y * (log_of(np.where(y > 0.0, y, 1.0)) - log_of(np.where(y > 0.0, mean, 1.0)))
    return 2.0 * weighted_mean(surprise - y + mean, weight)


def _gamma_deviance(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    refuse_labels(~(y > 0.0), y, "above 0 for the metric gamma_deviance")
    mean = np.maximum(prediction, _SMALLEST_MEAN)
    return 2.0 * weighted_mean(log_of(mean) - log_of(y) + y / mean - 1.0, weight)


def _tweedie_deviance(
    y: Float64s, prediction: Float64s, weight: Float64s | None, tweedie_power: float = 1.5
) -> float:
    refuse_labels(~(y >= 0.0), y, "0 or more for the metric tweedie_deviance")
    one, two = 1.0 - tweedie_power, 2.0 - tweedie_power
    log_mean = log_of(np.maximum(prediction, _SMALLEST_MEAN))
    of_labels = exp_of(two * log_of(y)) / (one * two)
    of_means = exp_of(two * log_mean) / two - y * exp_of(one * log_mean) / one
    return 2.0 * weighted_mean(of_labels + of_means, weight)


def _poisson_loss(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """`poisson_nloglik` without the part that depends on the labels alone."""
    refuse_labels(~(y >= 0.0), y, "0 or more for the metric poisson_loss")
    mean = np.maximum(prediction, _SMALLEST_MEAN)
    return weighted_mean(mean - y * log_of(mean), weight)


def _poisson_nloglik(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """Minus the mean logarithm of Poisson's probability of the labels."""
    from scipy.special import gammaln

    refuse_labels(~(y >= 0.0), y, "0 or more for the metric poisson_nloglik")
    mean = np.maximum(prediction, _SMALLEST_MEAN)
    return weighted_mean(gammaln(y + 1.0) + mean - y * log_of(mean), weight)


def _gamma_nloglik(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """Minus the mean logarithm of the density of a gamma distribution of shape 1."""
    refuse_labels(~(y > 0.0), y, "above 0 for the metric gamma_nloglik")
    mean = np.maximum(prediction, _SMALLEST_MEAN)
    return weighted_mean(y / mean + log_of(mean), weight)


def _tweedie_nloglik(
    y: Float64s, prediction: Float64s, weight: Float64s | None, tweedie_power: float = 1.5
) -> float:
    """The part of minus Tweedie's log-likelihood that depends on the prediction."""
    refuse_labels(~(y >= 0.0), y, "0 or more for the metric tweedie_nloglik")
    one, two = 1.0 - tweedie_power, 2.0 - tweedie_power
    log_mean = log_of(np.maximum(prediction, _SMALLEST_MEAN))
    return weighted_mean(exp_of(two * log_mean) / two - y * exp_of(one * log_mean) / one, weight)


def _cross_entropy(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """`logloss` of labels from 0 to 1."""
    known = np.clip(prediction, _SMALLEST_PROBABILITY, 1.0 - _SMALLEST_PROBABILITY)
    return -weighted_mean(y * log_of(known) + (1.0 - y) * log_of(1.0 - known), weight)


def _kullback_leibler(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The divergence of the predicted shares from the labels: `cross_entropy` less the labels' own entropy."""
    return _cross_entropy(y, prediction, weight) - _cross_entropy(y, y, weight)


def _logloss(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    if prediction.ndim == 1:
        hit = np.where(y == 1.0, prediction, 1.0 - prediction)
    else:
        hit = prediction[np.arange(y.shape[0]), y.astype(np.int64)]
    hit = np.clip(hit, _SMALLEST_PROBABILITY, 1.0 - _SMALLEST_PROBABILITY)
    return -weighted_mean(log_of(hit), weight)


def _ranked(y: Float64s, prediction: Float64s, weight: Float64s | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Weights of class 1 and of class 0 at every distinct prediction, from the smallest on."""
    weight = np.ones(y.shape[0]) if weight is None else weight
    order = np.argsort(prediction, kind="stable")
    ranked = prediction[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    positive = np.add.reduceat(np.where(y == 1.0, weight, 0.0)[order], starts)
    return positive, np.add.reduceat(np.where(y == 1.0, 0.0, weight)[order], starts)


def _against_the_rest(area: Callable[..., float], y: Float64s, prediction: Float64s, weight: Any) -> float:
    """The area of every class against the others, by the classes' weights; NaN where a class is absent."""
    weight = np.ones(y.shape[0]) if weight is None else weight
    of_class = [(y == k).astype(np.float64) for k in range(prediction.shape[1])]
    areas = [area(hit, column, weight) for hit, column in zip(of_class, prediction.T, strict=True)]
    return weighted_mean(np.array(areas), np.array([float(compensated_dot(hit, weight)) for hit in of_class]))


def _aucpr(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The area under precision over recall; between two thresholds hits and false alarms grow in proportion.

    That is the interpolation of Davis and Goadrich (2006), integrated in closed form: with recall r and hits h of P
    in all, precision is r / (a r + b), a = 1 + slope and b = (false - slope * h) / P at the segment's lower end.
    """
    if prediction.ndim == 2:
        return _against_the_rest(_aucpr, y, prediction, weight)
    positive, negative = (part[::-1] for part in _ranked(y, prediction, weight))
    total = float(positive.sum())
    if total == 0.0 or float(negative.sum()) == 0.0:
        return math.nan
    hits, false = np.cumsum(positive), np.cumsum(negative)
    grows = positive > 0.0
    slope = negative[grows] / positive[grows]
    end = hits[grows] / total
    start = (hits[grows] - positive[grows]) / total
    a = 1.0 + slope
    b = (false[grows] - slope * hits[grows]) / total
    straight = (np.abs(b) < 1e-12) | (a * start + b <= 0.0)
    low = np.where(straight, 1.0, a * start + b)
    high = np.where(straight, 1.0, a * end + b)
    areas = (end - start - np.where(straight, 0.0, b / a * log_of(high / low))) / a
    return math.fsum(areas)


def _average_precision(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The mean precision over the hits: the area under precision over recall in steps; NaN where a class is absent."""
    if prediction.ndim == 2:
        return _against_the_rest(_average_precision, y, prediction, weight)
    positive, negative = (part[::-1] for part in _ranked(y, prediction, weight))
    total = float(positive.sum())
    if total == 0.0 or float(negative.sum()) == 0.0:
        return math.nan
    hits = np.cumsum(positive)
    everything = hits + np.cumsum(negative)
    precision = np.divide(hits, everything, out=np.zeros(len(hits)), where=everything > 0.0)
    return float(compensated_dot(positive, precision)) / total


def _auc(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The chance that a row of class 1 ranks above one of class 0, ties half; NaN where a class is absent."""
    if prediction.ndim == 2:
        return _against_the_rest(_auc, y, prediction, weight)
    positive, negative = _ranked(y, prediction, weight)
    below = np.cumsum(negative)
    pairs = float(positive.sum()) * float(below[-1])
    if pairs == 0.0:
        return math.nan
    return float(compensated_dot(positive, below - 0.5 * negative)) / pairs


def _accuracy(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """The share of rows whose likeliest class is theirs; of equally likely classes the first counts."""
    likeliest = prediction > 0.5 if prediction.ndim == 1 else np.argmax(prediction, axis=1)
    return weighted_mean((likeliest == y).astype(np.float64), weight)


def _error(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return 1.0 - _accuracy(y, prediction, weight)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("rmse", _rmse, needs="regression"),
        Metric("mse", _mse, needs="regression"),
        Metric("mae", _mae, needs="regression"),
        Metric("r2", _r2, greater_is_better=True, needs="regression"),
        Metric("huber", _huber, needs="regression", option="huber_delta"),
        Metric("pseudo_huber", _pseudo_huber, needs="regression", option="huber_delta"),
        Metric("fair", _fair, needs="regression", option="fair_scale"),
        Metric("log_cosh", _log_cosh, needs="regression"),
        Metric("normal_nloglik", _normal_nloglik, needs="normal", of_scores=True),
        Metric("rmsle", _rmsle, needs="regression"),
        Metric("mape", _mape, needs="regression"),
        Metric("bounded_mape", _bounded_mape, needs="regression"),
        Metric("cross_entropy", _cross_entropy, needs="share"),
        Metric("kullback_leibler", _kullback_leibler, needs="share"),
        Metric("pinball", _pinball, needs="regression", option="quantile_alpha"),
        Metric("poisson_deviance", _poisson_deviance, needs="positive"),
        Metric("gamma_deviance", _gamma_deviance, needs="positive"),
        Metric("tweedie_deviance", _tweedie_deviance, needs="positive", option="tweedie_power"),
        Metric("poisson_loss", _poisson_loss, needs="positive"),
        Metric("poisson_nloglik", _poisson_nloglik, needs="positive"),
        Metric("gamma_nloglik", _gamma_nloglik, needs="positive"),
        Metric("tweedie_nloglik", _tweedie_nloglik, needs="positive", option="tweedie_power"),
        Metric("logloss", _logloss, needs="classification"),
        Metric("auc", _auc, greater_is_better=True, needs="binary"),
        Metric("aucpr", _aucpr, greater_is_better=True, needs="binary"),
        Metric("average_precision", _average_precision, greater_is_better=True, needs="binary"),
        Metric("accuracy", _accuracy, greater_is_better=True, needs="classification"),
        Metric("error", _error, needs="classification"),
    )
}
