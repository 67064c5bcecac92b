"""XGBoost's objectives: their losses, their metrics, and what predictions look like under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.losses import LINKS, Loss
from weald.losses.xgboost import xgboost_loss
from weald.params.xgboost import XGBOOST_PARAMETERS, objective_of
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
#: what metrics see, where it is not what `predict` returns
_SEEN_BY_METRICS = {"binary:logitraw": "logit", "multi:softmax": "softmax"}
_POISSON_STEP = 0.7


@dataclass(frozen=True)
class Chosen:
    """An objective with its options. Where a function of the user's decides the gradients, the rest is still its part."""

    name: str
    options: Mapping[str, Any]

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

    @property
    def is_of_several_classes(self) -> bool:
        """Whether there is a score for every class."""
        return self.name.startswith("multi:")

    def loss(self, start: Float64s | None = None) -> Loss:
        """The loss that training minimises; ``start``: the first scores of several classes, in place of the best ones."""
        options = {name: value for name, value in self.options.items() if name != "scale_pos_weight"}
        return xgboost_loss(self.name, **options, start=start)

    def predictions(self, scores: Float64s) -> Float64s:
        """From raw scores (outputs, rows) to what `predict` returns: (rows,) or (rows, outputs)."""
        link = _OBJECTIVES[self.name][0]
        if link == "class":
            classes: Float64s = scores.argmax(axis=0).astype(np.float64)
            return classes
        return LINKS[link](scores)

    def seen(self, scores: Float64s) -> Float64s:
        """From raw scores (outputs, rows) to what metrics see: probabilities rather than classes or scores."""
        link = _SEEN_BY_METRICS.get(self.name)
        return self.predictions(scores) if link is None else LINKS[link](scores)

    def weights(self, y: Float64s, weight: Float64s | None) -> Float64s | None:
        """The rows' weights, those of rows labelled 1 times scale_pos_weight."""
        factor = self.options.get("scale_pos_weight", 1.0)
        if factor == 1.0:
            return weight
        return np.where(y == 1.0, factor, 1.0) * (1.0 if weight is None else weight)


def choose(params: Mapping[str, Any]) -> Chosen:
    """The objective that parameters ask for, with its own options among them; num_class alone asks for classes.

    >>> choose({"objective": "multi:softprob", "num_class": 3}).n_outputs
    3
    """
    name = objective_of(params)
    options = {
        key: value for key, value in params.items() if XGBOOST_PARAMETERS.belongs(key, "objective", name)
    }
    options.pop("num_class", None)
    if params.get("num_class", 0) > 1:  # of a function of the user's own, too
        options["num_class"] = params["num_class"]
    if name.startswith("multi:") and "num_class" not in options:
        raise InputError(f"objective={name!r} needs num_class, the number of classes; it must be at least 2.")
    if name == "reg:quantileerror" and "quantile_alpha" not in options:
        raise InputError(
            "objective='reg:quantileerror' needs quantile_alpha, the quantile or quantiles to predict."
        )
    if name == "count:poisson":
        options["max_delta_step"] = params.get("max_delta_step", _POISSON_STEP)
    if isinstance(alpha := options.get("quantile_alpha"), tuple | np.ndarray):
        options["quantile_alpha"] = list(alpha)
    return Chosen(name, options)
