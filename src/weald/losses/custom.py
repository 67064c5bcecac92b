"""A loss that the user gives as a Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weald.losses.base import LARGEST_LABEL, Float32s, Float64s, RealTarget
from weald.losses.links import LINKS, SEVERAL
from weald.runtime.errors import InputError

_KNOWN_LINKS = sorted(LINKS.keys() - {"normal"})  # whose two scores mean something to their loss alone
_METRIC_OF_LINK = {
    "logit": "logloss",
    "half_logit": "logloss",
    "step": "error",
    **dict.fromkeys(SEVERAL, "logloss"),
}


class Custom(RealTarget):
    """A loss from `function(y, raw_scores)` -> (gradient, hessian), both shaped like `raw_scores`.

    `raw_scores` is (n,), or (n, K) where `n_outputs` = K is above 1; it and `y` are read-only. Sample weights
    are multiplied afterwards: the function must not. The hessian may not be negative. All scores start at 0;
    `link` says how they become predictions ("identity", "log", "logit", "half_logit", "step",
    "softmax", "one_vs_rest" or "sigmoids").
    """

    task = "any"
    starts_at_optimum = False

    def __init__(self, function: Callable[..., Any], n_outputs: int = 1, link: str = "identity") -> None:
        if link not in _KNOWN_LINKS:
            raise InputError(f"link must be one of {', '.join(_KNOWN_LINKS)}, not {link!r}.")
        if n_outputs < 1:
            raise InputError(f"n_outputs must be 1 or more, not {n_outputs!r}.")
        if link != "identity" and (n_outputs > 1) != (link in SEVERAL):
            needed = "2 or more" if link in SEVERAL else "1"
            raise InputError(f"link={link!r} needs n_outputs of {needed}, not {n_outputs!r}.")
        self._function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self.n_outputs = int(n_outputs)
        self.link = link
        self.default_metric = _METRIC_OF_LINK.get(link, "rmse")

    def __repr__(self) -> str:
        return f"make_loss({self.name}, n_outputs={self.n_outputs}, link={self.link!r})"

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.zeros(self.n_outputs)

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        returned = self._function(_read_only(y), _read_only(scores[0] if self.n_outputs == 1 else scores.T))
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise InputError(
                f"loss function {self.name!r} must return a tuple (gradient, hessian), "
                f"not {type(returned).__name__}."
            )
        self._store("gradient", returned[0], weight, gradient)
        self._store("hessian", returned[1], weight, hessian)
        if np.any(hessian < 0.0):
            row = np.flatnonzero(np.any(hessian < 0.0, axis=0))[0]
            raise InputError(
                f"loss function {self.name!r} must return no hessian below 0, but row {row} has one."
            )

    def _store(self, what: str, returned: Any, weight: Float64s | None, out: Float32s) -> None:
        """Check one of the two returned arrays, multiply the weights and fill OUT out (K, n)."""
        try:
            values = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"loss function {self.name!r} must return numbers as {what}.") from None
        expected = (out.shape[1],) if self.n_outputs == 1 else (out.shape[1], self.n_outputs)
        if values.shape != expected:
            raise InputError(
                f"loss function {self.name!r} must return a {what} of shape {expected}, not {values.shape}."
            )
        rows = values.reshape(out.shape[1], self.n_outputs).T
        with np.errstate(over="ignore", invalid="ignore"):
            out[...] = rows if weight is None else rows * weight
        if not np.all(np.isfinite(out)):
            row = np.flatnonzero(~np.all(np.isfinite(out), axis=0))[0]
            raise InputError(
                f"loss function {self.name!r} must return a finite {what} within ±{LARGEST_LABEL:g}, "
                f"but row {row} has {values[row]}."
            )


def _read_only(array: Float64s) -> Float64s:
    view = array.view()
    view.flags.writeable = False
    return view
