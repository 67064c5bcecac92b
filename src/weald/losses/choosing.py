"""Which metric a user's word, `Metric` or function is, beside a loss."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.losses.base import Loss
from weald.losses.metrics import METRICS, Metric
from weald.losses.suggest import unknown_name
from weald.runtime.errors import InputError, NotSupportedError

Float64s = NDArray[np.float64]

_WEIGHTS = ("sample_weight", "weight", "weights", "w")


def make_metric(metric: str | Metric | Callable[..., Any], loss: Loss) -> Metric:
    """The metric of that name with the loss's own options, or one made of a function(y, prediction) or (y, prediction, weight).

    Which values of a function are better is said by its attribute `greater_is_better`, or known by its name: that of a metric of
    ours, or of a function of scikit-learn's.

    >>> from weald.losses import make_loss
    >>> pinball = make_metric("pinball", make_loss("quantile", quantile_alpha=0.9))
    >>> round(pinball(np.array([1.0]), np.array([0.0]), None), 3)
    0.9
    """
    if isinstance(metric, str):
        if metric not in METRICS:
            raise unknown_name("eval_metric", metric, METRICS)
        metric = METRICS[metric]
    if not isinstance(metric, Metric):
        if not callable(metric):
            raise InputError(f"eval_metric must be a name, a Metric or a function, not {metric!r}.")
        return _from_callable(metric)
    if not _fits(metric, loss):
        known = ", ".join(name for name, other in METRICS.items() if _fits(other, loss))
        raise NotSupportedError(
            f"eval_metric={metric.name!r} does not fit loss={loss.name!r}; use one of {known}."
        )
    if METRICS.get(metric.name) is not metric:
        return replace(metric, function=_checked(metric.name, metric.function))
    if metric.option is None or metric.option not in loss.options:
        return metric
    bound = partial(metric.function, **{metric.option: loss.options[metric.option]})
    return replace(metric, function=bound)


def _fits(metric: Metric, loss: Loss) -> bool:
    if metric.needs == "normal":
        return loss.link == "normal"
    if loss.task == "any" or metric.needs == "any":
        return True
    if metric.needs == "positive":
        return loss.link == "log"
    if metric.needs == "binary":
        return loss.task == "classification" and loss.n_outputs == 1
    if metric.needs == "share":
        return loss.task == "regression" and loss.link == "logit"
    return metric.needs == loss.task


def _from_callable(function: Callable[..., Any]) -> Metric:
    name = name_of(function)
    return Metric(name, _checked(name, function), greater_is_better=_direction(function, name))


def name_of(function: Any) -> str:
    """What a function's values are called: its name; of a partial one that of the function inside."""
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))


def _direction(function: Any, name: str) -> bool:
    """Whether larger values are better: as the function says, or as is known of it."""
    inner = function.func if isinstance(function, partial) else function
    said = getattr(function, "greater_is_better", getattr(inner, "greater_is_better", None))
    if isinstance(said, bool | np.bool_):
        return bool(said)
    if said is not None:
        raise InputError(f"greater_is_better of eval_metric {name!r} must be True or False, not {said!r}.")
    if name in METRICS:
        return METRICS[name].greater_is_better
    if str(getattr(inner, "__module__", "")).startswith("sklearn.metrics"):
        if name.endswith("_score"):  # scikit-learn's rule of names
            return True
        if name.endswith(("_error", "_loss", "_deviance")):
            return False
    raise InputError(
        f"eval_metric {name!r} does not say whether larger values are better; set its attribute greater_is_better to True or "
        f"False, or give weald.losses.Metric({name!r}, function, greater_is_better=...)."
    )


def _checked(name: str, function: Callable[..., Any]) -> Callable[..., float]:
    """A function of labels, predictions and weights, which may take no weights, and must return a number."""
    takes, by_name = _weights_of(function)

    def evaluate(y: Float64s, prediction: Float64s, weight: Float64s | None) -> float:
        if by_name is not None:
            value = function(y, prediction, **{by_name: weight})
        elif takes:
            value = function(y, prediction, weight)
        elif weight is not None:
            raise weights_refused(name)
        else:
            value = function(y, prediction)
        try:
            return float(value)
        except (TypeError, ValueError):
            kind = type(value).__name__
            raise InputError(f"eval_metric {name!r} must return a number, not {kind}.") from None

    return evaluate


def weights_refused(name: str) -> InputError:
    """The error for a function that knows no weights, on rows that have some."""
    return InputError(
        f"eval_metric {name!r} takes no weights, but the rows that it is to judge have some; "
        "give it a third argument sample_weight, or leave their weights out."
    )


def _weights_of(function: Callable[..., Any]) -> tuple[bool, str | None]:
    """Whether a function takes weights as its third argument, and the name of an argument that they are given by instead."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
        return True, None
    positional = [
        each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    for each in parameters:
        if each.name in _WEIGHTS and each.kind is not each.POSITIONAL_ONLY and each not in positional[:3]:
            return True, each.name
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return True, None
    third = positional[2] if len(positional) > 2 else None
    return third is not None and (third.default is third.empty or third.name in _WEIGHTS), None
