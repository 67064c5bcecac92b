"""Trees of others on their way to a forest: their nodes in any order, children by their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.explain.shap import weighed_by_cover
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.runtime.errors import ModelFileError

LEAF = -1


@dataclass(frozen=True)
class ForeignTree:
    """One tree; the root is node 0. Nodes that no other leads to are left out of the forest.

    feature: the column that a node tests; `LEAF` of a leaf.
    threshold: a number that is at most this goes left; what a node with a set has here is not looked at.
    left, right: numbers of the children.
    missing_left: whether missing values go left.
    sets: node -> codes of the categories that go left, of the nodes that test a category.
    value: what a leaf adds, (nodes,), or to every output, (nodes, outputs); of inner nodes what they would.
    cover: the weight of the training rows in a node, or any numbers in proportion to it; zeros where it is not known.
    gain: what the splits gained; zeros where it is not known.
    count: the number of training rows in a node; None: not known.
    weight: what is left of the tree since later rounds rescaled it; ``value`` has it in already.
    """

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    sets: Mapping[int, NDArray[np.integer[Any]]]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]
    gain: NDArray[np.float64]
    count: NDArray[np.int64] | None = None
    weight: float = 1.0


def leaf_alone(value: NDArray[np.float64]) -> ForeignTree:
    """A tree that is one leaf; ``value``: (1,) or (1, outputs)."""
    none, zero = np.zeros(1, np.int64), np.zeros(1)
    return ForeignTree(none - 1, zero, none, none, np.zeros(1, np.bool_), {}, value, zero + 1.0, zero)


def forest_of(
    trees: Sequence[ForeignTree],
    n_features: int,
    base_score: NDArray[np.float64],
    parallel_trees: int = 1,
    averaged: bool = False,
) -> Forest:
    """The checked forest of trees in the order of its rounds: a tree for every output, or one with vectors.

    Where trees do not count rows, their cover in whole numbers stands in, as Shapley values go by counts.
    """
    builder = ForestBuilder(n_features, len(base_score), base_score, parallel_trees, averaged)
    for number, tree in enumerate(trees):
        _append(builder, tree, number)
    forest = builder.finish()
    weights = np.array([tree.weight for tree in trees])
    if (weights != 1.0).any():
        forest = replace(forest, tree_weights=weights)
    forest.validate()
    return weighed_by_cover(forest) if any(tree.count is None for tree in trees) else forest


def by_rounds(trees: Sequence[ForeignTree], outputs: Sequence[int], n_outputs: int) -> list[ForeignTree]:
    """Trees in rounds of a tree for every output; an output that has fewer trees gets some that add nothing."""
    of_output: list[list[ForeignTree]] = [[] for _ in range(n_outputs)]
    for tree, output in zip(trees, outputs, strict=True):
        of_output[output].append(tree)
    most = max(map(len, of_output))
    # Outputs without trees would cost as many as there are; a file cannot ask for more than a few times its own trees.
    if most * n_outputs > 4 * len(trees) + n_outputs:
        raise ModelFileError("The model's trees are not shared out evenly over its outputs.")
    nothing = leaf_alone(np.zeros(1))
    for own in of_output:
        own += [nothing] * (most - len(own))
    return [own[place] for place in range(most) for own in of_output]


def _append(builder: ForestBuilder, tree: ForeignTree, number: int) -> None:
    order = _reached(tree, number)
    place = np.zeros(len(tree.feature), np.int64)
    place[order] = np.arange(len(order))
    inner = tree.feature[order] != LEAF
    left = np.where(inner, place[np.where(inner, tree.left[order], 0)], 0)
    number_of_set = np.full(len(order), -1)
    offsets, codes = [0], []
    for position in np.flatnonzero(inner).tolist():
        of_node = tree.sets.get(int(order[position]))
        if of_node is not None:
            number_of_set[position] = len(offsets) - 1
            codes.append(np.unique(np.asarray(of_node, np.int64)))
            offsets.append(offsets[-1] + len(codes[-1]))
    is_numeric = inner & (number_of_set < 0)
    value, vectors = tree.value[order], None
    if value.ndim == 2:
        vectors = value[~inner]
        value = np.zeros(len(order))
    count = np.zeros(len(order), np.int64) if tree.count is None else tree.count[order]
    builder.append(
        feature=tree.feature[order],
        threshold=np.where(is_numeric, tree.threshold[order], 0.0),
        left=left,
        missing_left=tree.missing_left[order] & inner,
        category_set=number_of_set,
        value=value,
        gain=np.where(inner, tree.gain[order], 0.0),
        cover=tree.cover[order],
        count=count,
        set_offsets=offsets,
        set_codes=np.concatenate(codes) if codes else np.zeros(0, np.int64),
        vectors=vectors,
    )


def _reached(tree: ForeignTree, number: int) -> NDArray[np.int64]:
    """The nodes that the root leads to, level after level, siblings side by side."""
    n_nodes = len(tree.feature)
    if not n_nodes:
        raise ModelFileError(f"Tree {number} has no nodes.")
    levels, seen = [np.zeros(1, np.int64)], 1
    while True:
        level = levels[-1]
        inner = level[tree.feature[level] != LEAF]
        if not len(inner):
            break
        children = np.stack([tree.left[inner], tree.right[inner]], axis=1).reshape(-1)
        seen += len(children)
        if seen > n_nodes or children.min() < 1 or children.max() >= n_nodes:
            raise ModelFileError(f"Tree {number} has a node whose children are not nodes below it.")
        levels.append(children)
    order = np.concatenate(levels)
    if len(np.unique(order)) < len(order):
        raise ModelFileError(f"Tree {number} has a node with two parents.")
    return order


def scaled(tree: ForeignTree, factor: float) -> ForeignTree:
    """A tree that adds so many times as much."""
    return tree if factor == 1.0 else replace(tree, value=tree.value * factor)
