"""Naive twins of ``weald.explain``: Shapley values by all subsets, importances pair by pair."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest, TreeView


def goes_left(tree: TreeView, node: int, value: float) -> bool:
    """Where a value goes at a node."""
    if math.isnan(value):
        return bool(tree.missing_left[node])
    codes = tree.categories_left[node]
    return value <= tree.threshold[node] if codes is None else value in codes


def values_of(tree: TreeView, node: int) -> NDArray[np.float64]:
    """What a leaf adds, (outputs,)."""
    if not len(tree.vectors):
        return np.array([tree.value[node]])
    return tree.vectors[int(np.count_nonzero(tree.feature[:node] < 0))]


def expected(tree: TreeView, row: NDArray[Any], known: frozenset[int], node: int = 0) -> NDArray[np.float64]:
    """What a tree gives a row of which some columns are known: both sides of the others' tests, by their counts of rows."""
    if tree.feature[node] < 0:
        return values_of(tree, node)
    left = int(tree.left[node])
    if tree.feature[node] in known:
        side = left if goes_left(tree, node, float(row[tree.feature[node]])) else left + 1
        return expected(tree, row, known, side)
    counts = int(tree.count[left]), int(tree.count[left + 1])
    share = counts[0] / sum(counts) if sum(counts) else 0.5
    return share * expected(tree, row, known, left) + (1.0 - share) * expected(tree, row, known, left + 1)


def shap_of_tree(tree: TreeView, row: NDArray[Any], n_features: int) -> NDArray[np.float64]:
    """(outputs, features + 1): the mean gain of each feature over all orders, and the value without any."""
    used = sorted({int(feature) for feature in tree.feature if feature >= 0})
    empty = expected(tree, row, frozenset())
    found = np.zeros((len(empty), n_features + 1))
    found[:, -1] = empty
    for feature in used:
        others = [other for other in used if other != feature]
        for size in range(len(others) + 1):
            ways = math.factorial(size) * math.factorial(len(others) - size) / math.factorial(len(used))
            for subset in combinations(others, size):
                known = frozenset(subset)
                gain = expected(tree, row, known | {feature}) - expected(tree, row, known)
                found[:, feature] += ways * gain
    return found


def shap_values(forest: Forest, rows: NDArray[Any]) -> NDArray[np.float64]:
    """(outputs, rows, features + 1)."""
    found = np.zeros((forest.n_outputs, len(rows), forest.n_features + 1))
    for number in range(forest.n_trees):
        tree = forest.tree(number)
        for place, row in enumerate(rows):
            values = shap_of_tree(tree, row, forest.n_features)
            if tree.output is None:
                found[:, place] += values
            else:
                found[tree.output, place] += values[0]
    if forest.averaged:
        found /= forest.n_rounds
    found[:, :, -1] += forest.base_score[:, None]
    return found


def leaves_below(tree: TreeView, node: int, path: str = "") -> dict[str, int]:
    """Leaves by the steps, L and R, that lead to them."""
    if tree.feature[node] < 0:
        return {path: node}
    left = int(tree.left[node])
    return {**leaves_below(tree, left, path + "L"), **leaves_below(tree, left + 1, path + "R")}


def moved(values: list[Any], counts: list[float]) -> float:
    """The squared distances of values from their mean, by counts."""
    mean = sum(v * c for v, c in zip(values, counts, strict=True)) / max(sum(counts), 1.0)
    return float(sum((((v - mean) ** 2).sum() * c) for v, c in zip(values, counts, strict=True)))


def prediction_values_change(forest: Forest) -> NDArray[np.float64]:
    """How far each feature's splits move predictions, in percent."""
    effect = np.zeros(forest.n_features)
    for number in range(forest.n_trees):
        tree = forest.tree(number)
        leaves = leaves_below(tree, 0)
        tests: dict[int, set[Any]] = {}
        for node in range(tree.n_nodes):
            if tree.feature[node] >= 0:
                level = next(len(p) for p in paths_to(tree, node))
                test = (
                    tree.feature[node],
                    tree.threshold[node],
                    tree.missing_left[node],
                    tree.categories_left[node],
                )
                tests.setdefault(level, set()).add(test)
        if all(len(some) == 1 for some in tests.values()) and len(leaves) == 2 ** len(tests):
            for level, some in tests.items():
                for path, leaf in leaves.items():
                    if path[level] == "L":
                        other = leaves[path[:level] + "R" + path[level + 1 :]]
                        effect[next(iter(some))[0]] += moved(
                            [values_of(tree, leaf), values_of(tree, other)],
                            [float(tree.count[leaf]), float(tree.count[other])],
                        )
            continue
        for node in range(tree.n_nodes):
            if tree.feature[node] >= 0:
                sides = [int(tree.left[node]), int(tree.left[node]) + 1]
                counts = [float(tree.count[side]) for side in sides]
                effect[tree.feature[node]] += moved([mean_below(tree, side) for side in sides], counts)
    return 100.0 * effect / effect.sum()


def paths_to(tree: TreeView, wanted: int, node: int = 0, path: str = "") -> list[str]:
    """The steps to a node."""
    if node == wanted:
        return [path]
    if tree.feature[node] < 0:
        return []
    left = int(tree.left[node])
    return paths_to(tree, wanted, left, path + "L") + paths_to(tree, wanted, left + 1, path + "R")


def mean_below(tree: TreeView, node: int) -> Any:
    """The mean of the leaves below, by their counts."""
    leaves = leaves_below(tree, node).values()
    total = sum(float(tree.count[leaf]) for leaf in leaves)
    return sum(values_of(tree, leaf) * float(tree.count[leaf]) for leaf in leaves) / max(total, 1.0)
