"""The leaf of binned rows that took no part in growing a tree: rows left out by sampling, evaluation sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import kernel, parallel_kernel
from weald.tree.categories import has_bin
from weald.tree.leaf import LeafNumbers

PARALLEL_ROWS = 5_000


@kernel
def _walk(
    cells: Any,
    n_bins: Any,
    categorical: Any,
    feature: Any,
    split_bin: Any,
    left_bins: Any,
    missing_left: Any,
    left: Any,
    leaf_of_node: Any,
    begin: Any,
    end: Any,
    waiting: Any,
    leaf_of_row: Any,
) -> None:
    for row in range(begin, end):
        if leaf_of_row[row] != waiting:
            continue
        node = 0
        while feature[node] >= 0:
            column = feature[node]
            value = cells[row, column]
            if value == n_bins[column]:
                goes_left = missing_left[node] == 1
            elif categorical[column]:
                goes_left = has_bin(left_bins[node], value) == 1
            else:
                goes_left = value <= split_bin[node]
            node = left[node] if goes_left else left[node] + 1
        leaf_of_row[row] = leaf_of_node[node]


@parallel_kernel
def _walk_tasks(
    cells: Any,
    n_bins: Any,
    categorical: Any,
    feature: Any,
    split_bin: Any,
    left_bins: Any,
    missing_left: Any,
    left: Any,
    leaf_of_node: Any,
    tasks: Any,
    waiting: Any,
    leaf_of_row: Any,
) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        begin, end = len(leaf_of_row) * task // tasks, len(leaf_of_row) * (task + 1) // tasks
        _walk(
            cells,
            n_bins,
            categorical,
            feature,
            split_bin,
            left_bins,
            missing_left,
            left,
            leaf_of_node,
            begin,
            end,
            waiting,
            leaf_of_row,
        )


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
    tree = (feature, split_bin, left_bins, missing_left, left, leaf_of_node)
    if tasks == 1 or len(leaf_of_row) < PARALLEL_ROWS:
        _walk(cells, n_bins, categorical, *tree, 0, len(leaf_of_row), waiting, leaf_of_row)
    else:
        _walk_tasks(cells, n_bins, categorical, *tree, tasks, waiting, leaf_of_row)
