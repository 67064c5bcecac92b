"""LightGBM's objectives: their losses, their metrics, and what predictions look like under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.shared.tables import Float64s
from weald.losses import LINKS, Loss
from weald.losses.lightgbm import lightgbm_loss
from weald.params.lightgbm import value_of
from weald.runtime.errors import InputError

#: the metric that is evaluated when none is named, where its name is another than the objective's
_METRICS = {
    "regression": "l2",
    "regression_l1": "l1",
    "binary": "binary_logloss",
    "multiclass": "multi_logloss",
    "multiclassova": "multi_logloss",
}
#: an objective's options
_OPTIONS = {
    "huber": ("alpha",),
    "quantile": ("alpha",),
    "fair": ("fair_c",),
    "poisson": ("poisson_max_delta_step",),
    "tweedie": ("tweedie_variance_power",),
    "multiclass": ("num_class",),
    "multiclassova": ("num_class",),
}


def signs(y: Float64s) -> Float64s:
    """1 for labels above 0, 0 for all others; missing ones stay missing."""
    return np.where(np.isnan(y), y, (y > 0).astype(np.float64))


@dataclass(frozen=True)
class Chosen:
    """The objective of a training; ``custom``: the user's own function decides the gradients."""

    params: Mapping[str, Any]
    custom: bool = False

    @property
    def name(self) -> str:
        """LightGBM's name."""
        return "custom" if self.custom else str(value_of(self.params, "objective"))

    @property
    def n_outputs(self) -> int:
        """Scores a row."""
        return int(value_of(self.params, "num_class"))

    @property
    def default_metric(self) -> str | None:
        """The metric that is evaluated when none is named."""
        return None if self.custom else _METRICS.get(self.name, self.name)

    def loss(self, y: Float64s | None = None) -> Loss:
        """The loss that training minimises; ``y``: the labels, by which it may weigh classes."""
        several = self.name in ("multiclass", "multiclassova")
        if several and self.n_outputs < 2:
            raise InputError(
                f"objective={self.name!r} needs num_class, the number of classes; it must be at least 2."
            )
        options = {name: value_of(self.params, name) for name in _OPTIONS.get(self.name, ())}
        if self.name == "multiclassova" and y is not None:
            pairs = [self._factors(y == place)[::-1] for place in range(self.n_outputs)]
            options["factors"] = None if all(pair == (1.0, 1.0) for pair in pairs) else pairs
        return lightgbm_loss(self.name, **options)

    def predictions(self, scores: Float64s) -> Float64s:
        """From raw scores (outputs, rows) to what `predict` returns: (rows,) or (rows, outputs)."""
        return LINKS["identity"](scores) if self.custom else self.loss().respond(scores)

    def labels(self, y: Float64s) -> Float64s:
        """The labels as the loss takes them: of binary those above 0 are 1, all others 0."""
        return signs(y) if self.name == "binary" else y

    def weights(self, y: Float64s, weight: Float64s | None) -> Float64s | None:
        """The rows' weights, with those of the two classes."""
        if self.custom or self.name != "binary":
            return weight
        factors = self._factors(y > 0)
        if factors == (1.0, 1.0):
            return weight
        return np.where(y > 0, factors[1], factors[0]) * (1.0 if weight is None else weight)

    def _factors(self, hit: NDArray[np.bool_]) -> tuple[float, float]:
        """The weights of the other rows and of those of a class: the rarer are weighed up, or those of the class."""
        ones = int(np.count_nonzero(hit))
        zeros = len(hit) - ones
        if self._unbalanced and ones and zeros:
            return max(1.0, ones / zeros), max(1.0, zeros / ones)
        return 1.0, self._positive

    def start(self, y: Float64s, weight: Float64s | None) -> float | None:
        """The first prediction where it is not that of the weighted rows: weights of the classes do not move it."""
        if self.weights(y, weight) is weight:
            return None
        share = float(np.average(y > 0, weights=weight))
        return share if 0.0 < share < 1.0 else None

    @property
    def _unbalanced(self) -> bool:
        return bool(value_of(self.params, "is_unbalance"))

    @property
    def _positive(self) -> float:
        return float(value_of(self.params, "scale_pos_weight"))
