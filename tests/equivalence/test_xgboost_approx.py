"""Quantile proposals against XGBoost's tree_method="approx": the same first tree, and the same quality with few candidates."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import log_loss, root_mean_squared_error

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor, datasets

SHARED: dict[str, Any] = {"n_estimators": 50, "learning_rate": 0.1, "max_depth": 5, "reg_lambda": 1.0}
OURS: dict[str, Any] = {
    "growth": "depthwise",
    "max_leaves": None,
    "min_samples_leaf": 1,
    "min_child_weight": 1.0,
    "n_jobs": 1,
}


@cache
def parts(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Numeric columns and targets, of rows to train on and of others."""
    data = datasets.load(name)
    rows = np.random.default_rng(0).permutation(data.n_rows)[:6_000]
    X = np.stack([values[rows] for values in data.data.values() if values.dtype != object], axis=1)
    y, cut = data.target[rows], len(rows) * 2 // 3
    return X[:cut].astype(float), X[cut:].astype(float), y[:cut], y[cut:]


def peer(kind: str, max_bin: int, **more: Any) -> Any:
    xgboost = pytest.importorskip("xgboost")
    return getattr(xgboost, f"XGB{kind}")(
        tree_method="approx", max_bin=max_bin, n_jobs=1, **{**SHARED, **more}
    )


def test_the_first_tree_is_xgboosts_where_every_value_is_a_candidate() -> None:
    X, _, y, _ = parts("wine_quality")
    low, high = X.min(axis=0), X.max(axis=0)
    X = np.round((X - low) / (high - low) * 100.0)
    y = y + np.random.default_rng(3).standard_normal(len(y))  # no two splits gain the same
    one: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0, "min_child_weight": 20.0}
    theirs = peer("Regressor", 256, base_score=y.mean(), **one).fit(X, y)
    for proposals in ("global", "local"):
        finder = weald.Approximate(proposals=proposals, precision="wide")
        ours = BoostedTreesRegressor(split_finder=finder, **{**SHARED, **OURS, **one}).fit(X, y)
        assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-5)


@pytest.mark.parametrize("buckets", [16, 64])
def test_regression_is_as_good_as_xgboosts(buckets: int) -> None:
    X, test_X, y, test_y = parts("wine_quality")
    theirs = peer("Regressor", buckets).fit(X, y)
    finder = weald.Approximate(eps=1 / buckets, precision="wide")
    ours = BoostedTreesRegressor(split_finder=finder, **SHARED, **OURS).fit(X, y)
    errors = [root_mean_squared_error(test_y, model.predict(test_X)) for model in (ours, theirs)]
    assert errors[0] < 1.02 * errors[1]


@pytest.mark.parametrize("buckets", [16, 64])
def test_classification_is_as_good_as_xgboosts(buckets: int) -> None:
    X, test_X, y, test_y = parts("adult")
    labels, test_labels = (values == np.unique(y)[1] for values in (y, test_y))
    theirs = peer("Classifier", buckets).fit(X, labels)
    finder = weald.Approximate(eps=1 / buckets, precision="wide")
    ours = BoostedTreesClassifier(split_finder=finder, **SHARED, **OURS).fit(X, labels)
    losses = [log_loss(test_labels, model.predict_proba(test_X)) for model in (ours, theirs)]
    assert losses[0] < 1.02 * losses[1]
