"""Losses: gradients, initial scores, links, leaf refits and metrics; `make_loss` builds one by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from weald.losses.base import Loss
from weald.losses.choosing import make_metric
from weald.losses.classification import Exponential, Logistic, OneVsRest, Softmax
from weald.losses.count import Gamma, Poisson, TweedieLoss
from weald.losses.custom import Custom
from weald.losses.friedman import friedman_loss
from weald.losses.links import LINKS, scores_of
from weald.losses.margins import CrossEntropy, FairLoss, Hinge, PseudoHuberLoss, SquaredLog
from weald.losses.metrics import METRICS, Metric
from weald.losses.regression import Absolute, AbsoluteShare, HuberLoss, Squared, quantile_loss
from weald.losses.smooth import LogCosh, Normal
from weald.losses.suggest import unknown_name
from weald.runtime.errors import InputError

if TYPE_CHECKING:
    from weald.losses.parameters import Fair, Huber, PseudoHuber, Quantile, Tweedie

__all__ = [
    "Fair",
    "Huber",
    "LINKS",
    "LOSSES",
    "METRICS",
    "Loss",
    "Metric",
    "PseudoHuber",
    "Quantile",
    "Tweedie",
    "friedman_loss",
    "make_loss",
    "make_metric",
    "scores_of",
]

LOSSES: dict[str, Callable[..., Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "mape": AbsoluteShare,
    "huber": HuberLoss,
    "pseudo_huber": PseudoHuberLoss,
    "fair": FairLoss,
    "log_cosh": LogCosh,
    "squared_log": SquaredLog,
    "quantile": quantile_loss,
    "normal": Normal,
    "cross_entropy": CrossEntropy,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": TweedieLoss,
    "logistic": Logistic,
    "exponential": Exponential,
    "hinge": Hinge,
    "softmax": Softmax,
    "one_vs_rest": OneVsRest,
}


def make_loss(loss: str | Callable[..., Any], **options: Any) -> Loss:
    """Build a loss by name, or of a function(y, raw_scores) -> (gradient, hessian).

    Options: huber_delta (huber, pseudo_huber), quantile_alpha (quantile; several make an output each),
    tweedie_power (tweedie), fair_scale (fair), n_classes (softmax, one_vs_rest), n_outputs and link (a function).

    >>> make_loss("quantile", quantile_alpha=0.9)
    make_loss('quantile', quantile_alpha=0.9)
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise unknown_name("loss", loss, LOSSES)
        _check_options(loss, LOSSES[loss], options)
        return LOSSES[loss](**options)
    if not callable(loss):
        raise InputError(f"loss must be a name or a function(y, raw_scores), not {loss!r}.")
    _check_options("a function", Custom, options)
    return Custom(loss, **options)


def _check_options(name: str, maker: Callable[..., Loss], options: dict[str, Any]) -> None:
    taken = [option for option in inspect.signature(maker).parameters if option != "function"]
    for option in options:
        if option not in taken:
            known = f"it takes {', '.join(taken)}" if taken else "it takes none"
            raise InputError(f"loss={name!r} has no option {option!r}; {known}.")


def __getattr__(name: str) -> Any:
    # Losses as choices, `weald.losses.Quantile(0.9)`, are built on what is here.
    if name in ("Fair", "Huber", "PseudoHuber", "Quantile", "Tweedie"):
        return getattr(import_module("weald.losses.parameters"), name)
    raise AttributeError(f"module 'weald.losses' has no attribute {name!r}")
