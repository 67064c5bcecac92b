"""Sets of categories as XGBoost has them: its first tree where no category is rare, its loss after fifty trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.metrics import log_loss, root_mean_squared_error

from equivalence.test_peers import DEPTHWISE, lightgbm_model, load, xgboost_model
from weald import BoostedTreesClassifier, BoostedTreesRegressor, RandomForestClassifier

BY_SET: dict[str, Any] = {**DEPTHWISE, "categories": "partition"}


def frame(name: str, most: int, columns: list[str] | None = None) -> tuple[pd.DataFrame, NDArray[Any]]:
    """A table with columns of categories, at most so many rows in a random order."""
    table = load(name)
    order = np.random.default_rng(0).permutation(table.n_rows)[:most]
    data = {
        key: pd.Categorical(values[order]) if values.dtype == object else values[order].astype(float)
        for key, values in table.data.items()
        if columns is None or key in columns
    }
    return pd.DataFrame(data), table.target[order]


@pytest.mark.parametrize(("depth", "reg_lambda"), [(1, 1.0), (2, 1.0), (3, 1.0), (3, 30.0)])
def test_the_first_tree_is_xgboosts(depth: int, reg_lambda: float) -> None:
    X, y = frame("diamonds", 8_000, ["cut", "color", "clarity"])
    settings: dict[str, Any] = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "max_depth": depth,
        "reg_lambda": reg_lambda,
        "min_child_weight": 1.0,
    }
    peer = xgboost_model("Regressor", enable_categorical=True, max_cat_to_onehot=4, **settings)
    peer.set_params(base_score=float(y.mean())).fit(X, y)
    ours = BoostedTreesRegressor(**{**BY_SET, **settings}).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-4)


def test_the_loss_on_new_rows_is_that_of_xgboost_and_lightgbm() -> None:
    X, y = frame("adult", 9_000)
    labels = (y == ">50K").astype(int)
    cut = 6_000
    settings: dict[str, Any] = {"n_estimators": 50, "learning_rate": 0.1, "reg_lambda": 1.0}
    ours = BoostedTreesClassifier(**{**BY_SET, **settings, "min_child_weight": 1.0})
    peer = xgboost_model("Classifier", enable_categorical=True, max_cat_to_onehot=4, **settings)
    other = lightgbm_model("Classifier", **settings)
    losses = [
        log_loss(labels[cut:], model.fit(X[:cut], labels[:cut]).predict_proba(X[cut:])[:, 1])
        for model in (ours, peer, other)
    ]
    assert losses[0] < 1.02 * min(losses[1:])


def test_the_error_of_a_regression_is_that_of_xgboost() -> None:
    X, y = frame("diamonds", 9_000)
    cut = 6_000
    settings: dict[str, Any] = {"n_estimators": 50, "learning_rate": 0.1, "reg_lambda": 1.0}
    ours = BoostedTreesRegressor(**{**BY_SET, **settings, "min_child_weight": 1.0})
    peer = xgboost_model("Regressor", enable_categorical=True, max_cat_to_onehot=4, **settings)
    errors = [
        root_mean_squared_error(y[cut:], model.fit(X[:cut], y[:cut]).predict(X[cut:]))
        for model in (ours, peer)
    ]
    assert errors[0] < 1.03 * errors[1]


def test_a_forest_splits_categories_as_well_as_scikit_learns_codes() -> None:
    from sklearn.ensemble import RandomForestClassifier as Peer

    X, y = frame("adult", 6_000)
    labels = (y == ">50K").astype(int)
    codes = X.apply(lambda column: column.cat.codes if column.dtype == "category" else column)
    ours = RandomForestClassifier(60, random_state=0, n_jobs=1).fit(X[:4000], labels[:4000])
    peer = Peer(60, random_state=0, n_jobs=1).fit(codes[:4000], labels[:4000])
    losses = [
        log_loss(labels[4000:], model.predict_proba(table[4000:])[:, 1])
        for model, table in ((ours, X), (peer, codes))
    ]
    assert losses[0] < 1.05 * losses[1]
