"""From a fitted estimator and a user's table to the same trees with other leaf values."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset
from weald.encoding.parameters import Partition
from weald.estimators.boosted.set_splits import splits_into_sets
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices
from weald.linear.model import LinearModel
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.threads import hire
from weald.training.boosting.door.trees import tree_rules
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting
from weald.training.boosting.plan import WHOLE_TREES
from weald.training.boosting.refit import RefitRows, RefitRules, refit_leaves, shares_of
from weald.training.boosting.starts import origin_of, read_init_score


def refitted_model(
    model: FittedModel,
    given: BoostingParameters,
    dataset: Dataset,
    labels: Labels,
    decay_rate: float,
    init_score: Any,
) -> FittedModel:
    """A model with leaves refitted to a table, by the parameters of its training."""
    rate = given.learning_rate if model.learning_rate is None else model.learning_rate
    rules = RefitRules(
        tree_rules(given, given.resolved(), labels.loss, model.schema),
        shares_of(model.forest, WHOLE_TREES if model.forest.averaged else float(rate)),
        float(decay_rate),
        _column_penalty(given.resolved(), model.forest, dataset, labels.weight),
    )
    return refitted_by(rules, model, dataset, labels, init_score, given.n_jobs)


def refitted_by(
    rules: RefitRules,
    model: FittedModel,
    dataset: Dataset,
    labels: Labels,
    init_score: Any,
    n_jobs: int | None,
) -> FittedModel:
    """A model with leaves refitted to a table, by rules of the caller's own."""
    labels.loss.check_target(labels.y)
    if labels.loss.name != model.loss or labels.loss.n_outputs != model.forest.n_outputs:
        raise InputError(f"refit needs the loss of the fit, {model.loss!r}.")
    start = read_init_score(init_score, dataset.n_rows, labels.loss.n_outputs)
    tasks = hire(n_jobs)
    rows = _rows(model.forest, dataset, labels, start, tasks)
    forest = refit_leaves(model.forest, rows, labels.loss, rules, tasks)
    return replace(model, predictor=forest, history={}, best_iteration=forest.n_rounds - 1)


def check_refits(model: FittedModel, decay_rate: Any) -> None:
    """Refuse a model without leaves, and what is no share of the old values."""
    if isinstance(model.predictor, LinearModel):
        raise NotSupportedError(
            "refit gives the leaves of trees new values, and booster='linear' has none; fit it anew."
        )
    number = not isinstance(decay_rate, bool) and isinstance(decay_rate, numbers.Real)
    if not number or not 0.0 <= decay_rate <= 1.0:
        raise InputError(f"decay_rate must be a number from 0 to 1, not {decay_rate!r}.")


def _column_penalty(
    parts: ResolvedBoosting, forest: Forest, dataset: Dataset, weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """What the children of a split on each column are penalised by beside lambda: that of splits into sets."""
    categories = parts.categories
    if not isinstance(categories, Partition) or categories.l2 == 0.0:
        return np.zeros(dataset.n_columns)
    into_sets = splits_into_sets(parts, categories.max_onehot, forest, dataset, weight)
    return np.where(into_sets, float(categories.l2), 0.0)


def _rows(
    forest: Forest, dataset: Dataset, labels: Labels, init_score: NDArray[np.float64] | None, tasks: int
) -> RefitRows:
    """Rows with a weight; those without are as if they were not there."""
    y, weight, kept = labels.y, labels.weight, None
    if weight is not None and not (weight > 0).all():
        kept = np.flatnonzero(weight > 0)
        y, weight = y[kept], weight[kept]
    origin = np.broadcast_to(origin_of(forest, init_score), (forest.n_outputs, dataset.n_rows))
    origin = np.array(origin if kept is None else origin[:, kept], order="C")

    def nodes_of(trees: Forest) -> NDArray[np.int32]:
        nodes = leaf_indices(trees, dataset.blocks(), dataset.n_rows, tasks)
        return nodes if kept is None else nodes[kept]

    return RefitRows(y, weight, origin, nodes_of)
