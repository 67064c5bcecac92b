"""Trees in LightGBM's words: nested dicts, and a frame of nodes. Categories are told by name.

As in LightGBM the leaves of the first round hold the score that boosting started from (of averaged trees those of every
round), so that the raw score of a row is the sum, or mean, of its leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.lightgbm.columns import ColumnFacts
from weald.dialects.shared.trees import from_the_root, named_trees
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest, TreeView
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

_SEVERAL = "||"
IMPORTANCES = ("split", "gain")
#: what a frame of nodes says of a leaf's split, in the order of its columns
_NO_SPLIT: dict[str, Any] = {
    **dict.fromkeys(("left_child", "right_child", "parent_index", "split_feature")),
    **dict.fromkeys(("split_gain", "threshold"), np.nan),
    **dict.fromkeys(("decision_type", "missing_direction", "missing_type")),
}


def whole_trees(model: FittedModel, forest: Forest) -> Iterator[TreeView]:
    """The trees with the first score in their leaves."""
    for index, tree in enumerate(named_trees(model, forest)):
        first = index < forest.n_outputs or forest.averaged
        base = forest.base_score[index % forest.n_outputs] if first else 0.0
        yield replace(tree, value=tree.value + base)


def leaf_numbers(tree: TreeView) -> NDArray[np.int64]:
    """The number of every leaf and of every split within its tree, in the order in which the tree grew.

    A split's first child keeps the number that its node had as a leaf, and the second one gets the next that is free.
    """
    numbers = np.zeros(len(tree.feature), np.int64)
    inner = np.flatnonzero(tree.feature >= 0)
    grown = inner[np.argsort(tree.left[inner], kind="stable")]
    for place, node in enumerate(grown):
        left = tree.left[node]
        numbers[left], numbers[left + 1] = numbers[node], place + 1
    numbers[grown] = np.arange(len(grown))
    return numbers


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
            "decision_type": _decision(tree, node),
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


def hooked(part: Any, hook: Callable[[dict[str, Any]], Any]) -> Any:
    """Nested dicts and lists with what a function makes of every dict, the inner ones first."""
    if isinstance(part, dict):
        return hook({name: hooked(value, hook) for name, value in part.items()})
    return [hooked(value, hook) for value in part] if isinstance(part, list) else part


def _threshold(tree: TreeView, node: int) -> float | str:
    codes = tree.categories_left[node]
    return float(tree.threshold[node]) if codes is None else _SEVERAL.join(map(str, codes))


def _decision(tree: TreeView, node: int) -> str:
    return "<=" if tree.categories_left[node] is None else "=="


def missing_types(model: FittedModel, facts: ColumnFacts | None) -> list[str]:
    """LightGBM's word for what is missing in every column."""
    is_categorical = model.schema.categorical_mask.tolist()
    if facts is None:
        return ["NaN"] * len(is_categorical)
    return [facts.missing_type(place, one, model.missing) for place, one in enumerate(is_categorical)]


def dataframe(model: FittedModel, forest: Forest, names: Sequence[str], missing: Sequence[str]) -> Any:
    """All nodes as a pandas frame, tree after tree, from the root on, first child first."""
    pd = load_extra("pandas", "trees_to_dataframe")
    rows = []
    for index, tree in enumerate(whole_trees(model, forest)):
        kinds = np.where(tree.feature < 0, "L", "S")
        called = [f"{index}-{kind}{number}" for kind, number in zip(kinds, leaf_numbers(tree), strict=True)]
        parents: dict[int, str] = {}
        for node, depth in from_the_root(tree):
            row = {"tree_index": index, "node_depth": depth + 1, "node_index": called[node], **_NO_SPLIT}
            row["parent_index"] = parents.get(node)
            if tree.feature[node] >= 0:
                left, feature = int(tree.left[node]), tree.feature[node]
                parents[left] = parents[left + 1] = called[node]
                row["left_child"], row["right_child"] = called[left], called[left + 1]
                row["split_feature"] = names[feature]
                row["split_gain"] = 2.0 * float(tree.gain[node])
                row["threshold"] = _threshold(tree, node)
                row["decision_type"] = _decision(tree, node)
                row["missing_direction"] = "left" if tree.missing_left[node] else "right"
                row["missing_type"] = missing[feature]
            rows.append(
                row | {"value": tree.value[node], "weight": tree.cover[node], "count": tree.count[node]}
            )
    return pd.DataFrame(rows)
