"""A forest as XGBoost's JSON or UBJSON: real XGBoost loads it and computes it in its float32."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.formats.ubjson import to_ubjson
from weald.exchange.model import Model
from weald.exchange.plain import OutputTree, PlainModel, below_single, other_codes, plain_model, refuse_link
from weald.runtime.errors import NotSupportedError

_NO_PARENT: Final = 2**31 - 1
_VERSION: Final = [2, 1, 0]
_OBJECTIVES: Final = {
    "log": "count:poisson",
    "logit": "binary:logistic",
    "half_logit": "binary:logistic",
    "softmax": "multi:softprob",
    "identity": "reg:squarederror",
}
#: where XGBoost's base score adds nothing to the margin
_BASES: Final = {"log": "1E0", "logit": "5E-1", "half_logit": "5E-1", "softmax": "0E0", "identity": "0E0"}


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One file: UBJSON where its name ends with .ubj, else JSON."""
    described = described_model(model)
    if path.suffix == ".ubj":
        return {path: to_ubjson(described)}
    return {path: json.dumps(_listed(described), ensure_ascii=True).encode()}


def described_model(model: Model) -> dict[str, Any]:
    """The model as XGBoost's file has it; numbers of nodes are arrays."""
    plain = plain_model(model, "xgboost")
    refuse_link(plain, "xgboost", tuple(_OBJECTIVES))  # type: ignore[arg-type]
    if plain.forest.n_outputs > 1 and plain.link not in ("softmax", "identity"):
        raise NotSupportedError("format='xgboost' has several outputs for classes and for numbers only.")
    trees = plain.trees()
    columns, outputs = plain.schema.n_columns, plain.forest.n_outputs
    per_output = len(trees) // outputs
    objective: dict[str, Any] = {"name": _OBJECTIVES[plain.link]}
    if plain.link == "softmax":
        objective["softmax_multiclass_param"] = {"num_class": str(outputs)}
    elif plain.link == "log":
        objective["poisson_regression_param"] = {"max_delta_step": "0.7"}
    else:
        objective["reg_loss_param"] = {"scale_pos_weight": "1"}
    forest = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": [place * outputs for place in range(per_output + 1)],
        "tree_info": [tree.output for tree in trees],
        "trees": [_tree(tree, number, plain) for number, tree in enumerate(trees)],
    }
    is_softmax = plain.link == "softmax"
    return {
        "learner": {
            "attributes": {},
            "feature_names": list(plain.schema.names) if plain.schema.named else [],
            "feature_types": [
                "c" if column.kind == "categorical" else "float" for column in plain.schema.columns
            ],
            "gradient_booster": {"model": forest, "name": "gbtree"},
            "learner_model_param": {
                "base_score": _BASES[plain.link],
                "boost_from_average": "0",
                "num_class": str(outputs if is_softmax else 0),
                "num_feature": str(columns),
                "num_target": str(1 if is_softmax else outputs),
            },
            "objective": objective,
        },
        "version": _VERSION,
    }


def _tree(tree: OutputTree, number: int, plain: PlainModel) -> dict[str, Any]:
    """A tree in XGBoost's arrays; `x < condition` goes to the left, and categories that are listed to the right."""
    size, leaf = len(tree.feature), tree.is_leaf
    scale = (2.0 if plain.link == "half_logit" else 1.0) / plain.averaged
    inner = np.flatnonzero(~leaf)
    children = np.where(leaf, -1, tree.left)
    parents = np.full(size, _NO_PARENT, np.int64)
    parents[tree.left[inner]] = parents[tree.left[inner] + 1] = inner
    conditions = np.where(leaf, (tree.value * scale).astype(np.float32), below_single(tree.threshold))
    by_set = [node for node in inner.tolist() if tree.categories_left[node] is not None]
    listed = []
    for node in by_set:
        codes = tree.categories_left[node]
        assert codes is not None
        listed.append(other_codes(codes, len(plain.schema.columns[tree.feature[node]].categories)))
    conditions[by_set] = 0.0
    _check_leaves(conditions[leaf])
    sizes = np.array([len(codes) for codes in listed], np.int64)
    return {
        "base_weights": (tree.value * scale).astype(np.float32),
        "categories": np.array([code for codes in listed for code in codes], np.int32),
        "categories_nodes": np.array(by_set, np.int32),
        "categories_segments": (np.cumsum(sizes) - sizes).astype(np.int64),
        "categories_sizes": sizes,
        "default_left": (tree.missing_left & ~leaf).astype(np.uint8),
        "id": number,
        "left_children": children.astype(np.int32),
        "loss_changes": np.minimum(tree.gain, np.finfo(np.float32).max).astype(np.float32),
        "parents": parents.astype(np.int32),
        "right_children": np.where(leaf, -1, tree.left + 1).astype(np.int32),
        "split_conditions": conditions,
        "split_indices": np.where(leaf, 0, tree.feature).astype(np.int32),
        "split_type": np.isin(np.arange(size), by_set).astype(np.uint8),
        "sum_hessian": np.minimum(tree.cover, np.finfo(np.float32).max).astype(np.float32),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(plain.schema.n_columns),
            "num_nodes": str(size),
            "size_leaf_vector": "1",
        },
    }


def _check_leaves(values: NDArray[np.float32]) -> None:
    if not np.isfinite(values).all():
        raise NotSupportedError(
            "format='xgboost' has float32 numbers, and a leaf of this model is beyond them; export it "
            "as 'json', 'c' or 'lightgbm'."
        )


def _listed(value: Any) -> Any:
    """Arrays as lists; floats by the shortest text that float32 reads back."""
    if isinstance(value, dict):
        return {name: _listed(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_listed(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return [float(str(number)) for number in value] if value.dtype.kind == "f" else value.tolist()
    return value
