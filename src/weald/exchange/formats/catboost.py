"""Symmetric trees as CatBoost's JSON: real CatBoost loads it; its borders are float32, its leaves float64."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.model import Model
from weald.exchange.plain import (
    OutputTree,
    PlainModel,
    at_most_single,
    plain_model,
    refuse_categories,
    refuse_link,
)
from weald.runtime.errors import NotSupportedError

Split = tuple[int, float, bool]  # column, threshold, whether missing values go left
# Levels of a tree, and the border that all numbers but -inf pass.
_DEEPEST: Final = 16
_LOWEST: Final = float(np.finfo(np.float32).min)


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One JSON file."""
    return {path: json.dumps(described_model(model), ensure_ascii=True).encode()}


def described_model(model: Model) -> dict[str, Any]:
    """The model as CatBoost's file has it."""
    plain = plain_model(model, "catboost")
    refuse_categories(plain, "catboost")
    refuse_link(plain, "catboost", ("identity", "log", "logit", "softmax"))
    outputs = plain.forest.n_outputs
    trees = [(tree, *_with_missing(*_levels(tree))) for tree in plain.trees()]
    borders: dict[int, list[float]] = {column: [] for column in range(plain.schema.n_columns)}
    for column, threshold in sorted({split for _, splits, _ in trees for split in splits}):
        borders[column].append(threshold)
    starts = np.cumsum([0, *(len(own) for own in borders.values())])
    places = {
        (column, border): int(starts[column]) + place
        for column, own in borders.items()
        for place, border in enumerate(own)
    }
    written = [_tree(tree, splits, leaves, places, outputs, plain.averaged) for tree, splits, leaves in trees]
    names = plain.schema.names if plain.schema.named else ("",) * plain.schema.n_columns
    features = [
        {
            "borders": own,
            "feature_id": names[column],
            "feature_index": column,
            "flat_feature_index": column,
            "has_nans": bool(own),
            "nan_value_treatment": "AsFalse" if own else "AsIs",
        }
        for column, own in borders.items()
    ]
    return {
        "features_info": {"float_features": features},
        "model_info": _info(plain),
        "oblivious_trees": written,
        "scale_and_bias": [1, [0.0] * outputs],
    }


def _info(plain: PlainModel) -> dict[str, Any]:
    loss = {"log": "Poisson", "logit": "Logloss", "softmax": "MultiClass"}.get(plain.link)
    if loss is None:
        loss = "RMSE" if plain.forest.n_outputs == 1 else "MultiRMSE"
    info: dict[str, Any] = {"params": {"loss_function": {"type": loss, "params": {}}}}
    if plain.classes is None:
        return info
    kind = "String"
    if all(isinstance(label, int) for label in plain.classes):
        kind = "Boolean" if isinstance(plain.classes[0], bool) else "Integer"
    elif all(isinstance(label, float) for label in plain.classes):
        kind = "Float"
    labels = [
        int(label) if isinstance(label, bool) and kind == "Integer" else label for label in plain.classes
    ]
    info["class_params"] = {
        "class_label_type": kind,
        "class_names": labels,
        "class_to_label": list(range(len(labels))),
        "classes_count": 0,
    }
    return info


def _levels(tree: OutputTree) -> tuple[list[Split], NDArray[np.int64]]:
    """The splits of a symmetric tree from the root on, and its leaves; the first split is the lowest bit of a leaf's number."""
    splits: list[Split] = []
    level = np.zeros(1, np.int64)
    while not tree.is_leaf[level].all():
        own = {
            (
                int(tree.feature[node]),
                float(np.clip(at_most_single(tree.threshold[node : node + 1])[0], _LOWEST, -_LOWEST)),
                bool(tree.missing_left[node]),
            )
            for node in level.tolist()
        }
        if len(own) > 1 or tree.is_leaf[level].any():
            raise NotSupportedError(
                "format='catboost' holds symmetric trees, in which all nodes of a level ask the same; "
                "fit with growth='oblivious', or export the model as 'lightgbm', 'xgboost' or 'json'."
            )
        splits.append(own.pop())
        level = np.concatenate([tree.left[level], tree.left[level] + 1])
    return splits, level


def _with_missing(
    splits: list[Split], leaves: NDArray[np.int64]
) -> tuple[list[tuple[int, float]], NDArray[np.int64]]:
    """The borders of a tree, and its leaves; to CatBoost a missing value lies below all borders.

    A column whose missing values go right gets one more split, at the lowest border, which only missing values do not pass.
    """
    borders = [(column, threshold) for column, threshold, _ in splits]
    extra = sorted({column for column, _, missing_left in splits if not missing_left})
    depth = len(borders) + len(extra)
    if depth > _DEEPEST:
        raise NotSupportedError(
            f"format='catboost' needs {depth} levels to say where missing values go in a tree of {len(borders)}, and has at most "
            f"{_DEEPEST}; fit with a smaller max_depth, or export the model as 'lightgbm', 'xgboost' or 'json'."
        )
    bits = np.arange(2**depth)
    place = np.zeros(2**depth, np.int64)
    for level, (column, _, missing_left) in enumerate(splits):
        goes_right = bits >> level & 1
        if not missing_left:
            goes_right |= 1 - (bits >> (len(borders) + extra.index(column)) & 1)
        place |= goes_right << level
    return borders + [(column, _LOWEST) for column in extra], leaves[place]


def _tree(
    tree: OutputTree,
    borders: list[tuple[int, float]],
    leaves: NDArray[np.int64],
    places: dict[tuple[int, float], int],
    outputs: int,
    divisor: float,
) -> dict[str, Any]:
    values = np.zeros((len(leaves), outputs))
    values[:, tree.output] = tree.value[leaves] / divisor
    return {
        "leaf_values": values.reshape(-1).tolist(),
        "leaf_weights": tree.cover[leaves].tolist(),
        "splits": [
            {
                "border": border,
                "float_feature_index": column,
                "split_index": places[column, border],
                "split_type": "FloatFeature",
            }
            for column, border in borders
        ],
    }
