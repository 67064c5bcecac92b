"""What callbacks are told after every round, and the evaluation sets that are scored on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.binning import Bins
from weald.losses import Loss, Metric

if TYPE_CHECKING:
    from weald.ensemble.descent import Position
    from weald.forest.builder import ForestBuilder
    from weald.forest.forest import Forest

History = dict[str, dict[str, list[float]]]


@dataclass
class Evaluation:
    """A named set of rows whose scores follow the model, and its metrics so far."""

    name: str
    bins: Bins
    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    metrics: Sequence[Metric]
    scores: NDArray[np.float64]  # (outputs, rows)
    history: dict[str, list[float]] = field(default_factory=dict)

    def record(self, loss: Loss) -> None:
        """Append every metric's value at the current scores."""
        prediction = loss.respond(self.scores)
        for metric in self.metrics:
            self.history.setdefault(metric.name, []).append(
                float(metric.function(self.y, prediction, self.weight))
            )


class Round:
    """One finished round, as callbacks see it."""

    def __init__(
        self,
        number: int,
        n_rounds: int,
        builder: ForestBuilder,
        evaluations: Sequence[Evaluation],
        at: Position,
        rows: NDArray[np.uint32],
    ) -> None:
        #: the round's number, from 0
        self.number = number
        #: how many rounds were asked for
        self.n_rounds = n_rounds
        #: why training stops after this round, or None
        self.reason: str | None = None
        #: the training rows and their scores after the round
        self.at = at
        #: the rows that the round's trees were grown on; empty: all
        self.rows = rows
        self._builder = builder
        self._evaluations = evaluations
        for evaluation in evaluations:
            evaluation.record(at.loss)

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
        """Make this the last round."""
        self.reason = self.reason or reason

    def forest(self) -> Forest:
        """The model as it is after this round."""
        return self._builder.build()
