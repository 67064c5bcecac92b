"""Losses that have parameters of their own, as choices; every other loss is chosen by its name alone."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from weald.losses import LOSSES, Loss, make_loss
from weald.params.choice import Choice, Family, anything, documented, number
from weald.runtime.errors import InputError


class LossChoice(Choice):
    """A loss of regression that has parameters."""

    def make(self) -> Loss:
        """The loss."""
        raise NotImplementedError


@documented
@dataclass(repr=False, eq=False)
class Quantile(LossChoice):
    """The pinball loss: predictions are quantiles in place of means.

    Use it for what is exceeded in a given share of the cases, and two or more of them for intervals. Koenker and Bassett,
    "Regression quantiles", 1978.

    Examples
    --------
    >>> Quantile(alpha=[0.1, 0.9]).make()
    make_loss('quantile', quantile_alpha=[0.1, 0.9])
    """

    alpha: Annotated[
        float | Sequence[float],
        anything("The quantile, between 0 and 1; a list: a prediction for each."),
    ] = 0.5

    def check_together(self, path: str) -> None:
        several = isinstance(self.alpha, Sequence | np.ndarray) and not isinstance(self.alpha, str)
        alphas: list[Any] = list(self.alpha) if several else [self.alpha]  # type: ignore[arg-type]
        if not alphas:
            raise InputError(f"{path}.alpha must name at least one quantile, not an empty list.")
        for alpha in alphas:
            is_number = isinstance(alpha, numbers.Real) and not isinstance(alpha, bool)
            if not is_number or not 0.0 < alpha < 1.0:
                raise InputError(f"{path}.alpha must be between 0 and 1, both excluded, not {alpha!r}.")

    def make(self) -> Loss:
        """The loss, with an output for every quantile."""
        return make_loss("quantile", quantile_alpha=self.alpha)


@documented
@dataclass(repr=False, eq=False)
class Huber(LossChoice):
    """Squares of small errors, absolute values of large ones.

    Use it where some labels are far off and should not pull all predictions towards them. Huber, "Robust estimation of a
    location parameter", 1964.

    Examples
    --------
    >>> Huber(delta=2.0)
    Huber(delta=2.0)
    """

    delta: Annotated[float, number("Error where it turns from square to linear.", 0, open_low=True)] = 1.0

    def make(self) -> Loss:
        """The loss."""
        return make_loss("huber", huber_delta=self.delta)


@documented
@dataclass(repr=False, eq=False)
class PseudoHuber(LossChoice):
    """Huber's loss with a smooth turn.

    Use it as Huber's where Newton's steps should have a hessian that is never zero.

    Examples
    --------
    >>> PseudoHuber().get_params()
    {'delta': 1.0}
    """

    delta: Annotated[float, number("Error where it turns from square to linear.", 0, open_low=True)] = 1.0

    def make(self) -> Loss:
        """The loss."""
        return make_loss("pseudo_huber", huber_delta=self.delta)


@documented
@dataclass(repr=False, eq=False)
class Fair(LossChoice):
    """Fair's loss: errors count the less in proportion the larger they are.

    Use it as Huber's; the turn is slower. Fair, "On the robust estimation of econometric models", 1974.

    Examples
    --------
    >>> Fair(scale=0.5)
    Fair(scale=0.5)
    """

    scale: Annotated[float, number("Error where it turns from square to linear.", 0, open_low=True)] = 1.0

    def make(self) -> Loss:
        """The loss."""
        return make_loss("fair", fair_scale=self.scale)


@documented
@dataclass(repr=False, eq=False)
class Tweedie(LossChoice):
    """The deviance of Tweedie's distributions: labels that are often zero and otherwise positive, as claims are.

    Between Poisson's, of counts, and the gamma distribution, of amounts. Tweedie, "An index which distinguishes between some
    important exponential families", 1984.

    Examples
    --------
    >>> Tweedie(power=1.2)
    Tweedie(power=1.2)
    """

    power: Annotated[
        float, number("Power of the mean that the variance grows with, between 1 and 2.", 1, 2, open_low=True)
    ] = 1.5

    def check_together(self, path: str) -> None:
        if self.power >= 2.0:
            raise InputError(f"{path}.power must lie below 2, not {self.power!r}; for 2 use loss='gamma'.")

    def make(self) -> Loss:
        """The loss."""
        return make_loss("tweedie", tweedie_power=self.power)


#: A name without parameters, a function(y, raw_scores) and "auto" stay what they are.
LOSS_CHOICES: Family[Any] = Family(
    "loss",
    {
        "quantile": Quantile,
        "huber": Huber,
        "pseudo_huber": PseudoHuber,
        "fair": Fair,
        "tweedie": Tweedie,
    },
    names_only=("auto", *LOSSES),
    functions=True,
)
