"""What LightGBM's `dump_model` gives: the header and the nested trees of a JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from weald.exchange.foreign.lightgbm_tree import MISSING_NAN, MISSING_NONE, MISSING_ZERO, LightGBMTree
from weald.exchange.foreign.reading import MOST_COLUMNS, field, number_of, texts, whole_of
from weald.runtime.errors import ModelFileError, NotSupportedError

_MISSING: Final = {"None": MISSING_NONE, "Zero": MISSING_ZERO, "NaN": MISSING_NAN}


def header_of_dump(content: Any) -> dict[str, str]:
    """The fields that a text file's header has."""
    where = "the LightGBM dump"
    names = texts(field(content, "feature_names", list, where), "the dump's feature_names")
    infos = content.get("feature_infos", {})
    fields = {
        "max_feature_idx": str(
            whole_of(field(content, "max_feature_idx", int, where), "max_feature_idx", 0, MOST_COLUMNS)
        ),
        "num_class": str(content.get("num_class", 1)),
        "num_tree_per_iteration": str(content.get("num_tree_per_iteration", 1)),
        "objective": str(content.get("objective", "")),
        "feature_names": " ".join(names),
        "feature_infos": " ".join(
            _info(infos.get(name) if isinstance(infos, Mapping) else None) for name in names
        ),
    }
    if content.get("average_output") is True:
        fields["average_output"] = "1"
    return fields


def _info(info: Any) -> str:
    """A column's categories as a text file has them."""
    values = info.get("values") if isinstance(info, Mapping) else None
    if not isinstance(values, list) or not values:
        return "none"
    return ":".join(str(whole_of(value, "a category of feature_infos", -1, 2**31 - 1)) for value in values)


def trees_of_dump(content: Any, n_features: int) -> list[LightGBMTree]:
    """The trees."""
    stored = field(content, "tree_info", list, "the LightGBM dump")
    return [_tree(one, number, n_features) for number, one in enumerate(stored)]


class _Collected:
    """The nodes of a tree, as they are met."""

    def __init__(self) -> None:
        self.inner: list[tuple[int, float, int, float, float, float, int]] = []
        self.children: list[list[int]] = []
        self.leaves: list[tuple[float, float, int]] = []
        self.sets: dict[int, Any] = {}


def _tree(stored: Any, number: int, n_features: int) -> LightGBMTree:
    where = f"tree {number}"
    found = _Collected()
    # (node, number of its parent, side); the parent's number is -1 at the root.
    waiting: list[tuple[Any, int, int]] = [(field(stored, "tree_structure", dict, where), -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        if not isinstance(node, Mapping):
            raise ModelFileError(f"{where} has a node that is no object.")
        if "split_feature" in node:
            own = len(found.inner)
            found.inner.append(_split(node, own, found, where, n_features))
            found.children.append([0, 0])
            for place, name in enumerate(("right_child", "left_child")):
                waiting.append((field(node, name, dict, where), own, 1 - place))
        else:
            if "leaf_const" in node or "leaf_coeff" in node:
                raise NotSupportedError(
                    "the LightGBM model has linear trees; train it without linear_tree=true."
                )
            own = ~len(found.leaves)
            found.leaves.append(
                (
                    _real(node, "leaf_value", where),
                    _real(node, "leaf_weight", where, 0.0),
                    int(_real(node, "leaf_count", where, 0.0)),
                )
            )
        if parent >= 0:
            found.children[parent][side] = own
    return _as_tree(found)


def _as_tree(found: _Collected) -> LightGBMTree:
    inner = np.array(found.inner, np.float64).reshape(-1, 7)
    leaves = np.array(found.leaves, np.float64)
    children = np.array(found.children, np.int64).reshape(-1, 2)
    return LightGBMTree(
        inner[:, 0].astype(np.int64),
        inner[:, 1],
        inner[:, 2].astype(np.int64),
        children[:, 0],
        children[:, 1],
        found.sets,
        inner[:, 3],
        inner[:, 4],
        inner[:, 5],
        inner[:, 6].astype(np.int64),
        leaves[:, 0],
        leaves[:, 1],
        leaves[:, 2].astype(np.int64),
    )


def _split(
    node: Mapping[str, Any], own: int, found: _Collected, where: str, n_features: int
) -> tuple[int, float, int, float, float, float, int]:
    column = whole_of(node["split_feature"], f"{where}'s split_feature", 0, n_features - 1)
    missing = node.get("missing_type", "None")
    if not isinstance(missing, str) or missing not in _MISSING:
        raise ModelFileError(f"{where} has the missing_type {str(missing)[:20]!r}, which is not known.")
    decision = _MISSING[missing] << 2 | (2 if node.get("default_left") is True else 0)
    threshold = node.get("threshold")
    if node.get("decision_type") == "==":
        decision |= 1
        parts = str(threshold).split("||")
        found.sets[own] = np.array(
            sorted({whole_of(part, f"{where}'s categories", 0, MOST_COLUMNS) for part in parts}), np.int64
        )
        threshold = 0.0
    elif node.get("decision_type") != "<=":
        raise ModelFileError(f"{where} has a decision_type that is neither '<=' nor '=='.")
    return (
        column,
        _infinite_or(threshold, f"{where}'s threshold"),
        decision,
        _real(node, "split_gain", where, 0.0),
        _real(node, "internal_value", where, 0.0),
        _real(node, "internal_weight", where, 0.0),
        int(_real(node, "internal_count", where, 0.0)),
    )


def _infinite_or(value: Any, where: str) -> float:
    """A number, which may be infinite."""
    return value if isinstance(value, float) and np.isinf(value) else number_of(value, where)


def _real(node: Mapping[str, Any], name: str, where: str, absent: float | None = None) -> float:
    if name not in node and absent is not None:
        return absent
    return number_of(node.get(name), f"{where}'s {name}")
