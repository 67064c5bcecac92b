"""LightGBM's objectives as losses: Weald's own, or a variant of them where LightGBM's starts or steps otherwise.

* huber starts at the mean and its leaves are Newton steps; Weald's starts at the median and refits its leaves.
* poisson's hessian is stretched by exp(poisson_max_delta_step), as XGBoost's is.
* multiclassova predicts a sigmoid for every class, which need not add up to 1.

The others are the same: regression, regression_l1, fair, quantile, mape, gamma, tweedie, binary, cross_entropy, multiclass
(whose first scores LightGBM does not centre; the probabilities are the same).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weald.losses.base import Float64s, Loss
from weald.losses.classification import Logistic, OneVsRest, Softmax
from weald.losses.count import Gamma, TweedieLoss
from weald.losses.margins import CrossEntropy, FairLoss
from weald.losses.means import weighted_mean
from weald.losses.regression import Absolute, AbsoluteShare, HuberLoss, Squared, quantile_loss
from weald.losses.xgboost import StretchedPoisson

#: of every class: the weight of its own rows, and of all others
ClassFactors = Sequence[tuple[float, float]]


class NewtonHuber(HuberLoss):
    """`HuberLoss` from the mean, whose leaves are Newton steps: the mean of the clipped residuals."""

    refits_leaves = False
    starts_at_optimum = False

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_mean(y, weight)])


class Sigmoids(OneVsRest):
    """`OneVsRest` whose predictions are not divided by their sum.

    ``factors``: of every class, the weight of its own rows and that of all others where the class is told from them. The first
    score does not know of it, as in LightGBM.
    """

    link = "sigmoids"

    def __init__(self, n_classes: int = 0, factors: ClassFactors | None = None) -> None:
        super().__init__(n_classes)
        self._factors = factors

    def _part(self, k: int, y: Float64s) -> tuple[Loss, Float64s, Float64s | None]:
        loss, hit, _ = super()._part(k, y)
        return loss, hit, None if self._factors is None else np.where(hit > 0.0, *self._factors[k])


def lightgbm_loss(
    objective: str,
    *,
    num_class: int = 1,
    factors: ClassFactors | None = None,
    alpha: float = 0.9,
    fair_c: float = 1.0,
    poisson_max_delta_step: float = 0.7,
    tweedie_variance_power: float = 1.5,
) -> Loss:
    """The loss of one of LightGBM's objectives; each takes the options that are its own.

    >>> lightgbm_loss("fair", fair_c=2.0)
    make_loss('fair', fair_scale=2.0)
    """
    makers: dict[str, Callable[[], Loss]] = {
        "regression": Squared,
        "regression_l1": Absolute,
        "huber": lambda: NewtonHuber(alpha),
        "fair": lambda: FairLoss(fair_c),
        "poisson": lambda: StretchedPoisson(poisson_max_delta_step),
        "quantile": lambda: quantile_loss(alpha),
        "mape": AbsoluteShare,
        "gamma": Gamma,
        "tweedie": lambda: TweedieLoss(tweedie_variance_power),
        "binary": Logistic,
        "cross_entropy": CrossEntropy,
        "multiclass": lambda: Softmax(num_class),
        "multiclassova": lambda: Sigmoids(num_class, factors),
    }
    return makers[objective]()
