"""What the boosting loop knows of a loss."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.losses.links import LINKS
from weald.losses.means import compensated_dot
from weald.losses.steps import least_of_convex
from weald.runtime.errors import InputError, NotSupportedError

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Rows = NDArray[np.int64] | NDArray[np.uint32]
Task = Literal["regression", "classification", "any"]

# Beyond this a label's gradient would overflow the float32 that it is stored in.
LARGEST_LABEL = 1e38
_NO_WEIGHT = np.empty(0, dtype=np.float64)


def weight_or_empty(weight: Float64s | None) -> Float64s:
    """Kernels have one signature: no weights are an empty array."""
    return _NO_WEIGHT if weight is None else weight


def refuse_labels(bad: NDArray[np.bool_], y: Float64s, requirement: str) -> None:
    """Raise an InputError that shows the first label marked in `bad`, if there is one."""
    rows = np.flatnonzero(bad)
    if rows.size:
        raise InputError(f"y must be {requirement}, but row {rows[0]} has {y[rows[0]]}.")


def positive(option: str, value: float) -> float:
    """The value of an option that must be finite and above 0."""
    if not 0.0 < value < math.inf:
        raise InputError(f"{option} must be a finite number above 0, not {value!r}.")
    return float(value)


class Loss(ABC):
    """A differentiable loss of raw scores; `make_loss` builds one.

    Raw scores are (K, n): K outputs (one, or one per class) of n rows. The gradient and hessian are those of
    the loss with respect to the raw score, times the row's weight.

    name              what `make_loss` calls it
    link              the name of the function from raw score to prediction, one of `links.LINKS`
    n_outputs         K
    task              which estimators may use it
    refits_leaves     leaf values come from `refit_leaves` instead of a Newton step
    is_logistic       its derivatives are those of the logistic loss, for whose sums over leaves there is a kernel
    default_metric    the name of the metric that is watched when the user names none
    starts_at_optimum `initial_score` is the best constant, so that a tree without a split has nothing to add
    max_delta_step    a limit of the leaf's step that keeps Newton steps under a log link from overshooting,
                      to be used where the user set none; 0 where none is needed
    """

    name: str
    link: str = "identity"
    n_outputs: int = 1
    task: Task = "regression"
    refits_leaves: bool = False
    is_logistic: bool = False
    default_metric: str = "rmse"
    starts_at_optimum: bool = True
    max_delta_step: float = 0.0

    @property
    def options(self) -> Mapping[str, Any]:
        """The loss's own options: `make_loss(loss.name, **loss.options)` builds it again."""
        return {}

    @abstractmethod
    def check_target(self, y: Float64s) -> None:
        """Raise an InputError where `y` holds a label that this loss cannot use."""

    @abstractmethod
    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        """The K raw scores that every row starts with: the best constant."""

    @abstractmethod
    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        """Fill OUT gradient and hessian, both (K, n); the number of tasks does not change a bit of them."""

    def begin_round(self, scores: Float64s, y: Float64s, weight: Float64s | None) -> None:
        """Learn from a round's scores what the loss needs for the round (a scale); most learn nothing."""
        return

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        """The loss of every row, (n,), before its weight: what `gradients` differentiates, up to a constant."""
        raise NotSupportedError(f"loss={self.name!r} has no values; only its derivatives are known.")

    def best_step(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        output: int,
        direction: Float64s,
        tasks: int,
    ) -> float:
        """The step along `direction`, (n,), from one output's scores at which the loss of all rows is least.

        The line search of Friedman (2001, Algorithm 1, line 5). Rows that do not count have the direction 0; where
        the loss falls for ever, the step is where its slope has all but vanished.
        """
        moved = scores.copy()
        gradient = np.empty(scores.shape, np.float32)
        hessian = np.empty(scores.shape, np.float32)

        def slope(step: float) -> float:
            np.multiply(direction, step, out=moved[output])
            moved[output] += scores[output]
            self.gradients(moved, y, weight, gradient, hessian, tasks)
            return float(compensated_dot(gradient[output].astype(np.float64), direction))

        return least_of_convex(slope)

    def of_output(self, output: int) -> Loss:
        """The loss of one output by itself, whose `refit_leaves` a tree of that output asks for."""
        return self

    def respond(self, scores: Float64s) -> Float64s:
        """Predictions from raw scores (K, n): (n,), or (n, K) class probabilities."""
        return LINKS[self.link](scores)

    def refit_leaves(
        self,
        score: Float64s,
        y: Float64s,
        weight: Float64s | None,
        leaf_rows: Rows,
        leaf_offsets: NDArray[np.int64],
        values: Float64s,
    ) -> None:
        """Fill OUT values with each leaf's best constant step; a leaf without rows keeps its value.

        Leaf l holds the rows leaf_rows[leaf_offsets[l]:leaf_offsets[l + 1]]; their order does not matter.
        """
        raise NotSupportedError(
            f"loss={self.name!r} does not refit leaves; its leaf values are Newton steps."
        )

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"make_loss({self.name!r}{options})"


class RealTarget(Loss):
    """Labels are any finite numbers."""

    def check_target(self, y: Float64s) -> None:
        refuse_labels(~(np.abs(y) <= LARGEST_LABEL), y, f"finite and within ±{LARGEST_LABEL:g}")
