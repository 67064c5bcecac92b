"""The evaluation sets of a fit, read as the training table was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded_table import ShardedTable
from weald.data import Schema, read_table, read_weights
from weald.estimators.boosted.continuing import Earlier
from weald.estimators.shared.block_labels import numbers_of_blocks
from weald.estimators.shared.labels import Labels, writeable
from weald.estimators.shared.persistence import FittedModel
from weald.losses import Metric
from weald.runtime.errors import InputError
from weald.training.boosting.opening import Rows
from weald.training.boosting.starts import read_init_score

if TYPE_CHECKING:
    from weald.estimators.boosted.base import BoostedTrees
    from weald.estimators.boosted.fitting import FitOptions


def read_evaluation_sets(
    estimator: BoostedTrees,
    options: FitOptions,
    schema: Schema,
    labels: Labels,
    metrics: Sequence[Metric],
    earlier: Earlier | None,
) -> list[Rows]:
    """The sets of ``fit``."""
    sets = as_sets(options.eval_set)
    if estimator.early_stopping_rounds is not None and not sets:
        raise InputError(
            "early_stopping_rounds needs an eval_set; pass eval_set=[(X_valid, y_valid)] to fit."
        )
    names, starts = _set_names(sets, options.eval_names), _starts(options, len(sets))
    bins, read = estimator.resolved().bins, []
    for place, (X, y, weight) in enumerate(sets):
        history = {} if earlier is None else _earlier_history(earlier.model, names[place], metrics)
        if isinstance(X, ShardedTable):
            target = _target_of_blocks(estimator, X, labels)
            read.append(Rows(X, target, X.weight, name=names[place], metrics=metrics, history=history))
            continue
        other = read_table(
            X, schema=schema, owner=type(estimator).__name__, unstored=bins.unstored, missing=bins.missing
        )
        target = writeable(estimator._encode(y, other.n_rows, labels.classes))
        init_score = read_init_score(
            starts[place], other.n_rows, labels.loss.n_outputs, f"eval_init_scores[{place}]"
        )
        weights = read_weights(weight, other.n_rows)
        if weights is not None:
            weights = writeable(weights)
        read.append(
            Rows(other, target, weights, init_score, name=names[place], metrics=metrics, history=history)
        )
    return read


def _target_of_blocks(estimator: BoostedTrees, table: ShardedTable, labels: Labels) -> NDArray[np.float64]:
    """The labels of a set in blocks, as those of the training are: numbers, or places among the classes."""
    if labels.classes is None:
        return numbers_of_blocks(table, type(estimator).__name__)
    if table.classes is not None or not table.n_rows:
        return table.labels
    return estimator._encode(table.labels, table.n_rows, labels.classes)


def as_sets(eval_set: Any) -> list[tuple[Any, Any, Any]]:
    """[(X, y, weight or None), ...] from a list of pairs or triples, or a single one."""
    if eval_set is None:
        return []
    if isinstance(eval_set, tuple) and len(eval_set) in (2, 3) and not isinstance(eval_set[0], tuple):
        eval_set = [eval_set]
    if not isinstance(eval_set, list | tuple) or not all(
        isinstance(entry, ShardedTable) or (isinstance(entry, tuple | list) and len(entry) in (2, 3))
        for entry in eval_set
    ):
        raise InputError("eval_set must be a list of pairs (X, y) or triples (X, y, sample_weight).")
    return [
        (entry, None, None) if isinstance(entry, ShardedTable) else (*entry, None)[:3] for entry in eval_set
    ]


def _starts(options: FitOptions, n_sets: int) -> Sequence[Any]:
    """The scores that each set starts from, or None: a model that starts from the user's scores knows no others."""
    given = options.eval_init_scores
    if (options.init_score is None) != (given is None) and (given is not None or n_sets):
        raise InputError(
            "init_score and eval_init_scores go together: scores of the training rows, and a list with those of every "
            "eval_set."
        )
    if given is None:
        return [None] * n_sets
    if not isinstance(given, list | tuple) or len(given) != n_sets or any(one is None for one in given):
        raise InputError(
            f"eval_init_scores must be a list of scores, one for each of the {n_sets} eval sets."
        )
    return given


def _set_names(sets: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [f"valid_{number}" for number in range(len(sets))]
    chosen = list(names) if not isinstance(names, str) else [names]
    if len(chosen) != len(sets) or len(set(chosen)) < len(chosen):
        raise InputError(f"eval_names must be {len(sets)} different names, one a set, not {names!r}.")
    return chosen


def _earlier_history(earlier: FittedModel, name: str, metrics: Sequence[Metric]) -> dict[str, list[float]]:
    """The rounds that are already there: recorded values, NaN where this set or metric was not evaluated."""
    rounds = earlier.predictor.n_rounds
    recorded = earlier.history.get(name, {})
    return {
        metric.name: (recorded.get(metric.name, []) + [float("nan")] * rounds)[:rounds] for metric in metrics
    }
