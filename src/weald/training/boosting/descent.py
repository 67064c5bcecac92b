"""What a tree of a boosting round is fitted to, and how far the scores move along it.

Newton boosting (Chen and Guestrin 2016) shows a tree the loss's gradients and hessians, and a leaf's value is the Newton
step. Friedman's gradient boosting (2001) fits a regression tree to the negative gradients by least squares, whose
hessians are the rows' weights, and then searches along the tree for the least loss: a step a leaf, or one a tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weald.losses import Loss
from weald.tree.grown import GrownTree

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]

PARALLEL_SCORES = 20_000  # scores from which gradients are shared among threads
# Below this a leaf has nothing left to curve, and its step is 0.
_SMALLEST_CURVATURE = 1e-150


class DescentRows(Protocol):
    """Training rows of any form: what is known of them without their columns."""

    @property
    def y(self) -> Float64s:
        """Labels as numbers."""

    @property
    def weight(self) -> Float64s | None:
        """Weights, None when all are 1."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""


@dataclass
class Position:
    """Where boosting stands: the scores (outputs, rows), filled anew in every round with their derivatives."""

    train: DescentRows
    loss: Loss
    scores: Float64s
    gradient: Float32s
    hessian: Float32s
    tasks: int = 1  # for the loss's kernels

    @classmethod
    def of(cls, train: DescentRows, loss: Loss, scores: Float64s) -> Position:
        """With room for the derivatives."""
        return cls(
            train, loss, scores, np.empty(scores.shape, np.float32), np.empty(scores.shape, np.float32)
        )

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, where there are scores enough."""
        self.tasks = tasks if self.scores.size >= PARALLEL_SCORES else 1

    def differentiate(self) -> None:
        """Take the loss's derivatives at the scores."""
        train = self.train
        self.loss.begin_round(self.scores, train.y, train.weight)
        self.loss.gradients(self.scores, train.y, train.weight, self.gradient, self.hessian, self.tasks)


class Descent(Protocol):
    """A way to go down the loss."""

    def hessian_of_tree(self, at: Position, output: int) -> Float32s:
        """The hessians, (rows,), that the tree of an output sees beside the gradients."""

    def leaf_values(self, tree: GrownTree, at: Position, output: int) -> Float64s:
        """The values of the tree's leaves, before shrinkage; ``at`` has the derivatives of all rows, not those of a sample."""


class Newton:
    """The loss's own hessians, and Newton's step a leaf, or the loss's own (a median, a quantile).

    ``from_optimum``: boosting starts from the loss's first score, and no tree is ever missing. ``whole_leaves``: the
    loss's own step is that of all rows of a leaf, also of those that were not sampled, because the sampled ones are
    not like the others.
    """

    def __init__(self, from_optimum: bool = True, whole_leaves: bool = False) -> None:
        self._from_optimum = from_optimum
        self._whole_leaves = whole_leaves

    def hessian_of_tree(self, at: Position, output: int) -> Float32s:
        """The loss's hessians."""
        hessian: Float32s = at.hessian[output]
        return hessian

    def has_no_step(self, tree: GrownTree, at: Position) -> bool:
        """Whether a tree found no split, and would only move the constant that boosting started from.

        Where that is the best one already, the step would be the rounding of the gradients.
        """
        return tree.n_leaves == 1 and self._from_optimum and at.loss.starts_at_optimum

    def leaf_values(self, tree: GrownTree, at: Position, output: int) -> Float64s:
        """Newton's values, or refitted ones."""
        if self.has_no_step(tree, at):
            return np.zeros(1)
        values = tree.leaf_values()
        if at.loss.refits_leaves:
            _refit(tree, at, output, values, self._whole_leaves)
        return values


class _LeastSquares:
    """A tree by least squares on the negative gradients: a leaf holds their mean."""

    def __init__(self, train: DescentRows) -> None:
        ones = np.ones(train.n_rows, np.float32)
        self._weight = ones if train.weight is None else train.weight.astype(np.float32)

    def hessian_of_tree(self, at: Position, output: int) -> Float32s:
        """The rows' weights."""
        return self._weight


class LeafSearch(_LeastSquares):
    """The best step of every leaf by itself (Friedman 2001, equation 18); where it has no formula, one Newton step."""

    def leaf_values(self, tree: GrownTree, at: Position, output: int) -> Float64s:
        """The median, the quantile, or the quotient of the sums of gradients and hessians."""
        if at.loss.refits_leaves:
            values = tree.leaf_values()
            _refit(tree, at, output, values)
            return values
        gradient, hessian = at.gradient[output], at.hessian[output]
        largest = (float(np.abs(gradient).max()), float(hessian.max()))
        sums = tree.leaf_sums(gradient, hessian, largest)
        curved = sums[:, 1] > _SMALLEST_CURVATURE
        return np.divide(-sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=curved) + 0.0


class TreeSearch(_LeastSquares):
    """One step rho a tree, where the loss along the tree is least (Friedman 2001, Algorithm 1, line 5)."""

    def leaf_values(self, tree: GrownTree, at: Position, output: int) -> Float64s:
        """rho times the means."""
        values = tree.leaf_values()
        direction, train = tree.spread(values), at.train
        return values * at.loss.best_step(at.scores, train.y, train.weight, output, direction, at.tasks)


class Projection(_LeastSquares):
    """One step alpha = sum(r h) / sum(h h) a tree, the least-squares fit of the negative gradients r by the tree h.

    A tree whose leaves are means is its own projection, so alpha is 1 but for rounding: boosting on residuals, without
    a search.
    """

    def leaf_values(self, tree: GrownTree, at: Position, output: int) -> Float64s:
        """alpha times the means."""
        values, gradient = tree.leaf_values(), at.gradient[output]
        largest = (float(np.abs(gradient).max()), float(self._weight.max()))
        sums = tree.leaf_sums(gradient, self._weight, largest)
        length = math.fsum(sums[:, 1] * values * values)
        return values * (-math.fsum(sums[:, 0] * values) / length) if length > 0.0 else values


LINE_SEARCHES: dict[str, type[LeafSearch] | type[TreeSearch] | type[Projection]] = {
    "leaf": LeafSearch,
    "tree": TreeSearch,
    "projection": Projection,
}


def _refit(tree: GrownTree, at: Position, output: int, values: Float64s, whole_leaves: bool = False) -> None:
    rows, offsets = tree.all_rows_by_leaf() if whole_leaves else tree.rows_by_leaf()
    loss = at.loss.of_output(output)
    labelled = (at.scores[output], at.train.y, at.train.weight)
    loss.refit_leaves(*labelled, rows, offsets, values)
    if tree.smooths:
        inner_rows, inner_offsets = tree.rows_by_inner_node(rows)
        inner = np.zeros(len(inner_offsets) - 1)
        loss.refit_leaves(*labelled, inner_rows, inner_offsets, inner)
        tree.smooth(inner, values)
    tree.bound(values)
