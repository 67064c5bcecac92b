"""From an estimator's parameters to dropout of trees."""

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
from weald.forest.predict import leaf_indices
from weald.params import PARAMETERS
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.dart import Dart, DartRows, DropRules
from weald.training.boosting.descent import Descent

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

_OF_DART = ("rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type", "max_drop")


def drop_rules(estimator: BoostedTrees) -> DropRules | None:
    """The rules of booster='dart'; under another booster there are none, and asking for them is refused."""
    values = {name: getattr(estimator, name) for name in _OF_DART}
    if estimator.booster == "dart":
        return DropRules(**values)
    for name, value in values.items():
        if value != PARAMETERS[name].default:
            raise NotSupportedError(
                f"{name} belongs to booster='dart', but booster is {estimator.booster!r}; "
                f"leave {name} at {PARAMETERS[name].default!r}."
            )
    return None


def make_dart(
    descent: Descent,
    rules: DropRules,
    seed: int,
    forest: Forest,
    table: Dataset | BinnedTable,
    init_score: NDArray[np.float64] | None,
    kept: NDArray[np.int64] | None,
    sets: Sequence[EvaluationSet[AnyBins]],
    tasks: int,
) -> Dart:
    """The booster; it reads the tables again where the leaves of their rows are not remembered."""
    rows = [_rows(forest, table, init_score, kept, tasks)]
    rows += [_rows(forest, other.dataset, other.init_score, None, tasks) for other in sets]
    return Dart(descent, rules, seed, rows)


def _rows(
    forest: Forest,
    table: Dataset | BinnedTable,
    init_score: NDArray[np.float64] | None,
    kept: NDArray[np.int64] | None,
    tasks: int,
) -> DartRows:
    origin = origin_of(forest, init_score)
    if kept is not None and init_score is not None:
        origin = np.ascontiguousarray(origin[:, kept])

    def nodes_of(trees: Forest) -> NDArray[np.int32]:
        nodes = leaf_indices(trees, table.blocks(), table.n_rows, tasks)
        return nodes if kept is None else nodes[kept]

    return DartRows(origin, nodes_of)
