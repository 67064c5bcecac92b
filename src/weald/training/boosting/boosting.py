"""Gradient boosting: the loop that every booster shares.

As Friedman (2001) and Chen and Guestrin (2016) write it: start from a constant; in every round take the loss's gradients
at the current scores, grow a tree per output on them, shrink its leaves, add them to the scores. What a tree is fitted to
and how far its leaves go is the descent's choice; which trees the scores hold, and with what weight, is the booster's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weald.binning import AnyBins
from weald.binning.statistics import StatisticBins
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.losses import Loss
from weald.runtime.random import NODE_COLUMNS, ROUNDING, TREE_COLUMNS, stream_key
from weald.sampling import RowSampler, UniformRows, draw_columns
from weald.training.boosting.boosters import Booster, Plain
from weald.training.boosting.descent import Descent, Newton, Position
from weald.training.boosting.leaf_steps import weight_of_rows
from weald.training.boosting.rounds import Evaluation, Round
from weald.tree.growers import make_grower
from weald.tree.splits.noise import fading
from weald.tree.tree import TreeRules

Callback = Callable[[Round], object]

PARALLEL_SCORES = 20_000  # scores from which gradients are shared among threads


@dataclass(frozen=True)
class BoostingChoices:
    """What the loop itself needs to know; the rest is in the tree's rules and the loss."""

    n_estimators: int
    learning_rate: float
    subsample: float  # for the sampler that is taken when none is given
    colsample_bytree: float
    precision: str
    seed: int
    random_strength: float = 0.0  # of the noise in the choice of columns


@dataclass(frozen=True)
class TrainingRows:
    """Binned rows with their labels and weights."""

    bins: AnyBins | StatisticBins
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
    start: tuple[Forest, NDArray[np.float64]],
    evaluations: Sequence[Evaluation[AnyBins]] = (),
    callbacks: Sequence[Callback] = (),
    descent: Descent | None = None,
    booster: Booster | None = None,
    sampler: RowSampler | None = None,
) -> Forest:
    """Boost ``choices.n_estimators`` rounds in all, or until a callback stops.

    ``start``: the trees that are there, or none, and the training rows' scores (outputs, rows) with them.
    """
    forest, scores = start
    builder = ForestBuilder.continuing(forest)
    grower = make_grower(train.bins, rules, choices.precision, tasks)
    gradient_tasks = tasks if scores.size >= PARALLEL_SCORES else 1
    gradient = np.empty(scores.shape, np.float32)
    hessian = np.empty(scores.shape, np.float32)
    descent = descent or Newton()
    booster = booster or Plain(descent)
    sampler = sampler or UniformRows(choices.seed, (choices.subsample,))
    weight = weight_of_rows(train.weight, train.n_rows) if rules.counts_rows else None
    at = Position(train, loss, scores, gradient, hessian, gradient_tasks)
    booster.begin(builder, at, evaluations, grower)
    for number in range(forest.n_rounds, choices.n_estimators):
        state = Round(number, choices.n_estimators, choices.learning_rate, builder, evaluations, at, booster)
        if not may_begin(state, callbacks):
            break
        booster.begin_round(number)
        loss.begin_round(scores, train.y, train.weight)
        loss.gradients(scores, train.y, train.weight, gradient, hessian, gradient_tasks)
        share = state.learning_rate / forest.parallel_trees
        noise = choices.random_strength
        if noise > 0.0:
            noise *= fading(train.n_rows, number, choices.learning_rate)
        for place in range(loss.n_outputs * forest.parallel_trees):
            output, key = place % loss.n_outputs, stream_key(choices.seed, number, place)
            if output == 0:
                sample = sampler.draw(number, place, gradient, hessian, tasks)
                seen = replace(at, gradient=sample.gradient, hessian=sample.hessian)
            columns = draw_columns(grower.columns, choices.colsample_bytree, stream_key(key, TREE_COLUMNS))
            own_hessian = descent.hessian_of_tree(seen, output)
            tree = grower.grow(
                sample.gradient[output],
                own_hessian if weight is None else sample.weigh(weight),
                sample.rows,
                columns,
                stream_key(key, ROUNDING),
                stream_key(key, NODE_COLUMNS),
                noise,
            )
            if weight is not None:
                tree.use_hessian(own_hessian)
            booster.add(tree, share, output)
        booster.end_round(state.learning_rate)
        state.finish(sample.rows)
        for callback in callbacks:
            callback(state)
        if state.stopped:
            break
    return builder.build()


def may_begin(state: Round, callbacks: Sequence[Callback]) -> bool:
    """Show a round to the callbacks that want to see it before it begins; whether none of them stops training."""
    for callback in callbacks:
        before_round = getattr(callback, "before_round", None)
        if before_round is not None:
            before_round(state)
    return not state.stopped
