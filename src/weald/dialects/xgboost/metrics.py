"""XGBoost's metrics by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.losses import METRICS, Metric
from weald.losses.means import weighted_mean
from weald.losses.suggest import unknown_name
from weald.runtime.errors import InputError, NotSupportedError

Float64s = NDArray[np.float64]

#: XGBoost's name -> Weald's
_SAME = {
    "rmse": "rmse",
    "rmsle": "rmsle",
    "mae": "mae",
    "mape": "mape",
    "logloss": "cross_entropy",
    "mlogloss": "logloss",
    "merror": "error",
    "auc": "auc",
    "aucpr": "aucpr",
    "poisson-nloglik": "poisson_nloglik",
    "gamma-nloglik": "gamma_nloglik",
    "gamma-deviance": "gamma_deviance",
}
_SEVERAL_CLASSES = frozenset({"mlogloss", "merror"})
_EITHER = frozenset({"auc", "aucpr"})
_REFUSED = ("ndcg", "map", "pre", "cox-nloglik", "aft-nloglik", "interval-regression-accuracy")
#: metrics of names that begin like this are the better the larger they are
_MAXIMISED = ("auc", "pre", "map", "ndcg")
_WITH_OPTION = ("error", "tweedie-nloglik", "mphe", "quantile")


def metric_of(name: str, options: Mapping[str, Any], n_outputs: int) -> Metric:
    """The metric of XGBoost's name; ``options``: the objective's own, which some metrics take too.

    >>> float(metric_of("error@0.7", {}, 1)(np.array([0.0, 1.0]), np.array([0.6, 0.9])))
    0.0
    """
    plain, _, option = name.partition("@")
    if plain.rstrip("-") in _REFUSED:
        raise NotSupportedError(f"eval_metric={name!r} is of ranking or survival, which are not supported.")
    if plain == "error":
        function: Callable[..., float] = partial(_error, threshold=_number(name, option) if option else 0.5)
    elif plain == "tweedie-nloglik":
        power = _number(name, option) if option else options.get("tweedie_variance_power", 1.5)
        function = partial(METRICS["tweedie_nloglik"].function, tweedie_power=power)
    elif plain == "mphe":
        function = partial(METRICS["pseudo_huber"].function, huber_delta=options.get("huber_slope", 1.0))
    elif plain == "quantile":
        function = partial(METRICS["pinball"].function, quantile_alpha=options.get("quantile_alpha", 0.5))
    elif plain in _SAME and not option:
        function = METRICS[_SAME[plain]].function
    else:
        raise unknown_name("eval_metric", name, [*_SAME, *_WITH_OPTION])
    _check_outputs(name, plain, n_outputs)
    return Metric(name, function, greater_is_better=maximises(name))


def maximises(name: str) -> bool:
    """Whether larger values of a metric are better, by how its name begins, as XGBoost guesses for users' own metrics, too.

    >>> maximises("auc"), maximises("precision"), maximises("mape"), maximises("custom")
    (True, True, False, False)
    """
    return name != "mape" and name.startswith(_MAXIMISED)


def _check_outputs(name: str, plain: str, n_outputs: int) -> None:
    if plain in _EITHER or (plain == "quantile") or (plain in _SEVERAL_CLASSES) == (n_outputs > 1):
        return
    if n_outputs > 1:
        raise NotSupportedError(
            f"eval_metric={name!r} is for one prediction a row; with several use mlogloss, merror or auc."
        )
    raise NotSupportedError(
        f"eval_metric={name!r} is for several classes; with one output use logloss or error."
    )


def _error(y: Float64s, prediction: Float64s, weight: Float64s | None, threshold: float) -> float:
    return weighted_mean(np.where(prediction > threshold, 1.0 - y, y), weight)


def _number(name: str, option: str) -> float:
    try:
        return float(option)
    except ValueError:
        raise InputError(f"eval_metric={name!r} must have a number after the @.") from None
