"""Files of other systems, damaged, most of them in valid syntax: reading must end in a model or in our error."""

from __future__ import annotations

import functools
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import weald
from tools.fuzz.draws import Draws
from tools.fuzz.files import changed_json, flipped
from tools.fuzz.fits import Case
from weald.exchange.foreign.ubjson import ubjson_of

_ROWS = 80


def draw_foreign(seed: int, number: int) -> Case:
    """The mutant of this number: everything about it follows from the two; the formats take turns."""
    draws = Draws(seed, number)
    originals = foreign_files()
    name = list(originals)[number % len(originals)]
    data = originals[name]
    mutate = _MUTATIONS[name.split(".")[-1]]
    mutant, told = mutate(draws, data) if draws.chance(0.6) else _raw(draws, data)

    def run() -> list[Any]:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = os.path.join(folder, "mutant")
            with open(path, "wb") as file:
                file.write(mutant)
            model = weald.load_foreign(path)
            rows = np.zeros((3, model.n_features_in_))
            rows[1:] = [[np.nan], [1e30]]
            model.decision_function(rows)
            model.save(os.path.join(folder, "again.weald"))
            weald.load(os.path.join(folder, "again.weald"))
        return []

    return Case(name, f"{told}, of {name}", run)


@functools.cache
def foreign_files() -> dict[str, bytes]:
    """Small models of every format, by name and ending."""
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train in (_xgboost_files, _lightgbm_files, _catboost_files, _onnx_files):
            for name, data in train(folder):
                found[name] = data
    return found


def _table() -> tuple[Any, Any, Any]:
    import pandas as pd

    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": generator.standard_normal(_ROWS),
            "b": generator.standard_normal(_ROWS),
            "c": pd.Categorical(generator.choice(list("uvwxyz"), _ROWS)),
        }
    )
    signal = frame.a + (frame.c == "u") * 2.0
    return frame, signal.to_numpy(), np.digitize(signal, [0.0, 1.0])


def _bytes_of(folder: str, save: Callable[[str], Any], ending: str) -> bytes:
    path = os.path.join(folder, f"model.{ending}")
    save(path)
    with open(path, "rb") as file:
        return file.read()


def _xgboost_files(folder: str) -> Any:
    import xgboost

    frame, signal, classes = _table()
    for name, params, labels in (
        ("trees", {"objective": "reg:squarederror", "max_cat_to_onehot": 1}, signal),
        (
            "classes",
            {"objective": "multi:softprob", "num_class": 3, "booster": "dart", "rate_drop": 0.5},
            classes,
        ),
    ):
        data = xgboost.DMatrix(frame, labels, enable_categorical=True)
        trained = xgboost.train({**params, "max_depth": 3, "nthread": 1}, data, 2)
        yield f"xgboost {name}.json", _bytes_of(folder, trained.save_model, "json")
        yield f"xgboost {name}.ubj", _bytes_of(folder, trained.save_model, "ubj")
    linear = xgboost.train(
        {"booster": "gblinear", "nthread": 1}, xgboost.DMatrix(frame[["a", "b"]], signal), 2
    )
    yield "xgboost linear.json", _bytes_of(folder, linear.save_model, "json")


def _lightgbm_files(folder: str) -> Any:
    import lightgbm

    frame, signal, classes = _table()
    options = {
        "verbose": -1,
        "num_leaves": 5,
        "min_data_in_leaf": 3,
        "min_data_per_group": 2,
        "num_threads": 1,
    }
    trained = lightgbm.train({**options, "cat_smooth": 1}, lightgbm.Dataset(frame, signal), 2)
    yield "lightgbm trees.txt", _bytes_of(folder, trained.save_model, "txt")
    several = lightgbm.train(
        {**options, "objective": "multiclass", "num_class": 3}, lightgbm.Dataset(frame, classes), 2
    )
    yield "lightgbm classes.txt", _bytes_of(folder, several.save_model, "txt")
    yield "lightgbm dump.json", json.dumps(trained.dump_model()).encode()


def _catboost_files(folder: str) -> Any:
    import catboost

    frame, signal, classes = _table()
    frame["c"] = frame["c"].astype(str)
    for name, options, labels in (
        ("statistics", {"one_hot_max_size": 2}, signal),
        (
            "nested",
            {"grow_policy": "Depthwise", "loss_function": "MultiClass", "one_hot_max_size": 10},
            classes,
        ),
    ):
        pool = catboost.Pool(frame, labels, cat_features=["c"])
        trained = catboost.CatBoost(
            {
                "iterations": 2,
                "depth": 3,
                "verbose": 0,
                "allow_writing_files": False,
                "thread_count": 1,
                **options,
            }
        ).fit(pool)

        def save(path: str, trained: Any = trained, pool: Any = pool) -> None:
            trained.save_model(path, format="json", pool=pool)

        yield f"catboost {name}.json", _bytes_of(folder, save, "json")


def _onnx_files(folder: str) -> Any:
    from onnx import TensorProto, helper, numpy_helper

    def model(node: Any, outputs: list[str]) -> bytes:
        rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, 2])
        named = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]) for name in outputs]
        graph = helper.make_graph([node], "trees", [rows], named)
        opsets = [helper.make_opsetid("ai.onnx.ml", 5), helper.make_opsetid("", 21)]
        data: bytes = helper.make_model(graph, opset_imports=opsets).SerializeToString()
        return data

    def tensor(values: list[float], dtype: Any = np.float32) -> Any:
        return numpy_helper.from_array(np.array(values, dtype))

    five = helper.make_node(
        "TreeEnsemble", ["rows"], ["scores"], domain="ai.onnx.ml", n_targets=1, tree_roots=[0], nodes_featureids=[0, 1],
        nodes_modes=tensor([0, 1], np.uint8), nodes_splits=tensor([0.5, 2.0]), nodes_truenodeids=[1, 0],
        nodes_trueleafs=[0, 1], nodes_falsenodeids=[2, 1], nodes_falseleafs=[1, 1],
        nodes_missing_value_tracks_true=[1, 0], leaf_targetids=[0, 0, 0], leaf_weights=tensor([1.0, 2.0, 3.0]),
    )  # fmt: skip
    yield "onnx five.onnx", model(five, ["scores"])
    three = helper.make_node(
        "TreeEnsembleClassifier", ["rows"], ["labels", "scores"], domain="ai.onnx.ml", nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
        nodes_missing_value_tracks_true=[0, 0, 0], class_treeids=[0, 0], class_nodeids=[1, 2], class_ids=[0, 1],
        class_weights=[1.0, 1.0], classlabels_strings=["no", "yes"], post_transform="SOFTMAX",
    )  # fmt: skip
    yield "onnx three.onnx", model(three, ["labels", "scores"])


# What is done to them.


def _raw(draws: Draws, data: bytes) -> tuple[bytes, str]:
    if draws.chance(0.3):
        return data[: draws.whole(0, len(data) - 1)], "cut"
    return flipped(draws, data, 0, len(data)), "flipped bytes"


def _json(draws: Draws, data: bytes) -> tuple[bytes, str]:
    content = json.loads(data)
    told = changed_json(draws, content)
    return json.dumps(content).encode(), told


def _ubj(draws: Draws, data: bytes) -> tuple[bytes, str]:
    """Typed arrays become lists, so the syntax is another, and as valid."""
    content = json.loads(json.dumps(ubjson_of(data), default=lambda array: array.tolist()))
    told = changed_json(draws, content)
    return to_ubjson(content), told


def _txt(draws: Draws, data: bytes) -> tuple[bytes, str]:
    lines = data.decode().split("\n")
    place = draws.whole(0, len(lines) - 1)
    name, _, value = lines[place].partition("=")
    kind = draws.one(["number", "drop", "twice", "value", "swap"], [5, 1, 1, 2, 1])
    parts = value.split(" ")
    if kind == "number" and value:
        where = draws.whole(0, len(parts) - 1)
        parts[where] = draws.one(
            ["-1", "0", "1", "2", "99", "1e308", "-1e400", "nan", "inf", "x", "", "4294967296", "0.5"]
        )
        lines[place] = f"{name}={' '.join(parts)}"
    elif kind == "drop":
        del lines[place]
    elif kind == "twice":
        lines[place] = f"{name}={value} {value}"
    elif kind == "value":
        lines[place] = f"{name}={draws.one(['', '0', '-1', '1000000000', 'x', '1 2 3', 'None'])}"
    else:
        other = draws.whole(0, len(lines) - 1)
        lines[place], lines[other] = lines[other], lines[place]
    return "\n".join(lines).encode(), f"line {place}: {kind}"


def to_ubjson(value: Any) -> bytes:
    """UBJSON of JSON data."""
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        return b"L" + value.to_bytes(8, "big", signed=True) if -(2**63) <= value < 2**63 else b"Z"
    if isinstance(value, float):
        return b"D" + np.array(value, ">f8").tobytes()
    if isinstance(value, str):
        return b"S" + _text(value)
    if isinstance(value, list):
        return b"[" + b"".join(map(to_ubjson, value)) + b"]"
    return b"{" + b"".join(_text(str(key)) + to_ubjson(entry) for key, entry in value.items()) + b"}"


def _text(text: str) -> bytes:
    data = text.encode()
    return b"L" + len(data).to_bytes(8, "big") + data


_MUTATIONS: dict[str, Callable[[Draws, bytes], tuple[bytes, str]]] = {
    "json": _json, "ubj": _ubj, "txt": _txt, "onnx": _raw,
}  # fmt: skip
