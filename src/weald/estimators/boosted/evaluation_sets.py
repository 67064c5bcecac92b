"""The evaluation sets of a fit, read as the training table was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.binning.mapper import BinMapper
from weald.binning.sharded_table import ShardedTable, in_blocks
from weald.data import read_table, read_weights
from weald.estimators.boosted.continuing import Earlier
from weald.estimators.shared.labels import Labels, writeable
from weald.estimators.shared.persistence import FittedModel
from weald.losses import Metric
from weald.runtime.errors import InputError
from weald.training.boosting.opening import AnyTable, Rows
from weald.training.boosting.starts import read_init_score

if TYPE_CHECKING:
    from weald.estimators.boosted.base import BoostedTrees
    from weald.estimators.boosted.fitting import FitOptions


def read_evaluation_sets(
    estimator: BoostedTrees,
    options: FitOptions,
    table: AnyTable,
    labels: Labels,
    metrics: Sequence[Metric],
    earlier: Earlier | None,
) -> list[Rows]:
    """The sets of ``fit``; ``table``: that is trained on, like which sets in blocks were binned."""
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
            own = _in_blocks(estimator, X, table, labels, names[place])
            start = read_init_score(
                starts[place], own.table.n_rows, labels.loss.n_outputs, f"eval_init_scores[{place}]"
            )
            read.append(replace(own, init_score=start, metrics=metrics, history=history))
            continue
        other = read_table(
            X, schema=table.schema, owner=type(estimator).__name__, unstored=bins.unstored, missing=bins.missing
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


def _in_blocks(estimator: BoostedTrees, X: ShardedTable, table: AnyTable, labels: Labels, name: str) -> Rows:
    """A set in blocks, which brings its labels and weights."""
    if not isinstance(table, ShardedTable):
        raise InputError(f"the evaluation set {name!r} is in blocks, but X is not; pass both in the same way.")
    if X.schema != table.schema or not same_bins(X.bins.mapper, table.bins.mapper):
        raise InputError(f"the evaluation set {name!r} was binned by other columns or cuts than X; bin it like X.")
    if not X.n_rows:
        target = X.labels
    elif X.classes is None:
        target = writeable(estimator._encode(X.labels, X.n_rows, labels.classes))
    elif labels.classes is not None and np.array_equal(X.classes, labels.classes):
        target = X.labels
    else:
        raise InputError(f"the evaluation set {name!r} has other classes than X; bin it like X.")
    return Rows(X, target, X.weight, name=name)


def same_bins(one: BinMapper, other: BinMapper) -> bool:
    """Whether two tables are binned by the same cuts and categories."""
    if one is other:
        return True
    return np.array_equal(one.n_bins, other.n_bins) and all(map(np.array_equal, one.cuts, other.cuts))


def as_sets(eval_set: Any) -> list[tuple[Any, Any, Any]]:
    """[(X, y, weight or None), ...] from a list of pairs or triples, or a single one; a table in blocks stands alone."""
    if eval_set is None:
        return []
    if (alone := in_blocks(eval_set)) is not None:
        eval_set = [alone]
    if isinstance(eval_set, list | tuple):
        eval_set = [one if (table := in_blocks(one)) is None else (table, None) for one in eval_set]
    if isinstance(eval_set, tuple) and len(eval_set) in (2, 3) and not isinstance(eval_set[0], tuple):
        eval_set = [eval_set]
    if not isinstance(eval_set, list | tuple) or not all(
        isinstance(entry, tuple | list) and len(entry) in (2, 3) for entry in eval_set
    ):
        raise InputError("eval_set must be a list of pairs (X, y) or triples (X, y, sample_weight).")
    return [(entry[0], entry[1], entry[2] if len(entry) == 3 else None) for entry in eval_set]


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
