"""scikit-learn's fitted forests as Weald's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest


def converted_forest(model: Any) -> tuple[Forest, list[NDArray[np.int64]]]:
    """The trees of a classifier, and for each tree the number that scikit-learn gives to every node."""
    n_outputs = 1 if model.n_classes_ == 2 else int(model.n_classes_)
    builder = ForestBuilder(model.n_features_in_, n_outputs, np.zeros(n_outputs))
    numbers = []
    for member in model.estimators_:
        nodes, order = _converted_tree(member.tree_, n_outputs)
        builder.append(**nodes)
        numbers.append(order)
    return builder.build(), numbers


def _converted_tree(tree: Any, n_outputs: int) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """The arguments of `ForestBuilder.append`; nodes level by level, so that siblings are side by side."""
    order = [0]
    left = []
    for node in order:
        is_leaf = tree.children_left[node] < 0
        left.append(0 if is_leaf else len(order))
        if not is_leaf:
            order += [int(tree.children_left[node]), int(tree.children_right[node])]
    old = np.array(order)
    leaf = tree.children_left[old] < 0
    shares = tree.value[old, 0] / tree.value[old, 0].sum(axis=1, keepdims=True)
    nodes = {
        "feature": np.where(leaf, -1, tree.feature[old]),
        "threshold": np.where(leaf, 0.0, tree.threshold[old]),
        "left": left,
        "missing_left": np.zeros(len(old)),
        "category_set": np.full(len(old), -1),
        "value": shares[:, 1] if n_outputs == 1 else np.zeros(len(old)),
        "gain": np.zeros(len(old)),
        "cover": tree.weighted_n_node_samples[old],
        "count": tree.n_node_samples[old],
    }
    if n_outputs > 1:
        nodes["vectors"] = shares[leaf]
    return nodes, old
