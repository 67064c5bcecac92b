"""What callbacks are told before and after every round, and the evaluation sets that are scored on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.losses import Loss, Metric
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.once import computed_once
from weald.runtime.team import ALONE, Team, labels_of_team
from weald.sampling.rows import ALL_ROWS

if TYPE_CHECKING:
    from weald.training.boosting.descent import Position
    from weald.training.boosting.session import Session

History = dict[str, dict[str, list[float]]]
Cells = TypeVar("Cells")


@dataclass
class Evaluation(Generic[Cells]):
    """A named set of rows whose scores follow the model, and its metrics so far."""

    name: str
    bins: Cells  # the rows, as the learner reads them: bins for trees, columns for a linear model
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    metrics: Sequence[Metric]
    scores: NDArray[np.float64]  # (outputs, rows)
    history: dict[str, list[float]] = field(default_factory=dict)
    team: Team = ALONE  # each member has some of the set's rows

    def record(self, loss: Loss) -> None:
        """Append every metric's value at the current scores."""
        if not self.metrics:
            return
        scores, (y, weight) = self.scores, (self.y, self.weight)
        if self.team.size > 1:
            scores, (y, weight) = np.concatenate(self.team.gather(scores), axis=1), self._labels_of_all
        prediction = loss.respond(scores)
        for metric in self.metrics:
            seen = scores if metric.of_scores else prediction
            self.history.setdefault(metric.name, []).append(float(metric.function(y, seen, weight)))

    @computed_once
    def _labels_of_all(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        return labels_of_team(self.team, self.y, self.weight)


class Round:
    """One round, as callbacks see it: before it begins, if they have a method `before_round`, and when it is finished."""

    def __init__(self, session: Session, number: int) -> None:
        #: the round's number, from 0
        self.number = number
        #: why training stops after this round, or None
        self.reason: str | None = None
        #: the rows that the round's last trees were grown on; empty: all
        self.rows: NDArray[np.uint32] = ALL_ROWS
        self._learning_rate = session.plan.rate
        self._session = session

    @property
    def n_rounds(self) -> int:
        """How many rounds were asked for."""
        return self._session.plan.rounds

    @property
    def learning_rate(self) -> float:
        """The share of the round's trees that is added; `before_round` may set it."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        number = not isinstance(value, bool) and isinstance(value, int | float | np.integer | np.floating)
        if not number or not 0.0 <= value < math.inf:
            raise InputError(
                f"the learning rate of round {self.number} must be a number of at least 0, not {value!r}."
            )
        self._learning_rate = float(value)

    @property
    def at(self) -> Position:
        """The training rows and their scores: with all trees that are there."""
        return self._session.settled()

    @property
    def evaluations(self) -> Sequence[Evaluation[Any]]:
        """The evaluation sets with their scores, in the user's order."""
        return self._session.evaluations

    @property
    def history(self) -> History:
        """Evaluation set -> metric -> one value per round so far."""
        return {evaluation.name: evaluation.history for evaluation in self.evaluations}

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics that every set is scored by, in the user's order."""
        return self.evaluations[0].metrics if self.evaluations else ()

    @property
    def stopped(self) -> bool:
        """Whether a callback has asked to stop."""
        return self.reason is not None

    def stop(self, reason: str) -> None:
        """Make this the last round; before it has begun: leave it out."""
        self.reason = self.reason or reason

    def model(self) -> Predictor:
        """The model as it is after this round, or before it has begun: a forest, or a linear model."""
        return self._session.model()

    def forest(self) -> Forest:
        """The trees as they are after this round, or before it has begun."""
        model = self.model()
        if not isinstance(model, Forest):
            raise NotSupportedError("booster='linear' grows no trees; use the round's model().")
        return model


Callback = Callable[[Round], object]
