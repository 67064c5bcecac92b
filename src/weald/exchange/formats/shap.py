"""Trees as the dictionary that `shap.TreeExplainer` takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.exchange.model import Model
from weald.exchange.plain import OutputTree, PlainModel, plain_model
from weald.runtime.errors import NotSupportedError


def shap_trees(model: Model, by_cover: bool) -> dict[str, Any]:
    """The trees with all that the explainer asks; `by_cover`: nodes weigh as their sums of weights, else as their rows."""
    plain = plain_model(model, "shap")
    if (plain.forest.category_set >= 0).any():
        raise NotSupportedError("shap has no splits by sets of categories; shap_values explains this model.")
    trees = [_tree(tree, plain, by_cover) for tree in plain.trees()]
    return {
        "trees": trees,
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "objective": None,
        "tree_output": "raw_value",
        "base_offset": 0.0,
    }


def _tree(tree: OutputTree, plain: PlainModel, by_cover: bool) -> dict[str, Any]:
    inner = ~tree.is_leaf
    left = np.where(inner, tree.left, -1)
    right = np.where(inner, tree.left + 1, -1)
    values = np.zeros((len(inner), plain.forest.n_outputs))
    values[:, tree.output] = tree.value / plain.averaged
    return {
        "children_left": left,
        "children_right": right,
        "children_default": np.where(tree.missing_left, left, right),
        "features": np.where(inner, tree.feature, -2),
        "thresholds": np.where(inner, tree.threshold, -2.0),
        "values": values,
        "node_sample_weight": (tree.cover if by_cover else tree.count).astype(np.float64),
    }
