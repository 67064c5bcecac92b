"""The loss of every round of gradient boosting: of the rows fitted, of those left out, of those held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.ensemble.rounds import Evaluation, Round
from weald.losses import Loss
from weald.losses.means import weighted_mean

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

    def __init__(self, evaluation: Evaluation, rounds: int, tolerance: float, factor: float) -> None:
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
