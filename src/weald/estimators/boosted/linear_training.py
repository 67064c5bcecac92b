"""From an estimator's parameters and a user's tables to the boosting of a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinnedTable
from weald.data import Dataset, Schema
from weald.estimators.boosted.evaluation_sets import read_evaluation_sets
from weald.estimators.boosted.starts import read_init_score
from weald.estimators.boosted.training import (
    FitOptions,
    check_continues,
    check_same_start,
    finished_model,
    first_scores,
    fit_callbacks,
    fit_metrics,
    loaded_checkpoint,
    seed_of,
    stops_early,
    watched,
)
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel
from weald.linear.columns import read_columns
from weald.linear.model import LinearModel
from weald.linear.selectors import LIMITED
from weald.losses import Metric
from weald.params import PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.threads import parallel
from weald.training.boosting.linear import LinearChoices, LinearRows, OffsetColumns, boost_linear
from weald.training.boosting.monitors import BestModel
from weald.training.boosting.rounds import Evaluation

Floats = NDArray[np.float64]

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

# Parameters that say how trees are grown, bins are made or trees are dropped.
TREE_PARAMETERS = (
    "growth",
    "max_leaves",
    "max_depth",
    "min_samples_leaf",
    "min_child_weight",
    "gamma",
    "leaf_estimation",
    "leaf_iterations",
    "subsample",
    "sampling",
    "bagging_temperature",
    "mvs_reg",
    "subsample_freq",
    "positive_subsample",
    "negative_subsample",
    "top_rate",
    "other_rate",
    "colsample_bytree",
    "colsample_bylevel",
    "colsample_bynode",
    "path_smooth",
    "extra_trees",
    "split_score",
    "random_strength",
    "forced_splits",
    "split_finder",
    "proposals",
    "sketch_eps",
    "permutations",
    "prefix_growth",
    "num_parallel_tree",
    "rate_drop",
    "skip_drop",
    "one_drop",
    "sample_type",
    "normalize_type",
    "max_drop",
    "categories",
    "max_cat_to_onehot",
    "max_cat_threshold",
    "cat_smooth",
    "cat_l2",
    "min_samples_category",
    "max_combination",
    "prior",
    "prior_weight",
    "statistic_bins",
    "target_borders",
    "counters",
    "monotone_constraints",
    "interaction_constraints",
    "max_bins",
    "max_bins_by_column",
    "max_categories",
    "rare_categories",
    "min_samples_bin",
    "bin_sample",
    "border_type",
    "forced_bins",
    "use_missing",
    "zero_as_missing",
    "bundling",
    "max_conflict_rate",
    "precision",
    "importance_type",
)
LINEAR_PARAMETERS = ("feature_selector", "top_k")


def check_booster(estimator: BoostedTrees, earlier: FittedModel | None) -> None:
    """Refuse parameters of another booster than the estimator's, and a warm start from one."""
    linear = estimator.booster == "linear"
    for name in TREE_PARAMETERS if linear else LINEAR_PARAMETERS:
        value, default = getattr(estimator, name), PARAMETERS[name].default
        if value is not None if default is None else value != default:
            whose = "trees, and booster='linear' has none" if linear else "booster='linear'"
            raise NotSupportedError(f"{name}={value!r} belongs to {whose}; leave it at {default!r}.")
    if linear and isinstance(estimator.learning_rate, str):
        raise NotSupportedError(
            f"learning_rate={estimator.learning_rate!r} is a rule for trees; give booster='linear' a number."
        )
    if linear and estimator.top_k and estimator.feature_selector not in LIMITED:
        raise InputError(
            f"top_k={estimator.top_k} belongs to feature_selector='greedy' and 'thrifty', "
            f"not {estimator.feature_selector!r}; leave it at 0."
        )
    if earlier is not None and isinstance(earlier.predictor, LinearModel) != linear:
        raise InputError(
            f"warm_start needs the booster of the earlier fit, which was {'not ' if linear else ''}'linear'."
        )


def train_linear(
    estimator: BoostedTrees,
    table: Dataset | BinnedTable,
    labels: Labels,
    options: FitOptions,
    earlier: FittedModel | None,
) -> FittedModel:
    """Read the columns, boost and keep the best round; ``earlier``: the model that a warm start goes on from."""
    if isinstance(table, BinnedTable):
        raise NotSupportedError("booster='linear' needs the values of X and not their bins; pass X itself.")
    _check_numeric(table.schema)
    if options.resume_from is not None:
        earlier = loaded_checkpoint(estimator, options.resume_from)
    n_outputs = labels.loss.n_outputs
    init_score = read_init_score(options.init_score, table.n_rows, n_outputs)
    start = _start(estimator, table.schema, labels, options, init_score, earlier)
    metrics = fit_metrics(estimator, labels.loss)
    with ExitStack() as stack:
        tasks = stack.enter_context(parallel(estimator.n_jobs))
        rows = _rows(table, labels, init_score)
        evaluations = _evaluations(estimator, options, table.schema, labels, metrics, earlier)
        history = {evaluation.name: evaluation.history for evaluation in evaluations}
        callbacks = fit_callbacks(estimator, options, table.schema, labels, metrics, stack)
        best = None
        if history and stops_early(estimator, options):
            best = BestModel("linear", *watched(history, metrics, options.stopping), start, history)
            callbacks.append(best)
        choices = _choices(estimator, labels)
        model = boost_linear(rows, labels.loss, choices, start, tasks, evaluations, callbacks)
    return finished_model(
        model if best is None else best.model, table.schema, labels, history, metrics, options.stopping
    )


def _check_numeric(schema: Schema) -> None:
    if schema.has_categories:
        name = schema.names[int(np.argmax(schema.categorical_mask))]
        raise NotSupportedError(
            f"Column {name!r} is categorical, and booster='linear' takes numbers only; encode it first, for example with "
            "scikit-learn's OneHotEncoder."
        )


def _start(
    estimator: BoostedTrees,
    schema: Schema,
    labels: Labels,
    options: FitOptions,
    init_score: Floats | None,
    earlier: FittedModel | None,
) -> LinearModel:
    """The model that training goes on from: an earlier one, or no weights yet, and every row has the first score."""
    base = first_scores(estimator, labels, init_score)
    if earlier is None:
        return LinearModel(base, np.zeros(len(base)), np.zeros((len(base), schema.n_columns)), 0)
    resumes = options.resume_from is not None
    check_continues(estimator, earlier, schema, labels, "resume_from" if resumes else "warm_start")
    check_same_start(estimator, earlier.predictor, base, resumes)
    assert isinstance(earlier.predictor, LinearModel)  # `check_booster` and a checkpoint's parameters say so
    return earlier.predictor


def _rows(table: Dataset, labels: Labels, init_score: Floats | None) -> LinearRows:
    """Rows with a weight; those without are as if they were not there."""
    if labels.weight is None or (labels.weight > 0).all():
        return LinearRows(OffsetColumns(read_columns(table), init_score), labels.y, labels.weight)
    kept = np.flatnonzero(labels.weight > 0)
    offset = None if init_score is None else np.ascontiguousarray(init_score[:, kept])
    return LinearRows(OffsetColumns(read_columns(table, kept), offset), labels.y[kept], labels.weight[kept])


def _evaluations(
    estimator: BoostedTrees,
    options: FitOptions,
    schema: Schema,
    labels: Labels,
    metrics: Sequence[Metric],
    earlier: FittedModel | None,
) -> list[Evaluation[OffsetColumns]]:
    """The evaluation sets; every round gives them their scores anew."""
    sets = read_evaluation_sets(
        estimator,
        options,
        schema,
        labels,
        metrics,
        earlier,
        lambda other, init: OffsetColumns(read_columns(other), init),
        lambda other, init: np.empty((labels.loss.n_outputs, other.n_rows)),
    )
    return [one.evaluation for one in sets]


def _choices(estimator: BoostedTrees, labels: Labels) -> LinearChoices:
    step = labels.loss.max_delta_step if estimator.max_delta_step is None else estimator.max_delta_step
    assert not isinstance(estimator.learning_rate, str)  # `check_booster` says so
    return LinearChoices(
        estimator.n_estimators,
        estimator.learning_rate,
        0.0 if estimator.reg_lambda is None else estimator.reg_lambda,
        estimator.reg_alpha,
        step,
        estimator.feature_selector,
        estimator.top_k,
        seed_of(estimator.random_state),
    )
