"""Growth first, pruning after: against a twin that takes splits back one round at a time."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
import reference_constraints
from unit.tree.factories import rules
from unit.tree.growth.test_grower import KEY, case, grown
from weald.tree.growth.prune import prune, take_back
from weald.tree.state import DEPTHWISE

NONE = np.empty(0, np.int64)


def pruned(tree: tuple[int, Any, Any], gamma: float) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint64]]:
    n_nodes, work, nodes = tree
    fields = {name: values[:n_nodes].copy() for name, values in nodes._asdict().items()}
    entries = work.entries.copy()
    return prune(fields, gamma, entries, NONE), entries


@pytest.mark.parametrize("packed", [True, False])
def test_a_pruned_tree_is_the_twins(packed: bool) -> None:
    data, gradients, entries = case(700, packed)
    for limits in (rules(growth=DEPTHWISE, max_depth=5, max_leaves=200), rules(growth=DEPTHWISE)):
        tree = grown(data, range(6), gradients, limits, entries, 1, 20)
        twins = reference.grow_tree(data, range(6), gradients, limits, int(KEY), entries)
        full = tree[2].gain[: tree[0]]
        shapes = set()
        for gamma in (0.0, *np.quantile(full[full > 0.0], [0.1, 0.3, 0.5, 0.8, 0.99]), 1e9):
            expected = reference_constraints.prune(copy.deepcopy(twins), gamma)
            nodes, rows = pruned(tree, gamma)
            shapes.add(len(expected))
            assert len(nodes["feature"]) == len(expected)
            for number, twin in enumerate(expected):
                found = tuple(nodes[name][number] for name in ("begin", "end", "depth", "left"))
                assert found == (twin.begin, twin.begin + len(twin.entries), twin.depth, twin.left)
                assert (nodes["feature"][number] < 0) == (twin.left == 0)
                if twin.left:
                    assert twin.split is not None
                    assert nodes["gain"][number] == twin.split.gain
                    continue
                assert nodes["gain"][number] == 0.0
                place = slice(nodes["begin"][number], nodes["end"][number])
                assert rows[nodes["side"][number], place].tolist() == list(twin.entries)
        assert len(shapes) > 4
        assert 1 in shapes


def test_a_split_that_does_not_pay_stays_above_one_that_does() -> None:
    feature = np.array([0, 1, -1, 2, -1, -1, -1], np.int32)
    left = np.array([1, 3, 0, 5, 0, 0, 0], np.int32)
    for gains, expected in (
        ([0.1, 0.2, 0, 9.0, 0, 0, 0], []),
        ([0.1, 0.2, 0, 0.5, 0, 0, 0], [3, 1, 0]),
        ([9.0, 0.2, 0, 0.5, 0, 0, 0], [3, 1]),
        ([0.1, 1.0, 0, 0.5, 0, 0, 0], [3]),  # a gain of just gamma pays
    ):
        taken = take_back(feature.copy(), left, np.array(gains, np.float64), 1.0)
        assert taken.tolist() == expected


def test_the_rows_of_a_new_leaf_are_those_of_all_its_old_leaves() -> None:
    data, gradients, entries = case(2_000, True)
    tree = grown(data, range(6), gradients, rules(growth=DEPTHWISE, max_leaves=100), entries, 1, 20)
    nodes, rows = pruned(tree, 1e9)
    assert nodes["feature"].tolist() == [-1]
    assert sorted(rows[0].tolist()) == sorted(entries.tolist())
