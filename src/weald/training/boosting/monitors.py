"""What is kept of every round: the loss of the rows fitted, left out and held out; the model of the best round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.forest.predictor import Predictor
from weald.losses import Loss, Metric
from weald.losses.means import weighted_mean
from weald.runtime.errors import InputError
from weald.training.boosting.callbacks import best_round
from weald.training.boosting.rounds import Evaluation, History, Round

Float64s = NDArray[np.float64]


def mean_loss(
    loss: Loss,
    scores: Float64s,
    y: Float64s,
    weight: Float64s | None,
    rows: NDArray[np.bool_] | NDArray[np.uint32] | None = None,
) -> float:
    """The weighted mean of the loss over some rows (None: all); NaN over none."""
    if rows is not None:
        scores, y, weight = scores[:, rows], y[rows], None if weight is None else weight[rows]
    return weighted_mean(loss.values(scores, y), weight) if len(y) else float("nan")


class TrainingLoss:
    """A callback that keeps, for every round, the loss of the rows that its trees were grown on.

    With a sample of rows also the loss of the rows left out, and how much the round improved the loss of these same
    rows. ``factor`` multiplies all; ``before``: the scores that boosting starts from.
    """

    def __init__(self, factor: float, before: Float64s) -> None:
        self._factor = factor
        self._before = before.copy()
        self.inside: list[float] = []
        self.outside: list[float] = []
        self.improvement: list[float] = []

    def __call__(self, state: Round) -> None:
        at, train = state.at, state.at.train
        if not len(state.rows):
            self.inside.append(self._factor * mean_loss(at.loss, at.scores, train.y, train.weight))
            return
        left_out = np.ones(train.n_rows, np.bool_)
        left_out[state.rows] = False
        inside = mean_loss(at.loss, at.scores, train.y, train.weight, state.rows)
        outside = mean_loss(at.loss, at.scores, train.y, train.weight, left_out)
        earlier = mean_loss(at.loss, self._before, train.y, train.weight, left_out)
        self.inside.append(self._factor * inside)
        self.outside.append(self._factor * outside)
        self.improvement.append(self._factor * (earlier - outside))
        self._before[...] = at.scores


class Patience:
    """A callback that stops when the loss of a held-out set is no better than in any of the last rounds.

    Better means smaller by more than ``tolerance``, as scikit-learn's gradient boosting has it: the loss must undercut
    one of the last ``rounds`` losses that did so themselves.
    """

    def __init__(self, evaluation: Evaluation[Any], rounds: int, tolerance: float, factor: float) -> None:
        self.evaluation = evaluation
        self._tolerance = tolerance
        self._factor = factor
        self._recent = np.full(rounds, np.inf)
        self.losses: list[float] = []

    def __call__(self, state: Round) -> None:
        held_out = self.evaluation
        loss = self._factor * mean_loss(state.at.loss, held_out.scores, held_out.y, held_out.weight)
        self.losses.append(loss)
        if not (loss + self._tolerance < self._recent).any():
            state.stop(f"no improvement for {len(self._recent)} rounds")
            return
        self._recent[state.number % len(self._recent)] = loss


class BestModel:
    """A callback that keeps the model of the best round, for a booster whose later rounds change what earlier ones made.

    ``model`` is what training goes on from, and ``history`` has the rounds that it comes from.
    """

    def __init__(self, booster: str, name: str, metric: Metric, model: Predictor, history: History) -> None:
        self._name = name
        self._metric = metric
        #: the model of the best round so far
        self.model = model
        values = history.get(name, {}).get(metric.name, [])
        best = best_round(values, metric.greater_is_better) if values else -1
        if best < len(values) - 1 and values[best] == values[best]:
            raise InputError(
                f"booster={booster!r} has changed what round {best} made, the best of the earlier fit, since; "
                "go on without early stopping, or from the model of that round."
            )

    def __call__(self, state: Round) -> None:
        values = state.history[self._name][self._metric.name]
        if best_round(values, self._metric.greater_is_better) == len(values) - 1:
            self.model = state.model()
