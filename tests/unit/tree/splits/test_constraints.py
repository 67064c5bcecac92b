"""Constrained trees against twins that keep bounds as numbers and paths as sets; the limits themselves by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import reference
import reference_oblivious
from reference_constraints import Fence
from unit.tree.factories import rules
from unit.tree.growth import test_grower, test_oblivious
from unit.tree.splits.test_split import SEVEN, case, kernel_split
from weald.tree.splits.constraints import Constraints, ConstraintState
from weald.tree.state import DEPTHWISE, PACKED_BLOCK, Gradients, Nodes

KEY = test_grower.KEY
# Columns 1 and 4 are categorical in the growers' cases.
CONSTRAINTS = {
    "one column": Constraints((1, 0, 0, 0, 0)),
    "falling": Constraints((-1, 0, -1, 0, 0)),
    "all that have an order": Constraints((1, 0, -1, 1, 0)),
    "two groups": Constraints((), ((0, 1), (2, 3, 4))),
    "groups that overlap": Constraints((), ((0, 1, 2), (2, 3), (0, 3))),
    "columns in no group": Constraints((), ((0, 1),)),
    "both": Constraints((1, 0, -1, 0, 0), ((0, 2), (1, 2, 3))),
}
RULES: dict[str, dict[str, Any]] = {
    "plain": {},
    "regularised": {"reg_lambda": 20.0, "reg_alpha": 0.3, "gamma": 0.005},
    "clipped": {"max_delta_step": 0.02, "reg_alpha": 0.1},
    "large leaves": {"min_samples_leaf": 20},
    "columns by level and node": {"level_share": 0.8, "node_share": 0.6},
    "no penalty": {"reg_lambda": 0.0, "min_child_weight": 0.0},
    "sets of categories": {"max_cat_to_onehot": 1},
    "smoothed": {"path_smooth": 15.0, "min_samples_leaf": 5},
}
TREE_RULES: dict[str, dict[str, Any]] = {
    **RULES,
    "drawn and smoothed": {"extra_trees": True, "path_smooth": 2.0},
}


def wide(constraints: Constraints, n_columns: int) -> Constraints:
    """The same for a table with more columns."""
    signs = constraints.signs
    return Constraints((*signs, *[0] * (n_columns - len(signs))) if signs else (), constraints.groups)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", RULES)
def test_brute_force_finds_no_other_split_within_bounds(packed: bool, name: str) -> None:
    found, bent = 0, 0
    limits = rules(**RULES[name])
    fences = [Fence(), Fence(-0.02, 0.05), Fence(0.03), Fence(upper=-0.01), Fence(-0.5, 0.5)]
    for seed, n_rows in enumerate([2, 60, 300, 2_000, PACKED_BLOCK + 1]):
        data, gradients, entries = case(seed, n_rows, packed, SEVEN, [3, 6])
        sums = reference.histogram(data, range(7), gradients, entries)
        total = reference.total_of(reference.feature_sums(data, 0, sums))
        free = reference.best_split(data, range(7), sums, total, gradients, limits)
        for fence in fences:
            for signs in ((0, 1, 0, 0, 0, 0, 0), (1, -1, 1, 0, -1, 1, 0), (-1, 1, -1, 0, 1, -1, 0)):
                constraints = Constraints(signs)
                expected = reference.best_split(
                    data, range(7), sums, total, gradients, limits, constraints, fence
                )
                split = kernel_split(data, range(7), sums, total, gradients, limits, 1, constraints, fence)
                assert split == expected
                found += split is not None
                bent += split != free
    assert found > 20
    assert bent > 20


def same_bounds(state: ConstraintState, expected: list[reference.Node], constraints: Constraints) -> None:
    for number, node in enumerate(expected):
        if constraints.monotone:
            assert (state.lower[number], state.upper[number]) == node.fence[:2]
        if constraints.groups:
            whole = [place for place, group in enumerate(constraints.groups) if node.fence.path <= set(group)]
            assert open_groups(state, number)[: len(constraints.groups)] == [
                place in whole for place in range(len(constraints.groups))
            ]


def open_groups(state: ConstraintState, node: int) -> list[bool]:
    return [bool(int(word) >> bit & 1) for word in state.open_groups[node] for bit in range(64)]


@pytest.mark.parametrize("growth", [0, DEPTHWISE])
@pytest.mark.parametrize("chosen", CONSTRAINTS)
def test_a_tree_under_constraints_is_the_twins(chosen: str, growth: int) -> None:
    constraints = wide(CONSTRAINTS[chosen], 6)
    for name, changes in TREE_RULES.items():
        limits = rules(growth=growth, max_leaves=16, **changes)
        data, gradients, entries = test_grower.case(350, name != "plain")
        expected = reference.grow_tree(data, range(6), gradients, limits, int(KEY), entries, constraints)
        assert len(expected) > 3
        for tasks in (1, 3):
            state = constraints.state(6, 60, limits.path_smooth > 0.0)
            tree = test_grower.grown(data, range(6), gradients, limits, entries, tasks, 16, state)
            test_grower.assert_same(tree, expected)
            same_bounds(state, expected, constraints)


@pytest.mark.parametrize("chosen", CONSTRAINTS)
def test_an_oblivious_tree_under_constraints_is_the_twins(chosen: str) -> None:
    constraints = CONSTRAINTS[chosen]
    for name, changes in TREE_RULES.items():
        limits = rules(max_depth=4, **changes)
        data, gradients, entries = test_oblivious.case(250, name != "plain")
        expected = reference_oblivious.grow_oblivious(
            data, range(5), gradients, limits, int(KEY), entries, constraints
        )
        assert len(expected) > 1
        for tasks in (1, 2):
            state = constraints.state(5, 64, limits.path_smooth > 0.0)
            tree = test_oblivious.grown(data, range(5), gradients, limits, entries, tasks, state)
            test_oblivious.assert_same(tree, expected)
            same_bounds(state, expected, constraints)


def test_constrained_columns_searched_by_several_tasks_give_the_twins_tree() -> None:
    n_bins = [2 + feature % 11 for feature in range(270)]
    data, gradients, entries = test_grower.case(600, True, n_bins, range(0, 270, 6))
    signs = tuple(0 if feature % 6 == 0 else feature % 3 - 1 for feature in range(270))
    groups = tuple(tuple(range(first, min(first + 5, 270))) for first in range(0, 270, 2))  # 135 groups
    limits = rules(max_leaves=8, min_samples_leaf=10)
    for constraints in (Constraints(signs), Constraints((), groups), Constraints(signs, groups)):
        expected = reference.grow_tree(data, range(270), gradients, limits, int(KEY), entries, constraints)
        assert len(expected) > 5
        for tasks in (1, 2, 3):
            state = constraints.state(270, 17)
            tree = test_grower.grown(data, range(270), gradients, limits, entries, tasks, 8, state)
            test_grower.assert_same(tree, expected)
            same_bounds(state, expected, constraints)


def paths(nodes: Nodes, n_nodes: int) -> list[set[int]]:
    """The columns on the way to every leaf."""
    above: list[set[int]] = [set() for _ in range(n_nodes)]
    for node in range(n_nodes):
        if nodes.feature[node] >= 0:
            for child in (nodes.left[node], nodes.left[node] + 1):
                above[child] = above[node] | {int(nodes.feature[node])}
    return [above[node] for node in range(n_nodes) if nodes.feature[node] < 0]


def test_a_group_beyond_the_first_word_of_bits_is_kept() -> None:
    data, gradients, entries = test_grower.case(1_500, True)
    groups = (*(((0,),) * 70), (0, 3), (1, 4, 5))  # the last two are bits 6 and 7 of the second word
    state = Constraints((), groups).state(6, 80)
    assert state.groups.shape == (6, 2)
    n_nodes, _, nodes = test_grower.grown(
        data, range(6), gradients, rules(max_leaves=30), entries, 1, 30, state
    )
    found = paths(nodes, n_nodes)
    assert any(len(path) > 1 for path in found)
    assert all(path <= {0, 3} or path <= {1, 4, 5} or path <= {2} for path in found)


def test_without_constraints_there_are_no_arrays_to_look_at() -> None:
    for nothing in (Constraints(), Constraints((0, 0, 0)), Constraints((0, 0, 0), ())):
        assert not nothing.monotone
        state = nothing.state(3, 10)
        assert [len(field) for field in state] == [0] * 7
    free = Gradients(True, np.zeros(1, np.uint64), 1.0, 1.0)
    assert reference.parent_score(reference.Sums(2, 3, 4), free, rules()) == pytest.approx(1.0)


def test_bounds_meet_in_the_middle_of_the_two_values_by_hand() -> None:
    # Units of one, lambda 1: the left value is -8 / (3 + 1) = -2, the right 12 / (5 + 1) = 2, and then 1 and 5.
    sums = [reference.Sums(8, 3, 2), reference.Sums(-12, 5, 2)]
    free = Gradients(True, np.zeros(1, np.uint64), 1.0, 1.0)
    values = [reference.value_within(side, Fence(), free, rules()) for side in sums]
    assert values == [-2.0, 2.0]
    below, above = reference.children_fences(Fence(), 1, 0, *values)
    assert (below.upper, above.lower, below.lower, above.upper) == (0.0, 0.0, -math.inf, math.inf)
    above_first, below_second = reference.children_fences(Fence(-3.0, 7.0), -1, 0, 2.0, -2.0)
    assert above_first[:2] == (0.0, 7.0)
    assert below_second[:2] == (-3.0, 0.0)
