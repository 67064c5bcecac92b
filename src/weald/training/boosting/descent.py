"""What a tree of a boosting round is fitted to, and how far the scores move along it.

Newton boosting (Chen and Guestrin 2016) shows a tree the loss's gradients and hessians, and a leaf's value is the Newton
step. Friedman's gradient boosting (2001) fits a regression tree to the negative gradients by least squares, whose
hessians are the rows' weights, and then searches along the tree for the least loss: a step a leaf, or one a tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weald.losses import Loss
from weald.runtime.row_memory import IN_MEMORY, RowMemory
from weald.runtime.team import RowShare, labels_of_team
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
    share: RowShare  # of the whole table that these rows are
    memory: RowMemory  # that arrays of numbers a row come from
    tasks: int = 1  # for the loss's kernels

    @classmethod
    def of(
        cls,
        train: DescentRows,
        loss: Loss,
        scores: Float64s,
        share: RowShare | None = None,
        memory: RowMemory = IN_MEMORY,
    ) -> Position:
        """With room for the derivatives; ``share`` None: the rows are the whole table."""
        room = memory.zeros(scores.shape, np.float32), memory.zeros(scores.shape, np.float32)
        return cls(train, loss, scores, *room, share or RowShare.whole(train.n_rows), memory)

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, where there are scores enough."""
        self.tasks = tasks if self.scores.size >= PARALLEL_SCORES else 1

    def differentiate(self) -> None:
        """Take the loss's derivatives at the scores."""
        train, at_once = self.train, self.memory.piece_rows
        self.loss.begin_round(self.scores, train.y, train.weight)
        if at_once is None:
            self.loss.gradients(self.scores, train.y, train.weight, self.gradient, self.hessian, self.tasks)
            return
        for first in range(0, train.n_rows, at_once):
            self._differentiate_piece(slice(first, first + at_once))

    def _differentiate_piece(self, here: slice) -> None:
        """The same for some neighbouring rows, which are released then."""
        y, weight = self.train.y[here], None if self.train.weight is None else self.train.weight[here]
        gradient, hessian = self.gradient[:, here], self.hessian[:, here]
        scores = np.ascontiguousarray(self.scores[:, here])
        if gradient.flags.c_contiguous:
            self.loss.gradients(scores, y, weight, gradient, hessian, self.tasks)
        else:  # several outputs: kernels take whole arrays
            found = np.empty_like(gradient), np.empty_like(hessian)
            self.loss.gradients(scores, y, weight, *found, self.tasks)
            gradient[...], hessian[...] = found
        self.memory.release(self.scores[:, here], y, gradient, hessian)
        if weight is not None:
            self.memory.release(weight)

    def labels_of_all(self) -> tuple[Float64s, Float64s | None]:
        """Labels and weights of the rows of the whole team, which are asked for once."""
        if self._of_all is None:
            self._of_all = labels_of_team(self.share.team, self.train.y, self.train.weight)
        return self._of_all

    _of_all: tuple[Float64s, Float64s | None] | None = field(default=None, init=False, repr=False)


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
    loss = at.loss.of_output(output)
    if at.share.team.size > 1:
        score, rows, offsets = _rows_of_team(tree, at, output, whole_leaves)
        labelled = (score, *at.labels_of_all())
    else:
        rows, offsets = tree.all_rows_by_leaf() if whole_leaves else tree.rows_by_leaf()
        labelled = (at.scores[output], at.train.y, at.train.weight)
    loss.refit_leaves(*labelled, rows, offsets, values)
    if tree.smooths:
        inner_rows, inner_offsets = tree.rows_by_inner_node(rows)
        inner = np.zeros(len(inner_offsets) - 1)
        loss.refit_leaves(*labelled, inner_rows, inner_offsets, inner)
        tree.smooth(inner, values)
    tree.bound(values)


def _rows_of_team(
    tree: GrownTree, at: Position, output: int, whole_leaves: bool
) -> tuple[Float64s, NDArray[np.uint32], NDArray[np.int64]]:
    """Scores of the rows of the whole team, and these rows leaf after leaf: medians and quantiles need all of them."""
    leaf_of_row = tree.leaf_of_all_rows() if whole_leaves else tree.leaf_of_sampled_rows()
    found = at.share.team.gather((at.scores[output], leaf_of_row))
    scores, leaves = (np.concatenate([own[place] for own in found]) for place in (0, 1))
    counts = np.bincount(leaves, minlength=tree.n_leaves)[: tree.n_leaves]
    offsets = np.append(0, np.cumsum(counts))
    return scores, np.argsort(leaves, kind="stable").astype(np.uint32)[: offsets[-1]], offsets
