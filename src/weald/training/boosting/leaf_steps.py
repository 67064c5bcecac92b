"""Values of the leaves of a finished tree, by one step or several, from all rows in their leaves.

Every step is Newton's, -G / (H + lambda), or the gradient's, -G / (W + lambda), with G, H and W a leaf's sums of gradients,
hessians and weights at the scores that the steps before led to (Dorogush, Ershov and Gulin 2018). So lambda shortens every
step, and many steps lead to the minimum of the loss itself. A loss that has a formula for a leaf's minimum, a median or a
quantile, can take it in one exact step.

A leaf is one number, and its loss is a function of that number alone. So each is judged by itself, and by its slope G: where
a step led across the minimum to a place at least as steep, it was too long, and half of it is tried instead. That needs no
values of the loss, which a user's own may not have. A tried half counts as a step. (CatBoost halves the steps of all leaves
together, when the loss of all rows has not fallen.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.losses import Loss
from weald.losses.base import weight_or_empty
from weald.runtime.team import RowShare
from weald.training.boosting.descent import Descent, Float32s, Float64s, Newton, Position
from weald.tree.grown import GrownTree
from weald.tree.rows.leaf import LeafNumbers, add_leaf_values, fixed_scales, whole_leaf_sums
from weald.tree.rows.logistic_leaf import logistic_leaf_sums
from weald.tree.splits.values import newton

# Derivatives this many times larger than those of the first step are no larger than that: a leaf that went much too far
# would otherwise set a fixed point in which those of the others vanish.
_FAR = 2.0**20
_LARGEST = 3e38  # what a float32 can hold


@dataclass(frozen=True)
class LeafSteps:
    """How far a leaf goes."""

    method: str = "newton"  # or "gradient", "exact"
    iterations: int = 1
    reg_lambda: float = 0.0
    reg_alpha: float = 0.0  # a step's gradient is moved towards zero by it
    max_delta_step: float = 0.0  # limit of every step; 0: none


class LeafSums(NamedTuple):
    """Sums over the leaves, (leaves, 2), and the largest gradient and hessian among them."""

    sums: Float64s
    largest: tuple[float, float]


@dataclass(frozen=True)
class LeafProblem:
    """Rows in their leaves, and the loss that a number a leaf is to lower."""

    loss: Loss
    scores: Float64s  # (outputs, rows), where the leaves start from
    y: Float64s
    weight: Float64s | None
    output: int  # whose scores the leaves move
    leaf_of_row: LeafNumbers  # (rows,); n_leaves: the row is in none
    n_leaves: int
    tasks: int
    share: RowShare | None = None  # of the whole table that the rows are; None: they are all
    places: NDArray[np.int64] | None = None  # of the rows among all, where these are not neighbours

    @property
    def whole(self) -> RowShare:
        """Which rows of the table these are."""
        return self.share or RowShare.whole(len(self.y))

    def largest_of(self, *values: NDArray[np.floating[Any]]) -> list[float]:
        """The largest of each of some arrays of numbers a row, over all rows of the table, and at least 0."""
        own = np.array([one.max(initial=0.0) for one in values], np.float64)
        found: list[float] = self.whole.team.most(own).tolist()
        return found

    def sums(self, gradient: Float32s, hessian: Float32s) -> LeafSums:
        """Exact sums of two numbers a row, (rows,) each, over the leaves."""
        steepest, highest = self.largest_of(np.abs(gradient), hessian)
        scales = fixed_scales((steepest, highest), self.whole.n_total)
        whole = whole_leaf_sums(self.leaf_of_row, self.n_leaves, gradient, hessian, scales, self.tasks)
        return LeafSums(self.whole.team.add(whole) / np.array(scales), (steepest, highest))


def estimate_leaves(
    problem: LeafProblem,
    steps: LeafSteps,
    penalty: Float64s | None = None,
    bound: Callable[[Float64s], None] | None = None,
    first: LeafSums | None = None,
) -> Float64s:
    """The leaves' values, float64 (leaves,), before shrinkage; 0 for a leaf without rows.

    ``penalty``: lambda of every leaf, in place of the one that all share. ``bound`` clips values in place, after every step.
    ``first``: the sums of the first step, where they are known.
    """
    if steps.method == "exact":
        values = _exact_values(problem)
        if bound is not None:
            bound(values)
        return values
    penalty = np.full(problem.n_leaves, steps.reg_lambda) if penalty is None else penalty
    fused = problem.loss.is_logistic and steps.method == "newton"
    derivatives = _LogisticDerivatives(problem) if fused else _Derivatives(problem, steps.method, first)
    values = base = np.zeros(problem.n_leaves)
    slope = step = base
    for iteration in range(steps.iterations):
        sums = first.sums if iteration == 0 and first is not None else derivatives.sums(values)
        crossed = np.zeros(len(values), np.bool_)
        if iteration > 0:
            crossed = (sums[:, 0] * slope < 0.0) & (np.abs(sums[:, 0]) >= np.abs(slope))
        base = np.where(crossed, base, values)
        slope = np.where(crossed, slope, sums[:, 0])
        step = np.where(crossed, 0.5 * step, newton(sums[:, 0], sums[:, 1], penalty, steps))
        values = base + step
        if bound is not None:
            bound(values)
    return values


class _Derivatives:
    """Sums of what a step divides, (leaves, 2), at any values of the leaves."""

    def __init__(self, problem: LeafProblem, method: str, first: LeafSums | None) -> None:
        self._problem = problem
        self._first = first
        self._gradient, self._hessian = (np.empty(problem.scores.shape, np.float32) for _ in range(2))
        self._weight = weight_of_rows(problem.weight, len(problem.y)) if method == "gradient" else None

    def sums(self, values: Float64s) -> Float64s:
        """By passes over all rows: move the scores, differentiate, sum."""
        problem, gradient, hessian = self._problem, self._gradient, self._hessian
        scores = problem.scores.copy()
        add_leaf_values(problem.leaf_of_row, np.append(values, 0.0), problem.tasks, scores[problem.output])
        problem.loss.gradients(scores, problem.y, problem.weight, gradient, hessian, problem.tasks)
        below = hessian[problem.output] if self._weight is None else self._weight
        if self._first is None:
            self._first = problem.sums(gradient[problem.output], below)
            return self._first.sums
        for part, largest in zip((gradient[problem.output], below), self._first.largest, strict=True):
            limit = min(_FAR * largest, _LARGEST)
            np.clip(part, -limit, limit, out=part)
        return problem.sums(gradient[problem.output], below).sums


class _LogisticDerivatives:
    """The same for the logistic loss and Newton's steps, in one pass."""

    def __init__(self, problem: LeafProblem) -> None:
        self._problem = problem
        self._weight = weight_or_empty(problem.weight)
        self._heaviest = 1.0 if problem.weight is None else problem.largest_of(problem.weight)[0]

    def sums(self, values: Float64s) -> Float64s:
        """By blocks of rows."""
        problem = self._problem
        labelled = (problem.scores[0], problem.y, self._weight)
        return logistic_leaf_sums(
            *labelled, problem.leaf_of_row, values, self._heaviest, problem.tasks, problem.share
        )


def weight_of_rows(weight: Float64s | None, n_rows: int) -> Float32s:
    """The weights as kernels of sums take them, (rows,)."""
    return np.ones(n_rows, np.float32) if weight is None else weight.astype(np.float32)


def _exact_values(problem: LeafProblem) -> Float64s:
    """The loss's own minimum of every leaf."""
    score, y, weight, leaf_of_row = _rows_of_all(problem)
    order = np.argsort(leaf_of_row, kind="stable").astype(np.uint32)
    counts = np.bincount(leaf_of_row, minlength=problem.n_leaves)[: problem.n_leaves]
    offsets, values = np.append(0, np.cumsum(counts)), np.zeros(problem.n_leaves)
    loss = problem.loss.of_output(problem.output)
    loss.refit_leaves(score, y, weight, order[: offsets[-1]], offsets, values)
    return values


def _rows_of_all(problem: LeafProblem) -> tuple[Float64s, Float64s, Float64s | None, LeafNumbers]:
    """Scores, labels, weights and leaves of the whole team's rows: medians and quantiles need all of them."""
    own = (problem.scores[problem.output], problem.y, problem.weight, problem.leaf_of_row)
    team = problem.whole.team
    if team.size == 1:
        return own
    score, y, weight, leaf_of_row, places = zip(*team.gather((*own, problem.places)), strict=True)
    order = slice(None) if problem.places is None else np.argsort(np.concatenate(places))
    weights = None if problem.weight is None else np.concatenate(weight)[order]
    return np.concatenate(score)[order], np.concatenate(y)[order], weights, np.concatenate(leaf_of_row)[order]


class LeafDescent(Newton):
    """Leaf values by `LeafSteps` from all rows and their own weights, whichever rows the tree was grown on.

    ``from_optimum``: as in `Newton`.
    """

    def __init__(self, steps: LeafSteps, from_optimum: bool = True) -> None:
        super().__init__(from_optimum)
        self._steps = steps
        self._scores: Float64s | None = None

    def leaf_values(self, tree: GrownTree, at: Position, output: int) -> Float64s:
        """The values after the last step; of a leaf with too few rows, that of one step of an ancestor."""
        scores = self._scores_of_round(at, output)
        if self.has_no_step(tree, at):
            return np.zeros(1)
        train = at.train
        problem = LeafProblem(
            at.loss,
            scores,
            train.y,
            train.weight,
            output,
            tree.leaf_of_all_rows(),
            tree.n_leaves,
            at.tasks,
            at.share,
        )
        by_gradient = self._steps.method == "gradient"
        below = weight_of_rows(train.weight, train.n_rows) if by_gradient else at.hessian[output]
        first = problem.sums(at.gradient[output], below)
        values = estimate_leaves(problem, self._steps, tree.leaf_penalties(), tree.bound, first)
        tree.fill_small_leaves(first.sums, values)
        tree.bound(values)
        return values

    def _scores_of_round(self, at: Position, output: int) -> Float64s:
        """The scores that the round began with: a booster may have added the trees of earlier outputs already."""
        if at.loss.n_outputs == 1 or self._steps.iterations == 1:
            return at.scores
        if output == 0:
            self._scores = at.scores.copy()
        assert self._scores is not None
        return self._scores


def leaf_descent(steps: LeafSteps, from_optimum: bool) -> Descent:
    """The descent of these steps; an exact one is that of `Newton` where the loss has its own."""
    if steps.method == "exact":
        return Newton(from_optimum, whole_leaves=True)
    return LeafDescent(steps, from_optimum)
