"""Models of other systems predict the same once they are imported; what cannot be imported is refused by name."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import weald
from tools.fuzz.child import CASES, outcome_of

# Cases of one system, see tools/fuzz/imports.py; `python -m tools.fuzz imports --cases 1500` runs 300 of each.
SYSTEMS = {"xgboost": 0, "lightgbm": 1, "catboost": 2, "sklearn": 3, "treelite": 4}


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_models_with_drawn_parameters_predict_the_same(system: str) -> None:
    pytest.importorskip(system)
    pytest.importorskip("xgboost")
    for number in range(SYSTEMS[system], 50 + SYSTEMS[system], len(SYSTEMS)):
        case = CASES["imports"](1, number)
        outcome = outcome_of(case)
        assert outcome["outcome"] == "finite", f"{number}: {case.told}: {outcome['detail']}"


def test_damaged_files_end_in_a_model_or_in_our_error() -> None:
    for module in ("xgboost", "lightgbm", "catboost", "onnx"):
        pytest.importorskip(module)
    for number in range(220):
        case = CASES["foreign"](0, number)
        outcome = outcome_of(case)
        assert outcome["outcome"] in ("finite", "refused"), f"{number}: {case.told}: {outcome}"


def _lightgbm_text(**changes: str) -> str:
    lines = {
        "version": "v4", "num_class": "1", "num_tree_per_iteration": "1", "max_feature_idx": "1", "objective": "regression",
        "feature_names": "age weight", "feature_infos": "[0:9] [0:9]",
    }  # fmt: skip
    tree = {
        "num_leaves": "2", "num_cat": "0", "split_feature": "1", "split_gain": "3", "threshold": "2.5", "decision_type": "10",
        "left_child": "-1", "right_child": "-2", "leaf_value": "-1 1", "leaf_weight": "3 5", "leaf_count": "3 5",
        "internal_value": "0", "internal_weight": "8", "internal_count": "8", "is_linear": "0", "shrinkage": "1",
    }  # fmt: skip
    header = {key: changes.get(key, value) for key, value in lines.items()}
    block = {key: changes.get(key, value) for key, value in tree.items()}
    text = "\n".join(f"{key}={value}" for key, value in header.items())
    return (
        f"tree\n{text}\n\nTree=0\n"
        + "\n".join(f"{key}={value}" for key, value in block.items())
        + "\n\nend of trees\n"
    )


def _imported(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "model.txt"
    path.write_text(text)
    return weald.load_foreign(path)


def test_an_imported_model_is_an_estimator(tmp_path: Path) -> None:
    model = _imported(tmp_path, _lightgbm_text())
    rows = {"weight": [2.0, 3.0, None], "age": [1.0, 1.0, 1.0]}
    assert model.predict(rows).tolist() == [-1.0, 1.0, -1.0]
    assert model.system_ == "LightGBM" and model.objective_ == "regression"
    assert model.feature_importances_.tolist() == [0.0, 1.0]
    assert np.allclose(model.shap_values(rows).sum(axis=1), model.predict(rows))
    assert pickle.loads(pickle.dumps(model)).predict(rows).tolist() == [-1.0, 1.0, -1.0]
    assert not clone(model).__sklearn_is_fitted__()
    model.save(tmp_path / "model.weald")
    assert weald.load(tmp_path / "model.weald").predict(rows).tolist() == [-1.0, 1.0, -1.0]
    assert (tmp_path / "model.weald").read_bytes() == model._to_bytes()
    with pytest.raises(weald.NotSupportedError, match="trained elsewhere"):
        model.fit(rows, [1, 2, 3])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"is_linear": "1"}, "linear trees"),
        ({"objective": "survival"}, "objective is 'survival'"),
        ({"threshold": "nan"}, "threshold must be numbers"),
        ({"left_child": "-9"}, "none of its nodes"),
        ({"split_feature": "7"}, "not among the 2 columns"),
        ({"leaf_value": "1"}, "leaf_value must have 2 entries"),
        ({"num_leaves": "1000000000"}, "must have"),
        ({"max_feature_idx": "-1"}, "whole number from 0"),
        ({"decision_type": "1", "num_cat": "1"}, "categorical split|cat_boundaries"),
        ({"num_tree_per_iteration": "3"}, "whole rounds of 3"),
    ],
)
def test_lightgbm_files_that_cannot_be_are_refused(
    tmp_path: Path, changes: dict[str, str], said: str
) -> None:
    with pytest.raises((weald.ModelFileError, weald.NotSupportedError), match=said):
        _imported(tmp_path, _lightgbm_text(**changes))


def test_values_that_count_as_zero_are_missing_where_the_file_says_so(tmp_path: Path) -> None:
    model = _imported(tmp_path, _lightgbm_text(decision_type="6", threshold="-1"))
    assert model.predict({"age": [1.0] * 4, "weight": [0.0, 5.0, -3.0, None]}).tolist() == [
        -1.0,
        1.0,
        -1.0,
        -1.0,
    ]


def test_rows_beside_a_threshold_go_where_their_float32_goes() -> None:
    xgboost = pytest.importorskip("xgboost")
    generator = np.random.default_rng(0)
    X = generator.standard_normal((300, 2)).astype(np.float32)
    trained = xgboost.train({"max_depth": 4, "nthread": 1}, xgboost.DMatrix(X, X[:, 0] * X[:, 1]), 5)
    model = weald.load_foreign(trained)
    splits = trained.trees_to_dataframe().Split.dropna().to_numpy(np.float32)
    beside = [splits, np.nextafter(splits, np.float32(-9)), np.nextafter(splits, np.float32(9))]
    rows = np.concatenate(beside).astype(np.float64)
    rows = np.concatenate(
        [rows, rows * (1 + 1e-9), rows * (1 - 1e-9), 0.5 * (rows + np.roll(rows, len(splits)))]
    )
    table = np.column_stack([rows, generator.permutation(rows)])
    theirs = trained.predict(xgboost.DMatrix(table))
    assert np.abs(model.predict(table) - theirs).max() < 1e-5


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"CBM1xxxx", "CatBoost's binary format"),
        (pickle.dumps({"a": 1}), "pickle"),
        (b'{"a": 1}', "not that of XGBoost"),
        (b"[1, 2]", "neither|not an object"),
        (b'{"learner": ' + b"[" * 100_000, "nested deeper|not valid JSON"),
        (b'{"learner": ' + b"9" * 5_000 + b"}", "not valid JSON"),
        (b"tree\nmax_feature_idx=x\n", "whole number|not a number"),
        (b"binf1234", "old binary format"),
    ],
)
def test_files_that_are_no_model_are_refused_by_path(tmp_path: Path, data: bytes, said: str) -> None:
    pytest.importorskip("onnx")
    path = tmp_path / "model"
    path.write_bytes(data)
    with pytest.raises((weald.ModelFileError, weald.NotSupportedError), match=said) as found:
        weald.load_foreign(path)
    assert str(path) in str(found.value)


def test_objects_that_cannot_be_read_are_refused_by_name() -> None:
    from sklearn.ensemble import GradientBoostingRegressor, StackingRegressor
    from sklearn.linear_model import LinearRegression

    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20.0)
    stack = StackingRegressor([("a", LinearRegression())]).fit(X, y)
    with pytest.raises(weald.NotSupportedError, match="StackingRegressor of scikit-learn cannot be read"):
        weald.load_foreign(stack)
    with pytest.raises(weald.NotSupportedError, match="starts from the predictions of a LinearRegression"):
        weald.load_foreign(GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(X, y))
    with pytest.raises(weald.InputError, match="takes a path or a model"):
        weald.load_foreign(3)


def test_an_adaboost_regressor_predicts_its_weighted_median(tmp_path: Path) -> None:
    from sklearn.ensemble import AdaBoostRegressor

    X = np.random.default_rng(0).standard_normal((200, 3))
    trained = AdaBoostRegressor(n_estimators=7, random_state=0).fit(X, X[:, 0] * X[:, 1])
    model = weald.load_foreign(trained)
    assert np.array_equal(model.predict(X), trained.predict(X))
    model.export(tmp_path / "model.json", format="json")
    assert np.array_equal(weald.load_foreign(tmp_path / "model.json").predict(X), trained.predict(X))


def test_catboost_needs_its_tables_and_one_target(tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    import pandas as pd

    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"c": generator.choice(list("abcdefgh"), 200), "x": generator.standard_normal(200)})
    labels = np.column_stack([frame.x, (frame.c == "a") * 1.0])
    pool = catboost.Pool(frame, labels, cat_features=["c"])
    options = {"iterations": 3, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    several = catboost.CatBoost({**options, "loss_function": "MultiRMSE"}).fit(pool)
    path = tmp_path / "model.json"
    several.save_model(str(path), format="json", pool=pool)
    if '"ctrs"' in path.read_text():
        with pytest.raises(weald.NotSupportedError, match="statistics of one target"):
            weald.load_foreign(path)
    one = catboost.CatBoost(options).fit(catboost.Pool(frame, labels[:, 1], cat_features=["c"]))
    one.save_model(str(path), format="json", pool=pool)
    content = json.loads(path.read_text())
    content.pop("ctr_data")
    path.write_text(json.dumps(content))
    with pytest.raises(weald.NotSupportedError, match="pool=the training pool"):
        weald.load_foreign(path)


def test_an_imported_model_can_be_exported(tmp_path: Path) -> None:
    from sklearn.ensemble import RandomForestClassifier

    data = weald.datasets.load("wine_quality")
    X = np.column_stack([np.asarray(data.data[name], np.float64) for name in list(data.data)[:5]])[:400]
    trained = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, data.target[:400])
    model = weald.load_foreign(trained)
    model.export(tmp_path / "model.json", format="json")
    again = weald.load_foreign(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (again.predict(X) == trained.predict(X)).all()
