"""The boosting loop, opened: estimators, interfaces of other systems, cross-validation and checkpoints all drive this.

As Friedman (2001) and Chen and Guestrin (2016) write it: start from a constant; in every round take the loss's gradients
at the current scores, fit trees (or the weights of a linear model) to them, shrink them, add them to the scores.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.encoding.model import ModelStatistics
from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.runtime.threads import count_tasks, hire
from weald.training.boosting.descent import Position
from weald.training.boosting.plan import Plan
from weald.training.boosting.rounds import Callback, Evaluation, Round
from weald.training.boosting.statistics import StatisticTraining, used_statistics

#: numbers, texts and arrays by name
State = Mapping[str, Any]


@dataclass(frozen=True)
class Interruption:
    """What a session knows that its finished model does not tell."""

    trees: Forest  # with the numbers that statistics have in training
    earlier: ModelStatistics | None  # of the trees that the session began with
    state: State


class Learner(Protocol):
    """What rounds add to: trees, or the weights of a linear model."""

    @property
    def at(self) -> Position:
        """The training rows and their scores."""

    @property
    def n_rounds(self) -> int:
        """How many rounds there are."""

    def use(self, tasks: int) -> None:
        """Share the work of the next round among so many tasks; they never change the model."""

    def begin_round(self, number: int) -> None:
        """Bring the training scores to where the round's gradients are to be taken."""

    def learn(self, number: int, learning_rate: float) -> NDArray[np.uint32]:
        """Fit a round to the gradients, and bring the scores of all evaluation sets along; the rows that it saw."""

    def settle(self) -> None:
        """Bring the training scores to where the last round has left the model."""

    def change(self, plan: Plan) -> None:
        """Follow another plan from the next round on."""

    def state(self) -> State:
        """What a learner that goes on needs beside the model: numbers, texts and arrays by name."""

    def model(self) -> Predictor:
        """The model as it is now."""


class Session:
    """One training, round by round."""

    def __init__(
        self,
        plan: Plan,
        learner: Learner,
        evaluations: Sequence[Evaluation[Any]] = (),
        statistics: StatisticTraining | ModelStatistics | None = None,
    ) -> None:
        self.plan = plan
        self.evaluations = evaluations
        self.learner = learner
        self._statistics = statistics
        self._threads = count_tasks(plan.n_jobs)
        #: held while a round is trained: what other threads ask for waits
        self.lock = threading.RLock()

    @property
    def n_rounds(self) -> int:
        """How many rounds the model has."""
        return self.learner.n_rounds

    def step(self) -> Round:
        """Train one round."""
        with self.lock:
            return self.complete(self.begin())

    def begin(self) -> Round:
        """The next round, before it begins: its learning rate may still be set."""
        return Round(self, self.n_rounds)

    def complete(self, state: Round) -> Round:
        """Train a round that `begin` has given, and evaluate what it has led to."""
        learner, number = self.learner, state.number
        with self.lock:
            tasks = hire(self._threads)
            learner.use(tasks)
            learner.begin_round(number)
            learner.at.differentiate()
            state.rows = learner.learn(number, state.learning_rate)
            for evaluation in self.evaluations:
                evaluation.record(self.plan.loss)
        return state

    def change(self, plan: Plan) -> None:
        """Follow another plan from the next round on; bins, scores and trees stay."""
        if plan == self.plan:
            return
        with self.lock:
            self.learner.change(plan)
            self.plan = plan
            self._threads = count_tasks(plan.n_jobs)

    def settled(self) -> Position:
        """The training rows and their scores, with all rounds that are there."""
        with self.lock:
            tasks = hire(self._threads)
            self.learner.use(tasks)
            self.learner.settle()
        return self.learner.at

    def model(self) -> Predictor:
        """The model as it is now; trees test statistics by the numbers that these have in training."""
        with self.lock:
            return self.learner.model()

    def finished(self, model: Predictor) -> tuple[Predictor, ModelStatistics | None]:
        """A model of this session as it is kept: with the statistics that its trees use, if they use any."""
        statistics = self._statistics
        if statistics is None:
            return model, None
        assert isinstance(model, Forest)
        if isinstance(statistics, StatisticTraining):
            return statistics.finish(model)
        return used_statistics(model, statistics)

    def interruption(self) -> Interruption | None:
        """What it takes beside the finished model to go on to the same bytes; mostly nothing."""
        state, statistics = self.learner.state(), self._statistics
        if not state:
            return None
        trees = self.learner.model()
        assert isinstance(trees, Forest)
        earlier = statistics.earlier if isinstance(statistics, StatisticTraining) else statistics
        return Interruption(trees, earlier, state)


def run(session: Session, callbacks: Sequence[Callback] = ()) -> Predictor:
    """Train all rounds that the plan asks for, or until a callback stops."""
    while session.n_rounds < session.plan.rounds and _train_one(session, callbacks):
        pass
    return session.model()


def _train_one(session: Session, callbacks: Sequence[Callback]) -> bool:
    """Train the next round, shown to callbacks before and after; whether there is to be another."""
    state = session.begin()
    for callback in callbacks:
        if hasattr(callback, "before_round"):
            callback.before_round(state)
    if _anyone_stops(session, state):
        return False
    session.complete(state)
    for callback in callbacks:
        callback(state)
    return not _anyone_stops(session, state)


def _anyone_stops(session: Session, state: Round) -> bool:
    """Whether a callback of any member of the team has asked to stop: clocks differ, and all must do the same."""
    return bool(session.learner.at.share.team.add(np.array([state.stopped], np.int64))[0])
