"""Boosters of other systems' interfaces go home: the originals load what they export."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weald.catboost
import weald.lightgbm
import weald.xgboost


def _table() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4)).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, (np.nan_to_num(X) @ [1.0, -1.0, 0.5, 0.0] > 0).astype(int)


def test_lightgbm_loads_our_booster(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X, y = _table()
    data = weald.lightgbm.Dataset(X, y)
    booster = weald.lightgbm.train({"objective": "binary", "num_leaves": 8, "verbosity": -1}, data, 10)
    booster.export(tmp_path / "model.txt", format="lightgbm")
    theirs = lightgbm.Booster(model_file=str(tmp_path / "model.txt"))
    assert np.array_equal(theirs.predict(X, raw_score=True), booster.predict(X, raw_score=True))
    assert np.allclose(theirs.predict(X), booster.predict(X), rtol=1e-12)


def test_xgboost_loads_our_booster(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = _table()
    booster = weald.xgboost.train(
        {"objective": "binary:logistic", "max_depth": 3}, weald.xgboost.DMatrix(X, y), 10
    )
    booster.export(tmp_path / "model.ubj", format="xgboost")
    theirs = xgboost.Booster(model_file=str(tmp_path / "model.ubj"))
    assert np.allclose(
        theirs.predict(xgboost.DMatrix(X)), booster.predict(weald.xgboost.DMatrix(X)), rtol=1e-5
    )


def test_catboost_loads_our_model(tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    X, y = _table()
    model = weald.catboost.CatBoostClassifier(iterations=10, depth=3, verbose=False).fit(X, y)
    model.export(tmp_path / "model.json", format="catboost")  # its JSON; save_model writes Weald's own file
    theirs = catboost.CatBoost().load_model(str(tmp_path / "model.json"), format="json")
    own = model.predict(X, prediction_type="RawFormulaVal")
    assert np.allclose(theirs.predict(X, prediction_type="RawFormulaVal"), own, rtol=1e-12, atol=1e-14)
