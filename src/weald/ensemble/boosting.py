"""Gradient boosting: the loop that every booster shares.

As Friedman (2001) and Chen and Guestrin (2016) write it: start from the best constant; in every round take the
loss's gradients at the current scores, grow one tree per output on them, shrink its leaves, add them to the scores.
What a tree is fitted to and how far its leaves go is the descent's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.binning import Bins
from weald.ensemble.descent import Descent, Newton, Position
from weald.ensemble.rounds import Evaluation, Round
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.losses import Loss
from weald.runtime.random import NODE_COLUMNS, ROUNDING, ROWS, TREE_COLUMNS, stream_key
from weald.sampling import draw_columns, draw_rows
from weald.tree.growers import make_grower
from weald.tree.tree import TreeRules

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
    descent: Descent | None = None,
) -> Forest:
    """Boost ``choices.n_estimators`` rounds in all, or until a callback stops; ``start``: an earlier forest and its scores."""
    builder, scores = _begin(train, loss, start)
    grower = make_grower(train.bins, rules, choices.precision, tasks)
    gradient_tasks = tasks if scores.size >= PARALLEL_SCORES else 1
    gradient = np.empty(scores.shape, np.float32)
    hessian = np.empty(scores.shape, np.float32)
    descent = descent or Newton()
    at = Position(train, loss, scores, gradient, hessian, gradient_tasks)
    for number in range(builder.n_trees // loss.n_outputs, choices.n_estimators):
        loss.begin_round(scores, train.y, train.weight)
        loss.gradients(scores, train.y, train.weight, gradient, hessian, gradient_tasks)
        rows = draw_rows(train.n_rows, choices.subsample, stream_key(choices.seed, number, 0, ROWS), tasks)
        for output in range(loss.n_outputs):
            key = stream_key(choices.seed, number, output)
            columns = draw_columns(
                train.bins.n_columns, choices.colsample_bytree, stream_key(key, TREE_COLUMNS)
            )
            tree = grower.grow(
                gradient[output],
                descent.hessian_of_tree(at, output),
                rows,
                columns,
                stream_key(key, ROUNDING),
                stream_key(key, NODE_COLUMNS),
            )
            values = descent.leaf_values(tree, at, output) * choices.learning_rate
            tree.add_to(scores[output], values)
            for evaluation in evaluations:
                tree.add_to_binned(evaluation.bins, evaluation.scores[output], values)
            builder.append(**tree.for_forest(values, choices.learning_rate))
        state = Round(number, choices.n_estimators, builder, evaluations, at, rows)
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
    return ForestBuilder(train.bins.n_columns, loss.n_outputs, base), scores
