"""The losses of Friedman (2001) where scikit-learn's boosting settles what the paper leaves open.

The median, or another quantile, of a leaf's residuals is the lower one where two are equally good, and a score that
equals its label counts as below it. The Huber loss's delta is a quantile of the absolute residuals, taken anew in every
round (Friedman 2001, section 4.4).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weald.losses import kernels
from weald.losses.base import Float64s, Loss
from weald.losses.classification import Exponential, Logistic, Softmax
from weald.losses.quantiles import LOWER, weighted_quantile
from weald.losses.regression import Absolute, HuberLoss, QuantileLoss, Squared


class LowerAbsolute(Absolute):
    """`Absolute`, a leaf of the lower median."""

    _level = -1.0
    _ties = LOWER


class LowerQuantile(QuantileLoss):
    """`QuantileLoss`, a leaf of the lower quantile."""

    _ties = LOWER

    def __init__(self, quantile_alpha: float = 0.5) -> None:
        super().__init__(quantile_alpha)
        self._level = self._below


class AdaptiveHuber(HuberLoss):
    """`HuberLoss` whose delta is the `alpha`-quantile of the round's absolute residuals."""

    _ties = LOWER

    def __init__(self, alpha: float = 0.9) -> None:
        super().__init__()
        self._alpha = float(alpha)

    def begin_round(self, scores: Float64s, y: Float64s, weight: Float64s | None) -> None:
        self._limit = weighted_quantile(np.abs(y - scores[0]), weight, self._alpha * LOWER)


class PreciseSoftmax(Softmax):
    """`Softmax` in double precision."""

    _kernel = staticmethod(kernels.softmax_gradients64)


def friedman_loss(name: str, alpha: float = 0.9, n_classes: int = 2) -> Loss:
    """The loss of scikit-learn's name; "log_loss" is softmax for three classes or more.

    >>> friedman_loss("log_loss", n_classes=3)
    make_loss('softmax', n_classes=3)
    """
    if name == "huber":
        return AdaptiveHuber(alpha)
    if name == "quantile":
        return LowerQuantile(alpha)
    if name == "log_loss":
        return Logistic() if n_classes == 2 else PreciseSoftmax(n_classes)
    makers: dict[str, Callable[[], Loss]] = {
        "squared_error": Squared,
        "absolute_error": LowerAbsolute,
        "exponential": Exponential,
    }
    return makers[name]()
