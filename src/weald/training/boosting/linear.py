"""Boosting of a linear model: every round is one descent of its weights on the loss's second-order expansion.

The scores of a round come from the weights alone, as a prediction does, and not from a running sum: so training goes on
from a saved model to the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.linear.columns import NumberColumns, over_outputs
from weald.linear.kernels import Steps
from weald.linear.model import LinearModel
from weald.linear.selectors import SELECTORS, Coordinates
from weald.losses.means import compensated_sum
from weald.runtime.errors import InputError
from weald.runtime.random import COORDINATES, stream_key
from weald.sampling.rows import ALL_ROWS
from weald.training.boosting.descent import Position
from weald.training.boosting.plan import LinearPlan, Plan
from weald.training.boosting.rounds import Evaluation

Float64s = NDArray[np.float64]


@dataclass(frozen=True)
class OffsetColumns:
    """Columns of numbers, and where each row starts where that is not the same for all: (outputs, rows)."""

    columns: NumberColumns
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


class LinearLearner:
    """Moves all weights once a round; ``start``: the model that rounds begin from."""

    def __init__(
        self,
        plan: Plan,
        train: LinearRows,
        start: LinearModel,
        evaluations: Sequence[Evaluation[OffsetColumns]],
        tasks: int,
    ) -> None:
        self._train = train
        self._model = start
        self._evaluations = evaluations
        # (outputs, columns + 1); the last of a row is the bias
        self._weights = np.concatenate([start.weights, start.bias[:, None]], axis=1)
        self.at = Position.of(train, plan.loss, np.empty((plan.loss.n_outputs, train.n_rows)))
        self._total = float(train.n_rows if train.weight is None else compensated_sum(train.weight))
        self._follow(plan)
        self.use(tasks)
        train.table.score(start, tasks, self.at.scores)

    def _follow(self, plan: Plan) -> None:
        assert isinstance(plan.kind, LinearPlan)
        self._plan, self._linear, self.at.loss = plan, plan.kind, plan.loss
        self._limits = _limits(self._train.table.columns, plan.kind.max_delta_step)

    def change(self, plan: Plan) -> None:
        """Follow another plan from the next round on."""
        self._follow(plan)

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks."""
        self._tasks = tasks
        self.at.use(tasks)

    @property
    def n_rounds(self) -> int:
        """How many rounds there are."""
        return self._model.n_rounds

    def begin_round(self, number: int) -> None:
        """The scores follow the weights at once."""

    def settle(self) -> None:
        """The scores follow the weights at once."""

    def learn(self, number: int, learning_rate: float) -> NDArray[np.uint32]:
        """Move the weights, and score all rows by them."""
        self._descend(number, learning_rate)
        weights = self._weights
        self._model = _finite(
            LinearModel(self._model.base_score, weights[:, -1].copy(), weights[:, :-1].copy(), number + 1)
        )
        self._train.table.score(self._model, self._tasks, self.at.scores)
        for evaluation in self._evaluations:
            evaluation.bins.score(self._model, self._tasks, evaluation.scores)
        return ALL_ROWS

    def _descend(self, number: int, learning_rate: float) -> None:
        at, linear, weights = self.at, self._linear, self._weights
        columns = self._train.table.columns
        steps = Steps(
            float(learning_rate),
            linear.reg_alpha * self._total,
            linear.reg_lambda * self._total,
            self._limits,
        )
        most = min(linear.top_k or columns.n_columns, columns.n_columns)

        def descend(output: int, tasks: int) -> None:
            coordinates = Coordinates(
                columns, steps, tasks, at.hessian[output], at.gradient[output], weights[output]
            )
            key = stream_key(self._plan.seed, number, output, COORDINATES)
            SELECTORS[linear.selector](coordinates, key, most)

        over_outputs(descend, len(weights), self._tasks, columns)

    def state(self) -> dict[str, Any]:
        """The model tells all."""
        return {}

    def model(self) -> LinearModel:
        """The model as it is now."""
        return self._model


def _limits(columns: NumberColumns, max_delta_step: float) -> Float64s:
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
