"""From an estimator's parameters to trees that are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.binning import AnyBins, BinnedTable
from weald.data import Dataset
from weald.estimators.boosted.evaluation_sets import EvaluationSet
from weald.estimators.boosted.starts import origin_of
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores, trees_alone
from weald.params import PARAMETERS
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.averaging import AveragedRows, Averaging
from weald.training.boosting.descent import Descent

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

WHOLE_TREES = 1.0  # the learning rate of trees that are averaged
_SHARES = (
    "subsample",
    "positive_subsample",
    "negative_subsample",
    "colsample_bytree",
    "colsample_bylevel",
    "colsample_bynode",
)


def check_averaging(estimator: BoostedTrees) -> None:
    """Refuse a learning rate, and trees that would all be the same, with booster='forest'."""
    if estimator.booster != "forest":
        return
    default = PARAMETERS["learning_rate"].default
    if estimator.learning_rate != default:
        raise NotSupportedError(
            f"learning_rate={estimator.learning_rate} has no meaning with booster='forest', which averages whole trees; "
            f"leave it at {default}."
        )
    shares = [getattr(estimator, name) for name in _SHARES]
    sampled = any(share is not None and share < 1.0 for share in shares)
    if not sampled and estimator.sampling == "uniform" and not estimator.extra_trees:
        raise NotSupportedError(
            "booster='forest' would grow the same tree in every round; set subsample or colsample_bytree below 1."
        )


def make_averaging(
    descent: Descent,
    forest: Forest,
    table: Dataset | BinnedTable,
    init_score: NDArray[np.float64] | None,
    kept: NDArray[np.int64] | None,
    sets: Sequence[EvaluationSet[AnyBins]],
    tasks: int,
) -> Averaging:
    """The booster, with the sums of the trees that are there; ``kept``: the training rows that have a weight."""
    train = _rows(forest, table, init_score, tasks)
    if kept is not None:
        origin = train.origin if init_score is None else np.ascontiguousarray(train.origin[:, kept])
        train = AveragedRows(origin, np.ascontiguousarray(train.sums[:, kept]))
    return Averaging(
        descent, [train, *(_rows(forest, other.dataset, other.init_score, tasks) for other in sets)]
    )


def _rows(
    forest: Forest, table: Dataset | BinnedTable, init_score: NDArray[np.float64] | None, tasks: int
) -> AveragedRows:
    sums = np.zeros((forest.n_outputs, table.n_rows))
    if forest.n_trees:
        sums = raw_scores(trees_alone(forest), table.blocks(), table.n_rows, tasks)
    return AveragedRows(origin_of(forest, init_score), sums)
