"""Whole trees against a grower that counts every node from its rows and sorts its open nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from unit.tree.factories import (
    empty_nodes,
    n_cells,
    random_bins,
    random_gradients,
    rules,
    tree_input,
    workspace,
)
from weald.tree.growth.grower import grow_tree
from weald.tree.search import Search
from weald.tree.splits.constraints import Constraints, ConstraintState
from weald.tree.splits.forced import ForcedSplits
from weald.tree.state import DEPTHWISE, LEAFWISE, PACKED_BLOCK, Gradients, Nodes, Rules, TreeInput, Workspace

SIX = [255, 5, 3, 40, 9, 200]
KEY = np.uint64(0xFEDC_BA98_7654_3210)
NOTHING_FORCED = ForcedSplits(*(np.empty(0, np.int64) for _ in ForcedSplits._fields))
RULES: dict[str, dict[str, Any]] = {
    "leafwise": {},
    "depthwise": {"growth": DEPTHWISE},
    "depthwise to a depth": {"growth": DEPTHWISE, "max_leaves": 64, "max_depth": 4},
    "leafwise to a depth": {"max_leaves": 64, "max_depth": 3},
    "stump": {"max_leaves": 2},
    "no split at all": {"max_depth": 0},
    "one leaf": {"max_leaves": 1},
    "large leaves": {"min_samples_leaf": 90, "max_leaves": 40},
    "heavy leaves": {"min_child_weight": 30.0, "max_leaves": 40},
    "regularised": {"reg_lambda": 20.0, "reg_alpha": 0.3, "gamma": 0.05, "max_leaves": 40},
    "clipped": {"max_delta_step": 0.02},
    "columns by level": {"level_share": 0.5, "max_leaves": 24},
    "columns by node": {"node_share": 0.4, "max_leaves": 24},
    "columns by level and node": {"level_share": 0.7, "node_share": 0.5, "growth": DEPTHWISE},
    "large nodes": {"min_samples_split": 120, "max_leaves": 40},
    "worthwhile splits": {"min_gain": 0.05, "max_leaves": 40},
    "to the last row": {"max_leaves": 60, "min_child_weight": 0.0, "reg_lambda": 0.0},
    "sets of categories": {"max_cat_to_onehot": 4},
    "small sets of categories": {"max_cat_to_onehot": 1, "max_cat_threshold": 1, "max_leaves": 40},
    "smoothed sets": {
        "max_cat_to_onehot": 1,
        "max_leaves": 40,
        "cat_smooth": 9.0,
        "cat_l2": 4.0,
        "min_samples_category": 15,
    },
    "clipped sets": {"max_cat_to_onehot": 1, "max_delta_step": 0.02},
    "smoothed": {"path_smooth": 30.0, "max_leaves": 30, "min_samples_leaf": 2},
    "smoothed depthwise": {"path_smooth": 0.5, "growth": DEPTHWISE, "reg_alpha": 0.3, "max_delta_step": 0.02},
    "path-smoothed sets": {"path_smooth": 8.0, "max_cat_to_onehot": 1},
    "drawn": {"extra_trees": True, "max_leaves": 30},
    "drawn depthwise": {"extra_trees": True, "growth": DEPTHWISE, "min_samples_leaf": 40, "node_share": 0.7},
    "drawn sets": {"extra_trees": True, "max_cat_to_onehot": 1, "max_cat_threshold": 2, "max_leaves": 30},
    "drawn groups": {
        "extra_trees": True,
        "max_cat_to_onehot": 1,
        "cat_smooth": 9.0,
        "min_samples_category": 5,
    },
    "smoothed twice": {"path_smooth": 9.0, "cat_smooth": 9.0, "cat_l2": 5.0, "max_cat_to_onehot": 1},
    "drawn and smoothed": {"extra_trees": True, "path_smooth": 5.0, "max_leaves": 30},
}


def grown(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    limits: Rules,
    entries: NDArray[np.uint64],
    tasks: int,
    slots: int,
    state: ConstraintState | None = None,
    forced: ForcedSplits | None = None,
) -> tuple[int, Workspace, Nodes]:
    """The kernel's tree, grown in rubbish."""
    work = workspace(len(entries), n_cells(data), tasks, slots, limits.max_leaves + 1)
    work.entries[0] = entries
    nodes = empty_nodes(2 * limits.max_leaves + 1)
    chosen = np.array(features, np.int64)
    if state is None:
        state = Constraints().state(len(data.n_bins), len(nodes.feature), limits.path_smooth > 0.0)
    search = Search(data, gradients, limits, KEY, work, nodes, state)
    n_nodes = grow_tree(search, chosen, len(entries), tasks, NOTHING_FORCED if forced is None else forced)
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
        split = (
            nodes.gain[number],
            nodes.feature[number],
            nodes.split_bin[number],
            nodes.missing_left[number],
        )
        assert split == twin.split[:4]
        if twin.split.left_bins:
            assert reference.bins_of_words(nodes.left_bins[number].tolist()) == twin.split.left_bins


def case(
    n_rows: int, packed: bool, n_bins: Sequence[int] = SIX, categorical: Sequence[int] = (1, 4), **more: Any
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
    for n_rows in (3, 1_500):
        data, gradients, entries = case(n_rows, packed)
        expected = reference.grow_tree(data, range(6), gradients, limits, int(KEY), entries)
        for tasks in (1, 3):
            tree = grown(data, range(6), gradients, limits, entries, tasks, limits.max_leaves)
            assert_same(tree, expected)
    assert len(expected) > 1 or name in ("no split at all", "one leaf")


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("n_rows", [PACKED_BLOCK, PACKED_BLOCK + 1, 20_000])
def test_nodes_on_both_sides_of_a_block_give_the_twins_tree(packed: bool, n_rows: int) -> None:
    limits = rules(max_leaves=12, min_samples_leaf=5)
    for uniform in (True, False):
        data, gradients, entries = case(n_rows, packed, uniform=uniform)
        expected = reference.grow_tree(data, range(6), gradients, limits, int(KEY), entries)
        assert len(expected) == 23
        for tasks in (1, 2, 3, 5):
            assert_same(grown(data, range(6), gradients, limits, entries, tasks, 12), expected)


def test_the_number_of_histograms_kept_does_not_change_the_tree() -> None:
    for growth in (LEAFWISE, DEPTHWISE):
        limits = rules(max_leaves=20, growth=growth, node_share=0.8)
        data, gradients, entries = case(9_000, True)
        expected = reference.grow_tree(data, range(6), gradients, limits, int(KEY), entries)
        for slots in (1, 2, 3, 7, 20, 30):
            assert_same(grown(data, range(6), gradients, limits, entries, 2, slots), expected)


@pytest.mark.parametrize("packed", [True, False])
def test_sampled_rows_and_columns_grow_the_twins_tree(packed: bool) -> None:
    data, gradients, entries = case(12_000, packed)
    sampled = entries[np.random.default_rng(1).random(len(entries)) < 0.6]
    for features in (range(6), [0, 2, 3, 5], [4, 5], [1]):
        limits = rules(max_leaves=10, node_share=0.6)
        expected = reference.grow_tree(data, features, gradients, limits, int(KEY), sampled)
        for tasks in (1, 2):
            assert_same(grown(data, features, gradients, limits, sampled, tasks, 10), expected)


def test_many_columns_grow_the_twins_tree_for_any_number_of_tasks() -> None:
    n_bins = [2 + feature % 11 for feature in range(270)]
    data, gradients, entries = case(600, True, n_bins, range(0, 270, 6))
    limits = rules(max_leaves=6, min_samples_leaf=10)
    expected = reference.grow_tree(data, range(270), gradients, limits, int(KEY), entries)
    assert len(expected) == 11
    for tasks in (1, 2, 3, 5):
        assert_same(grown(data, range(270), gradients, limits, entries, tasks, 6), expected)


def test_rows_that_are_all_alike_stay_one_leaf() -> None:
    bins = np.full((500, 6), 2, np.uint8)
    gradients, entries = random_gradients(np.random.default_rng(2), 500, True)
    data = tree_input(bins, SIX, (1, 4))
    assert grown(data, range(6), gradients, rules(), entries, 1, 4)[0] == 1


def test_columns_with_only_missing_values_are_never_split() -> None:
    generator = np.random.default_rng(6)
    bins = random_bins(generator, 800, SIX)
    bins[:, 3], bins[:, 4] = SIX[3], SIX[4]
    gradients, entries = random_gradients(generator, 800, True)
    data, limits = tree_input(bins, SIX, (1, 4)), rules(max_leaves=30)
    expected = reference.grow_tree(data, range(6), gradients, limits, int(KEY), entries)
    tree = grown(data, range(6), gradients, limits, entries, 1, 30)
    assert_same(tree, expected)
    assert not {3, 4} & set(tree[2].feature[: tree[0]].tolist())


def test_twin_columns_are_split_by_the_first_and_equal_gains_by_the_oldest_node() -> None:
    pattern = np.array([0, 0, 1, 1] * 8, np.uint8)
    half = np.array([0] * 16 + [1] * 16, np.uint8)
    bins = np.stack([half, half, pattern, pattern], axis=1)
    gradients = Gradients(True, np.zeros(1, np.uint64), 0.1, 0.1)
    values = np.where(half == 1, 40, -40) + np.where(pattern == 1, 10, -10)
    words = [reference.encode_entry(True, row, g, 10) for row, g in enumerate(values.tolist())]
    entries = np.array(words, np.uint64)
    data = tree_input(bins, [2, 2, 2, 2])
    for growth in (LEAFWISE, DEPTHWISE):
        limits = rules(growth=growth, max_leaves=3)
        expected = reference.grow_tree(data, range(4), gradients, limits, int(KEY), entries)
        tree = grown(data, range(4), gradients, limits, entries, 1, 3)
        assert_same(tree, expected)
        assert tree[2].feature[:3].tolist() == [0, 2, -1]
