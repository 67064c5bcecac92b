"""The leaf of binned rows that took no part in growing a tree: rows left out by sampling, evaluation sets.

A step down the tree waits for the cell it tests, and which way it goes cannot be guessed. So steps have no branches, a
leaf leads to itself, and a few rows walk abreast: while one waits for its cell, the others do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Int32s, Int64s, Ints
from weald.runtime.jit import inlined
from weald.runtime.tasks import part, shared_kernel
from weald.tree.rows.leaf import LeafNumbers
from weald.tree.splits.categories import has_bin

PARALLEL_ROWS = 5_000
ABREAST = 8  # half of the time of one by one; 4 are slower

# What a step reads of its node. To the right goes a bin above the limit; of the exception (missing, where that goes left)
# the opposite is true. A split into sets has its limit below missing, and up to it the set is asked.
COLUMN, LIMIT, EXCEPTION, NEXT, IS_SET = range(5)


@inlined
def _step(
    cells: Ints, row: np.uint64, node: np.uint64, steps: Int64s, left_bins: Int64s, sets: bool
) -> np.uint64:
    value = np.int64(cells[row, np.uint64(steps[node, COLUMN])])
    goes_right = (value > steps[node, LIMIT]) ^ (value == steps[node, EXCEPTION])
    if sets and steps[node, IS_SET] and value <= steps[node, LIMIT]:
        goes_right = has_bin(left_bins[node], value) == 0
    return np.uint64(steps[node, NEXT]) + np.uint64(goes_right)


@shared_kernel
def _walk(
    task: int,
    tasks: int,
    cells: Ints,
    steps: Int64s,
    left_bins: Int64s,
    sets: bool,
    leaf_of_node: Int32s,
    waiting: int,
    leaf_of_row: Ints,
) -> None:
    begin, end = part(len(leaf_of_row), task, tasks)
    rows, nodes = np.empty(ABREAST, np.uint64), np.empty(ABREAST, np.uint64)
    count: Any = 0
    for row in range(begin, end):
        rows[count] = row
        count += np.int64(leaf_of_row[row] == waiting)
        if count < ABREAST and row + np.uint64(1) < end:
            continue
        nodes[:] = 0
        moved = np.uint64(1)
        while moved:
            moved = np.uint64(0)
            for place in range(count):
                node = _step(cells, rows[place], nodes[place], steps, left_bins, sets)
                moved |= node ^ nodes[place]
                nodes[place] = node
        for place in range(count):
            leaf_of_row[rows[place]] = leaf_of_node[nodes[place]]
        count = 0


def walk_rows(
    cells: NDArray[np.unsignedinteger[Any]],
    n_bins: NDArray[np.int64],
    categorical: NDArray[np.bool_],
    feature: NDArray[np.int32],
    split_bin: NDArray[np.int32],
    left_bins: NDArray[np.int64],
    missing_left: NDArray[np.uint8],
    left: NDArray[np.int32],
    leaf_of_node: NDArray[np.int32],
    tasks: int,
    waiting: int,
    leaf_of_row: LeafNumbers,
) -> None:
    """Write the leaf of every row whose entry in ``leaf_of_row`` is ``waiting``; other rows stay as they are.

    ``cells``: bins, (rows, features), contiguous by rows or by columns. ``feature`` … ``left``: the tree, -1 in
    ``feature`` for a leaf.
    """
    steps = _steps(n_bins, categorical, feature, split_bin, missing_left, left)
    tree = (steps, left_bins, bool(steps[:, IS_SET].any()), leaf_of_node)
    _walk(tasks if len(leaf_of_row) >= PARALLEL_ROWS else 1, cells, *tree, waiting, leaf_of_row)


def _steps(
    n_bins: NDArray[np.int64],
    categorical: NDArray[np.bool_],
    feature: NDArray[np.int32],
    split_bin: NDArray[np.int32],
    missing_left: NDArray[np.uint8],
    left: NDArray[np.int32],
) -> NDArray[np.int64]:
    """What the walk reads of every node, (nodes, 5)."""
    is_leaf = feature < 0
    column = np.where(is_leaf, 0, feature)
    is_set = categorical[column] & ~is_leaf
    limit = np.where(is_set, n_bins[column] - 1, split_bin)
    limit[is_leaf] = np.iinfo(np.int64).max
    exception = np.where((missing_left == 1) & ~is_leaf, n_bins[column], -1)
    following = np.where(is_leaf, np.arange(len(feature)), left)
    return np.stack([column, limit, exception, following, is_set], axis=1).astype(np.int64)
