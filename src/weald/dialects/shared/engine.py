"""One training through `BoostedTreesRegressor` on behalf of another system's interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset, read_table
from weald.dialects.shared.bins import KeptBins
from weald.estimators.boosted.boosted import BoostedTreesRegressor
from weald.estimators.boosted.evaluation_sets import OwnStarts
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel
from weald.losses import Loss, Metric
from weald.training.boosting.rounds import Round

Float64s = NDArray[np.float64]
#: evaluation set -> (metric, value) of a round, in the order that they were asked for
Values = dict[str, list[tuple[Any, ...]]]
#: function(predictions, the place of the evaluation set) -> what users' own metrics gave, the name and the value first
OwnMetrics = Callable[[Float64s, int], list[tuple[Any, ...]]]

_OWN = "custom metric"


class Engine(BoostedTreesRegressor):
    """The native estimator with a loss that is given as an object, and labels that are numbers already."""

    _objective: Loss
    #: whether the columns of a table to predict are matched by position alone
    _by_position = False

    def _read(self, X: Any) -> Dataset:
        if not self._by_position:
            return super()._read(X)
        model = self._fitted()
        dataset = read_table(
            X, schema=model.schema, unstored=model.unstored, missing=model.missing, by_position=True
        )
        return model.extended(dataset)

    def _labels(self, y: Any, n_rows: int, weight: Float64s | None) -> Labels:
        return Labels(self._encode(y, n_rows, None), weight, self._objective, None)

    def _encode(self, y: Any, n_rows: int, classes: NDArray[Any] | None) -> Float64s:
        labels: Float64s = y
        return labels


@dataclass(frozen=True)
class Rows:
    """The rows to train on, or an evaluation set."""

    table: Any
    label: Float64s
    weight: Float64s | None = None
    init_score: Float64s | None = None  # (rows, outputs)
    name: str = ""


class Listener(Protocol):
    """What an interface does around every round of a `Run`; the first round is number 0."""

    def before(self, number: int, state: Round) -> bool:
        """Called before a round; whether to stop. It may set ``state.learning_rate``."""

    def after(self, number: int, state: Round, values: Values) -> bool:
        """Called after a round with the metrics of all sets; whether to stop."""


@dataclass
class Run:
    """One training: parameters of `BoostedTreesRegressor`, a loss, rows, and metrics of the evaluation sets."""

    native: Mapping[str, Any]
    loss: Loss
    train: Rows
    evals: Sequence[Rows] = ()
    metrics: Sequence[Metric] = ()
    own_metrics: OwnMetrics | None = None
    #: bins of the rows to train on, and the object that they are made from
    bins: KeptBins | None = None
    source: Any = None
    _told: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)

    def fit(self, rounds: int, earlier: FittedModel | None, listener: Listener) -> FittedModel:
        """Boost so many more rounds, or until the listener stops; ``earlier``: the model that training goes on from."""
        done = 0 if earlier is None else earlier.predictor.n_rounds
        engine = Engine(**self.native, n_estimators=done + max(rounds, 1), warm_start=earlier is not None)
        engine._objective = self.loss
        if earlier is not None:
            # Trees add up whatever they were grown for, so another loss may go on from them.
            engine._model = replace(earlier, loss=self.loss.name)
        metrics = list(self.metrics)
        # A label is told by its identity which set it is of: metrics are not told.
        labels = [rows.label.copy() for rows in self.evals]
        if self.own_metrics is not None and self.evals:
            places = {id(label): place for place, label in enumerate(labels)}
            metrics.append(Metric(_OWN, lambda y, prediction, weight: self._call(places[id(y)], prediction)))
        engine.eval_metric = metrics or None
        evals = list(zip(self.evals, labels, strict=True)) if metrics else []
        starts: dict[str, Any] = {}
        if any(rows.init_score is not None for rows in (self.train, *self.evals)):
            starts["init_score"] = self.train.init_score
            starts["eval_init_scores"] = OwnStarts(rows.init_score for rows, _ in evals) or None
        table = self.train.table
        if self.bins is not None:
            schema = None if earlier is None else earlier.schema
            table = self.bins.table(engine, self.source, table, self.train.weight, schema)
        engine.fit(
            table,
            self.train.label,
            sample_weight=self.train.weight,
            eval_set=[(rows.table, label, rows.weight) for rows, label in evals] or None,
            eval_names=[rows.name for rows, _ in evals] or None,
            callbacks=[_Between(self, listener, rounds, [rows.name for rows, _ in evals])],
            **starts,
        )
        fitted = engine._model
        return replace(fitted, history={}, best_iteration=fitted.predictor.n_rounds - 1)

    def _call(self, place: int, prediction: Float64s) -> float:
        assert self.own_metrics is not None
        told = self.own_metrics(prediction, place)
        self._told[self.evals[place].name] = told
        return float(told[0][1]) if told else 0.0

    def values(self, name: str, history: Mapping[str, list[float]]) -> list[tuple[Any, ...]]:
        """The metrics of a set after its last round, those of the users' own functions as they were told."""
        found: list[tuple[Any, ...]] = []
        for metric, values in history.items():
            found += self._told[name] if metric == _OWN else [(metric, values[-1])]
        return found


class _Between:
    """Stands between the boosting loop and a listener."""

    def __init__(self, run: Run, listener: Listener, rounds: int, names: Sequence[str]) -> None:
        self._run = run
        self._listener = listener
        self._rounds = rounds
        self._names = names
        self._number = 0

    def before_round(self, state: Round) -> None:
        """Let the listener see the round before it begins."""
        if self._number >= self._rounds:
            state.stop("all rounds are done")
        elif self._listener.before(self._number, state):
            state.stop("a callback stops")

    def __call__(self, state: Round) -> None:
        """Tell the listener the round's metrics."""
        values = {name: self._run.values(name, state.history[name]) for name in self._names}
        if self._listener.after(self._number, state, values):
            state.stop("a callback stops")
        self._number += 1
