"""Boosting of a linear model: every round is one descent of its weights on the loss's second-order expansion.

The scores of a round come from the weights alone, as a prediction does, and not from a running sum: so training goes on
from a saved model to the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.linear.columns import Columns, over_outputs
from weald.linear.kernels import Steps
from weald.linear.model import LinearModel
from weald.linear.selectors import SELECTORS, Coordinates
from weald.losses import Loss
from weald.losses.means import compensated_sum
from weald.runtime.errors import InputError
from weald.runtime.random import COORDINATES, stream_key
from weald.sampling.rows import ALL_ROWS
from weald.training.boosting.boosting import PARALLEL_SCORES, Callback, may_begin
from weald.training.boosting.descent import Position
from weald.training.boosting.rounds import Evaluation, Round

Float64s = NDArray[np.float64]


@dataclass(frozen=True)
class LinearChoices:
    """What the descent needs to know. Penalties are those of a row of mean weight: they grow with the table."""

    n_estimators: int
    learning_rate: float
    reg_lambda: float
    reg_alpha: float
    max_delta_step: float  # the most by which a Newton step may move any row's score; 0: no limit
    feature_selector: str
    top_k: int  # 0: all columns
    seed: int


@dataclass(frozen=True)
class OffsetColumns:
    """Columns of numbers, and where each row starts where that is not the same for all: (outputs, rows)."""

    columns: Columns
    offset: Float64s | None = None

    def score(self, model: LinearModel, tasks: int, scores: Float64s) -> None:
        """Fill OUT scores, (outputs, rows)."""
        model.score_columns(self.columns, tasks, scores)
        if self.offset is not None:
            scores += self.offset


@dataclass(frozen=True)
class LinearRows:
    """Columns of numbers with their labels and weights."""

    table: OffsetColumns
    y: Float64s
    weight: Float64s | None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)


class _Weights:
    """The weights in the making, (outputs, columns + 1); the last of a row is the bias."""

    def __init__(self, start: LinearModel) -> None:
        self.base_score = start.base_score
        self.values = np.concatenate([start.weights, start.bias[:, None]], axis=1)
        self.n_rounds = start.n_rounds

    def build(self) -> LinearModel:
        """The model as it is now."""
        return LinearModel(
            self.base_score, self.values[:, -1].copy(), self.values[:, :-1].copy(), self.n_rounds
        )

    def settle(self) -> None:
        """The scores follow the weights at once."""


def boost_linear(
    train: LinearRows,
    loss: Loss,
    choices: LinearChoices,
    start: LinearModel,
    tasks: int,
    evaluations: Sequence[Evaluation[OffsetColumns]] = (),
    callbacks: Sequence[Callback] = (),
) -> LinearModel:
    """Boost ``choices.n_estimators`` rounds in all, or until a callback stops; ``start``: what they begin from."""
    weights, model = _Weights(start), start
    scores = np.empty((loss.n_outputs, train.n_rows))
    gradient_tasks = tasks if scores.size >= PARALLEL_SCORES else 1
    gradient = np.empty(scores.shape, np.float32)
    hessian = np.empty(scores.shape, np.float32)
    at = Position(train, loss, scores, gradient, hessian, gradient_tasks)
    descent = _Descent(at, train.table.columns, choices, weights.values)
    train.table.score(model, tasks, scores)
    for number in range(start.n_rounds, choices.n_estimators):
        state = Round(number, choices.n_estimators, choices.learning_rate, weights, evaluations, at, weights)
        if not may_begin(state, callbacks):
            break
        loss.begin_round(scores, train.y, train.weight)
        loss.gradients(scores, train.y, train.weight, gradient, hessian, gradient_tasks)
        descent.go(number, state.learning_rate, tasks)
        weights.n_rounds = number + 1
        model = _finite(weights.build())
        train.table.score(model, tasks, scores)
        for evaluation in evaluations:
            evaluation.bins.score(model, tasks, evaluation.scores)
        state.finish(ALL_ROWS)
        for callback in callbacks:
            callback(state)
        if state.stopped:
            break
    return model


class _Descent:
    """Moves all weights once a round."""

    def __init__(self, at: Position, columns: Columns, choices: LinearChoices, weights: Float64s) -> None:
        total = float(at.train.n_rows if at.train.weight is None else compensated_sum(at.train.weight))
        self._l1, self._l2 = choices.reg_alpha * total, choices.reg_lambda * total
        self._limits = _limits(columns, choices.max_delta_step)
        self._most = min(choices.top_k or columns.n_columns, columns.n_columns)
        self._selector = SELECTORS[choices.feature_selector]
        self._seed = choices.seed
        self._at = at
        self._columns = columns
        self._weights = weights

    def go(self, number: int, learning_rate: float, tasks: int) -> None:
        """The weights of round ``number``, from the gradients that are there."""
        at, weights = self._at, self._weights
        steps = Steps(float(learning_rate), self._l1, self._l2, self._limits)

        def descend(output: int, tasks: int) -> None:
            coordinates = Coordinates(
                self._columns, steps, tasks, at.hessian[output], at.gradient[output], weights[output]
            )
            key = stream_key(self._seed, number, output, COORDINATES)
            self._selector(coordinates, key, self._most)

        over_outputs(descend, len(weights), tasks, self._columns)


def _limits(columns: Columns, max_delta_step: float) -> Float64s:
    """The longest Newton step of every weight and, at the end, of the bias."""
    limits = np.full(columns.n_columns + 1, np.inf)
    if max_delta_step > 0.0:
        largest = np.append(columns.largest(), 1.0)
        np.divide(max_delta_step, largest, out=limits, where=largest > 0.0)
    return limits


def _finite(model: LinearModel) -> LinearModel:
    if not (np.isfinite(model.weights).all() and np.isfinite(model.bias).all()):
        raise InputError(
            f"booster='linear' ran away in round {model.n_rounds - 1}, its weights are no longer finite: scale the "
            "columns of X, lower learning_rate or raise reg_lambda."
        )
    return model
