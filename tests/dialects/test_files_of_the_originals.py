"""Files that XGBoost, LightGBM and CatBoost have written are models of their interfaces here, and training goes on from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((400, 3))
X[::7, 1] = np.nan
Y = X[:, 0] + np.nan_to_num(X[:, 1]) ** 2
THREE = np.digitize(Y, [0.0, 1.0])


@pytest.mark.parametrize(
    ("objective", "labels", "more"),
    [
        ("reg:squarederror", Y, {}),
        ("binary:logistic", (Y > 0.5) * 1.0, {"booster": "dart", "rate_drop": 0.5}),
        ("multi:softprob", THREE * 1.0, {"num_class": 3}),
        ("reg:quantileerror", Y, {"quantile_alpha": [0.2, 0.8]}),
        ("reg:tweedie", np.abs(Y), {"tweedie_variance_power": 1.3}),
        ("count:poisson", np.floor(np.abs(Y)), {"booster": "gblinear"}),
    ],
)
@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_xgboosts(objective: str, labels: Any, more: dict[str, Any], ending: str, tmp_path: Path) -> None:
    original = pytest.importorskip("xgboost")
    params = {"objective": objective, "max_depth": 3, "nthread": 1, **more}
    trained = original.train(params, original.DMatrix(X, labels), 4)
    path = tmp_path / f"model.{ending}"
    trained.save_model(path)
    booster = xgb.Booster(model_file=path)
    data = xgb.DMatrix(X, labels)
    assert np.abs(booster.predict(data) - trained.predict(original.DMatrix(X))).max() < 1e-5
    further = xgb.train(params, data, 3, xgb_model=booster)
    assert further.num_boosted_rounds() == 7
    loss = [float(one.eval(data).split(":")[-1]) for one in (booster, further)]
    assert loss[1] < loss[0]
    again = xgb.Booster(model_file=bytes(booster.save_raw()))
    assert np.array_equal(again.predict(data), booster.predict(data))


def test_xgboosts_with_categories_by_name(tmp_path: Path) -> None:
    original = pytest.importorskip("xgboost")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(GENERATOR.choice(list("uvwxyz"), 400))})
    labels = Y + (frame.c == "u") * 2.0
    data = original.DMatrix(frame, labels, enable_categorical=True)
    trained = original.train({"max_cat_to_onehot": 1, "nthread": 1}, data, 4)
    path = tmp_path / "model.json"
    trained.save_model(path)
    booster = xgb.Booster(model_file=path)
    assert booster.feature_names == ["a", "c"]
    other = frame.assign(c=frame.c.cat.set_categories(list("zyxwvu")))
    for rows in (frame, other):
        ours = booster.predict(xgb.DMatrix(rows, enable_categorical=True))
        assert np.abs(ours - trained.predict(data)).max() < 1e-5


@pytest.mark.parametrize(
    ("objective", "labels", "more"),
    [
        ("regression", Y, {}),
        ("binary", (Y > 0.5) * 1.0, {"boosting": "dart"}),
        ("multiclass", THREE * 1.0, {"num_class": 3}),
        ("poisson", np.floor(np.abs(Y)), {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}),
    ],
)
def test_lightgbms(objective: str, labels: Any, more: dict[str, Any], tmp_path: Path) -> None:
    original = pytest.importorskip("lightgbm")
    params = {
        "objective": objective,
        "num_leaves": 7,
        "verbose": -1,
        "num_threads": 1,
        "learning_rate": 0.3,
        **more,
    }
    trained = original.train(params, original.Dataset(X, labels), 4)
    path = tmp_path / "model.txt"
    trained.save_model(path)
    for booster in (lgb.Booster(model_file=path), lgb.Booster(model_str=trained.model_to_string())):
        assert np.abs(booster.predict(X) - trained.predict(X)).max() < 1e-12
    further = lgb.train(params, lgb.Dataset(X, labels), 3, init_model=booster)
    assert further.num_trees() == 7 * (3 if objective == "multiclass" else 1)
    assert np.array_equal(lgb.Booster(model_str=booster.model_to_string()).predict(X), booster.predict(X))
    assert booster.params["learning_rate"] == 0.3


@pytest.mark.parametrize(("loss", "labels"), [("RMSE", Y), ("Logloss", Y > 0.5), ("MultiClass", THREE)])
def test_catboosts(loss: str, labels: Any, tmp_path: Path) -> None:
    original = pytest.importorskip("catboost")
    options = {
        "iterations": 4,
        "depth": 3,
        "verbose": False,
        "loss_function": loss,
        "allow_writing_files": False,
    }
    kind = "CatBoostRegressor" if loss == "RMSE" else "CatBoostClassifier"
    trained = getattr(original, kind)(thread_count=1, **options).fit(X, labels)
    path = tmp_path / "model.json"
    trained.save_model(str(path), format="json")
    model = getattr(cb, kind)().load_model(path, format="json")
    assert (
        np.abs(model.predict(X, prediction_type="RawFormulaVal") - trained.predict(X, "RawFormulaVal")).max()
        < 1e-12
    )
    further = getattr(cb, kind)(**options).fit(X, labels, init_model=model)
    assert further.tree_count_ == 8
    trained.save_model(str(path))
    with pytest.raises(weald.ModelFileError, match="CatBoost's own binary format"):
        getattr(cb, kind)().load_model(path)


def test_what_an_interface_does_not_have_is_read_elsewhere(tmp_path: Path) -> None:
    original = pytest.importorskip("xgboost")
    trained = original.train({"objective": "survival:cox"}, original.DMatrix(X, np.abs(Y) + 0.1), 2)
    path = tmp_path / "model.json"
    trained.save_model(path)
    with pytest.raises(weald.InputError, match=r"weald\.load_foreign reads such a model"):
        xgb.Booster(model_file=path)
    assert np.allclose(weald.load_foreign(path).predict(X), trained.predict(original.DMatrix(X)), rtol=1e-5)
