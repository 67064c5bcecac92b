"""XGBoost's metrics by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.shared.metrics import MetricRow
from weald.losses import Metric
from weald.losses.means import weighted_mean
from weald.losses.suggest import unknown_name
from weald.params.xgboost import XGBOOST_PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError

Float64s = NDArray[np.float64]


def _error(y: Float64s, prediction: Float64s, weight: Float64s | None, threshold: float) -> float:
    return weighted_mean(np.where(prediction > threshold, 1.0 - y, y), weight)


_METRICS = {
    "rmse": MetricRow("rmse"),
    "rmsle": MetricRow("rmsle"),
    "mae": MetricRow("mae"),
    "mape": MetricRow("mape"),
    "logloss": MetricRow("cross_entropy"),
    "mlogloss": MetricRow("logloss", "several"),
    "merror": MetricRow("error", "several"),
    "auc": MetricRow("auc", "either"),
    "aucpr": MetricRow("aucpr", "either"),
    "poisson-nloglik": MetricRow("poisson_nloglik"),
    "gamma-nloglik": MetricRow("gamma_nloglik"),
    "gamma-deviance": MetricRow("gamma_deviance"),
    "error": MetricRow(_error, option=("threshold", "")),
    "tweedie-nloglik": MetricRow("tweedie_nloglik", option=("tweedie_power", "tweedie_variance_power")),
    "mphe": MetricRow("pseudo_huber", option=("huber_delta", "huber_slope")),
    "quantile": MetricRow("pinball", "either", ("quantile_alpha", "quantile_alpha")),
}
_AFTER_AT = ("error", "tweedie-nloglik")  # whose option may stand after an @
_MIDDLE = 0.5  # the threshold and the quantile where none is given
_REFUSED = ("ndcg", "map", "pre", "cox-nloglik", "aft-nloglik", "interval-regression-accuracy")
#: metrics of names that begin like this are the better the larger they are
_MAXIMISED = ("auc", "pre", "map", "ndcg")


def metric_of(name: str, options: Mapping[str, Any], n_outputs: int) -> Metric:
    """The metric of XGBoost's name; ``options``: the objective's own, which some metrics take too.

    >>> float(metric_of("error@0.7", {}, 1)(np.array([0.0, 1.0]), np.array([0.6, 0.9])))
    0.0
    """
    plain, _, option = name.partition("@")
    if plain.rstrip("-") in _REFUSED:
        raise NotSupportedError(f"eval_metric={name!r} is of ranking or survival, which are not supported.")
    if plain not in _METRICS or (option and plain not in _AFTER_AT):
        raise unknown_name("eval_metric", name, _METRICS)
    row = _METRICS[plain]
    row.check_outputs(f"eval_metric={name!r}", n_outputs)
    value: Any = _number(name, option) if option else _MIDDLE
    if not option and row.option is not None and row.option[1]:
        value = options.get(row.option[1], XGBOOST_PARAMETERS[row.option[1]].default or _MIDDLE)
    return Metric(name, row.function(value), greater_is_better=maximises(name))


def maximises(name: str) -> bool:
    """Whether larger values of a metric are better, by how its name begins, as XGBoost guesses for users' own metrics, too.

    >>> maximises("auc"), maximises("precision"), maximises("mape"), maximises("custom")
    (True, True, False, False)
    """
    return name != "mape" and name.startswith(_MAXIMISED)


def _number(name: str, option: str) -> float:
    try:
        return float(option)
    except ValueError:
        raise InputError(f"eval_metric={name!r} must have a number after the @.") from None
