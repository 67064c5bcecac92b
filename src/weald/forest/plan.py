"""Decides which way each tree of a forest is evaluated, and lays out its tests for that way.

Runs once per forest, before the first prediction; `weald.forest.kernels` explains the ways. It is written in
whole arrays over all trees: plain NumPy, so that the first prediction does not wait for a compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest
from weald.forest.kernels import MASK_GROUP, MASK_LEAVES, SYMMETRIC_GROUP
from weald.forest.packed import MASKED, SYMMETRIC, WALKED, WALKED_SETS

# A step of a walk takes as long as this many tests of a mask (measured: 0.86 ns and 0.057 ns a row).
TESTS_PER_STEP: Final = 15
# A symmetric tree has 2 ** depth leaves; the limit keeps a leaf's number far from the end of int32.
_DEEPEST_SYMMETRIC: Final = 24
_LARGEST: Final = 2**31 - 1


class PredictionPlan(NamedTuple):
    """The arrays of `PackedForest` that have the same names."""

    trees: NDArray[np.int64]
    passes: NDArray[np.int64]
    tests: NDArray[np.int32]
    leaf_value: NDArray[np.float64]
    leaf_vector: NDArray[np.int32]
    node_vector: NDArray[np.int32]


@dataclass(frozen=True)
class _Shape:
    """What is known of each node of the trees looked at.

    `inner` lists their inner nodes; the others have one entry per node of the forest.
    """

    inner: NDArray[np.int64]
    child: NDArray[np.int64]  # left child, counted through the whole forest
    level: NDArray[np.int32]
    leaves: NDArray[np.int32]  # leaves below
    first_leaf: NDArray[np.int32]  # number of the first of them, counted from the left within the tree
    path: NDArray[np.int32]  # sum of 2 ** level over the steps to the right that lead to the node


def plan_trees(forest: Forest, channel: NDArray[np.int32], threshold: NDArray[np.int32]) -> PredictionPlan:
    """The plan for a forest whose nodes test `code of channel <= threshold`."""
    sizes = np.diff(forest.tree_offsets)
    n_leaves = (sizes + 1) // 2
    depth = forest.max_depth() if forest.n_trees else sizes
    is_full = (depth <= _DEEPEST_SYMMETRIC) & (sizes + 1 == 1 << np.minimum(depth + 1, 62))
    tree_of_node = np.repeat(np.arange(forest.n_trees), sizes)
    shape = _measure(forest, tree_of_node, is_full | (n_leaves - 1 <= TESTS_PER_STEP * depth))
    is_symmetric = _find_symmetric(shape, tree_of_node, is_full, channel, threshold)
    n_tests = np.bincount(tree_of_node[shape.inner], _masks_of(shape), minlength=forest.n_trees)
    is_masked = (n_leaves - 1 <= TESTS_PER_STEP * depth) & (n_tests <= TESTS_PER_STEP * depth) & ~is_symmetric
    way = np.select([is_symmetric, is_masked], [SYMMETRIC, MASKED], WALKED)
    n_passes = np.select([is_symmetric, is_masked], [1, (n_leaves + MASK_LEAVES - 1) // MASK_LEAVES], 0)
    last_pass = np.cumsum(n_passes)
    first_pass = last_pass - n_passes
    passes, tests = _lay_out(shape, tree_of_node, way, first_pass, n_passes, channel, threshold)
    counted = np.where(way == WALKED, 0, n_leaves)
    first_leaf = np.cumsum(counted) - counted
    first_vector = np.cumsum(n_leaves) - n_leaves
    has_sets = np.bincount(tree_of_node[forest.category_set >= 0], minlength=forest.n_trees) > 0
    final_way = np.where((way == WALKED) & has_sets, WALKED_SETS, way)
    columns = (forest.tree_offsets[:-1], depth, final_way, first_pass, last_pass, first_leaf, first_vector)
    trees = np.stack(columns, axis=1).astype(np.int64)
    numbered = _numbered_leaves(forest, shape, tree_of_node, way, first_leaf)
    leaf_value = np.zeros(int(counted.sum()), dtype=np.float64)
    leaf_value[numbered[1]] = forest.value[numbered[0]]
    leaf_vector, node_vector = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    if forest.has_vectors:
        is_leaf = forest.feature < 0
        node_vector = (np.cumsum(is_leaf) - 1 - first_vector[tree_of_node]).astype(np.int32)
        leaf_vector = np.zeros(leaf_value.size, dtype=np.int32)
        leaf_vector[numbered[1]] = node_vector[numbered[0]]
    return PredictionPlan(trees, passes, tests, leaf_value, leaf_vector, node_vector)


def _measure(forest: Forest, tree_of_node: NDArray[np.int64], looked_at: NDArray[np.bool_]) -> _Shape:
    """Down the levels of all trees at once, up again to count the leaves, and down to number them."""
    child = forest.left + forest.tree_offsets[tree_of_node]
    level, first_leaf, path = (np.zeros(forest.n_nodes, dtype=np.int32) for _ in range(3))
    leaves = np.ones(forest.n_nodes, dtype=np.int32)
    levels: list[NDArray[np.int64]] = []
    nodes = forest.tree_offsets[:-1][looked_at]
    while (inner := nodes[forest.feature[nodes] >= 0]).size:
        level[inner] = len(levels)
        levels.append(inner)
        nodes = np.concatenate([child[inner], child[inner] + 1])
    for inner in reversed(levels):
        leaves[inner] = leaves[child[inner]] + leaves[child[inner] + 1]
    for inner in levels:
        left = child[inner]
        first_leaf[left] = first_leaf[inner]
        first_leaf[left + 1] = first_leaf[inner] + leaves[left]
        path[left] = path[inner]
        path[left + 1] = path[inner] + (1 << np.minimum(level[inner], _DEEPEST_SYMMETRIC))
    return _Shape(np.sort(_joined(levels)), child, level, leaves, first_leaf, path)


def _joined(parts: list[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _find_symmetric(
    shape: _Shape,
    tree_of_node: NDArray[np.int64],
    is_full: NDArray[np.bool_],
    channel: NDArray[np.int32],
    threshold: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Which of the full trees make the same test in all nodes of a level."""
    symmetric = is_full.copy()
    nodes = shape.inner[is_full[tree_of_node[shape.inner]]]
    place = tree_of_node[nodes] * (_DEEPEST_SYMMETRIC + 1) + shape.level[nodes]
    for asked in (channel, threshold):
        some = np.zeros(is_full.size * (_DEEPEST_SYMMETRIC + 1), dtype=np.int32)
        some[place] = asked[nodes]
        symmetric[tree_of_node[nodes[some[place] != asked[nodes]]]] = False
    return symmetric


def _masks_of(shape: _Shape) -> NDArray[np.int64]:
    """In how many masks of its tree each inner node rules out leaves, namely those on its left."""
    first = shape.first_leaf[shape.inner].astype(np.int64)
    last = first + shape.leaves[shape.child[shape.inner]] - 1
    return last // MASK_LEAVES - first // MASK_LEAVES + 1


def _lay_out(
    shape: _Shape,
    tree_of_node: NDArray[np.int64],
    way: NDArray[np.int64],
    first_pass: NDArray[np.int64],
    n_passes: NDArray[np.int64],
    channel: NDArray[np.int32],
    threshold: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Passes and tests; every pass is filled up to whole groups with tests that change nothing."""
    way_of_inner = way[tree_of_node[shape.inner]]
    # In a symmetric tree the nodes at the left edge speak for their levels.
    edge = shape.inner[(way_of_inner == SYMMETRIC) & (shape.path[shape.inner] == 0)]
    repeats = np.where(way_of_inner == MASKED, _masks_of(shape), 0)
    masked = np.repeat(shape.inner, repeats)
    nth = np.arange(masked.size) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    mask = shape.first_leaf[masked] // MASK_LEAVES + nth
    tree = tree_of_node[masked]
    # The last leaves come first: where an earlier mask has a leaf, it overrides what they found.
    pass_of_masked = first_pass[tree] + n_passes[tree] - 1 - mask
    node = np.concatenate([edge, masked])
    pass_of_test = np.concatenate([first_pass[tree_of_node[edge]], pass_of_masked])
    action = np.concatenate([1 << shape.level[edge].astype(np.int64), _kept(shape, masked, mask)])

    way_of_pass = np.repeat(way, n_passes)
    group = np.where(way_of_pass == SYMMETRIC, SYMMETRIC_GROUP, MASK_GROUP)
    counts = np.bincount(pass_of_test, minlength=way_of_pass.size)
    filled = (counts + group - 1) // group * group
    stops = np.cumsum(filled)
    low = n_passes[np.repeat(np.arange(way.size), n_passes)] - 1
    low = low - (np.arange(way_of_pass.size) - np.repeat(first_pass, n_passes))
    passes = np.stack([stops - filled, stops, low * MASK_LEAVES], axis=1).astype(np.int64)

    order = np.argsort(pass_of_test, kind="stable")
    at = np.arange(order.size) + np.repeat(stops - filled - (np.cumsum(counts) - counts), counts)
    tests = np.zeros((int(filled.sum()), 3), dtype=np.int32)
    tests[:, 1] = _LARGEST
    tests[:, 2] = np.repeat(np.where(way_of_pass == SYMMETRIC, 0, -1), filled)
    tests[at, 0] = channel[node[order]]
    tests[at, 1] = threshold[node[order]] + 1
    tests[at, 2] = action[order]
    return passes, tests


def _kept(shape: _Shape, node: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bits of a mask, as a signed number, that stay when a row goes right: not the leaves on the left."""
    first = shape.first_leaf[node] - mask * MASK_LEAVES
    stop = first + shape.leaves[shape.child[node]]
    ruled_out = (1 << np.minimum(stop, MASK_LEAVES)) - (1 << np.maximum(first, 0))
    return np.asarray((~ruled_out).astype(np.int32), dtype=np.int64)


def _numbered_leaves(
    forest: Forest,
    shape: _Shape,
    tree_of_node: NDArray[np.int64],
    way: NDArray[np.int64],
    first_leaf: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The leaves of the trees that are not walked, and their places in the order of the leaves' numbers."""
    way_of_node = way[tree_of_node]
    leaf = np.flatnonzero((forest.feature < 0) & (way_of_node != WALKED))
    number = np.where(way_of_node[leaf] == SYMMETRIC, shape.path[leaf], shape.first_leaf[leaf])
    return leaf, first_leaf[tree_of_node[leaf]] + number
