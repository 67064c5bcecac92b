"""Gradient boosting: the loop that every booster shares.

As the seeds write it (Friedman 2001, with the second-order step of Chen and Guestrin 2016): start from the best constant;
in every round take the loss's gradients at the current scores, grow one tree per output on them, shrink its leaves, add
them to the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.binning import Bins
from weald.ensemble.rounds import Evaluation, Round
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.losses import Loss
from weald.runtime.random import NODE_COLUMNS, ROUNDING, ROWS, TREE_COLUMNS, stream_key
from weald.sampling import draw_columns, draw_rows
from weald.tree.tree import GrownTree, TreeGrower, TreeRules

Callback = Callable[[Round], object]

PARALLEL_SCORES = 20_000  # scores from which gradients are shared among threads


@dataclass(frozen=True)
class BoostingChoices:
    """What the loop itself needs to know; the rest is in the tree's rules and the loss."""

    n_estimators: int
    learning_rate: float
    subsample: float
    colsample_bytree: float
    precision: str
    seed: int


@dataclass(frozen=True)
class TrainingRows:
    """Binned rows with their labels and weights."""

    bins: Bins
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)


def boost(
    train: TrainingRows,
    loss: Loss,
    rules: TreeRules,
    choices: BoostingChoices,
    tasks: int,
    evaluations: Sequence[Evaluation] = (),
    callbacks: Sequence[Callback] = (),
    start: tuple[Forest, NDArray[np.float64]] | None = None,
) -> Forest:
    """Boost ``choices.n_estimators`` rounds in all, or until a callback stops; ``start``: an earlier forest and its scores."""
    builder, scores = _begin(train, loss, start)
    grower = TreeGrower(train.bins, rules, choices.precision, tasks)
    gradient_tasks = tasks if scores.size >= PARALLEL_SCORES else 1
    gradient = np.empty(scores.shape, np.float32)
    hessian = np.empty(scores.shape, np.float32)
    for number in range(builder.n_trees // loss.n_outputs, choices.n_estimators):
        loss.gradients(scores, train.y, train.weight, gradient, hessian, gradient_tasks)
        rows = draw_rows(train.n_rows, choices.subsample, stream_key(choices.seed, number, 0, ROWS), tasks)
        for output in range(loss.n_outputs):
            key = stream_key(choices.seed, number, output)
            columns = draw_columns(
                len(train.bins.columns), choices.colsample_bytree, stream_key(key, TREE_COLUMNS)
            )
            tree = grower.grow(
                gradient[output],
                hessian[output],
                rows,
                columns,
                stream_key(key, ROUNDING),
                stream_key(key, NODE_COLUMNS),
            )
            values = _leaf_values(tree, loss, train, scores[output]) * choices.learning_rate
            tree.add_to(scores[output], values)
            for evaluation in evaluations:
                tree.add_to_binned(evaluation.bins, evaluation.scores[output], values)
            builder.append(**tree.for_forest(values, choices.learning_rate))
        state = Round(number, choices.n_estimators, builder, evaluations, loss)
        for callback in callbacks:
            callback(state)
        if state.stopped:
            break
    return builder.build()


def _begin(
    train: TrainingRows, loss: Loss, start: tuple[Forest, NDArray[np.float64]] | None
) -> tuple[ForestBuilder, NDArray[np.float64]]:
    """An empty forest and constant scores, or those of an earlier forest."""
    if start is not None:
        forest, scores = start
        return ForestBuilder.continuing(forest), scores
    base = loss.initial_score(train.y, train.weight)
    scores = np.repeat(base[:, None], train.n_rows, axis=1)
    return ForestBuilder(len(train.bins.columns), loss.n_outputs, base), scores


def _leaf_values(
    tree: GrownTree, loss: Loss, train: TrainingRows, score: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Newton's values, or the loss's own (a median, a quantile) where it refits its leaves.

    A tree that found no split would only move the constant that boosting started from; where that is the best one
    already, the step would be the rounding of the gradients.
    """
    if tree.n_leaves == 1 and loss.starts_at_optimum:
        return np.zeros(1)
    values = tree.leaf_values()
    if loss.refits_leaves:
        rows, offsets = tree.rows_by_leaf()
        loss.refit_leaves(score, train.y, train.weight, rows, offsets, values)
    return values
