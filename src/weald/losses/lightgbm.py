"""LightGBM's objectives as losses: Weald's own, or a variant of them where LightGBM's starts or steps otherwise.

* huber starts at the mean and its leaves are Newton steps; Weald's starts at the median and refits its leaves.
* poisson's hessian is stretched by exp(poisson_max_delta_step), as XGBoost's is.
* multiclassova predicts a sigmoid for every class, which need not add up to 1.
* regression_l1, quantile and mape interpolate between two residuals where Weald takes one of them.
* multiclass starts from the logarithms of the classes' shares, which Weald centres; the probabilities are the same.

The others are the same: regression, fair, gamma, tweedie, binary, cross_entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from weald.losses.base import Float64s, Loss, Rows
from weald.losses.classification import SMALLEST_PRIOR, Logistic, OneVsRest, Softmax
from weald.losses.count import Gamma, TweedieLoss
from weald.losses.margins import CrossEntropy, FairLoss
from weald.losses.means import weighted_mean
from weald.losses.regression import Absolute, AbsoluteShare, HuberLoss, QuantileLoss, Squared, Stepped
from weald.losses.xgboost import StretchedPoisson
from weald.runtime.arrays import Int64s
from weald.runtime.mathlib import log

#: of every class: the weight of its own rows, and of all others
ClassFactors = Sequence[tuple[float, float]]


class NewtonHuber(HuberLoss):
    """`HuberLoss` from the mean, whose leaves are Newton steps: the mean of the clipped residuals."""

    refits_leaves = False
    starts_at_optimum = False

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([weighted_mean(y, weight)])


class UncentredSoftmax(Softmax):
    """`Softmax` from the logarithms of the classes' shares."""

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        shares = [weighted_mean((y == k).astype(np.float64), weight) for k in range(self.n_outputs)]
        return np.array([log(max(share, SMALLEST_PRIOR)) for share in shares])


class _Interpolated(Stepped):
    """Leaves and the first score are LightGBM's percentiles."""

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.array([percentile(y, self._weight(y, weight), self._alpha)])

    def refit_leaves(
        self,
        score: Float64s,
        y: Float64s,
        weight: Float64s | None,
        leaf_rows: Rows,
        leaf_offsets: Int64s,
        values: Float64s,
    ) -> None:
        weight = self._weight(y, weight)
        for leaf, (begin, end) in enumerate(pairwise(leaf_offsets.tolist())):
            if end > begin:
                rows = leaf_rows[begin:end]
                own = None if weight is None else weight[rows]
                values[leaf] = percentile(y[rows] - score[rows], own, self._alpha)


class InterpolatedAbsolute(_Interpolated, Absolute):
    """`Absolute` with LightGBM's medians."""


class InterpolatedShare(_Interpolated, AbsoluteShare):
    """`AbsoluteShare` with LightGBM's medians."""


class InterpolatedQuantile(_Interpolated, QuantileLoss):
    """`QuantileLoss` with LightGBM's percentiles."""


def percentile(values: Float64s, weight: Float64s | None, alpha: float) -> float:
    """LightGBM's percentile of at least one value. With weights it goes on from a value by a share of the next one's weight,
    if that is at least 1; so equal weights give another one than none do.

    >>> percentile(np.array([1.0, 2.0, 10.0]), None, 0.75)
    6.0
    """
    if weight is None:
        return float(np.quantile(values, alpha))
    order = np.lexsort((weight, values))
    ordered, heaped = values[order], np.cumsum(weight[order])
    threshold, last = heaped[-1] * alpha, len(values) - 1
    place = min(int(np.searchsorted(heaped, threshold, side="right")), last)
    if place in (0, last):
        return float(ordered[place])
    below, step = ordered[place - 1], heaped[place] - heaped[place - 1]
    share = (threshold - heaped[place - 1]) / step if step >= 1.0 else 0.0
    return float(below + share * (ordered[place] - below))


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
        "regression_l1": InterpolatedAbsolute,
        "huber": lambda: NewtonHuber(alpha),
        "fair": lambda: FairLoss(fair_c),
        "poisson": lambda: StretchedPoisson(poisson_max_delta_step),
        "quantile": lambda: InterpolatedQuantile(alpha),
        "mape": InterpolatedShare,
        "gamma": Gamma,
        "tweedie": lambda: TweedieLoss(tweedie_variance_power),
        "binary": Logistic,
        "cross_entropy": CrossEntropy,
        "multiclass": lambda: UncentredSoftmax(num_class),
        "multiclassova": lambda: Sigmoids(num_class, factors),
    }
    return makers[objective]()
