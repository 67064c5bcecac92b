"""CatBoost's losses: Weald's own, or a variant of them where CatBoost's steps otherwise.

* Huber's hessian is that of the loss itself, 0 for the rows far from their labels; Weald's own has 1 there, and refits leaves.
* MultiClassOneVsAll predicts a sigmoid for every class, which need not add up to 1.

The others are the same; most start from a score of 0 in place of the best constant, which is not the loss's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from weald.losses import make_loss
from weald.losses.base import Float32s, Float64s, Loss
from weald.losses.lightgbm import NewtonHuber, Sigmoids


class CurvedHuber(NewtonHuber):
    """`NewtonHuber` whose hessian is the loss's second derivative: rows farther than delta from their label have none.

    So a leaf whose rows are mostly far away takes a long step, which the penalty alone limits, as CatBoost's does.
    """

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        super().gradients(scores, y, weight, gradient, hessian, tasks)
        hessian[0, np.abs(scores[0] - y) >= self._limit] = 0.0


def catboost_loss(name: str, options: Mapping[str, Any], n_classes: int = 2) -> Loss:
    """The loss of one of CatBoost's names, with its options.

    >>> catboost_loss("Quantile", {"alpha": 0.9})
    make_loss('quantile', quantile_alpha=0.9)
    """
    makers: dict[str, Callable[[], Loss]] = {
        "RMSE": lambda: make_loss("squared"),
        "MAE": lambda: make_loss("absolute"),
        "MAPE": lambda: make_loss("mape"),
        "Quantile": lambda: make_loss("quantile", quantile_alpha=options["alpha"]),
        "MultiQuantile": lambda: make_loss("quantile", quantile_alpha=options["alpha"]),
        "Huber": lambda: CurvedHuber(options["delta"]),
        "LogCosh": lambda: make_loss("log_cosh"),
        "Poisson": lambda: make_loss("poisson"),
        "Tweedie": lambda: make_loss("tweedie", tweedie_power=options["variance_power"]),
        "RMSEWithUncertainty": lambda: make_loss("normal"),
        "Logloss": lambda: make_loss("logistic"),
        "CrossEntropy": lambda: make_loss("cross_entropy"),
        "MultiClass": lambda: make_loss("softmax", n_classes=n_classes),
        "MultiClassOneVsAll": lambda: Sigmoids(n_classes),
    }
    return makers[name]()
