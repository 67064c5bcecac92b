"""From the parameters of Friedman's gradient boosting and a user's table to a call of the boosting loop."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import has_fit_parameter

from weald.binning import AnyBins, BinChoices, BinnedTable, bins_of
from weald.data import Dataset
from weald.estimators.boosted.continuing import check_same_task
from weald.estimators.classical.tree_choices import count_features, rows_asked_for
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel
from weald.estimators.shared.plain import parameters_to_json
from weald.losses import scores_of
from weald.runtime.errors import InputError
from weald.runtime.progress import progress
from weald.runtime.random import seed_of
from weald.runtime.threads import hire
from weald.sampling.parameters import Uniform
from weald.training.boosting.boosters import PlainBooster
from weald.training.boosting.descent import LINE_SEARCHES
from weald.training.boosting.monitors import Patience, TrainingLoss
from weald.training.boosting.plan import BinPlan, Plan, RowPlan, TreePlan
from weald.training.boosting.rounds import Callback, Evaluation, History, Round
from weald.training.boosting.session import Session, run
from weald.training.boosting.starts import scores_so_far, without_trees
from weald.training.boosting.trees import TrainingRows, TreeLearner
from weald.tree.rules import TreeRules

if TYPE_CHECKING:
    from weald.estimators.classical.gradient_boosting import GradientBoosting

# scikit-learn reports the squared error and the deviance of two classes, both twice the loss that is differentiated.
_REPORTED_TIMES = {"squared": 2.0, "logistic": 2.0}
# Splits as good as of the exact gradients: packed ones are a little quicker, and coarser.
PRECISION = "wide"
# Probabilities of an init estimator are kept this far from 0 and 1.
_SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class GivenTable:
    """The training table: as the user gave it, and as it was read."""

    X: Any
    dataset: Dataset | BinnedTable
    labels: Labels


@dataclass(frozen=True)
class EarlierFit:
    """A fitted model that a warm start goes on from, and its init estimator."""

    model: FittedModel
    init: Any


def train_by_friedman(
    estimator: GradientBoosting, table: GivenTable, monitor: Any, earlier: EarlierFit | None
) -> tuple[FittedModel, Any]:
    """Bin, start, boost: the model, and the init estimator that was fitted (or what `init` is otherwise)."""
    dataset, labels, seed = table.dataset, table.labels, seed_of(estimator.random_state)
    loss = labels.loss
    if earlier is not None:
        check_same_task(earlier.model, dataset.schema, labels, estimator.n_estimators)
    fitted, held_out = _split(estimator, labels, seed)
    plan = _plan(estimator, dataset.schema.n_columns, len(fitted), labels, seed)
    tasks = hire(estimator.n_jobs)
    bins = _bins(estimator, table, fitted, seed, tasks)
    init, scores, base = _start(estimator, table, fitted, seed, earlier, tasks)
    rows, fitted_scores = _rows(bins, labels, fitted), np.ascontiguousarray(scores[:, fitted])
    factor = _REPORTED_TIMES.get(loss.name, 1.0)
    record = TrainingLoss(factor, fitted_scores)
    patience = _patience(estimator, _rows(bins, labels, held_out), scores[:, held_out], factor)
    start = without_trees(dataset.schema.n_columns, base) if earlier is None else earlier.model.forest
    evaluations = [] if patience is None else [patience.evaluation]
    descent = LINE_SEARCHES[estimator.line_search](rows)
    learner = TreeLearner(plan, rows, start, fitted_scores, evaluations, PlainBooster(), tasks, descent)
    with ExitStack() as stack:
        callbacks = _callbacks(estimator, record, patience, monitor, earlier, stack)
        forest = run(Session(plan, learner, evaluations), callbacks)
    history, last = _history(record, patience, earlier), forest.n_rounds - 1
    model = FittedModel(forest, dataset.schema, loss.name, loss.link, labels.classes, history, last)
    return replace(
        model, learning_rate=float(estimator.learning_rate), params=parameters_to_json(estimator)
    ), init


def _held_out(estimator: GradientBoosting, labels: Labels, seed: int, *tables: Any) -> Any:
    """The tables, each divided in rows to fit and rows held out for early stopping, as scikit-learn divides them."""
    try:
        return train_test_split(
            *tables,
            test_size=estimator.validation_fraction,
            random_state=seed % 2**32,
            stratify=None if labels.classes is None else labels.y,
        )
    except ValueError as error:
        raise InputError(
            f"validation_fraction={estimator.validation_fraction} cannot hold rows out for n_iter_no_change, which needs some "
            f"of every class on both sides: {error}"
        ) from error


def _split(
    estimator: GradientBoosting, labels: Labels, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows to fit and the rows held out, both of positive weight."""
    fitted = np.arange(len(labels.y))
    held_out = fitted[:0]
    if estimator.n_iter_no_change is not None:
        fitted, held_out = _held_out(estimator, labels, seed, fitted)
    if labels.weight is not None:
        fitted, held_out = fitted[labels.weight[fitted] > 0], held_out[labels.weight[held_out] > 0]
    if estimator.n_iter_no_change is not None and not (len(held_out) and len(fitted)):
        raise InputError(
            f"validation_fraction={estimator.validation_fraction} leaves no row of positive weight on one side."
        )
    if estimator.n_iter_no_change is not None and labels.classes is not None:
        missing = np.setdiff1d(np.arange(len(labels.classes)), labels.y[fitted])
        if len(missing):
            raise InputError(
                f"validation_fraction={estimator.validation_fraction} leaves no row of positive weight of the class "
                f"{labels.classes.tolist()[missing[0]]!r} to fit; hold out fewer rows."
            )
    return fitted, held_out


def _patience(
    estimator: GradientBoosting, rows: TrainingRows, scores: NDArray[np.float64], factor: float
) -> Patience | None:
    """What watches the held-out rows, if n_iter_no_change asks for it."""
    if estimator.n_iter_no_change is None:
        return None
    held_out = Evaluation("validation", rows.bins, rows.y, rows.weight, (), np.ascontiguousarray(scores))
    return Patience(held_out, estimator.n_iter_no_change, estimator.tol, factor)


def _callbacks(
    estimator: GradientBoosting,
    record: TrainingLoss,
    patience: Patience | None,
    monitor: Any,
    earlier: EarlierFit | None,
    stack: ExitStack,
) -> list[Callback]:
    callbacks: list[Callback] = [record]
    if patience is not None:
        callbacks.append(patience)
    if estimator.verbose:
        bar = stack.enter_context(progress(estimator.n_estimators, "training"))
        callbacks.append(lambda state: bar.advance({"loss": record.inside[-1]}))
    if monitor is not None:
        callbacks.append(_monitored(estimator, monitor, record, earlier))
    return callbacks


def _bins(
    estimator: GradientBoosting, table: GivenTable, fitted: NDArray[np.int64], seed: int, tasks: int
) -> AnyBins:
    """All rows, binned by the cuts of the rows to fit."""
    dataset, weight = table.dataset, table.labels.weight
    if len(fitted) < dataset.n_rows:
        given = np.ones(dataset.n_rows) if weight is None else weight
        weight = np.zeros(dataset.n_rows)
        weight[fitted] = given[fitted]
    return bins_of(dataset, weight, BinChoices(estimator.max_bins), seed, tasks)


def _rows(bins: AnyBins, labels: Labels, rows: NDArray[np.int64]) -> TrainingRows:
    if len(rows) == len(labels.y) and (rows[1:] > rows[:-1]).all():
        return TrainingRows(bins, labels.y, labels.weight)
    weight = None if labels.weight is None else labels.weight[rows]
    return TrainingRows(bins.take(rows), labels.y[rows], weight)


def _start(
    estimator: GradientBoosting,
    table: GivenTable,
    fitted: NDArray[np.int64],
    seed: int,
    earlier: EarlierFit | None,
    tasks: int,
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """The fitted init, the scores of all rows before the first round, and the forest's base scores."""
    dataset, labels = table.dataset, table.labels
    loss, nothing = labels.loss, np.zeros(labels.loss.n_outputs)
    if earlier is not None:
        own = None
        if earlier.init is not None and not isinstance(earlier.init, str):
            own = init_scores(earlier.init, table.X, loss.link, loss.n_outputs)
        scores = scores_so_far(earlier.model.forest, dataset.blocks(), dataset.n_rows, tasks, own)
        return earlier.init, scores, nothing
    if estimator.init is None or (isinstance(estimator.init, str) and estimator.init == "zero"):
        base = nothing
        if estimator.init is None:
            weight = None if labels.weight is None else labels.weight[fitted]
            base = loss.initial_score(labels.y[fitted], weight)
        return estimator.init, np.repeat(base[:, None], dataset.n_rows, axis=1), base
    init = _fit_init(estimator, table, seed)
    return init, init_scores(init, table.X, loss.link, loss.n_outputs), nothing


def _fit_init(estimator: GradientBoosting, table: GivenTable, seed: int) -> Any:
    """A fitted copy of the init estimator."""
    labels, init = table.labels, estimator.init
    wanted = ("fit", "predict_proba" if labels.classes is not None else "predict")
    if not all(hasattr(init, method) for method in wanted):
        raise InputError(
            f"init must be None, 'zero' or an estimator with {' and '.join(wanted)}, not {init!r}."
        )
    if labels.weight is not None and not has_fit_parameter(init, "sample_weight"):
        raise InputError(
            f"init={type(init).__name__} is an estimator that does not support sample weights; fit without sample_weight or use "
            "another init."
        )
    y = labels.y if labels.classes is None else labels.y.astype(np.int64)
    X, weight = table.X, labels.weight
    if estimator.n_iter_no_change is not None:
        X, _, rows, _ = _held_out(estimator, labels, seed, X, np.arange(len(y)))
        y, weight = y[rows], None if weight is None else weight[rows]
    init = clone(init)
    return init.fit(X, y) if weight is None else init.fit(X, y, sample_weight=weight)


def init_scores(init: Any, X: Any, link: str, n_outputs: int) -> NDArray[np.float64]:
    """Raw scores (outputs, rows) that an init estimator's predictions stand for."""
    if not is_classifier(init) and link == "identity":
        return scores_of(link, np.asarray(init.predict(X), dtype=np.float64).reshape(-1))
    probability = np.asarray(init.predict_proba(X), dtype=np.float64)
    wanted = max(2, n_outputs)
    if probability.shape[1] != wanted:
        raise InputError(
            f"init={type(init).__name__} gives {probability.shape[1]} probabilities a row, but there are {wanted} classes."
        )
    probability = np.clip(probability, _SMALLEST_PROBABILITY, 1.0 - _SMALLEST_PROBABILITY)
    return scores_of(link, probability[:, 1] if n_outputs == 1 else probability)


def _plan(estimator: GradientBoosting, n_columns: int, n_rows: int, labels: Labels, seed: int) -> Plan:
    trees = TreePlan(
        _rules(estimator, n_columns, n_rows),
        BinPlan(precision=PRECISION),
        RowPlan(Uniform(), estimator.subsample),
    )
    rate = float(estimator.learning_rate)
    return Plan(labels.loss, trees, estimator.n_estimators, rate, seed, estimator.n_jobs)


def _rules(estimator: GradientBoosting, n_columns: int, n_rows: int) -> TreeRules:
    return TreeRules(
        growth="depthwise" if estimator.max_leaf_nodes is None else "leafwise",
        max_leaves=estimator.max_leaf_nodes,
        max_depth=estimator.max_depth,
        min_samples_leaf=rows_asked_for("min_samples_leaf", estimator.min_samples_leaf, n_rows, 1),
        min_child_weight=0.0,
        colsample_bynode=count_features(estimator.max_features, n_columns) / n_columns,
        min_samples_split=rows_asked_for("min_samples_split", estimator.min_samples_split, n_rows, 2),
        min_weight_fraction_leaf=estimator.min_weight_fraction_leaf,
        min_impurity_decrease=estimator.min_impurity_decrease,
    )


def _monitored(
    estimator: GradientBoosting, monitor: Any, record: TrainingLoss, earlier: EarlierFit | None
) -> Callback:
    """The user's function(round's number, estimator, variables), which stops training by returning True."""
    if not callable(monitor):
        raise InputError(f"monitor must be a function(number, estimator, variables), not {monitor!r}.")

    def call(state: Round) -> None:
        estimator._set_losses(_history(record, None, earlier))
        if monitor(state.number, estimator, {"state": state}):
            state.stop("the monitor said so")

    return call


def _history(record: TrainingLoss, patience: Patience | None, earlier: EarlierFit | None) -> History:
    """All rounds' losses, those of an earlier fit first; NaN where a round was not measured."""
    history: History = {"train": {"loss": record.inside}}
    if record.outside:
        history["out_of_bag"] = {"loss": record.outside, "improvement": record.improvement}
    if patience is not None:
        history["validation"] = {"loss": patience.losses}
    if earlier is None:
        return history
    rounds, new = earlier.model.forest.n_rounds, len(record.inside)
    before = earlier.model.history
    joined: History = {}
    for name in sorted({*history, *before}):
        curves = {*history.get(name, {}), *before.get(name, {})}
        joined[name] = {
            curve: before.get(name, {}).get(curve, [float("nan")] * rounds)
            + history.get(name, {}).get(curve, [float("nan")] * new)
            for curve in sorted(curves)
        }
    return joined
