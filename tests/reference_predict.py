"""Naive twins of the prediction kernels: one row and one node at a time, from the forest's own arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest


def goes_left(forest: Forest, node: int, x: float) -> bool:
    if np.isnan(x):
        return bool(forest.missing_left[node])
    set_index = forest.category_set[node]
    if set_index < 0:
        return bool(x <= forest.threshold[node])
    codes = forest.set_codes[forest.set_offsets[set_index] : forest.set_offsets[set_index + 1]]
    return x in codes.tolist()


def leaf_of_row(forest: Forest, tree: int, row: NDArray[np.float64]) -> int:
    """Index within its tree of the leaf that a row reaches."""
    start, node = int(forest.tree_offsets[tree]), 0
    while forest.feature[start + node] >= 0:
        left = int(forest.left[start + node])
        x = float(row[forest.feature[start + node]])
        node = left if goes_left(forest, start + node, x) else left + 1
    return node


def leaf_indices(forest: Forest, rows: NDArray[np.floating]) -> NDArray[np.int32]:
    doubles = rows.astype(np.float64)
    leaves = [[leaf_of_row(forest, tree, row) for tree in range(forest.n_trees)] for row in doubles]
    return np.array(leaves, dtype=np.int32).reshape(len(rows), forest.n_trees)


def vectors_of_leaves(forest: Forest, tree: int, leaves: NDArray[np.int32]) -> NDArray[np.float64]:
    """(outputs, rows): what a tree with vector leaves adds."""
    start = int(forest.tree_offsets[tree])
    added = np.zeros((forest.n_outputs, len(leaves)))
    for row, leaf in enumerate(leaves.tolist()):
        before = int(np.count_nonzero(forest.feature[: start + leaf] < 0))
        added[:, row] = forest.vectors[before * forest.n_outputs : (before + 1) * forest.n_outputs]
    return added


def raw_scores(forest: Forest, rows: NDArray[np.floating], trees: range | None = None) -> NDArray[np.float64]:
    leaves = leaf_indices(forest, rows)
    scores = np.repeat(forest.base_score[:, None], len(rows), axis=1)
    for tree in range(forest.n_trees) if trees is None else trees:
        if forest.vectors.size:
            scores += vectors_of_leaves(forest, tree, leaves[:, tree])
            continue
        scores[tree % forest.n_outputs] += forest.value[forest.tree_offsets[tree] + leaves[:, tree]]
    return scores
