"""A forest as LightGBM's text, version 4: real LightGBM loads it and computes the same in float64."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

from weald.data import Schema
from weald.exchange.model import Model
from weald.exchange.plain import OutputTree, PlainModel, other_codes, plain_model, refuse_link
from weald.runtime.errors import NotSupportedError

_MISSING_IS_NAN, _DEFAULT_LEFT, _BY_CATEGORIES = 8, 2, 1
# LightGBM takes numbers this near to 0 for 0.
_ZERO: Final = float(np.float32(1e-35))
_UNSAID: Final = re.compile(r'[\s",:\[\]{}]|[^\x21-\x7e]')


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One text file."""
    return {path: text_of(model).encode("ascii")}


def text_of(model: Model) -> str:
    """The text of a model."""
    plain = plain_model(model, "lightgbm")
    refuse_link(plain, "lightgbm", ("identity", "log", "logit", "half_logit", "softmax", "sigmoids"))
    _check_thresholds(plain)
    trees = [_tree(tree, number, plain) for number, tree in enumerate(_in_rounds(plain))]
    outputs = plain.forest.n_outputs
    head = [
        "tree",
        "version=v4",
        f"num_class={outputs}",
        f"num_tree_per_iteration={outputs}",
        "label_index=0",
        f"max_feature_idx={plain.schema.n_columns - 1}",
        *_objective(plain, outputs),
        *(["average_output"] if plain.averaged != 1.0 else []),
        f"feature_names={' '.join(_names(plain.schema))}",
        f"feature_infos={' '.join(_infos(plain.schema))}",
        f"tree_sizes={' '.join(str(len(tree)) for tree in trees)}",
        "",
        "",
    ]
    dictionaries = [
        list(column.categories) for column in plain.schema.columns if column.kind == "categorical"
    ]
    tail = ["end of trees", "", "feature_importances:", "", "parameters:", "", "end of parameters", ""]
    tail.append(f"pandas_categorical:{json.dumps(dictionaries) if dictionaries else 'null'}")
    return "\n".join(head) + "".join(trees) + "\n".join(tail) + "\n"


def _in_rounds(plain: PlainModel) -> list[OutputTree]:
    """The trees, one for every output in turn."""
    trees, outputs = plain.trees(), plain.forest.n_outputs
    count = len(trees) // outputs
    if plain.averaged not in (1.0, float(count)):
        raise NotSupportedError(
            "format='lightgbm' divides by the number of rounds only; export the model as 'json' or 'c'."
        )
    return trees


def _check_thresholds(plain: PlainModel) -> None:
    forest = plain.forest
    numeric = (forest.feature >= 0) & (forest.category_set < 0)
    near = numeric & (np.abs(forest.threshold) < _ZERO) & (forest.threshold != 0.0)
    if near.any():
        name = plain.schema.names[forest.feature[np.argmax(near)]]
        raise NotSupportedError(
            f"Column {name!r} is split at {forest.threshold[np.argmax(near)]:g}, but LightGBM takes numbers within 1e-35 of 0 "
            "for 0; scale the column, or export the model as 'json' or 'c'."
        )


def _objective(plain: PlainModel, outputs: int) -> list[str]:
    """The line of the objective, by which LightGBM makes predictions of scores; none: they are the scores."""
    names = {
        "log": "poisson",
        "logit": "binary sigmoid:1" if plain.classes else "cross_entropy",
        "half_logit": "binary sigmoid:2",
        "softmax": f"multiclass num_class:{outputs}",
        "sigmoids": f"multiclassova num_class:{outputs} sigmoid:1",
    }
    if plain.link in names:
        return [f"objective={names[plain.link]}"]
    return ["objective=regression"] if outputs == 1 and plain.classes is None else []


def _names(schema: Schema) -> list[str]:
    """The columns' names, or numbers in their place where the text could not hold one."""
    names = list(schema.names)
    if any(not name or _UNSAID.search(name) for name in names):
        return [f"Column_{place}" for place in range(len(names))]
    return names


def _infos(schema: Schema) -> Iterable[str]:
    for column in schema.columns:
        if column.kind == "numeric":
            yield "[-1e308:1e308]"
        else:
            yield ":".join(map(str, range(len(column.categories)))) or "none"


def _tree(tree: OutputTree, number: int, plain: PlainModel) -> str:
    """The lines of a tree. Inner nodes and leaves are numbered apart, a leaf's number as a child is ~number."""
    inner, leaf = np.flatnonzero(~tree.is_leaf), np.flatnonzero(tree.is_leaf)
    place = np.empty(len(tree.feature), np.int64)
    place[inner], place[leaf] = np.arange(len(inner)), ~np.arange(len(leaf))
    left, right = tree.left[inner], tree.left[inner] + 1
    kinds: list[int] = []
    limits: list[float] = []
    sets: list[tuple[int, ...]] = []
    for position, node in enumerate(inner.tolist()):
        codes = tree.categories_left[node]
        if codes is None:
            kinds.append(_MISSING_IS_NAN + _DEFAULT_LEFT * int(tree.missing_left[node]))
            limits.append(float(tree.threshold[node]))
            continue
        if tree.missing_left[node]:  # LightGBM sends missing categories to the right
            codes = tuple(other_codes(codes, len(plain.schema.columns[tree.feature[node]].categories)))
            left[position], right[position] = right[position], left[position]
        kinds.append(_MISSING_IS_NAN + _BY_CATEGORIES)
        limits.append(float(len(sets)))
        sets.append(codes)
    fields: dict[str, Any] = {"num_leaves": [len(leaf)], "num_cat": [len(sets)]}
    if len(inner):
        fields |= {
            "split_feature": tree.feature[inner],
            "split_gain": tree.gain[inner],
            "threshold": limits,
            "decision_type": kinds,
            "left_child": place[left],
            "right_child": place[right],
        }
    fields |= {
        "leaf_value": tree.value[leaf],
        "leaf_weight": tree.cover[leaf],
        "leaf_count": tree.count[leaf],
        "internal_value": tree.value[inner],
        "internal_weight": tree.cover[inner],
        "internal_count": tree.count[inner],
    }
    if sets:
        words = [_words(codes) for codes in sets]
        fields["cat_boundaries"] = np.cumsum([0, *map(len, words)])
        fields["cat_threshold"] = [word for own in words for word in own]
    fields |= {"is_linear": [0], "shrinkage": [1]}
    lines = [
        f"Tree={number}",
        *(f"{name}={' '.join(map(_number, values))}" for name, values in fields.items()),
    ]
    return "\n".join(lines) + "\n\n\n"


def _number(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float | np.floating) else str(int(value))


def _words(codes: tuple[int, ...]) -> list[int]:
    words = [0] * (max(codes, default=0) // 32 + 1)
    for code in codes:
        words[code // 32] |= 1 << code % 32
    return words
