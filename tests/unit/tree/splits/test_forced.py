"""Trees with forced splits against a twin that sums the sides bin by bin; which bins thresholds become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference
from reference_forced import Forced
from unit.tree.factories import rules
from unit.tree.growth.test_grower import KEY, assert_same, case, grown
from weald.tree.growth.prune import prune
from weald.tree.splits.constraints import Constraints
from weald.tree.splits.forced import ForcedSplits
from weald.tree.state import DEPTHWISE

# Columns 1 and 4 are categorical, and every second column has missing values.
FORCED = {
    "one": [Forced(3, 20)],
    "a category": [Forced(1, 2, -1, 1), Forced(5, 90)],
    "a missing side": [Forced(3, 39)],  # all values on the left, what is missing on the right
    "both sides": [Forced(0, 40, 1, 2), Forced(2, 0, 3), Forced(5, 30), Forced(4, 1)],
    "the same column": [Forced(0, 100, 1, 2), Forced(0, 20), Forced(0, 180)],
    "an empty side": [Forced(0, 100, 1, 2), Forced(0, 200, 3), Forced(3, 5), Forced(2, 0)],
    "nothing but an empty side": [Forced(2, 2)],
}
RULES: dict[str, dict[str, Any]] = {
    "leafwise": {},
    "depthwise": {"growth": DEPTHWISE, "max_leaves": 6},
    "stump": {"max_leaves": 2},
    "shallow": {"max_depth": 1},
    "large leaves": {"min_samples_leaf": 200},
    "everything": {"path_smooth": 9.0, "extra_trees": True, "node_share": 0.5, "gamma": 0.01},
}


def forced_splits(splits: list[Forced]) -> ForcedSplits:
    columns = [*np.array(splits, np.int64).T, np.full(len(splits), 99)]
    return ForcedSplits(*(np.ascontiguousarray(column) for column in columns))


@pytest.mark.parametrize("name", FORCED)
@pytest.mark.parametrize("packed", [True, False])
def test_a_tree_with_forced_splits_is_the_twins(packed: bool, name: str) -> None:
    data, gradients, entries = case(900, packed)
    for changes in RULES.values():
        limits = rules(**changes)
        expected = reference.grow_tree(
            data, range(6), gradients, limits, int(KEY), entries, forced=FORCED[name]
        )
        for tasks in (1, 3):
            forced = forced_splits(FORCED[name])
            tree = grown(data, range(6), gradients, limits, entries, tasks, 15, None, forced)
            assert_same(tree, expected)


def test_forced_splits_keep_monotone_constraints() -> None:
    data, gradients, entries = case(900, True)
    given_up = 0
    for sign in (-1, 1):
        constraints = Constraints((sign, 0, 0, sign, 0, 0))
        for limits in (rules(), rules(path_smooth=5.0)):
            expected = reference.grow_tree(
                data, range(6), gradients, limits, int(KEY), entries, constraints, FORCED["both sides"]
            )
            state, forced = (
                constraints.state(6, 40, limits.path_smooth > 0.0),
                forced_splits(FORCED["both sides"]),
            )
            assert_same(grown(data, range(6), gradients, limits, entries, 1, 15, state, forced), expected)
            given_up += forced.node[0] < 0
    assert 0 < given_up < 4


def test_pruning_keeps_forced_splits() -> None:
    data, gradients, entries = case(900, True)
    forced = forced_splits(FORCED["both sides"])
    limits = rules(growth=DEPTHWISE, max_leaves=9)
    n_nodes, work, nodes = grown(data, range(6), gradients, limits, entries, 1, 15, None, forced)
    fields = {name: values[:n_nodes].copy() for name, values in nodes._asdict().items()}
    left = prune(fields, 1e9, work.entries.copy(), forced.node)
    assert left["feature"][left["feature"] >= 0].tolist() == [0, 2, 5, 4]
