"""The evaluation sets of a fit: read, in the form that the booster wants, and with the scores that they start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from weald.binning import choices_of
from weald.data import Dataset, Schema, read_table, read_weights
from weald.estimators.boosted.starts import read_init_score
from weald.estimators.shared.labels import Labels, writeable
from weald.estimators.shared.persistence import FittedModel
from weald.losses import Metric
from weald.runtime.errors import InputError
from weald.training.boosting.rounds import Evaluation, Table

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees
    from weald.estimators.boosted.training import FitOptions


class OwnStarts(list[Any]):
    """``eval_init_scores`` of sets that start each by itself, whatever the training rows do; None: from the first score alone."""


@dataclass(frozen=True)
class EvaluationSet(Generic[Table]):
    """A set as the boosting loop sees it, and as it was read."""

    evaluation: Evaluation[Table]
    dataset: Dataset
    init_score: NDArray[np.float64] | None


def read_evaluation_sets(
    estimator: BoostedTrees,
    options: FitOptions,
    schema: Schema,
    labels: Labels,
    metrics: Sequence[Metric],
    earlier: FittedModel | None,
    rows_of: Callable[[Dataset, NDArray[np.float64] | None], Table],
    scores_of: Callable[[Dataset, NDArray[np.float64] | None], NDArray[np.float64]],
) -> list[EvaluationSet[Table]]:
    """The sets of ``fit``; a booster says what it makes of their rows, and which scores they start from."""
    sets = _as_sets(options.eval_set)
    if estimator.early_stopping_rounds is not None and not sets:
        raise InputError(
            "early_stopping_rounds needs an eval_set; pass eval_set=[(X_valid, y_valid)] to fit."
        )
    names, starts = _set_names(sets, options.eval_names), _starts(options, len(sets))
    read = []
    for place, (X, y, weight) in enumerate(sets):
        other = read_table(
            X,
            schema=schema,
            owner=type(estimator).__name__,
            unstored=estimator.unstored,
            missing=choices_of(estimator).missing,
        )
        target = writeable(estimator._encode(y, other.n_rows, labels.classes))
        init_score = read_init_score(
            starts[place], other.n_rows, labels.loss.n_outputs, f"eval_init_scores[{place}]"
        )
        scores = scores_of(other, init_score)
        weights = read_weights(weight, other.n_rows)
        if weights is not None:
            weights = writeable(weights)
        evaluation = Evaluation(names[place], rows_of(other, init_score), target, weights, metrics, scores)
        if earlier is not None:
            evaluation.history = _earlier_history(earlier, names[place], metrics)
        read.append(EvaluationSet(evaluation, other, init_score))
    return read


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


def _starts(options: FitOptions, n_sets: int) -> Sequence[Any]:
    """The scores that each set starts from, or None: a model that starts from the user's scores knows no others."""
    given = options.eval_init_scores
    if isinstance(given, OwnStarts):
        return given
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
