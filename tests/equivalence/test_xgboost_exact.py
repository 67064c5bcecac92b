"""The exact split finder against XGBoost's on small real data: the first split, its gain, and what the model is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import log_loss, root_mean_squared_error

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor

xgboost = pytest.importorskip("xgboost")

SHARED: dict[str, Any] = {"n_estimators": 50, "learning_rate": 0.1, "reg_lambda": 1.0, "n_jobs": 1}
OURS: dict[str, Any] = {
    "split_finder": weald.Exact(precision="wide"),
    "growth": "depthwise",
    "max_leaves": None,
    "min_samples_leaf": 1,
    "min_child_weight": 1.0,
}


def tables() -> dict[str, tuple[Any, Any]]:
    cancer, diabetes = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
    holes = np.random.default_rng(0).random(cancer[0].shape) < 0.2
    return {
        "cancer": (cancer[0].astype(np.float32), cancer[1]),
        "cancer with holes": (np.where(holes, np.nan, cancer[0]).astype(np.float32), cancer[1]),
        "diabetes": (diabetes[0].astype(np.float32), diabetes[1]),
    }


@pytest.mark.parametrize("name", ["cancer", "cancer with holes", "diabetes"])
@pytest.mark.parametrize("max_depth", [1, 4])
def test_the_root_is_split_as_by_xgboost_and_the_quality_is_alike(name: str, max_depth: int) -> None:
    X, y = tables()[name]
    fitted, held = np.arange(len(y)) % 4 != 0, np.arange(len(y)) % 4 == 0
    classifies = name != "diabetes"
    ours: Any = BoostedTreesClassifier if classifies else BoostedTreesRegressor
    theirs = xgboost.XGBClassifier if classifies else xgboost.XGBRegressor
    mine = ours(**SHARED, **OURS, max_depth=max_depth).fit(X[fitted], y[fitted])
    peer = theirs(**SHARED, tree_method="exact", max_depth=max_depth).fit(X[fitted], y[fitted])
    root = peer.get_booster().trees_to_dataframe().iloc[0]
    assert root["Feature"] == f"f{mine.forest_.feature[0]}"
    assert np.float32(root["Split"]) == pytest.approx(np.float32(mine.forest_.threshold[0]), rel=1e-6)
    # XGBoost reports twice the gain of the paper's equation 7.
    assert 2.0 * mine.forest_.gain[0] == pytest.approx(root["Gain"], rel=1e-4)
    if classifies:
        losses = [log_loss(y[held], model.predict_proba(X[held])[:, 1]) for model in (mine, peer)]
    else:
        losses = [root_mean_squared_error(y[held], model.predict(X[held])) for model in (mine, peer)]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)
