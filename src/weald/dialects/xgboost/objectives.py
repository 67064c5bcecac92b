"""XGBoost's objectives: their losses, their metrics, and what predictions look like under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.losses import LINKS, Loss
from weald.losses.xgboost import xgboost_loss
from weald.params.xgboost import XGBOOST_PARAMETERS
from weald.runtime.errors import InputError

Float64s = NDArray[np.float64]

#: objective -> (link of predictions, metric when none is named)
_OBJECTIVES = {
    "reg:squarederror": ("identity", "rmse"),
    "reg:absoluteerror": ("identity", "mae"),
    "reg:pseudohubererror": ("identity", "mphe"),
    "reg:squaredlogerror": ("identity", "rmsle"),
    "reg:quantileerror": ("identity", "quantile"),
    "reg:logistic": ("logit", "rmse"),
    "binary:logistic": ("logit", "logloss"),
    "binary:logitraw": ("identity", "logloss"),
    "binary:hinge": ("step", "error"),
    "multi:softmax": ("class", "mlogloss"),
    "multi:softprob": ("softmax", "mlogloss"),
    "count:poisson": ("log", "poisson-nloglik"),
    "reg:gamma": ("log", "gamma-nloglik"),
    "reg:tweedie": ("log", "tweedie-nloglik"),
}
_POISSON_STEP = 0.7


@dataclass(frozen=True)
class Chosen:
    """An objective with its options; ``custom``: the user's own function decides the gradients."""

    name: str
    options: Mapping[str, Any]
    custom: bool = False

    @property
    def n_outputs(self) -> int:
        """Scores a row."""
        if "num_class" in self.options:
            return int(self.options["num_class"])
        alpha = self.options.get("quantile_alpha", 0.5)
        return len(alpha) if isinstance(alpha, list | tuple | np.ndarray) else 1

    @property
    def is_of_classes(self) -> bool:
        """Whether the labels are numbers of classes, or may be."""
        return self.name.startswith(("binary:", "multi:")) or self.name == "reg:logistic"

    @property
    def default_metric(self) -> str:
        """The metric that is evaluated when none is named."""
        if self.name == "reg:tweedie":
            return f"tweedie-nloglik@{self.options.get('tweedie_variance_power', 1.5):g}"
        return _OBJECTIVES[self.name][1]

    def loss(self) -> Loss:
        """The loss that training minimises."""
        return xgboost_loss(self.name, **{k: v for k, v in self.options.items() if k != "scale_pos_weight"})

    def predictions(self, scores: Float64s) -> Float64s:
        """From raw scores (outputs, rows) to what `predict` returns: (rows,) or (rows, outputs)."""
        link = "identity" if self.custom else _OBJECTIVES[self.name][0]
        if link == "class":
            classes: Float64s = scores.argmax(axis=0).astype(np.float64)
            return classes
        return LINKS[link](scores)

    def weights(self, y: Float64s, weight: Float64s | None) -> Float64s | None:
        """The rows' weights, those of rows labelled 1 times scale_pos_weight."""
        factor = self.options.get("scale_pos_weight", 1.0)
        if factor == 1.0:
            return weight
        return np.where(y == 1.0, factor, 1.0) * (1.0 if weight is None else weight)


def choose(params: Mapping[str, Any], custom: bool = False) -> Chosen:
    """The objective that parameters ask for; an option of another objective is refused.

    >>> choose({"objective": "multi:softprob", "num_class": 3}).n_outputs
    3
    """
    name = params.get("objective", "reg:squarederror")
    known = dict(params)
    n_classes = known.pop("num_class", 0)
    if n_classes > 1 and not custom:
        known["num_class"] = n_classes
    XGBOOST_PARAMETERS.check_company(known, "objective")
    options = {
        key: value for key, value in known.items() if XGBOOST_PARAMETERS.belongs(key, "objective", name)
    }
    if n_classes > 1:  # of a function of the user's own, too
        options["num_class"] = n_classes
    if name.startswith("multi:") and options.get("num_class", 0) < 2:
        raise InputError(f"objective={name!r} needs num_class, the number of classes; it must be at least 2.")
    if name == "reg:quantileerror" and "quantile_alpha" not in options:
        raise InputError(
            "objective='reg:quantileerror' needs quantile_alpha, the quantile or quantiles to predict."
        )
    if name == "count:poisson":
        options["max_delta_step"] = params.get("max_delta_step", _POISSON_STEP)
    if isinstance(alpha := options.get("quantile_alpha"), tuple | np.ndarray):
        options["quantile_alpha"] = list(alpha)
    return Chosen(name, options, custom)
