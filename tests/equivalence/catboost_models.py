"""A model of CatBoost's as a forest, read from its JSON: numeric columns, trees of every growth policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest


def forest_of(model: Any, folder: Path) -> Forest:
    """The trees of a regressor, with the rows that CatBoost counted in their leaves."""
    path = folder / "model.json"
    model.save_model(str(path), format="json")
    content = json.loads(path.read_text())
    bias = np.ravel(content["scale_and_bias"][1]).tolist() or [0.0]
    missing = {
        column["feature_index"]: column["nan_value_treatment"] != "AsTrue"
        for column in content["features_info"]["float_features"]
    }
    builder = ForestBuilder(n_features=len(missing), n_outputs=1, base_score=bias)
    for tree in content.get("oblivious_trees") or content["trees"]:
        root = _nested(tree) if "leaf_values" in tree else tree
        builder.append(**_arrays(root, missing))
    return builder.build()


def _nested(tree: Any) -> Any:
    """An oblivious tree as nodes: the last split is at the root, and tells the highest bit of a leaf's number."""
    nodes = [
        {"value": value, "weight": weight}
        for value, weight in zip(tree["leaf_values"], tree["leaf_weights"], strict=True)
    ]
    for split in tree["splits"]:
        nodes = [{"split": split, "left": nodes[i], "right": nodes[i + 1]} for i in range(0, len(nodes), 2)]
    return nodes[0]


def _weight(node: Any) -> float:
    return float(node["weight"]) if "value" in node else _weight(node["left"]) + _weight(node["right"])


def _arrays(root: Any, missing: dict[int, bool]) -> dict[str, list[Any]]:
    nodes, arrays = [root], {
        name: []
        for name in ("feature", "threshold", "left", "missing_left", "category_set", "value", "gain", "cover", "count")
    }  # fmt: skip
    for node in nodes:  # which grows on the way
        split, weight = node.get("split"), _weight(node)
        feature = -1 if split is None else split["float_feature_index"]
        entry = {
            "feature": feature,
            "threshold": 0.0 if split is None else split["border"],
            "left": 0 if split is None else len(nodes),
            "missing_left": split is not None and missing[feature],
            "category_set": -1,
            "value": float(np.ravel(node["value"])[0]) if split is None else 0.0,
            "gain": 0.0,
            "cover": weight,
            "count": int(weight),
        }
        for name, value in entry.items():
            arrays[name].append(value)
        if split is not None:
            nodes += [node["left"], node["right"]]
    return arrays
