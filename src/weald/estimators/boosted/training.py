"""From an estimator's parameters and a user's tables to a call of the boosting loop."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import AnyBins, BinnedTable, bins_of, bundling_wanted, choices_of, ranks_of
from weald.data import Dataset, Schema
from weald.estimators.boosted.averaging_training import WHOLE_TREES, check_averaging, make_averaging
from weald.estimators.boosted.bin_checks import check_bins
from weald.estimators.boosted.constraints import read_constraints
from weald.estimators.boosted.dart_training import drop_rules, make_dart
from weald.estimators.boosted.evaluation_sets import EvaluationSet, read_evaluation_sets
from weald.estimators.boosted.forced_splits import read_forced_splits
from weald.estimators.boosted.leaf_choices import make_descent, steps_of_all_rows
from weald.estimators.boosted.proposals import check_proposals, with_proposals
from weald.estimators.boosted.sampling import check_sampling, make_sampler
from weald.estimators.boosted.split_scores import check_split_score
from weald.estimators.boosted.starts import base_scores, read_init_score, scores_so_far, without_trees
from weald.estimators.boosted.statistic_training import (
    KINDS,
    StatisticTraining,
    check_may_pause,
    check_starts_anew,
    check_statistics,
    held_out,
    make_ordered,
    make_statistics,
    orders_of,
    uses_orders,
    uses_statistics,
)
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel, check_same_training, from_bytes, to_bytes
from weald.forest import file as model_file
from weald.forest.forest import Forest
from weald.forest.predictor import Predictor
from weald.losses import Loss, Metric, make_metric
from weald.params import PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.progress import TrainingProgress, progress
from weald.runtime.threads import parallel
from weald.training.boosting.boosters import Booster
from weald.training.boosting.boosting import BoostingChoices, Callback, TrainingRows, boost
from weald.training.boosting.callbacks import (
    Checkpoint,
    EarlyStopping,
    OverfittingDetector,
    TimeBudget,
    best_round,
)
from weald.training.boosting.dart import DropRules
from weald.training.boosting.learning_rate import automatic_learning_rate
from weald.training.boosting.monitors import BestModel
from weald.training.boosting.rounds import History, Round
from weald.tree.splits.constraints import Constraints
from weald.tree.splits.forced import ForcedSplit
from weald.tree.tree import TreeRules

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

DEFAULT_OBLIVIOUS_DEPTH = 6
DEEPEST_OBLIVIOUS = 16
DEFAULT_LEAVES = 31
DEFAULT_LAMBDA = 1.0
RULES_OF_SETS = ("max_cat_to_onehot", "max_cat_threshold", "cat_smooth", "cat_l2", "min_samples_category")


@dataclass(frozen=True)
class FitOptions:
    """The arguments of ``fit`` beside the training table."""

    eval_set: Any = None
    eval_names: Sequence[str] | None = None
    callbacks: Sequence[Callback] | None = None
    resume_from: str | os.PathLike[str] | None = None
    init_score: Any = None
    eval_init_scores: Sequence[Any] | None = None

    @property
    def stopping(self) -> list[EarlyStopping | OverfittingDetector]:
        """The callbacks that stop early."""
        return [
            callback
            for callback in self.callbacks or ()
            if isinstance(callback, EarlyStopping | OverfittingDetector)
        ]


def train(
    estimator: BoostedTrees,
    table: Dataset | BinnedTable,
    labels: Labels,
    options: FitOptions,
    earlier: FittedModel | None,
) -> FittedModel:
    """Bin, boost and pick the best round; ``earlier``: the model that a warm start goes on from."""
    loss, seed, rules = labels.loss, seed_of(estimator.random_state), drop_rules(estimator)
    check_split_finder(estimator)
    check_averaging(estimator)
    check_statistics(estimator)
    averaged = estimator.booster == "forest"
    check_sampling(estimator, _n_classes(loss))
    check_split_score(estimator)
    if options.resume_from is not None:
        earlier = loaded_checkpoint(estimator, options.resume_from)
    init_score = read_init_score(options.init_score, table.n_rows, loss.n_outputs)
    base = first_scores(estimator, labels, init_score)
    if earlier is not None:
        check_starts_anew(estimator, table.schema)
        what = "warm_start" if options.resume_from is None else "resume_from"
        check_continues(estimator, earlier, table.schema, labels, what)
        check_same_start(estimator, earlier.predictor, base, options.resume_from is not None)
        _check_same_trees(estimator, earlier.forest)
        start = earlier.forest
    else:
        start = without_trees(table.schema.n_columns, base, estimator.num_parallel_tree, averaged)
    metrics = fit_metrics(estimator, loss)
    with ExitStack() as stack:
        tasks = stack.enter_context(parallel(estimator.n_jobs))
        bins = _binned(estimator, table, labels.weight, seed, tasks)
        rows, kept, statistics, orders = _training_rows(estimator, table, bins, labels, seed)

        def binned_set(other: Dataset, init: NDArray[np.float64] | None) -> AnyBins:
            own = bins.mapper.transform(other, tasks)
            return own if statistics is None else statistics.other(other, own)

        sets: list[EvaluationSet[AnyBins]] = read_evaluation_sets(
            estimator,
            options,
            table.schema,
            labels,
            metrics,
            earlier,
            binned_set,
            lambda other, init: scores_so_far(start, other.blocks(), other.n_rows, tasks, init),
        )
        evaluations = [one.evaluation for one in sets]
        scores = scores_so_far(start, table.blocks(), table.n_rows, tasks, init_score)
        if kept is not None:
            scores = np.ascontiguousarray(scores[:, kept])
        limits = tree_rules(estimator, loss, table.schema)
        descent = make_descent(estimator, loss, limits, _from_optimum(estimator, init_score, rules))
        booster: Booster | None = None
        if rules is not None:
            booster = make_dart(descent, rules, seed, start, table, init_score, kept, sets, tasks)
        elif averaged:
            booster = make_averaging(descent, start, table, init_score, kept, sets, tasks)
        elif orders:
            booster = make_ordered(
                estimator, statistics, orders, steps_of_all_rows(estimator, loss, limits), seed
            )
        history = {evaluation.name: evaluation.history for evaluation in evaluations}
        stops = bool(history) and stops_early(estimator, options)
        rate = _learning_rate(estimator, loss, rows.n_rows, stops, init_score)
        _check_same_rate(estimator, rate, earlier, options)
        callbacks = fit_callbacks(estimator, options, table.schema, labels, metrics, stack, rate)
        best = None
        if stops and rules is not None:
            best = BestModel("dart", *watched(history, metrics, options.stopping), start, history)
            callbacks.append(best)
        forest = boost(
            rows,
            loss,
            limits if statistics is None else statistics.rules(limits),
            _choices(estimator, seed, rate),
            tasks,
            (start, scores),
            evaluations,
            callbacks,
            descent,
            booster,
            make_sampler(estimator, rows.y, seed, rate),
        )
    model = finished_model(forest, table.schema, labels, history, metrics, options.stopping)
    model = replace(model, unstored=estimator.unstored, missing=choices_of(estimator).missing)
    model = replace(model, learning_rate=rate)
    if stops:
        cut = forest.first(model.best_iteration + 1) if best is None else best.model
        model = replace(model, predictor=cut)
    if statistics is not None:
        forest, tables = statistics.finish(model.forest)
        model = replace(model, predictor=forest, statistics=tables)
    return model


def _n_classes(loss: Loss) -> int:
    """How many classes the labels are codes of; 0: they are none."""
    return max(2, loss.n_outputs) if loss.task == "classification" else 0


def stops_early(estimator: BoostedTrees, options: FitOptions) -> bool:
    """Whether the rounds after the best one are to be dropped."""
    return estimator.early_stopping_rounds is not None or bool(options.stopping)


def finished_model(
    predictor: Predictor,
    schema: Schema,
    labels: Labels,
    history: History,
    metrics: Sequence[Metric],
    stopping: Sequence[EarlyStopping | OverfittingDetector] = (),
) -> FittedModel:
    """The model and its best round."""
    best = predictor.n_rounds - 1
    if history:
        name, metric = watched(history, metrics, stopping)
        best = best_round(history[name][metric.name], metric.greater_is_better)
    loss = labels.loss
    return FittedModel(predictor, schema, loss.name, loss.link, labels.classes, history, best)


def watched(
    history: History, metrics: Sequence[Metric], stopping: Sequence[EarlyStopping | OverfittingDetector]
) -> tuple[str, Metric]:
    """The evaluation set and the metric that say which round is best: the first ones, or those of early stopping."""
    name, metric = next(iter(history)), metrics[0]
    for callback in stopping:
        name = callback.on or name
        metric = next((other for other in metrics if other.name == callback.metric), metric)
    return name, metric


def _learning_rate(
    estimator: BoostedTrees, loss: Loss, n_rows: int, keeps_best: bool, init_score: NDArray[np.float64] | None
) -> float:
    """The share of every tree that is added: the user's, or by a rule of rows and rounds."""
    if estimator.booster == "forest":
        return WHOLE_TREES
    if isinstance(estimator.learning_rate, str):
        from_constant = estimator.base_score is None and init_score is None
        return automatic_learning_rate(loss.name, n_rows, estimator.n_estimators, keeps_best, from_constant)
    return estimator.learning_rate


def _check_same_rate(
    estimator: BoostedTrees, rate: float, earlier: FittedModel | None, options: FitOptions
) -> None:
    """An interrupted fit goes on to the same bytes only at its own rate."""
    if earlier is None or options.resume_from is None or earlier.learning_rate in (None, rate):
        return
    raise InputError(
        f"resume_from was trained with the learning rate {earlier.learning_rate}, but learning_rate='auto' is {rate} for "
        f"n_estimators={estimator.n_estimators} and these rows; resume with n_estimators and eval_set of the interrupted fit."
    )


def _choices(estimator: BoostedTrees, seed: int, learning_rate: float) -> BoostingChoices:
    return BoostingChoices(
        estimator.n_estimators,
        learning_rate,
        estimator.subsample,
        estimator.colsample_bytree,
        estimator.precision,
        seed,
        estimator.random_strength,
    )


def first_scores(
    estimator: BoostedTrees, labels: Labels, init_score: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The raw scores, (outputs,), that every row starts from; nothing where the user gave each its own."""
    if estimator.base_score is not None:
        if init_score is not None:
            raise InputError("base_score and init_score both say where to start; give one of them.")
        return base_scores(estimator.base_score, labels.loss)
    if init_score is not None:
        return np.zeros(labels.loss.n_outputs)
    return labels.loss.initial_score(*rows_that_count(labels.y, labels.weight))


def _from_optimum(
    estimator: BoostedTrees, init_score: NDArray[np.float64] | None, rules: DropRules | None
) -> bool:
    """Whether a tree without a split has nothing to add: all scores start at the best constant, and no tree is ever missing."""
    is_best = estimator.base_score is None and init_score is None
    return is_best and (rules is None or not rules.drops)


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


def tree_rules(estimator: BoostedTrees, loss: Loss, schema: Schema) -> TreeRules:
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
    constraints = read_constraints(estimator.monotone_constraints, estimator.interaction_constraints, schema)
    return TreeRules(
        estimator.growth,
        max_leaves,
        max_depth,
        estimator.min_samples_leaf,
        estimator.min_child_weight,
        DEFAULT_LAMBDA if estimator.reg_lambda is None else estimator.reg_lambda,
        estimator.reg_alpha,
        estimator.gamma,
        step,
        estimator.colsample_bylevel,
        estimator.colsample_bynode,
        constraints=constraints,
        path_smooth=_path_smooth(estimator),
        extra_trees=estimator.extra_trees,
        split_score=estimator.split_score,
        forced=_forced(estimator, schema, constraints),
        **_category_rules(estimator),
    )


def _path_smooth(estimator: BoostedTrees) -> float:
    """path_smooth, which weighs a leaf by its rows: there must be some."""
    if estimator.path_smooth > 0.0 and estimator.min_samples_leaf < 2:
        raise InputError(
            f"path_smooth={estimator.path_smooth} needs min_samples_leaf of at least 2, "
            f"not {estimator.min_samples_leaf}."
        )
    return float(estimator.path_smooth)


def _forced(estimator: BoostedTrees, schema: Schema, constraints: Constraints) -> tuple[ForcedSplit, ...]:
    """The forced splits; refused where a tree has no place for them."""
    forced = read_forced_splits(estimator.forced_splits, schema, constraints.groups)
    if forced and estimator.growth == "oblivious":
        raise NotSupportedError(
            "forced_splits name a split for every node, and a level of growth='oblivious' shares one; "
            "use growth='leafwise' or 'depthwise'."
        )
    if forced and (estimator.split_finder == "exact" or estimator.proposals == "local"):
        raise NotSupportedError(
            "forced_splits need the bins of a whole tree; use split_finder='hist', or 'approx' with proposals='global'."
        )
    return forced


def check_split_finder(estimator: BoostedTrees) -> None:
    """Refuse parameters that the split finder leaves without a meaning."""
    check_bins(estimator)
    check_proposals(estimator)
    _check_bundling(estimator)
    if estimator.split_finder == "exact" and estimator.categories != "onehot":
        raise NotSupportedError(
            f"categories={estimator.categories!r} is not there with split_finder='exact'; use split_finder='hist'."
        )


def _check_bundling(estimator: BoostedTrees) -> None:
    """Refuse what shapes bundles where there are none."""
    changed = [
        f"{name}={getattr(estimator, name)!r}"
        for name in ("bundling", "max_conflict_rate")
        if getattr(estimator, name) != PARAMETERS[name].default
    ]
    if estimator.split_finder != "hist" and changed:
        raise NotSupportedError(
            f"{changed[0]} has no meaning with split_finder={estimator.split_finder!r}, which bundles no columns; "
            "use split_finder='hist'."
        )
    if (
        estimator.bundling == "none"
        and estimator.max_conflict_rate != PARAMETERS["max_conflict_rate"].default
    ):
        raise NotSupportedError(f"{changed[1]} has no meaning with bundling='none'; use bundling='count'.")


def _binned(
    estimator: BoostedTrees,
    table: Dataset | BinnedTable,
    weight: NDArray[np.float64] | None,
    seed: int,
    tasks: int,
) -> AnyBins:
    """The kind of binned table that the split finder works on."""
    if estimator.split_finder == "hist":
        bundling = None if uses_statistics(estimator, table.schema) else bundling_wanted(estimator)
        return bins_of(table, weight, choices_of(estimator), seed, tasks, bundling)
    ranks = ranks_of(table, weight, tasks)
    return ranks if estimator.split_finder == "exact" else with_proposals(estimator, ranks)


def _category_rules(estimator: BoostedTrees) -> dict[str, Any]:
    """How categorical columns are split; what only sets of categories have is refused without them."""
    values = {name: getattr(estimator, name) for name in RULES_OF_SETS}
    if estimator.categories == "partition":
        return values
    if estimator.categories in KINDS:
        values.pop("max_cat_to_onehot")
    for name, value in values.items():
        if value != PARAMETERS[name].default:
            raise InputError(
                f"{name}={value} does not apply to categories={estimator.categories!r}; set categories='partition'."
            )
    return {}


def _training_rows(
    estimator: BoostedTrees, table: Dataset | BinnedTable, bins: AnyBins, labels: Labels, seed: int
) -> tuple[TrainingRows, NDArray[np.int64] | None, StatisticTraining | None, list[NDArray[np.uint32]]]:
    """Rows with a weight; those without are as if they were not there. Which were kept, None for all; and, where columns are
    split by statistics or gradients depend on an order, the statistics and the orders."""
    kept, source = None, None
    if labels.weight is not None and not (labels.weight > 0).all():
        kept = np.flatnonzero(labels.weight > 0)
    if not uses_orders(estimator, table.schema):
        return _taken_rows(bins, labels, kept), kept, None, []
    with_statistics = uses_statistics(estimator, table.schema)
    if with_statistics and estimator.categories == "holdout":
        kept, source = held_out(np.arange(table.n_rows) if kept is None else kept, seed)
    rows = _taken_rows(bins, labels, kept)
    orders = orders_of(estimator, rows.n_rows, seed)
    if not with_statistics:
        return rows, kept, None, orders
    statistics = make_statistics(estimator, table, rows.bins, labels, orders, kept, source)
    return replace(rows, bins=statistics.tables), kept, statistics, orders


def _taken_rows(bins: AnyBins, labels: Labels, kept: NDArray[np.int64] | None) -> TrainingRows:
    if kept is None:
        return TrainingRows(bins, labels.y, labels.weight)
    weight = None if labels.weight is None else labels.weight[kept]
    return TrainingRows(bins.take(kept), labels.y[kept], weight)


def fit_metrics(estimator: BoostedTrees, loss: Loss) -> list[Metric]:
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


def rows_that_count(
    y: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Labels and weights of the rows that have a weight."""
    if weight is None:
        return y, None
    kept = weight > 0
    return y[kept], weight[kept]


def fit_callbacks(
    estimator: BoostedTrees,
    options: FitOptions,
    schema: Schema,
    labels: Labels,
    metrics: Sequence[Metric],
    stack: ExitStack,
    learning_rate: float | None = None,
) -> list[Callback]:
    callbacks: list[Callback] = list(options.callbacks or ())
    for callback in callbacks:
        if not callable(callback):
            raise InputError(f"callbacks must be functions of a round, but one is {callback!r}.")
        if isinstance(callback, Checkpoint):
            check_may_pause(estimator, schema)
            callback.bind(
                lambda path, state: _save_checkpoint(
                    estimator, schema, labels, metrics, path, state, learning_rate
                )
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
    learning_rate: float | None,
) -> None:
    model = finished_model(state.model(), schema, labels, state.history, metrics)
    model_file.save(path, to_bytes(estimator, replace(model, learning_rate=learning_rate)))


def loaded_checkpoint(estimator: BoostedTrees, path: str | os.PathLike[str]) -> FittedModel:
    name, params, model = from_bytes(model_file.read(path))
    check_same_training(path, estimator, name, params)
    return model


def check_continues(
    estimator: BoostedTrees, earlier: FittedModel, schema: Schema, labels: Labels, what: str = "warm_start"
) -> None:
    """A continued model must have the same columns, classes and loss, and not too many rounds."""
    if earlier.schema != schema:
        wanted = "columns and categories" if what == "resume_from" else "columns"
        raise InputError(f"{what} needs the {wanted} of the earlier fit; X has others.")
    if earlier.missing != choices_of(estimator).missing:
        # One model reads a table in one way, and the earlier trees were grown for theirs.
        raise InputError(
            f"{what} needs use_missing and zero_as_missing of the earlier fit; leave them as they were."
        )
    before, now = (
        None if classes is None else classes.tolist() for classes in (earlier.classes, labels.classes)
    )
    if before != now:
        raise InputError(f"{what} needs the classes of the earlier fit, {before}, but y has {now}.")
    if earlier.loss != labels.loss.name or earlier.predictor.n_outputs != labels.loss.n_outputs:
        raise InputError(f"{what} needs the loss of the earlier fit, {earlier.loss!r}.")
    if earlier.predictor.n_rounds > estimator.n_estimators:
        raise InputError(
            f"{what} cannot go back: n_estimators is {estimator.n_estimators}, but there are {earlier.predictor.n_rounds} rounds."
        )


def _check_same_trees(estimator: BoostedTrees, earlier: Forest) -> None:
    """A round must have as many trees as in the earlier fit, and they must add up in the same way."""
    if earlier.parallel_trees != estimator.num_parallel_tree:
        raise InputError(
            f"warm_start needs num_parallel_tree={earlier.parallel_trees} of the earlier fit, not {estimator.num_parallel_tree}."
        )
    if earlier.averaged != (estimator.booster == "forest"):
        raise InputError(
            f"warm_start needs the booster of the earlier fit, which was {'' if earlier.averaged else 'not '}'forest'."
        )


def check_same_start(
    estimator: BoostedTrees, earlier: Predictor, base: NDArray[np.float64], resumes: bool
) -> None:
    """The first score must be that of the earlier fit."""
    if np.array_equal(earlier.base_score, base):
        return
    if resumes:
        raise InputError(
            "resume_from needs the labels and weights of the interrupted fit; these give another first score."
        )
    if estimator.base_score is not None:
        raise InputError(
            f"base_score={estimator.base_score!r} is not what the earlier fit of a warm_start began with; leave it as it was."
        )
