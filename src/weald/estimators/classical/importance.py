"""How much the columns matter to trees: by impurity and by permutation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.forest.forest import Forest
from weald.runtime.random import seed_of


def tree_importances(forest: Forest) -> NDArray[np.float64]:
    """(trees, columns): each column's share in the gain of each tree; zeros for trees without a split."""
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offsets))
    inner = forest.feature >= 0
    place = tree[inner] * forest.n_features + forest.feature[inner]
    sums = np.bincount(place, forest.gain[inner], minlength=forest.n_trees * forest.n_features)
    gains = sums.astype(np.float64).reshape(forest.n_trees, forest.n_features)
    totals = gains.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(gains, totals, out=np.zeros_like(gains), where=totals > 0)
    return shares


def forest_importances(forest: Forest) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean, with sum 1, and standard deviation of the importances over the trees that have a split."""
    shares = tree_importances(forest)
    shares = shares[np.diff(forest.tree_offsets) > 1]
    if not len(shares):
        return np.zeros(forest.n_features), np.zeros(forest.n_features)
    mean = shares.mean(axis=0)
    total = mean.sum()
    return (mean / total if total > 0 else mean), shares.std(axis=0)


def permutation_importances(
    estimator: Any, X: Any, y: Any, n_repeats: int, random_state: Any, scoring: Any, sample_weight: Any
) -> Any:
    """How much the score falls when a column's values are shuffled: means, standard deviations and every repeat."""
    from sklearn.inspection import permutation_importance

    return permutation_importance(
        estimator,
        X,
        y,
        n_repeats=n_repeats,
        random_state=seed_of(random_state) % 2**32,
        scoring=scoring,
        sample_weight=sample_weight,
    )


def paths(forest: Forest, leaves: NDArray[np.int32]) -> sparse.csr_matrix:
    """(rows, nodes of all trees), 1 where a row passes a node on its way to its leaves."""
    inner = np.flatnonzero(forest.feature >= 0)
    start = np.repeat(forest.tree_offsets[:-1], np.diff(forest.tree_offsets))
    parent = np.arange(forest.n_nodes)
    left = forest.left[inner] + start[inner]
    parent[left], parent[left + 1] = inner, inner
    rows = np.repeat(np.arange(len(leaves)), forest.n_trees)
    nodes = (leaves + forest.tree_offsets[:-1]).reshape(-1)
    passed_rows, passed_nodes = [rows], [nodes]
    while (below := parent[nodes] != nodes).any():
        rows, nodes = rows[below], parent[nodes[below]]
        passed_rows.append(rows)
        passed_nodes.append(nodes)
    place = (np.concatenate(passed_rows), np.concatenate(passed_nodes))
    ones = np.ones(len(place[0]), np.int64)
    return sparse.csr_matrix((ones, place), shape=(len(leaves), forest.n_nodes))
