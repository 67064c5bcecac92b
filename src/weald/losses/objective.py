"""An objective of a user's as other systems take them: gradients that already carry the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weald.losses.base import Float32s, Float64s, Loss
from weald.runtime.errors import InputError


class Objective(Loss):
    """A user's function of the raw scores, (n,) or (n, K), that returns gradient and hessian, weights included."""

    task = "any"
    starts_at_optimum = False

    def __init__(
        self,
        function: Callable[[Float64s], Any],
        n_outputs: int = 1,
        name: str = "custom",
        start: float = 0.0,
    ) -> None:
        self._function = function
        self.n_outputs = n_outputs
        self.name = name
        self._start = start

    def check_target(self, y: Float64s) -> None:
        """Any label is the user's own business."""

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.full(self.n_outputs, self._start)

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        returned = self._function(scores[0].copy() if self.n_outputs == 1 else np.array(scores.T, order="C"))
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise InputError(
                f"objective {self.name!r} must return gradient and hessian, not {type(returned).__name__}."
            )
        for what, values, out in zip(("gradient", "hessian"), returned, (gradient, hessian), strict=True):
            self._store(what, values, out)

    def _store(self, what: str, returned: Any, out: Float32s) -> None:
        values = np.asarray(returned, dtype=np.float64)
        if values.size != out.size:
            raise InputError(
                f"objective {self.name!r} must return a {what} of {out.size} numbers, not of shape {values.shape}."
            )
        out[...] = values.reshape(out.shape[1], out.shape[0]).T
        if not np.isfinite(out).all():
            raise InputError(f"objective {self.name!r} must return a finite {what}, but a row has none.")
        if what == "hessian" and (out < 0.0).any():
            np.maximum(out, 0.0, out=out)
