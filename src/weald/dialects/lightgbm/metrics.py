"""LightGBM's metrics by their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weald.dialects.lightgbm.objectives import Chosen, signs
from weald.dialects.shared.metrics import Function, MetricRow, auc_mu
from weald.dialects.shared.tables import Float64s
from weald.losses import METRICS, Metric
from weald.losses.elementary import log_of
from weald.losses.means import weighted_mean
from weald.losses.suggest import unknown_name
from weald.params.lightgbm import value_of
from weald.runtime.errors import InputError, NotSupportedError

_NONE = ("None", "none", "na", "null", "custom")
#: other name -> LightGBM's own
_ALIASES = {
    **dict.fromkeys(("mean_absolute_error", "mae", "regression_l1"), "l1"),
    **dict.fromkeys(("mean_squared_error", "mse", "regression_l2", "regression"), "l2"),
    **dict.fromkeys(("root_mean_squared_error", "l2_root"), "rmse"),
    "mean_absolute_percentage_error": "mape",
    "binary": "binary_logloss",
    **dict.fromkeys(
        ("multiclass", "softmax", "multiclassova", "multiclass_ova", "ova", "ovr"), "multi_logloss"
    ),
    "xentropy": "cross_entropy",
    "kldiv": "kullback_leibler",
}
_RANKING = ("lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart")
_REFUSED = (
    "ndcg", "map", "mean_average_precision", *_RANKING, "cross_entropy_lambda", "xentlambda",
)  # fmt: skip
_LARGER = frozenset({"auc", "average_precision", "auc_mu", "r2"})
_SMALLEST = 1e-10


def _poisson(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    mean = np.maximum(prediction, _SMALLEST)
    return weighted_mean(mean - y * log_of(mean), weight)


def _mape(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    return weighted_mean(np.abs(y - prediction) / np.maximum(1.0, np.abs(y)), weight)


def _gamma_deviance(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """Twice the sum, not the mean, of the rows' deviances."""
    ratio = y / (prediction + 1e-9)
    rows = ratio - log_of(ratio) - 1.0
    return 2.0 * math.fsum(rows if weight is None else rows * weight)


def _average_precision(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    """Precision at every threshold, weighed by the recall that it adds."""
    weight = np.ones(len(y)) if weight is None else weight
    order = np.argsort(-prediction, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(prediction[order]) != 0.0, True))
    hits = np.cumsum(np.where(y > 0, weight, 0.0)[order])[ends]
    shown = np.cumsum(weight[order])[ends]
    if hits[-1] == 0.0:
        return 1.0
    return math.fsum(hits / shown * np.diff(hits, prepend=0.0)) / float(hits[-1])


def _multi_error(y: Float64s, prediction: Float64s, weight: Float64s | None, top: int = 1) -> float:
    """The share of rows for which too many classes are at least as likely as theirs."""
    own = prediction[np.arange(len(y)), y.astype(np.int64)]
    return weighted_mean(((prediction >= own[:, None]).sum(axis=1) > top).astype(np.float64), weight)


def _kullback_leibler(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
    entropy = METRICS["cross_entropy"].function
    return entropy(y, prediction, weight) - entropy(y, y, weight)


def _of_signs(name: str) -> Function:
    """A metric of two classes, whose labels are above 0 or not."""
    function = METRICS[name].function
    return lambda y, prediction, weight: function(signs(y), prediction, weight)


_METRICS = {
    "l1": MetricRow("mae"),
    "l2": MetricRow("mse"),
    "rmse": MetricRow("rmse"),
    "r2": MetricRow("r2"),
    "gamma": MetricRow("gamma_nloglik"),
    "auc": MetricRow(_of_signs("auc")),
    "binary_logloss": MetricRow(_of_signs("logloss")),
    "binary_error": MetricRow(_of_signs("error")),
    "multi_logloss": MetricRow("logloss", "several"),
    "cross_entropy": MetricRow("cross_entropy"),
    "quantile": MetricRow("pinball", option=("quantile_alpha", "alpha")),
    "huber": MetricRow("huber", option=("huber_delta", "alpha")),
    "fair": MetricRow("fair", option=("fair_scale", "fair_c")),
    "tweedie": MetricRow("tweedie_nloglik", option=("tweedie_power", "tweedie_variance_power")),
    "poisson": MetricRow(_poisson),
    "mape": MetricRow(_mape),
    "gamma_deviance": MetricRow(_gamma_deviance),
    "average_precision": MetricRow(_average_precision),
    "multi_error": MetricRow(_multi_error, "several", ("top", "multi_error_top_k")),
    "auc_mu": MetricRow(auc_mu, "several"),
    "kullback_leibler": MetricRow(_kullback_leibler),
}


def metrics_of(params: Mapping[str, Any], chosen: Chosen) -> list[Metric]:
    """The metrics that are asked for by name, or the objective's own."""
    names = names_of(value_of(params, "metric"))
    if not names:
        names = [] if chosen.default_metric is None else [chosen.default_metric]
    found = dict.fromkeys(_ALIASES.get(name, name) for name in names if name not in _NONE)
    return [metric_of(name, params, chosen.n_outputs) for name in found]


def names_of(metric: Any) -> list[str]:
    """The names in LightGBM's parameter: text with commas, or several."""
    several = metric.split(",") if isinstance(metric, str) else metric
    if not isinstance(several, Sequence | set | frozenset):
        raise InputError(f"metric must be names, not {metric!r}; give a function as feval.")
    for name in several:
        if not isinstance(name, str):
            raise InputError(f"metric must be names, not {name!r}; give a function as feval.")
    return [name.strip() for name in several if name.strip()]


def metric_of(name: str, params: Mapping[str, Any], n_outputs: int) -> Metric:
    """The metric of LightGBM's own name.

    >>> float(metric_of("l1", {}, 1)(np.array([0.0, 1.0]), np.array([0.5, 1.0])))
    0.25
    """
    if name in _REFUSED:
        raise NotSupportedError(
            f"metric={name!r} is not supported by weald.lightgbm, which has neither ranking nor cross_entropy_lambda."
        )
    if name not in _METRICS:
        raise unknown_name("metric", name, _METRICS)
    row = _METRICS[name]
    row.check_outputs(f"metric={name!r}", n_outputs)
    value = None if row.option is None else value_of(params, row.option[1])
    top = value_of(params, "multi_error_top_k") if name == "multi_error" else 1
    called = name if top == 1 else f"{name}@{top}"
    return Metric(called, row.function(value), greater_is_better=name in _LARGER)
