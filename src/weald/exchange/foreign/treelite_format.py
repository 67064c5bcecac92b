"""Models of treelite, from its objects: `treelite.Model` says everything as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.foreign.model import ForeignModel, numbered_classes, schema_of
from weald.exchange.foreign.reading import (
    MOST_COLUMNS,
    MOST_OUTPUTS,
    field,
    floats,
    integers,
    json_of,
    number_of,
    whole_of,
)
from weald.exchange.foreign.singles import at_most, below
from weald.exchange.foreign.trees import LEAF, ForeignTree, by_rounds, forest_of, scaled
from weald.runtime.errors import ModelFileError, NotSupportedError

SYSTEM: Final = "treelite"
_WHERE: Final = "the treelite model"
_LINKS: Final = {
    "identity": "identity",
    "identity_multiclass": "identity",
    "sigmoid": "logit",
    "exponential": "log",
    "softmax": "softmax",
    "multiclass_ova": "sigmoids",
    "logarithm_one_plus_exp": "log1p_exp",
    "signed_square": "signed_square",
    "hinge": "step",
}
# Scores of these are multiplied by "sigmoid_alpha" first.
_WITH_ALPHA: Final = ("sigmoid", "multiclass_ova")
_ANY_OUTPUT: Final = -1


def treelite_model(model: Any) -> ForeignModel:
    """The model of a `treelite.Model`."""
    return model_of_dump(json_of(model.dump_as_json(pretty_print=False).encode(), _WHERE))


def model_of_dump(content: Any) -> ForeignModel:
    """The model of what `dump_as_json` gives."""
    n_features = whole_of(field(content, "num_feature", int, _WHERE), "num_feature", 1, MOST_COLUMNS)
    sizes = integers(field(content, "num_class", list, _WHERE), "the model's num_class", 1, MOST_OUTPUTS)
    if len(sizes) != 1:
        raise NotSupportedError("the treelite model has several targets; build a model for each.")
    n_outputs = int(sizes[0])
    post = field(content, "postprocessor", str, _WHERE)
    if post not in _LINKS:
        raise NotSupportedError(
            f"the treelite model's postprocessor is {post!r:.40}, which is not known here."
        )
    singles = "float32" in str(content.get("threshold_type", "float32"))
    stored = field(content, "trees", list, _WHERE)
    sets: dict[int, int] = {}
    for tree in stored:
        _note_categories(tree, sets, n_features)
    dictionaries = [
        tuple(range(sets[column] + 1)) if column in sets else None for column in range(n_features)
    ]
    factor = number_of(content.get("sigmoid_alpha", 1.0), "sigmoid_alpha") if post in _WITH_ALPHA else 1.0
    trees = [
        scaled(_tree(tree, number, n_features, n_outputs, singles, sets), factor)
        for number, tree in enumerate(stored)
    ]
    base = factor * floats(content.get("base_scores", [0.0] * n_outputs), "the model's base_scores")
    averaged = content.get("average_tree_output") in (True, 1)
    if any(tree.value.ndim == 2 for tree in trees):
        if not all(tree.value.ndim == 2 for tree in trees):
            raise NotSupportedError("the treelite model has leaves of one number and of several.")
        forest = forest_of(trees, n_features, _per_output(base, n_outputs), averaged=averaged)
    else:
        outputs = integers(
            field(content, "class_id", list, _WHERE), "the model's class_id", -1, n_outputs - 1
        )
        if n_outputs > 1 and (outputs == _ANY_OUTPUT).any():
            raise ModelFileError("The treelite model has a tree of one number for several classes.")
        trees = by_rounds(trees, np.maximum(outputs, 0).tolist(), n_outputs)
        forest = forest_of(trees, n_features, _per_output(base, n_outputs), averaged=averaged)
    kind = field(content, "task_type", str, _WHERE)
    classes = None
    if kind in ("kBinaryClf", "kMultiClf") and (n_outputs > 1 or _LINKS[post] in ("logit", "step")):
        classes = numbered_classes(n_outputs)
    schema = schema_of([], dictionaries, False)
    return ForeignModel(SYSTEM, post, forest, schema, _LINKS[post], classes, has_cover=_has_cover(stored))


def _per_output(base: NDArray[np.float64], n_outputs: int) -> NDArray[np.float64]:
    if len(base) not in (1, n_outputs):
        raise ModelFileError(f"The treelite model has {len(base)} base_scores for {n_outputs} outputs.")
    return np.ascontiguousarray(np.broadcast_to(base, n_outputs))


def _has_cover(stored: list[Any]) -> bool:
    return all(
        "sum_hess" in node or "data_count" in node for tree in stored for node in tree.get("nodes", [])
    )


def _nodes(tree: Any) -> list[Any]:
    return field(tree, "nodes", list, "a tree")


def _note_categories(tree: Any, largest: dict[int, int], n_features: int) -> None:
    """The largest category of every column that a tree tests as one."""
    for node in _nodes(tree):
        if isinstance(node, Mapping) and "category_list" in node:
            column = whole_of(field(node, "split_feature_id", int, "a node"), "a column", 0, n_features - 1)
            codes = integers(node["category_list"], "a category_list", 0, MOST_COLUMNS)
            largest[column] = max(largest.get(column, 0), int(codes.max(initial=0)))


def _tree(
    tree: Any, number: int, n_features: int, n_outputs: int, singles: bool, largest: Mapping[int, int]
) -> ForeignTree:
    where = f"tree {number}"
    nodes = _nodes(tree)
    places = {
        whole_of(field(node, "node_id", int, where), f"{where}'s node_id", 0, 2**31 - 1): place
        for place, node in enumerate(nodes)
    }
    count = len(nodes)
    feature, threshold = np.full(count, LEAF), np.zeros(count)
    left, right = np.zeros(count, np.int64), np.zeros(count, np.int64)
    missing_left, cover = np.zeros(count, np.bool_), np.zeros(count)
    gain, sets = np.zeros(count), {}
    vectors = any("leaf_value" in node and isinstance(node["leaf_value"], list) for node in nodes)
    value = np.zeros((count, n_outputs)) if vectors else np.zeros(count)
    for place, node in enumerate(nodes):
        cover[place] = floats([node.get("sum_hess", node.get("data_count", 0.0))], where)[0]
        if "leaf_value" in node:
            given = node["leaf_value"]
            if isinstance(given, list) != vectors or (vectors and len(given) != n_outputs):
                raise NotSupportedError(f"{where} has leaves of one number and of several, or of too few.")
            found = floats(given if vectors else [given], f"{where}'s leaf_value")
            value[place] = found if vectors else found[0]
            continue
        feature[place] = whole_of(
            field(node, "split_feature_id", int, where), f"{where}'s column", 0, n_features - 1
        )
        gain[place] = max(floats([node.get("gain", 0.0)], where)[0], 0.0)
        missing_left[place] = field(node, "default_left", bool, where)
        sides = [places.get(node.get(name), 0) for name in ("left_child", "right_child")]
        if "category_list" in node:
            codes = integers(node["category_list"], f"{where}'s category_list", 0, MOST_COLUMNS)
            if node.get("category_list_right_child") is True:
                codes = np.setdiff1d(np.arange(largest[int(feature[place])] + 1), codes)
            sets[place] = codes
        else:
            operator = field(node, "comparison_op", str, where)
            border = floats([node.get("threshold")], f"{where}'s threshold")
            threshold[place] = _threshold(operator, border, singles, where)
            if operator in (">", ">="):
                sides.reverse()
                missing_left[place] = not missing_left[place]
        left[place], right[place] = sides
    return ForeignTree(feature, threshold, left, right, missing_left, sets, value, cover, gain)


def _threshold(operator: str, border: NDArray[np.float64], singles: bool, where: str) -> float:
    """Of "at most this goes left", or right where the operator is turned round."""
    inclusive = operator in ("<=", ">")
    if operator not in ("<", "<=", ">", ">="):
        raise NotSupportedError(f"{where} compares by {operator!r:.10}, which is not known here.")
    if singles:
        made = at_most(border.astype(np.float32)) if inclusive else below(border.astype(np.float32))
    else:
        made = border if inclusive else np.nextafter(border, -np.inf)
    if np.isnan(made[0]):
        raise ModelFileError(f"{where} has a threshold that nothing can be compared with.")
    return float(made[0])
