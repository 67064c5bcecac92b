"""Compiled planning: which way each tree of a forest is evaluated, and its tests laid out for that way.

Runs once per forest, before the first prediction; `weald.forest.kernels` explains the ways.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.forest.kernels import MASK_GROUP, MASK_LEAVES, MASKED, SYMMETRIC, SYMMETRIC_GROUP, WALKED
from weald.runtime.jit import kernel

# A step of a walk takes as long as this many tests of a mask (measured: 1.1 ns and 0.06 ns a row).
TESTS_PER_STEP = 18
# A symmetric tree has 2 ** depth leaves; deeper ones do not exist outside of tests.
_DEEPEST_SYMMETRIC = 24
_LARGEST = np.int32(2**31 - 1)
# Columns of `PackedForest.trees`.
FIRST_NODE, DEPTH, WAY, FIRST_PASS, LAST_PASS, FIRST_LEAF = range(6)


@kernel
def _measure(left: Any, level: Any, leaves: Any, first_leaf: Any) -> Any:
    """OUT of a tree's nodes: level, leaves below, number of the first of them; returns the depth."""
    size = left.shape[0]
    level[0] = 0
    first_leaf[0] = 0
    depth = 0
    for node in range(size):
        child = left[node]
        if child > 0:
            level[child] = level[child + 1] = level[node] + 1
            depth = max(depth, level[node] + 1)
    for node in range(size - 1, -1, -1):
        child = left[node]
        leaves[node] = leaves[child] + leaves[child + 1] if child > 0 else 1
    for node in range(size):
        child = left[node]
        if child > 0:
            first_leaf[child] = first_leaf[node]
            first_leaf[child + 1] = first_leaf[node] + leaves[child]
    return depth


@kernel
def _is_symmetric(left: Any, level: Any, depth: Any, channel: Any, threshold: Any) -> Any:
    """Whether the tree is full and all nodes of a level make the same test."""
    if depth > _DEEPEST_SYMMETRIC or left.shape[0] != 2 ** (depth + 1) - 1:
        return False
    seen = np.full(depth + 1, -1, np.int64)
    for node in range(left.shape[0]):
        if left[node] == 0:
            continue
        same = seen[level[node]]
        if same < 0:
            seen[level[node]] = node
        elif channel[node] != channel[same] or threshold[node] != threshold[same]:
            return False
    return True


@kernel
def _count_tests(left: Any, leaves: Any, first_leaf: Any) -> Any:
    """How many tests all masks of a tree have together, not counting those that fill up the groups."""
    total = 0
    for node in range(left.shape[0]):
        if left[node] > 0:
            last = first_leaf[node] + leaves[left[node]] - 1
            total += last // MASK_LEAVES - first_leaf[node] // MASK_LEAVES + 1
    return total


@kernel
def plan_trees(offsets: Any, left: Any, channel: Any, threshold: Any, level: Any, leaves: Any, first_leaf: Any, trees: Any) -> Any:
    """OUT trees (see `PackedForest`) and what is known of each node; returns sizes of passes, tests, leaf values.

    The sizes are upper bounds: `lay_out` says how much it has used.
    """
    passes = tests = values = 0
    for tree in range(trees.shape[0]):
        begin, end = offsets[tree], offsets[tree + 1]
        nodes = left[begin:end]
        depth = _measure(nodes, level[begin:end], leaves[begin:end], first_leaf[begin:end])
        trees[tree, FIRST_NODE] = begin
        trees[tree, DEPTH] = depth
        trees[tree, WAY] = WALKED
        if _is_symmetric(nodes, level[begin:end], depth, channel[begin:end], threshold[begin:end]):
            trees[tree, WAY] = SYMMETRIC
            passes += 1
            tests += depth + SYMMETRIC_GROUP
            values += leaves[begin]
            continue
        needed = _count_tests(nodes, leaves[begin:end], first_leaf[begin:end])
        if needed <= TESTS_PER_STEP * depth:
            trees[tree, WAY] = MASKED
            masks = (leaves[begin] + MASK_LEAVES - 1) // MASK_LEAVES
            passes += masks
            tests += needed + masks * MASK_GROUP
            values += leaves[begin]
    return passes, tests, values


@kernel
def _lay_out_symmetric(left: Any, level: Any, depth: Any, channel: Any, threshold: Any, value: Any, tests: Any, values: Any) -> Any:
    """OUT the tests of a symmetric tree and its values by leaf number; returns the number of tests."""
    path = np.zeros(left.shape[0], np.int64)
    for node in range(left.shape[0]):
        child = left[node]
        if child == 0:
            values[path[node]] = value[node]
            continue
        path[child] = path[node]
        path[child + 1] = path[node] + (1 << level[node])
        tests[level[node], 0] = channel[node]
        tests[level[node], 1] = threshold[node]
        tests[level[node], 2] = 1 << level[node]
    return depth


@kernel
def _lay_out_mask(left: Any, leaves: Any, first_leaf: Any, channel: Any, threshold: Any, low: Any, tests: Any) -> Any:
    """OUT the tests that rule out leaves `low` to `low + MASK_LEAVES`; returns their number."""
    count = 0
    for node in range(left.shape[0]):
        if left[node] == 0:
            continue
        begin = max(first_leaf[node] - low, 0)
        end = min(first_leaf[node] + leaves[left[node]] - low, MASK_LEAVES)
        if begin >= end:
            continue
        ruled_out = (np.int64(1) << end) - (np.int64(1) << begin)
        tests[count, 0] = channel[node]
        tests[count, 1] = threshold[node]
        tests[count, 2] = np.int32(~ruled_out)
        count += 1
    return count


@kernel
def _fill_group(count: Any, group: Any, tests: Any) -> Any:
    """OUT tests that every row passes, until a multiple of `group` is reached; returns the new number."""
    while count % group:
        tests[count, 0] = 0
        tests[count, 1] = _LARGEST
        tests[count, 2] = -1
        count += 1
    return count


@kernel
def lay_out(offsets: Any, left: Any, channel: Any, threshold: Any, level: Any, leaves: Any, first_leaf: Any, value: Any, trees: Any, passes: Any, tests: Any, values: Any) -> Any:
    """OUT the rest of trees, passes, tests and leaf values of all trees; returns the number of tests."""
    p = t = v = 0
    for tree in range(trees.shape[0]):
        trees[tree, FIRST_PASS] = p
        trees[tree, LAST_PASS] = p
        trees[tree, FIRST_LEAF] = v
        way = trees[tree, WAY]
        if way == WALKED:
            continue
        begin, end = offsets[tree], offsets[tree + 1]
        nodes, asked, limit = left[begin:end], channel[begin:end], threshold[begin:end]
        if way == SYMMETRIC:
            depth = trees[tree, DEPTH]
            count = _lay_out_symmetric(nodes, level[begin:end], depth, asked, limit, value[begin:end], tests[t:], values[v:])
            count = _fill_group(count, SYMMETRIC_GROUP, tests[t:])
            passes[p, 0], passes[p, 1], passes[p, 2] = t, t + count, 0
            p, t = p + 1, t + count
        else:
            # The last leaves first: where an earlier mask has a leaf left, it overrides.
            for mask in range((leaves[begin] - 1) // MASK_LEAVES, -1, -1):
                low = mask * MASK_LEAVES
                count = _lay_out_mask(nodes, leaves[begin:end], first_leaf[begin:end], asked, limit, low, tests[t:])
                count = _fill_group(count, MASK_GROUP, tests[t:])
                passes[p, 0], passes[p, 1], passes[p, 2] = t, t + count, low
                p, t = p + 1, t + count
            for node in range(begin, end):
                if left[node] == 0:
                    values[v + first_leaf[node]] = value[node]
        trees[tree, LAST_PASS] = p
        v += leaves[begin]
    return t
