"""Trees of others become a forest, or are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weald.exchange.foreign.trees import LEAF, ForeignTree, by_rounds, forest_of, leaf_alone
from weald.runtime.errors import ModelFileError

# Node 3 is led to by no other.
TREE = ForeignTree(
    feature=np.array([1, LEAF, 0, LEAF, LEAF, LEAF]),
    threshold=np.array([0.5, 0, 2.0, 0, 0, 0]),
    left=np.array([2, 0, 5, 0, 0, 0]),
    right=np.array([1, 0, 4, 0, 0, 0]),
    missing_left=np.array([True, False, False, False, False, False]),
    sets={},
    value=np.array([0.0, 10.0, 0.0, 99.0, 30.0, 20.0]),
    cover=np.array([3.0, 1.0, 2.0, 7.0, 1.0, 1.0]),
    gain=np.zeros(6),
)


def _scores(forest: object, rows: list[list[float]]) -> list[float]:
    from weald.forest.predict import raw_scores

    return raw_scores(forest, [(0, np.array(rows))], len(rows))[0].tolist()  # type: ignore[arg-type]


def test_nodes_in_any_order_predict_as_they_say() -> None:
    forest = forest_of([TREE, leaf_alone(np.array([0.5]))], 2, np.zeros(1))
    assert forest.n_nodes == 6  # five of the tree, and one
    rows = [[0.0, 9.0], [2.0, 0.0], [3.0, 0.0], [np.nan, np.nan]]
    assert _scores(forest, rows) == [10.5, 20.5, 30.5, 30.5]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"left": np.array([2, 0, 0, 0, 0, 0])}, "children are not nodes below"),
        ({"left": np.array([2, 0, 9, 0, 0, 0])}, "children are not nodes below"),
        ({"left": np.array([2, 0, 1, 0, 0, 0])}, "two parents"),
        ({"left": np.array([2, 0, 2, 0, 0, 0])}, "children are not nodes below|two parents"),
        ({"value": np.full(6, np.inf)}, "value"),
        ({"feature": np.array([7, LEAF, 0, LEAF, LEAF, LEAF])}, "feature"),
        ({"sets": {0: np.array([-1])}}, "set_codes"),
    ],
)
def test_trees_that_cannot_be_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ModelFileError, match=said):
        forest_of([replace(TREE, **changes)], 2, np.zeros(1))  # type: ignore[arg-type]


def test_outputs_with_fewer_trees_are_filled_but_not_without_end() -> None:
    trees = by_rounds([TREE, TREE, TREE], [0, 1, 0], 2)
    forest = forest_of(trees, 2, np.zeros(2))
    assert forest.n_rounds == 2
    with pytest.raises(ModelFileError, match="not shared out evenly"):
        by_rounds([TREE] * 10, [0] * 10, 1_000)
