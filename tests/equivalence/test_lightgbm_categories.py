"""Sets of categories as LightGBM has them: its first tree at equal settings, its loss on new rows after a hundred."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

import weald
from equivalence.test_peers import lightgbm_model
from equivalence.test_xgboost_categories import frame
from weald import BoostedTreesClassifier, BoostedTreesRegressor

# LightGBM counts a bin of its own for unknown categories: its limit of four means three categories.
SETS: dict[str, Any] = {
    "smooth": 10.0,
    "l2": 10.0,
    "min_samples": 100,
    "max_threshold": 32,
    "max_onehot": 3,
}
LIGHTGBM: dict[str, Any] = {
    "reg_lambda": 0.0,
    "min_samples_leaf": 20,
    "min_child_weight": 1e-3,
    "n_jobs": 1,
}
NAMES = {"smooth": "cat_smooth", "l2": "cat_l2", "min_samples": "min_data_per_group"}


@pytest.mark.parametrize(
    ("name", "columns", "leaves", "changes"),
    [
        ("diamonds", ["cut", "color", "clarity"], 2, {}),
        ("diamonds", ["cut", "color", "clarity"], 8, {}),
        ("diamonds", ["cut", "color", "clarity"], 31, {"smooth": 1.0, "l2": 0.0, "min_samples": 1}),
        ("diamonds", ["cut", "color", "clarity"], 6, {"smooth": 90.0, "l2": 300.0, "min_samples": 700}),
        ("adult", None, 2, {}),
        ("adult", ["education", "occupation", "native_country", "workclass"], 8, {}),
        ("adult", ["native_country"], 4, {"smooth": 20.0}),
    ],
)  # fmt: skip
def test_the_first_tree_is_lightgbms(
    name: str, columns: list[str] | None, leaves: int, changes: dict[str, Any]
) -> None:
    X, y = frame(name, 8_000, columns)
    # To LightGBM a missing value is unknown, and never in a set: here it is a category, so that both may take it.
    for column in X.select_dtypes("category"):
        if X[column].isna().any():
            X[column] = X[column].cat.add_categories(["unknown"]).fillna("unknown")
    numbers = y.astype(float) if y.dtype != object else np.unique(y, return_inverse=True)[1].astype(float)
    sets = {**SETS, **changes}
    ours = BoostedTreesRegressor(
        n_estimators=1,
        learning_rate=1.0,
        max_leaves=leaves,
        split_finder=weald.Histogram(precision="wide"),
        categories=weald.Partition(**sets),
        **LIGHTGBM,
    )
    own = {theirs: sets[native] for native, theirs in NAMES.items()}
    peer = lightgbm_model("Regressor", n_estimators=1, learning_rate=1.0, num_leaves=leaves, **own)
    peer.set_params(min_child_samples=20, reg_lambda=0.0, min_data_in_bin=1)
    expected, found = peer.fit(X, numbers).predict(X), ours.fit(X, numbers).predict(X)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert len(np.unique(found)) > 1


def test_the_loss_on_new_rows_is_lightgbms() -> None:
    X, y = frame("adult", 9_000)
    labels, cut = (y == ">50K").astype(int), 6_000
    settings: dict[str, Any] = {"n_estimators": 100, "learning_rate": 0.1}
    ours = BoostedTreesClassifier(categories=weald.Partition(**SETS), **LIGHTGBM, **settings)
    peer = lightgbm_model("Classifier", **settings)
    losses = [
        log_loss(labels[cut:], model.fit(X[:cut], labels[:cut]).predict_proba(X[cut:])[:, 1])
        for model in (ours, peer)
    ]
    assert losses[0] < 1.02 * losses[1]
