"""Symmetric trees against a twin that tries every split of a level by itself, and the values of their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from reference_oblivious import grow_oblivious as naive_grow
from unit.tree.factories import (
    empty_nodes,
    n_cells,
    random_bins,
    random_gradients,
    rules,
    tree_input,
    workspace,
)
from weald.tree.growth.oblivious import grow_oblivious
from weald.tree.rules import TreeRules
from weald.tree.search import Search
from weald.tree.splits.constraints import Constraints, ConstraintState
from weald.tree.splits.values import fill_small_leaves
from weald.tree.state import PACKED_BLOCK, Gradients, Nodes, Rules, TreeInput, Workspace

FIVE = [60, 5, 3, 20, 9]
KEY = np.uint64(0xFEDC_BA98_7654_3210)
RULES: dict[str, dict[str, Any]] = {
    "one level": {"max_depth": 1},
    "two levels": {"max_depth": 2},
    "three levels": {"max_depth": 3},
    "four levels": {"max_depth": 4},
    "five levels": {"max_depth": 5},
    "large leaves": {"max_depth": 4, "min_samples_leaf": 90},
    "heavy leaves": {"max_depth": 4, "min_child_weight": 30.0},
    "gamma": {"max_depth": 5, "gamma": 0.3},
    "regularised": {"max_depth": 4, "reg_lambda": 20.0, "reg_alpha": 0.3, "gamma": 0.01},
    "clipped": {"max_depth": 3, "max_delta_step": 0.02},
    "columns by level": {"max_depth": 4, "level_share": 0.5},
    "columns by level and node": {"max_depth": 4, "level_share": 0.8, "node_share": 0.5},
    "to the last row": {"max_depth": 5, "min_child_weight": 0.0, "reg_lambda": 0.0},
    "sets of categories": {"max_cat_to_onehot": 4, "max_depth": 4},
    "small sets of categories": {"max_cat_to_onehot": 1, "max_cat_threshold": 1, "max_depth": 4},
    "smoothed sets": {
        "max_cat_to_onehot": 1,
        "max_depth": 4,
        "cat_smooth": 25.0,
        "cat_l2": 10.0,
        "min_samples_category": 30,
    },
    "clipped sets": {"max_cat_to_onehot": 1, "max_delta_step": 0.02, "max_depth": 3},
    "smoothed": {"max_depth": 4, "path_smooth": 30.0, "min_samples_leaf": 30},
    "path-smoothed sets": {"max_depth": 3, "path_smooth": 3.0, "max_cat_to_onehot": 1},
    "drawn": {"max_depth": 4, "extra_trees": True},
    "drawn sets": {"max_depth": 4, "extra_trees": True, "max_cat_to_onehot": 1, "max_cat_threshold": 2},
    "smoothed twice": {
        "max_depth": 3,
        "path_smooth": 9.0,
        "cat_smooth": 9.0,
        "cat_l2": 5.0,
        "max_cat_to_onehot": 1,
    },
    "drawn and smoothed": {"max_depth": 4, "extra_trees": True, "path_smooth": 5.0, "min_samples_leaf": 9},
}


def grown(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    limits: Rules,
    entries: NDArray[np.uint64],
    tasks: int,
    state: ConstraintState | None = None,
) -> tuple[int, Workspace, Nodes]:
    """The kernel's tree, grown in rubbish and in no more slots than the grower allots."""
    most_leaves = 2**limits.max_depth
    work = workspace(len(entries), n_cells(data), tasks, 1 + max(1, most_leaves // 2), most_leaves + 1)
    work.entries[0] = entries
    nodes = empty_nodes(2 * most_leaves)
    chosen = np.array(features, np.int64)
    if state is None:
        state = Constraints().state(len(data.n_bins), len(nodes.feature), limits.path_smooth > 0.0)
    search = Search(data, gradients, limits, KEY, work, nodes, state)
    n_nodes = grow_oblivious(search, chosen, len(entries), tasks)
    assert not work.buffers.any()
    return n_nodes, work, nodes


def assert_same(tree: tuple[int, Workspace, Nodes], expected: list[reference.Node]) -> None:
    n_nodes, work, nodes = tree
    assert n_nodes == len(expected)
    for number, twin in enumerate(expected):
        place = (nodes.begin[number], nodes.end[number], nodes.depth[number], nodes.left[number])
        assert place == (twin.begin, twin.end, twin.depth, twin.left)
        sums = (nodes.gradient_sum[number], nodes.hessian_sum[number], twin.end - twin.begin)
        assert sums == twin.sums
        if twin.left == 0:
            assert (nodes.feature[number], nodes.gain[number]) == (-1, 0.0)
            rows = work.entries[nodes.side[number], twin.begin : twin.end]
            assert np.array_equal(rows, twin.entries)
            continue
        assert twin.split is not None
        split = (nodes.feature[number], nodes.split_bin[number], nodes.missing_left[number])
        assert split == twin.split[1:4]
        assert nodes.gain[number] == twin.split.gain
        if twin.split.left_bins:
            assert reference.bins_of_words(nodes.left_bins[number].tolist()) == twin.split.left_bins


def case(
    n_rows: int, packed: bool, n_bins: Sequence[int] = FIVE, categorical: Sequence[int] = (1, 4), **more: Any
) -> tuple[TreeInput, Gradients, NDArray[np.uint64]]:
    generator = np.random.default_rng(n_rows)
    bins = random_bins(generator, n_rows, n_bins)
    signal = np.sin(bins @ (0.05 * np.arange(1, len(n_bins) + 1)))
    gradients, entries = random_gradients(generator, n_rows, packed, signal)
    return tree_input(bins, n_bins, categorical, **more), gradients, entries


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", RULES)
def test_a_tree_is_that_of_the_twin_under_every_rule(packed: bool, name: str) -> None:
    limits = rules(**RULES[name])
    for n_rows in (3, 700):
        data, gradients, entries = case(n_rows, packed)
        expected = naive_grow(data, range(5), gradients, limits, int(KEY), entries)
        for tasks in (1, 2, 3):
            assert_same(grown(data, range(5), gradients, limits, entries, tasks), expected)
    assert len(expected) > 1


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("n_rows", [PACKED_BLOCK, 20_000])
def test_nodes_on_both_sides_of_a_block_give_the_twins_tree(packed: bool, n_rows: int) -> None:
    limits = rules(max_depth=3, min_samples_leaf=5)
    for uniform in (True, False):
        data, gradients, entries = case(n_rows, packed, uniform=uniform)
        expected = naive_grow(data, range(5), gradients, limits, int(KEY), entries)
        assert len(expected) == 15
        for tasks in (1, 2, 3):
            assert_same(grown(data, range(5), gradients, limits, entries, tasks), expected)


def test_levels_that_are_searched_by_several_tasks_give_the_twins_tree() -> None:
    n_bins = [2 + feature % 5 for feature in range(90)]  # 90 * 256 bins: shared from the root on
    data, gradients, entries = case(300, True, n_bins, range(0, 90, 6))
    limits = rules(max_depth=3, min_samples_leaf=4)
    expected = naive_grow(data, range(90), gradients, limits, int(KEY), entries)
    assert len(expected) == 15
    for tasks in (1, 2, 3, 5):
        assert_same(grown(data, range(90), gradients, limits, entries, tasks), expected)


@pytest.mark.parametrize("packed", [True, False])
def test_sampled_rows_and_columns_grow_the_twins_tree(packed: bool) -> None:
    data, gradients, entries = case(1_200, packed)
    sampled = entries[np.random.default_rng(1).random(len(entries)) < 0.6]
    for features in ([0, 2, 3], [1, 4], [3]):
        limits = rules(max_depth=3, level_share=0.7)
        expected = naive_grow(data, features, gradients, limits, int(KEY), sampled)
        for tasks in (1, 2):
            assert_same(grown(data, features, gradients, limits, sampled, tasks), expected)


def hand_made(
    bins: NDArray[np.uint8], n_bins: Sequence[int], gradient: Sequence[int], categorical: Sequence[int] = ()
) -> tuple[TreeInput, Gradients, NDArray[np.uint64]]:
    """Rows with these packed gradients and a hessian of 10; units are a tenth."""
    gradients = Gradients(True, np.zeros(1, np.uint64), 0.1, 0.1)
    words = [reference.encode_entry(True, row, g, 10) for row, g in enumerate(gradient)]
    return tree_input(bins, n_bins, categorical), gradients, np.array(words, np.uint64)


def test_all_nodes_of_a_level_share_one_split() -> None:
    data, gradients, entries = case(900, True)
    n_nodes, _, nodes = grown(data, range(5), gradients, rules(max_depth=4), entries, 1)
    assert n_nodes == 31
    for depth in range(4):
        level = nodes.depth[:n_nodes] == depth
        for field in (nodes.feature, nodes.split_bin, nodes.missing_left):
            assert len(np.unique(field[:n_nodes][level])) == 1
    assert nodes.begin[15] == 0
    assert np.array_equal(nodes.end[15:30], nodes.begin[16:31])


def test_of_equal_columns_the_first_is_split() -> None:
    half = np.array([0] * 8 + [1] * 8, np.uint8)
    bins = np.stack([half * 0, half, half], axis=1)
    data, gradients, entries = hand_made(bins, [2, 2, 2], [-40] * 8 + [40] * 8)
    for tasks in (1, 2):
        n_nodes, _, nodes = grown(data, range(3), gradients, rules(max_depth=3), entries, tasks)
        assert (n_nodes, nodes.feature[0]) == (3, 1)


def test_of_equal_thresholds_the_lowest_bin_and_missing_to_the_right_win() -> None:
    column = np.array([0] * 4 + [2] * 4 + [4] * 4, np.uint8)  # bin 4 holds missing values, 1 and 3 are empty
    data, gradients, entries = hand_made(column[:, None], [4], [50] * 4 + [-50] * 4 + [0] * 4)
    n_nodes, _, nodes = grown(data, [0], gradients, rules(max_depth=1, reg_lambda=0.0), entries, 1)
    assert (n_nodes, nodes.split_bin[0], nodes.missing_left[0]) == (3, 0, 0)


def test_without_missing_values_those_to_come_go_where_most_rows_of_the_level_went() -> None:
    for n_left, expected in ((7, 0), (8, 1), (9, 1)):
        column = np.array([0] * n_left + [1] * (16 - n_left), np.uint8)
        data, gradients, entries = hand_made(column[:, None], [2], [-40] * n_left + [40] * (16 - n_left))
        _, _, nodes = grown(data, [0], gradients, rules(max_depth=1), entries, 1)
        assert nodes.missing_left[0] == expected


def test_gamma_is_paid_by_every_node_of_a_level() -> None:
    halves = np.array([0] * 8 + [1] * 8, np.uint8)
    pattern = np.array([0, 1] * 8, np.uint8)
    gradient = [-40 + 10 * p for p in pattern[:8].tolist()] + [40 + 10 * p for p in pattern[8:].tolist()]
    data, gradients, entries = hand_made(np.stack([halves, pattern], axis=1), [2, 2], gradient)
    free = grown(data, [0, 1], gradients, rules(max_depth=2, reg_lambda=0.0), entries, 1)
    assert free[0] == 7
    price = float(free[2].gain[1] + free[2].gain[2]) / 2.0
    for gamma, n_nodes in ((0.999 * price, 7), (1.001 * price, 3)):
        limits = rules(max_depth=2, reg_lambda=0.0, gamma=gamma)
        assert grown(data, [0, 1], gradients, limits, entries, 1)[0] == n_nodes


def test_rows_that_are_all_alike_stay_one_leaf() -> None:
    data, gradients, entries = hand_made(np.full((50, 2), 1, np.uint8), [3, 3], [7, -3] * 25, (1,))
    assert grown(data, [0, 1], gradients, rules(max_depth=4), entries, 1)[0] == 1


def filled(
    fewest: int, counts: Sequence[int], sums: Sequence[tuple[float, float]], values: Sequence[float]
) -> list[float]:
    """Values of the four leaves of a tree of depth two whose leaves have these rows, after small ones are filled."""
    end = np.cumsum(counts)
    begin = end - np.array(counts)
    nodes = {
        "feature": np.array([0, 1, 1, -1, -1, -1, -1], np.int32),
        "left": np.array([1, 3, 5, 0, 0, 0, 0], np.int32),
        "depth": np.array([0, 1, 1, 2, 2, 2, 2], np.int32),
        "begin": np.array([0, 0, begin[2], *begin]),
        "end": np.array([end[3], end[1], end[3], *end]),
    }
    found = np.array(values, np.float64)
    limits = TreeRules("oblivious", max_depth=2, min_samples_leaf=fewest, reg_lambda=1.0)
    penalty, leaves = np.ones(7), np.array([3, 4, 5, 6])
    fill_small_leaves(nodes, leaves, np.array(sums, np.float64), penalty, limits, found)
    return found.tolist()


SUMS = [(-6.0, 2.0), (2.0, 1.0), (9.0, 4.0), (-1.0, 2.0)]
OWN = [0.125, 0.25, 0.5, 1.0]


def test_leaves_with_enough_rows_keep_their_value() -> None:
    assert filled(5, [5, 6, 7, 8], SUMS, OWN) == OWN


def test_a_leaf_with_too_few_rows_takes_its_parents_value() -> None:
    # The parent: gradient -6 + 2 = -4, hessian 2 + 1 = 3, with lambda 4 / (3 + 1).
    assert filled(5, [9, 4, 7, 8], SUMS, OWN) == [0.125, 1.0, 0.5, 1.0]
    # The other parent: gradient 9 - 1 = 8, hessian 4 + 2 = 6.
    assert filled(5, [9, 8, 4, 8], SUMS, OWN) == [0.125, 0.25, -8.0 / 7.0, 1.0]


def test_an_empty_leaf_takes_its_parents_value() -> None:
    assert filled(1, [9, 0, 7, 8], [(-6.0, 2.0), (0.0, 0.0), *SUMS[2:]], OWN) == [0.125, 2.0, 0.5, 1.0]


def test_a_leaf_below_a_parent_with_too_few_rows_takes_the_next_ancestors_value() -> None:
    # The root: gradient 4, hessian 9.
    assert filled(5, [2, 1, 7, 8], SUMS, OWN) == [-0.4, -0.4, 0.5, 1.0]


def test_a_tree_with_too_few_rows_altogether_takes_the_roots_value() -> None:
    assert filled(100, [2, 1, 7, 8], SUMS, OWN) == [-0.4] * 4
