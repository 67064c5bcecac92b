"""ONNX ensembles of trees predict as onnxruntime says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"]


def _complete_tree(generator: np.random.Generator, depth: int, n_outputs: int) -> dict[str, np.ndarray]:
    """A complete tree, nodes numbered level after level."""
    inner, nodes = 2**depth - 1, 2 ** (depth + 1) - 1
    return {
        "inner": np.arange(nodes) < inner,
        "feature": generator.integers(0, 3, nodes),
        "mode": generator.integers(0, len(MODES), nodes),
        "split": np.round(generator.standard_normal(nodes), 1).astype(np.float32),
        "missing": generator.integers(0, 2, nodes),
        "weight": generator.standard_normal(nodes).astype(np.float32),
        "target": generator.integers(0, n_outputs, nodes),
    }


def _model(
    node: Any, n_features: int, outputs: list[tuple[str, int]], double: bool = False, version: int = 5
) -> bytes:
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "trees",
        [helper.make_tensor_value_info("rows", kind, [None, n_features])],
        [helper.make_tensor_value_info(name, of, None) for name, of in outputs],
    )
    opsets = [helper.make_opsetid("ai.onnx.ml", version), helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def _older(trees: list[dict[str, np.ndarray]], classifies: bool) -> bytes:
    given: dict[str, list[Any]] = {}
    kind = "class" if classifies else "target"

    def add(name: str, values: Any) -> None:
        given.setdefault(name, []).extend(np.asarray(values).tolist())

    for number, tree in enumerate(trees):
        nodes = np.arange(len(tree["inner"]))
        add("nodes_treeids", np.full(len(nodes), number))
        add("nodes_nodeids", nodes)
        add("nodes_featureids", tree["feature"])
        add(
            "nodes_modes",
            [
                MODES[mode] if inner else "LEAF"
                for mode, inner in zip(tree["mode"], tree["inner"], strict=True)
            ],
        )
        add("nodes_values", tree["split"])
        add("nodes_truenodeids", np.where(tree["inner"], 2 * nodes + 1, 0))
        add("nodes_falsenodeids", np.where(tree["inner"], 2 * nodes + 2, 0))
        add("nodes_missing_value_tracks_true", tree["missing"])
        leaves = nodes[~tree["inner"]]
        add(f"{kind}_treeids", np.full(len(leaves), number))
        add(f"{kind}_nodeids", leaves)
        add(f"{kind}_ids", tree["target"][leaves])
        add(f"{kind}_weights", tree["weight"][leaves])
    more = (
        {"classlabels_strings": ["no", "maybe", "yes"], "post_transform": "SOFTMAX"}
        if classifies
        else {"n_targets": 2}
    )
    name = "TreeEnsembleClassifier" if classifies else "TreeEnsembleRegressor"
    outputs = [("labels", TensorProto.STRING)] if classifies else []
    outputs.append(("scores", TensorProto.FLOAT))
    node = helper.make_node(
        name, ["rows"], [name for name, _ in outputs], domain="ai.onnx.ml", **given, **more
    )
    return _model(node, 3, outputs, version=3)


def _newer(trees: list[dict[str, np.ndarray]], dtype: Any) -> bytes:
    given: dict[str, list[Any]] = {"tree_roots": []}
    leaves_before = nodes_before = 0

    def add(name: str, values: Any) -> None:
        given.setdefault(name, []).extend(np.asarray(values).tolist())

    for tree in trees:
        inner = np.flatnonzero(tree["inner"])
        given["tree_roots"].append(nodes_before)
        for name, source in (("nodes_featureids", "feature"), ("nodes_missing_value_tracks_true", "missing")):
            add(name, tree[source][inner])
        add("modes", tree["mode"][inner])
        add("splits", tree["split"][inner])
        for side, offset in (("true", 1), ("false", 2)):
            child = 2 * inner + offset
            is_leaf = child >= len(inner)
            add(f"nodes_{side}leafs", is_leaf.astype(int))
            add(
                f"nodes_{side}nodeids",
                np.where(is_leaf, child - len(inner) + leaves_before, child + nodes_before),
            )
        add("leaf_targetids", tree["target"][len(inner) :])
        add("weights", tree["weight"][len(inner) :])
        nodes_before += len(inner)
        leaves_before += len(tree["inner"]) - len(inner)
    # ONNX numbers the modes LEQ, LT, GTE, GT.
    node = helper.make_node(
        "TreeEnsemble", ["rows"], ["scores"], domain="ai.onnx.ml", n_targets=2, aggregate_function=1, post_transform=0,
        nodes_modes=numpy_helper.from_array(np.array(given.pop("modes"), np.uint8)),
        nodes_splits=numpy_helper.from_array(np.array(given.pop("splits"), dtype)),
        leaf_weights=numpy_helper.from_array(np.array(given.pop("weights"), dtype)), **given,
    )  # fmt: skip
    kind = TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
    return _model(node, 3, [("scores", kind)], dtype == np.float64)


@pytest.mark.parametrize("form", ["regressor", "classifier", "five", "five in doubles"])
def test_ensembles_predict_as_the_runtime_says(form: str, tmp_path: Any) -> None:
    generator = np.random.default_rng(5)
    trees = [_complete_tree(generator, depth, 3 if form == "classifier" else 2) for depth in (1, 3, 4)]
    dtype = np.float64 if form == "five in doubles" else np.float32
    data = _newer(trees, dtype) if form.startswith("five") else _older(trees, form == "classifier")
    rows = np.round(generator.standard_normal((300, 3)), 1).astype(dtype)
    rows[generator.random(rows.shape) < 0.1] = np.nan
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    theirs = session.run(None, {"rows": rows})
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    model = weald.load_foreign(path)
    if form == "classifier":
        # The runtime's own label passes over classes that no leaf of the row has a weight of.
        assert (model.predict(rows) == np.array(["no", "maybe", "yes"])[theirs[1].argmax(axis=1)]).all()
        assert np.abs(model.predict_proba(rows) - theirs[1]).max() < 1e-6
    else:
        assert np.abs(model.predict(rows) - theirs[0]).max() < (1e-12 if dtype == np.float64 else 1e-6)
    with pytest.raises(weald.NotSupportedError, match="how many training rows"):
        model.shap_values(rows)


def test_what_is_more_than_trees_is_refused() -> None:
    node = helper.make_node("Relu", ["rows"], ["scores"])
    with pytest.raises(weald.NotSupportedError, match="one ensemble of trees; it has 0 beside Relu"):
        weald.load_foreign(onnx.load_model_from_string(_model(node, 3, [("scores", TensorProto.FLOAT)])))
