"""Trees in LightGBM's words: nested dicts, and a frame of nodes. Categories are told by name.

As in LightGBM the leaves of the first round hold the score that boosting started from (of averaged trees those of every
round), so that the raw score of a row is the sum, or mean, of its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.lightgbm.columns import ColumnFacts
from weald.dialects.shared.trees import from_the_root, named_trees
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest, TreeView
from weald.runtime.errors import InputError

_SEVERAL = "||"
IMPORTANCES = ("split", "gain")


def whole_trees(model: FittedModel, forest: Forest) -> Iterator[TreeView]:
    """The trees with the first score in their leaves."""
    for index, tree in enumerate(named_trees(model, forest)):
        first = index < forest.n_outputs or forest.averaged
        base = forest.base_score[index % forest.n_outputs] if first else 0.0
        yield replace(tree, value=tree.value + base)


def leaf_numbers(tree: TreeView) -> NDArray[np.int64]:
    """The number of every leaf, counted from 0 within its tree; of other nodes the number of splits before."""
    leaf = tree.feature < 0
    return np.where(leaf, np.cumsum(leaf), np.cumsum(~leaf)) - 1


def importances(forest: Forest, kind: str) -> NDArray[Any]:
    """One number a column: how often it is split, or the sum of its gains, twice Weald's."""
    if kind not in IMPORTANCES:
        raise InputError(f"importance_type must be one of {', '.join(IMPORTANCES)}, not {kind!r}.")
    if kind == "split":
        return forest.importances("split").astype(np.int32)
    return 2.0 * forest.importances("gain")


def tree_dict(tree: TreeView, index: int, shrinkage: float, missing: Sequence[str]) -> dict[str, Any]:
    """One tree as nested dicts; ``shrinkage``: what its values were multiplied by; ``missing``: the word of every column."""
    numbers = leaf_numbers(tree)
    written: dict[int, dict[str, Any]] = {}
    for node, _ in reversed(from_the_root(tree)):
        if tree.feature[node] < 0:
            written[node] = {
                "leaf_index": int(numbers[node]),
                "leaf_value": float(tree.value[node]),
                "leaf_weight": float(tree.cover[node]),
                "leaf_count": int(tree.count[node]),
            }
            continue
        left = int(tree.left[node])
        written[node] = {
            "split_index": int(numbers[node]),
            "split_feature": int(tree.feature[node]),
            "split_gain": 2.0 * float(tree.gain[node]),
            "threshold": _threshold(tree, node),
            "decision_type": "<=" if tree.categories_left[node] is None else "==",
            "default_left": bool(tree.missing_left[node]),
            "missing_type": missing[tree.feature[node]],
            "internal_value": float(tree.value[node]),
            "internal_weight": float(tree.cover[node]),
            "internal_count": int(tree.count[node]),
            "left_child": written[left],
            "right_child": written[left + 1],
        }
    return {
        "tree_index": index,
        "num_leaves": tree.n_leaves,
        "num_cat": sum(codes is not None for codes in tree.categories_left),
        "shrinkage": shrinkage,
        "tree_structure": written[0],
    }


def _threshold(tree: TreeView, node: int) -> float | str:
    codes = tree.categories_left[node]
    return float(tree.threshold[node]) if codes is None else _SEVERAL.join(map(str, codes))


def missing_types(model: FittedModel, facts: ColumnFacts | None) -> list[str]:
    """LightGBM's word for what is missing in every column."""
    is_categorical = model.schema.categorical_mask.tolist()
    if facts is None:
        return ["NaN"] * len(is_categorical)
    return [facts.missing_type(place, one, model.missing) for place, one in enumerate(is_categorical)]


def dataframe(model: FittedModel, forest: Forest, names: Sequence[str], missing: Sequence[str]) -> Any:
    """All nodes as a pandas frame, tree after tree, from the root on, first child first."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for index, tree in enumerate(whole_trees(model, forest)):
        numbers, parent = leaf_numbers(tree), {0: -1}

        def name(node: int, index: int = index, tree: TreeView = tree, numbers: Any = numbers) -> str | None:
            if node < 0:
                return None
            return f"{index}-{'L' if tree.feature[node] < 0 else 'S'}{numbers[node]}"

        for node, depth in from_the_root(tree):
            row: dict[str, Any] = {"tree_index": index, "node_depth": depth + 1, "node_index": name(node)}
            inner, left = tree.feature[node] >= 0, int(tree.left[node])
            if inner:
                parent[left] = parent[left + 1] = node
            row["left_child"] = name(left) if inner else None
            row["right_child"] = name(left + 1) if inner else None
            row["parent_index"] = name(parent[node])
            row["split_feature"] = names[tree.feature[node]] if inner else None
            row["split_gain"] = 2.0 * float(tree.gain[node]) if inner else np.nan
            row["threshold"] = _threshold(tree, node) if inner else np.nan
            row["decision_type"] = None
            if inner:
                row["decision_type"] = "<=" if tree.categories_left[node] is None else "=="
            row["missing_direction"] = None
            if inner:
                row["missing_direction"] = "left" if tree.missing_left[node] else "right"
            row["missing_type"] = missing[tree.feature[node]] if inner else None
            row |= {"value": tree.value[node], "weight": tree.cover[node], "count": tree.count[node]}
            rows.append(row)
    return pd.DataFrame(rows)
