"""Single trees joined to one forest, with other numbers in their leaves: how an ensemble of trees predicts at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.forest.layout import NODE_DTYPES

Floats = NDArray[np.float64]


def leaf_probabilities(tree: Forest) -> Floats:
    """(leaves, classes) of a forest of one classification tree: a leaf is the second class's probability, or a vector of all."""
    if tree.has_vectors:
        return tree.vectors.reshape(-1, tree.n_outputs)
    second = tree.value[tree.feature < 0]
    return np.column_stack([1.0 - second, second])


def leaf_values(tree: Forest) -> Floats:
    """(leaves, outputs) of a forest of one regression tree."""
    if tree.has_vectors:
        return tree.vectors.reshape(-1, tree.n_outputs)
    return tree.value[tree.feature < 0][:, None]


def join_trees(
    trees: Iterable[tuple[Forest, NDArray[np.int64], Floats]], n_features: int, n_outputs: int
) -> Forest:
    """One forest of many forests of one tree.

    A tree comes with the joined forest's numbers of its columns, and with what its leaves are to add, (leaves, outputs).
    """
    builder = ForestBuilder(n_features, n_outputs, np.zeros(n_outputs))
    for tree, columns, leaves in trees:
        nodes = {field: getattr(tree, field) for field in NODE_DTYPES}
        is_leaf = tree.feature < 0
        nodes["feature"] = np.where(is_leaf, -1, columns[tree.feature])
        nodes["value"] = np.zeros(tree.n_nodes)
        if n_outputs == 1:
            nodes["value"][is_leaf] = leaves[:, 0]
        builder.append(
            **nodes,
            set_offsets=tree.set_offsets,
            set_codes=tree.set_codes,
            vectors=leaves if n_outputs > 1 else None,
        )
    return builder.build()
