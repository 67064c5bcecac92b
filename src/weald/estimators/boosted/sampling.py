"""From an estimator's parameters to a way of drawing rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.params import PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError
from weald.sampling import BayesianRows, GradientRows, RowSampler, UniformRows, VarianceRows

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

_OF_CLASSES = ("positive_subsample", "negative_subsample")
# Which parameters belong to which ways of drawing; the others must be at their defaults.
_OWNERS: dict[str, tuple[str, ...]] = {
    "subsample": ("uniform", "mvs"),
    "subsample_freq": ("uniform", "bayesian"),
    **dict.fromkeys(_OF_CLASSES, ("uniform",)),
    "top_rate": ("goss",),
    "other_rate": ("goss",),
    "bagging_temperature": ("bayesian",),
    "mvs_reg": ("mvs",),
}


def check_sampling(estimator: BoostedTrees, n_classes: int) -> None:
    """Refuse parameters of another way to draw rows than the estimator's; ``n_classes``: 0 for regression."""
    goss = estimator.sampling == "goss"
    for name, owners in _OWNERS.items():
        value, default = getattr(estimator, name), PARAMETERS[name].default
        if estimator.sampling not in owners and value != default:
            raise NotSupportedError(
                f"{name}={value!r} belongs to sampling={' or '.join(map(repr, owners))}, "
                f"but sampling is {estimator.sampling!r}; leave {name} at {default!r}."
            )
    if estimator.sampling == "mvs" and estimator.subsample == 1.0:
        raise InputError("sampling='mvs' draws a share of the rows; set subsample below 1, such as 0.8.")
    if goss and estimator.top_rate + estimator.other_rate > 1.0 + 1e-12:
        raise InputError(
            f"top_rate={estimator.top_rate} and other_rate={estimator.other_rate} are shares of the same rows; "
            "together they must be at most 1."
        )
    for name in _OF_CLASSES:
        if getattr(estimator, name) is not None:
            _check_share_of_class(estimator, name, n_classes)


def _check_share_of_class(estimator: BoostedTrees, name: str, n_classes: int) -> None:
    if n_classes != 2:
        what = f"y has {n_classes}" if n_classes else "this is regression"
        raise NotSupportedError(
            f"{name}={getattr(estimator, name)} is for two classes, but {what}; use subsample."
        )
    if estimator.subsample != 1.0:
        raise NotSupportedError(
            f"subsample={estimator.subsample} is a share of all rows and {name} of one class's; give only one of them."
        )


def make_sampler(
    estimator: BoostedTrees, y: NDArray[np.float64], seed: int, learning_rate: float
) -> RowSampler:
    """The way to draw rows with the given labels, after `check_sampling`."""
    if estimator.sampling == "goss":
        # By then every row has been shown its error about once; the number is LightGBM's.
        first_round = int(1.0 / learning_rate)
        return GradientRows(seed, estimator.top_rate, estimator.other_rate, first_round)
    if estimator.sampling == "bayesian":
        return BayesianRows(seed, estimator.bagging_temperature, estimator.subsample_freq)
    if estimator.sampling == "mvs":
        return VarianceRows(seed, estimator.subsample, estimator.mvs_reg)
    positive, negative = estimator.positive_subsample, estimator.negative_subsample
    if positive is None and negative is None:
        return UniformRows(seed, (estimator.subsample,), frequency=estimator.subsample_freq)
    shares = (1.0 if negative is None else negative, 1.0 if positive is None else positive)
    return UniformRows(seed, shares, y.astype(np.uint8), estimator.subsample_freq)
