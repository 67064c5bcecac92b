"""Shapley values, importances and virtual ensembles of CatBoost's own trees against what CatBoost says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from equivalence.catboost_models import forest_of
from weald.data import read_table
from weald.explain.importances import loss_function_change, prediction_values_change
from weald.explain.shap import shap_values
from weald.explain.virtual import virtual_ensembles

catboost = pytest.importorskip("catboost")

X, Y = load_diabetes(return_X_y=True)
X = X.astype(np.float32)
X[::9, 2] = np.nan
DATASET = read_table(X)


def peer(growth: str = "SymmetricTree", rounds: int = 10) -> Any:
    model = catboost.CatBoostRegressor(
        iterations=rounds, depth=4, grow_policy=growth, thread_count=1, verbose=0, allow_writing_files=False
    )
    return model.fit(X, Y)


@pytest.mark.parametrize("growth", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_prediction_values_change_is_catboosts(growth: str, tmp_path: Path) -> None:
    model = peer(growth)
    forest = forest_of(model, tmp_path)
    assert np.allclose(forest.raw_scores(DATASET)[0], model.predict(X))
    assert np.allclose(prediction_values_change(forest), model.get_feature_importance(), rtol=1e-6)


def test_shap_values_and_what_the_loss_loses_are_catboosts(tmp_path: Path) -> None:
    model = peer()
    forest = forest_of(model, tmp_path)
    pool = catboost.Pool(X, Y)
    found = shap_values(forest, DATASET.blocks(), len(Y))[0]
    assert np.allclose(found, model.get_feature_importance(pool, "ShapValues"), rtol=0.0, atol=1e-9)

    def rmse(scores: Any) -> float:
        return float(np.sqrt(np.mean((scores[0] - Y) ** 2)))

    changes = loss_function_change(forest, DATASET.blocks(), len(Y), rmse)
    assert np.allclose(changes, model.get_feature_importance(pool, "LossFunctionChange"), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("count", [3, 10])
def test_virtual_ensembles_are_catboosts(count: int, tmp_path: Path) -> None:
    model = peer(rounds=47)
    theirs = model.virtual_ensembles_predict(
        X, prediction_type="VirtEnsembles", virtual_ensembles_count=count, thread_count=1
    )
    ours = virtual_ensembles(forest_of(model, tmp_path), DATASET.blocks(), len(Y), count)
    assert np.allclose(ours[:, 0].T, theirs[:, :, 0])
