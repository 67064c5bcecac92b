"""From an estimator's parameters and a user's tables to a call of the boosting loop."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinMapper, BinnedTable, Bins, bins_of
from weald.data import Dataset, Schema, read_table, read_weights
from weald.ensemble.boosting import BoostingChoices, Callback, TrainingRows, boost
from weald.ensemble.callbacks import Checkpoint, EarlyStopping, TimeBudget, best_round
from weald.ensemble.rounds import Evaluation, History, Round
from weald.estimators.persistence import FittedModel, check_same_training, from_bytes, to_bytes
from weald.forest import file as model_file
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores
from weald.losses import Loss, Metric, make_metric
from weald.runtime.errors import InputError
from weald.runtime.progress import TrainingProgress, progress
from weald.runtime.threads import parallel
from weald.tree.tree import TreeRules

if TYPE_CHECKING:
    from weald.estimators.boosted import BoostedTrees

DEFAULT_OBLIVIOUS_DEPTH = 6
DEEPEST_OBLIVIOUS = 16
DEFAULT_LEAVES = 31


@dataclass(frozen=True)
class Labels:
    """What the task makes of y: numbers for the loss, weights, and the classes of a classifier."""

    y: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    loss: Loss
    classes: NDArray[Any] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", writeable(self.y))
        object.__setattr__(self, "weight", None if self.weight is None else writeable(self.weight))


def writeable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The array, copied if it is read-only (a view of a frame): to Numba that is another type, to compile for."""
    return values if values.flags.writeable else values.copy()


@dataclass(frozen=True)
class FitOptions:
    """The arguments of ``fit`` beside the training table."""

    eval_set: Any
    eval_names: Sequence[str] | None
    callbacks: Sequence[Callback] | None
    resume_from: str | os.PathLike[str] | None


def train(
    estimator: BoostedTrees,
    table: Dataset | BinnedTable,
    labels: Labels,
    options: FitOptions,
    earlier: FittedModel | None,
) -> FittedModel:
    """Bin, boost and pick the best round; ``earlier``: the model that a warm start goes on from."""
    loss, seed = labels.loss, seed_of(estimator.random_state)
    if options.resume_from is not None:
        earlier = _checkpoint(estimator, options.resume_from)
    if earlier is not None:
        check_continues(estimator, earlier, table.schema, labels, options.resume_from is not None)
    metrics = _metrics(estimator, loss)
    with ExitStack() as stack:
        tasks = stack.enter_context(parallel(estimator.n_jobs))
        bins = bins_of(table, labels.weight, estimator.max_bins, seed, tasks)
        rows, kept = _training_rows(bins, labels)
        evaluations = _evaluations(
            estimator, options, bins.mapper, table.schema, labels, metrics, earlier, tasks
        )
        start = None
        if earlier is not None:
            scores = raw_scores(earlier.forest, table.blocks(), table.n_rows, tasks)
            start = (earlier.forest, np.ascontiguousarray(scores[:, kept]) if kept is not None else scores)
        callbacks = _callbacks(estimator, options, table.schema, labels, metrics, stack)
        choices = BoostingChoices(
            estimator.n_estimators,
            estimator.learning_rate,
            estimator.subsample,
            estimator.colsample_bytree,
            estimator.precision,
            seed,
        )
        forest = boost(rows, loss, tree_rules(estimator, loss), choices, tasks, evaluations, callbacks, start)
    history = {evaluation.name: evaluation.history for evaluation in evaluations}
    stops = estimator.early_stopping_rounds is not None or any(
        isinstance(callback, EarlyStopping) for callback in options.callbacks or ()
    )
    return finished_model(forest, table.schema, labels, history, metrics, stops, options.callbacks)


def finished_model(
    forest: Forest,
    schema: Schema,
    labels: Labels,
    history: History,
    metrics: Sequence[Metric],
    stops_early: bool = False,
    callbacks: Sequence[Callback] | None = None,
) -> FittedModel:
    """The model with its best round; with early stopping the rounds after it are dropped."""
    best = forest.n_rounds - 1
    if history:
        name, metric = next(iter(history)), metrics[0]
        for callback in callbacks or ():
            if isinstance(callback, EarlyStopping):
                name = callback.on or name
                metric = next((other for other in metrics if other.name == callback.metric), metric)
        best = best_round(history[name][metric.name], metric.greater_is_better)
        if stops_early:
            forest = forest.first(best + 1)
    loss = labels.loss
    return FittedModel(forest, schema, loss.name, loss.link, labels.classes, history, best)


def seed_of(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state; None is 0, so that two fits agree."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise InputError(f"random_state must be None, a whole number or a NumPy generator, not {random_state!r}.")


def tree_rules(estimator: BoostedTrees, loss: Loss) -> TreeRules:
    """The tree's limits; what two parameters may not be together is refused here."""
    max_leaves, max_depth = estimator.max_leaves, estimator.max_depth
    if estimator.growth == "oblivious":
        if max_leaves not in (DEFAULT_LEAVES, None):
            raise InputError(
                f"max_leaves={max_leaves} does not apply to growth='oblivious', "
                "whose trees have 2**max_depth leaves; set max_depth."
            )
        max_leaves, max_depth = None, max_depth or DEFAULT_OBLIVIOUS_DEPTH
        if max_depth > DEEPEST_OBLIVIOUS:
            raise InputError(
                f"max_depth must be at most {DEEPEST_OBLIVIOUS} with growth='oblivious', not {max_depth}."
            )
    step = loss.max_delta_step if estimator.max_delta_step is None else estimator.max_delta_step
    return TreeRules(
        estimator.growth,
        max_leaves,
        max_depth,
        estimator.min_samples_leaf,
        estimator.min_child_weight,
        estimator.reg_lambda,
        estimator.reg_alpha,
        estimator.gamma,
        step,
        estimator.colsample_bylevel,
        estimator.colsample_bynode,
    )


def _training_rows(bins: Bins, labels: Labels) -> tuple[TrainingRows, NDArray[np.int64] | None]:
    """Rows with a weight; those without are as if they were not there. Which were kept, None for all."""
    if labels.weight is None or (labels.weight > 0).all():
        return TrainingRows(bins, labels.y, labels.weight), None
    kept = np.flatnonzero(labels.weight > 0)
    return TrainingRows(bins.take(kept), labels.y[kept], labels.weight[kept]), kept


def _metrics(estimator: BoostedTrees, loss: Loss) -> list[Metric]:
    wanted = estimator.eval_metric
    if wanted is None:
        wanted = loss.default_metric
    several = wanted if isinstance(wanted, list | tuple) else [wanted]
    if not several:
        raise InputError("eval_metric must not be an empty list; leave it at None for the loss's own metric.")
    metrics = [make_metric(metric, loss) for metric in several]
    if len({metric.name for metric in metrics}) < len(metrics):
        raise InputError("eval_metric has two metrics of the same name; give each once.")
    return metrics


def _evaluations(
    estimator: BoostedTrees,
    options: FitOptions,
    mapper: BinMapper,
    schema: Schema,
    labels: Labels,
    metrics: Sequence[Metric],
    earlier: FittedModel | None,
    tasks: int,
) -> list[Evaluation]:
    """The evaluation sets, binned and with their starting scores."""
    sets = _as_sets(options.eval_set)
    if estimator.early_stopping_rounds is not None and not sets:
        raise InputError(
            "early_stopping_rounds needs an eval_set; pass eval_set=[(X_valid, y_valid)] to fit."
        )
    evaluations = []
    for name, (X, y, weight) in zip(_set_names(sets, options.eval_names), sets, strict=True):
        other = read_table(X, schema=schema, owner=type(estimator).__name__)
        target = writeable(estimator._encode(y, other.n_rows, labels.classes))
        if earlier is None:
            base = labels.loss.initial_score(*_weighted(labels))
            scores = np.repeat(base[:, None], other.n_rows, axis=1)
        else:
            scores = raw_scores(earlier.forest, other.blocks(), other.n_rows, tasks)
        weights = read_weights(weight, other.n_rows)
        if weights is not None:
            weights = writeable(weights)
        evaluation = Evaluation(name, mapper.transform(other, tasks), target, weights, metrics, scores)
        if earlier is not None:
            evaluation.history = _earlier_history(earlier, name, metrics)
        evaluations.append(evaluation)
    return evaluations


def _weighted(labels: Labels) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Labels and weights of the rows that count."""
    if labels.weight is None:
        return labels.y, None
    kept = labels.weight > 0
    return labels.y[kept], labels.weight[kept]


def _as_sets(eval_set: Any) -> list[tuple[Any, Any, Any]]:
    """[(X, y, weight or None), ...] from a list of pairs or triples, or a single one."""
    if eval_set is None:
        return []
    if isinstance(eval_set, tuple) and len(eval_set) in (2, 3) and not isinstance(eval_set[0], tuple):
        eval_set = [eval_set]
    if not isinstance(eval_set, list | tuple) or not all(
        isinstance(entry, tuple | list) and len(entry) in (2, 3) for entry in eval_set
    ):
        raise InputError("eval_set must be a list of pairs (X, y) or triples (X, y, sample_weight).")
    return [(entry[0], entry[1], entry[2] if len(entry) == 3 else None) for entry in eval_set]


def _set_names(sets: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [f"valid_{number}" for number in range(len(sets))]
    chosen = list(names) if not isinstance(names, str) else [names]
    if len(chosen) != len(sets) or len(set(chosen)) < len(chosen):
        raise InputError(f"eval_names must be {len(sets)} different names, one a set, not {names!r}.")
    return chosen


def _earlier_history(earlier: FittedModel, name: str, metrics: Sequence[Metric]) -> dict[str, list[float]]:
    """The rounds that are already there: recorded values, NaN where this set or metric was not evaluated."""
    rounds = earlier.forest.n_rounds
    recorded = earlier.history.get(name, {})
    return {
        metric.name: (recorded.get(metric.name, []) + [float("nan")] * rounds)[:rounds] for metric in metrics
    }


def _callbacks(
    estimator: BoostedTrees,
    options: FitOptions,
    schema: Schema,
    labels: Labels,
    metrics: Sequence[Metric],
    stack: ExitStack,
) -> list[Callback]:
    callbacks: list[Callback] = list(options.callbacks or ())
    for callback in callbacks:
        if not callable(callback):
            raise InputError(f"callbacks must be functions of a round, but one is {callback!r}.")
        if isinstance(callback, Checkpoint):
            callback.bind(
                lambda path, state: _save_checkpoint(estimator, schema, labels, metrics, path, state)
            )
        if isinstance(callback, TimeBudget):
            callback.start()
    if estimator.early_stopping_rounds is not None:
        callbacks.insert(0, EarlyStopping(estimator.early_stopping_rounds))
    if estimator.verbose:
        callbacks.append(TrainingProgress(stack.enter_context(progress(estimator.n_estimators, "training"))))
    return callbacks


def _save_checkpoint(
    estimator: BoostedTrees,
    schema: Schema,
    labels: Labels,
    metrics: Sequence[Metric],
    path: Path,
    state: Round,
) -> None:
    model = finished_model(state.forest(), schema, labels, state.history, metrics)
    model_file.save(path, to_bytes(estimator, model))


def _checkpoint(estimator: BoostedTrees, path: str | os.PathLike[str]) -> FittedModel:
    name, params, model = from_bytes(model_file.read(path))
    check_same_training(path, estimator, name, params)
    return model


def check_continues(
    estimator: BoostedTrees, earlier: FittedModel, schema: Schema, labels: Labels, resumes: bool = False
) -> None:
    """A continued model must have the same columns, classes and loss; a resumed one also the same labels."""
    what = "resume_from" if resumes else "warm_start"
    if earlier.schema != schema:
        raise InputError(f"{what} needs the columns and categories of the earlier fit; X has others.")
    before, now = (
        None if classes is None else classes.tolist() for classes in (earlier.classes, labels.classes)
    )
    if before != now:
        raise InputError(f"{what} needs the classes of the earlier fit, {before}, but y has {now}.")
    if earlier.loss != labels.loss.name or earlier.forest.n_outputs != labels.loss.n_outputs:
        raise InputError(f"{what} needs the loss of the earlier fit, {earlier.loss!r}.")
    if earlier.forest.n_rounds > estimator.n_estimators:
        raise InputError(
            f"{what} cannot go back: n_estimators is {estimator.n_estimators}, but there are {earlier.forest.n_rounds} rounds."
        )
    if resumes and not np.array_equal(
        earlier.forest.base_score, labels.loss.initial_score(*_weighted(labels))
    ):
        raise InputError(
            "resume_from needs the labels and weights of the interrupted fit; these give another first score."
        )
