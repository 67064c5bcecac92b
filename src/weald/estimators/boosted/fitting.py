"""One fit: from a user's tables and parameters to a plan, a session, and the model that it ends with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded_table import ShardedTable
from weald.data import Schema
from weald.encoding.parameters import AutoCategories
from weald.estimators.boosted.continuing import (
    Earlier,
    check_continues,
    check_same_rate,
    known_rows,
    loaded_checkpoint,
)
from weald.estimators.boosted.evaluation_sets import read_evaluation_sets
from weald.estimators.boosted.scorers import is_scorer, scorer_metric
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel, to_bytes
from weald.estimators.shared.plain import parameters_to_json
from weald.forest import file as model_file
from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.linear.model import LinearModel
from weald.losses import Metric, make_metric
from weald.runtime.errors import InputError
from weald.runtime.progress import RoundLines, TrainingProgress, progress
from weald.runtime.team import ALONE, Team, labels_of_team
from weald.training.boosting.callbacks import (
    Checkpoint,
    EarlyStopping,
    OverfittingDetector,
    TimeBudget,
    best_round,
)
from weald.training.boosting.door import Facts, plan_of
from weald.training.boosting.monitors import BestModel
from weald.training.boosting.opening import AnyTable, Rows, Start, open_session
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.plan import LinearPlan, Plan
from weald.training.boosting.rounds import Callback, History, Round
from weald.training.boosting.session import Session, run
from weald.training.boosting.starts import base_scores, read_init_score, without_trees

if TYPE_CHECKING:
    from weald.estimators.boosted.base import BoostedTrees

Stopping = EarlyStopping | OverfittingDetector


@dataclass(frozen=True)
class FitOptions:
    """The arguments of ``fit`` beside the training table."""

    eval_set: Any = None
    eval_names: Sequence[str] | None = None
    callbacks: Sequence[Callback] = ()
    resume_from: str | os.PathLike[str] | None = None
    init_score: Any = None
    eval_init_scores: Sequence[Any] | None = None

    @property
    def stopping(self) -> list[Stopping]:
        """The callbacks that stop early."""
        return [callback for callback in self.callbacks if isinstance(callback, Stopping)]


def fitted_model(
    estimator: BoostedTrees,
    table: AnyTable,
    labels: Labels,
    options: FitOptions,
    before: FittedModel | None,
) -> FittedModel:
    """Plan, open, run, and keep the best round; ``before``: the model that a warm start goes on from."""
    loss = labels.loss
    earlier = None if before is None else Earlier(before, "warm_start")
    if options.resume_from is not None:
        earlier = loaded_checkpoint(estimator, options.resume_from)
    init_score = read_init_score(options.init_score, table.n_rows, loss.n_outputs)
    metrics = fit_metrics(estimator.eval_metric, labels)
    stops = estimator.early_stopping_rounds is not None or bool(options.stopping)
    train = Rows(
        table, labels.y, labels.weight, init_score, 0 if labels.classes is None else len(labels.classes)
    )
    n_rows, in_blocks = table.n_rows if train.kept is None else len(train.kept), False
    if isinstance(table, ShardedTable):
        n_rows, in_blocks = int(session_team(table).add(np.array([n_rows]))[0]), True
    sets = read_evaluation_sets(estimator, options, table, labels, metrics, earlier)
    keeps_best = stops and bool(sets)
    facts = Facts(loss, n_rows, keeps_best, init_score is not None, in_blocks)
    plan = plan_of(estimator, table.schema, facts)
    start = start_of(estimator, plan, table.schema, labels, init_score, earlier, session_team(table))
    if earlier is not None:
        check_same_rate(estimator, plan, earlier)
    session = open_session(plan, train, sets, start)
    with ExitStack() as stack:
        kept = _Kept(estimator, table.schema, labels, metrics, plan, init_score, session_team(table))
        callbacks = _callbacks(estimator, options, kept, session, stack)
        history = {evaluation.name: evaluation.history for evaluation in session.evaluations}
        best = None
        if history and stops and plan.booster in ("dart", "linear"):
            watched = _watched(history, metrics, options.stopping)
            best = BestModel(plan.booster, *watched, start.model, history)
            callbacks.append(best)
        predictor = run(session, callbacks)
    number = _best_round(predictor, history, metrics, options.stopping)
    if best is not None:
        predictor = best.model
    elif history and stops and isinstance(predictor, Forest):
        predictor = predictor.first(number + 1)
    return kept.model(session, predictor, history, number)


@dataclass(frozen=True)
class _Kept:
    """What a model keeps of a fit beside its trees."""

    estimator: BoostedTrees
    schema: Schema
    labels: Labels
    metrics: Sequence[Metric]
    plan: Plan
    init_score: NDArray[np.float64] | None
    team: Team

    def model(self, session: Session, predictor: Predictor, history: History, number: int) -> FittedModel:
        """The model as estimators hold it; ``number``: the best round."""
        loss, bins = self.labels.loss, self.estimator.resolved().bins
        predictor, statistics = session.finished(predictor)
        model = FittedModel(
            predictor,
            self.schema,
            loss.name,
            loss.link,
            self.labels.classes,
            history,
            number,
            params=parameters_to_json(self.estimator),
        )
        if isinstance(self.plan.kind, LinearPlan):
            return model
        return replace(
            model,
            unstored=bins.unstored,
            missing=bins.missing,
            learning_rate=self.plan.rate,
            statistics=statistics,
            category_ways=self.plan.trees.categories if self._chose_ways else None,
        )

    @property
    def _chose_ways(self) -> bool:
        """Whether the training chose how columns are split."""
        return isinstance(self.estimator.resolved().categories, AutoCategories)

    def checkpoint(self, path: Path, session: Session, state: Round) -> None:
        """Write the model as it is after a round, and what it takes to go on from there."""
        predictor = state.model()
        number = _best_round(predictor, state.history, self.metrics, ())
        model = self.model(session, predictor, state.history, number)
        rows = known_rows(self.labels, self.init_score, self.team)
        model_file.save(path, to_bytes(self.estimator, model, session.interruption(), rows))


def _best_round(
    predictor: Predictor, history: History, metrics: Sequence[Metric], stopping: Sequence[Stopping]
) -> int:
    if not history:
        return predictor.n_rounds - 1
    name, metric = _watched(history, metrics, stopping)
    values = history[name].get(metric.name, [])  # none where training stopped before its first round
    return best_round(values, metric.greater_is_better) if values else predictor.n_rounds - 1


def _watched(history: History, metrics: Sequence[Metric], stopping: Sequence[Stopping]) -> tuple[str, Metric]:
    """The evaluation set and the metric that say which round is best: the first ones, or those of early stopping."""
    name, metric = next(iter(history)), metrics[0]
    for callback in stopping:
        name = callback.on or name
        metric = next((other for other in metrics if other.name == callback.metric), metric)
    return name, metric


def fit_metrics(wanted: Any, labels: Labels) -> list[Metric]:
    """The metrics that ``eval_metric`` asks for."""
    if wanted is None:
        wanted = labels.loss.default_metric
    several = wanted if isinstance(wanted, list | tuple) else [wanted]
    if not several:
        raise InputError("eval_metric must not be an empty list; leave it at None for the loss's own metric.")
    metrics = [
        scorer_metric(metric, labels.loss, labels.classes)
        if is_scorer(metric)
        else make_metric(metric, labels.loss)
        for metric in several
    ]
    if len({metric.name for metric in metrics}) < len(metrics):
        raise InputError("eval_metric has two metrics of the same name; give each once.")
    return metrics


def start_of(
    given: BoostingParameters,
    plan: Plan,
    schema: Schema,
    labels: Labels,
    init_score: NDArray[np.float64] | None,
    earlier: Earlier | None,
    team: Team = ALONE,
) -> Start:
    """The model that training goes on from: an earlier one, or one without rounds."""
    base = first_scores(given.base_score, labels, init_score, team)
    if earlier is not None:
        check_continues(given, plan, earlier, schema, labels, base, known_rows(labels, init_score, team))
        return Start(earlier.model.predictor, earlier.model.statistics, earlier.interruption)
    if isinstance(plan.kind, LinearPlan):
        return Start(LinearModel(base, np.zeros(len(base)), np.zeros((len(base), schema.n_columns)), 0))
    return Start(without_trees(schema.n_columns, base, plan.trees.parallel_trees, plan.trees.averaged))


def first_scores(
    base_score: Any, labels: Labels, init_score: NDArray[np.float64] | None, team: Team = ALONE
) -> NDArray[np.float64]:
    """The raw scores, (outputs,), that every row starts from; nothing where the user gave each its own.

    ``team``: each of its members has some of the rows.
    """
    if base_score is not None:
        if init_score is not None:
            raise InputError("base_score and init_score both say where to start; give one of them.")
        return base_scores(base_score, labels.loss)
    if init_score is not None:
        return np.zeros(labels.loss.n_outputs)
    y, weight = labels_of_team(team, labels.y, labels.weight)
    return labels.loss.initial_score(*rows_that_count(y, weight))


def session_team(table: AnyTable) -> Team:
    """Who has the rows of a table."""
    return table.bins.team if isinstance(table, ShardedTable) else ALONE


def rows_that_count(
    y: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Labels and weights of the rows that have a weight."""
    if weight is None:
        return y, None
    kept = weight > 0
    return y[kept], weight[kept]


def checked_callbacks(given: Any) -> list[Callback]:
    """The callbacks of ``fit``; refused where one cannot be called with a round."""
    if given is None:
        return []
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"callbacks must be a list of functions of a round, not {given!r}.")
    callbacks = list(given)
    for callback in callbacks:
        if isinstance(callback, type):
            raise InputError(
                f"callbacks must be functions of a round, but one is the class {callback.__name__}; "
                f"give an object, {callback.__name__}(...)."
            )
        if not callable(callback):
            raise InputError(f"callbacks must be functions of a round, but one is {callback!r}.")
    return callbacks


def _callbacks(
    estimator: BoostedTrees, options: FitOptions, kept: _Kept, session: Session, stack: ExitStack
) -> list[Callback]:
    callbacks: list[Callback] = list(options.callbacks)
    for callback in callbacks:
        if isinstance(callback, Checkpoint):
            callback.bind(lambda path, state: kept.checkpoint(path, session, state))
            stack.callback(callback.bind, None)
        if isinstance(callback, TimeBudget):
            callback.start()
    if estimator.early_stopping_rounds is not None:
        callbacks.insert(0, EarlyStopping(estimator.early_stopping_rounds))
    if estimator.verbose > 1:
        callbacks.append(RoundLines(int(estimator.verbose)))
    elif estimator.verbose:
        callbacks.append(TrainingProgress(stack.enter_context(progress(estimator.n_estimators, "training"))))
    return callbacks
