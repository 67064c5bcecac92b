"""What callbacks are told before and after every round, and the evaluation sets that are scored on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.losses import Loss, Metric
from weald.runtime.errors import InputError, NotSupportedError
from weald.sampling.rows import ALL_ROWS

if TYPE_CHECKING:
    from weald.training.boosting.descent import Position

History = dict[str, dict[str, list[float]]]
Table = TypeVar("Table")


class Builder(Protocol):
    """A model in the making."""

    def build(self) -> Predictor:
        """The model as it is now."""


class ScoreKeeper(Protocol):
    """What keeps the scores of the training rows in step with the model."""

    def settle(self) -> None:
        """Bring the training scores to where the last round has left the model."""


@dataclass
class Evaluation(Generic[Table]):
    """A named set of rows whose scores follow the model, and its metrics so far."""

    name: str
    bins: Table  # the rows, as the booster reads them: bins for trees, columns for a linear model
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    metrics: Sequence[Metric]
    scores: NDArray[np.float64]  # (outputs, rows)
    history: dict[str, list[float]] = field(default_factory=dict)

    def record(self, loss: Loss) -> None:
        """Append every metric's value at the current scores."""
        prediction = loss.respond(self.scores)
        for metric in self.metrics:
            seen = self.scores if metric.of_scores else prediction
            self.history.setdefault(metric.name, []).append(float(metric.function(self.y, seen, self.weight)))


class Round:
    """One round, as callbacks see it: before it begins, if they have a method `before_round`, and when it is finished."""

    def __init__(
        self,
        number: int,
        n_rounds: int,
        learning_rate: float,
        builder: Builder,
        evaluations: Sequence[Evaluation[Any]],
        at: Position,
        booster: ScoreKeeper,
    ) -> None:
        #: the round's number, from 0
        self.number = number
        #: how many rounds were asked for
        self.n_rounds = n_rounds
        #: why training stops after this round, or None
        self.reason: str | None = None
        #: the rows that the round's last trees were grown on; empty: all
        self.rows: NDArray[np.uint32] = ALL_ROWS
        self._learning_rate = learning_rate
        self._builder = builder
        self._evaluations = evaluations
        self._at = at
        self._booster = booster

    @property
    def learning_rate(self) -> float:
        """The share of the round's trees that is added; `before_round` may set it."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        number = not isinstance(value, bool) and isinstance(value, int | float | np.integer | np.floating)
        if not number or not 0.0 < value < math.inf:
            raise InputError(
                f"the learning rate of round {self.number} must be a number above 0, not {value!r}."
            )
        self._learning_rate = float(value)

    def finish(self, rows: NDArray[np.uint32]) -> None:
        """Evaluate what the round has led to; the loop calls it."""
        self.rows = rows
        for evaluation in self._evaluations:
            evaluation.record(self._at.loss)

    @property
    def at(self) -> Position:
        """The training rows and their scores: with all trees that are there."""
        self._booster.settle()
        return self._at

    @property
    def history(self) -> History:
        """Evaluation set -> metric -> one value per round so far."""
        return {evaluation.name: evaluation.history for evaluation in self._evaluations}

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics that every set is scored by, in the user's order."""
        return self._evaluations[0].metrics if self._evaluations else ()

    @property
    def stopped(self) -> bool:
        """Whether a callback has asked to stop."""
        return self.reason is not None

    def stop(self, reason: str) -> None:
        """Make this the last round; before it has begun: leave it out."""
        self.reason = self.reason or reason

    def model(self) -> Predictor:
        """The model as it is after this round, or before it has begun: a forest, or a linear model."""
        return self._builder.build()

    def forest(self) -> Forest:
        """The trees as they are after this round, or before it has begun."""
        model = self.model()
        if not isinstance(model, Forest):
            raise NotSupportedError("booster='linear' grows no trees; use the round's model().")
        return model
