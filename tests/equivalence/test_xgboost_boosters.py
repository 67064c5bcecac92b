"""Dart, random forests, first predictions and starts against XGBoost's."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss, root_mean_squared_error

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor, LearningRateScheduler, datasets

xgboost = pytest.importorskip("xgboost")

DEPTHWISE: dict[str, Any] = {
    "growth": "depthwise",
    "max_leaves": None,
    "min_samples_leaf": 1,
    "min_child_weight": 1.0,
    "split_finder": weald.Histogram(precision="wide"),
    "n_jobs": 1,
}


def numeric(name: str, n_rows: int = 4_000) -> tuple[Any, Any]:
    table = datasets.load(name)
    columns = [values for values in table.data.values() if values.dtype != object]
    order = np.random.default_rng(0).permutation(table.n_rows)[:n_rows]
    return np.stack(columns, axis=1).astype(np.float64)[order], table.target[order]


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize("normalize_type", ["tree", "forest"])
def test_weights_of_trees_are_xgboosts_when_all_are_dropped(normalize_type: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rules: dict[str, Any] = {"rate_drop": 1.0, "normalize_type": normalize_type}
    shared: dict[str, Any] = {"n_estimators": 6, "learning_rate": 0.3}
    peer = xgboost.XGBClassifier(booster="dart", max_depth=3, n_jobs=1, **shared, **rules).fit(X, y)
    stored = json.loads(peer.get_booster().save_raw("json"))
    expected = stored["learner"]["gradient_booster"]["weight_drop"]
    ours = BoostedTreesClassifier(booster=weald.Dart(**rules), **shared).fit(X, y)
    assert ours.forest_.tree_weights == pytest.approx(np.array(expected), rel=1e-6)


@pytest.mark.parametrize(
    "rules",
    [
        {"rate_drop": 0.1},
        {"rate_drop": 0.2, "normalize_type": "forest", "skip_drop": 0.3},
        {"rate_drop": 0.1, "sample_type": "weighted", "one_drop": True},
    ],
    ids=["tree", "forest", "weighted"],
)
def test_dart_is_as_good_as_xgboosts(rules: dict[str, Any]) -> None:
    X, y = numeric("wine_quality")
    shared: dict[str, Any] = {"n_estimators": 40, "max_depth": 5, "learning_rate": 0.3}
    theirs, ours = [], []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:2_800], order[2_800:]
        peer = xgboost.XGBRegressor(booster="dart", **shared, **rules, n_jobs=1, random_state=seed)
        peer.set_params(one_drop=int(rules.get("one_drop", False))).fit(X[train], y[train])
        model = BoostedTreesRegressor(
            booster=weald.Dart(**rules), **DEPTHWISE, **shared, random_state=seed
        ).fit(X[train], y[train])
        theirs.append(root_mean_squared_error(y[test], peer.predict(X[test])))
        ours.append(root_mean_squared_error(y[test], model.predict(X[test])))
    differences, error = mean_and_error([a - b for a, b in zip(ours, theirs, strict=True)])
    assert differences < 3.0 * error
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.03)


def test_dart_of_several_classes_is_not_worse_than_xgboosts() -> None:
    X, y = load_iris(return_X_y=True)
    shared: dict[str, Any] = {
        "n_estimators": 20,
        "max_depth": 3,
        "learning_rate": 0.3,
    }
    theirs, ours = [], []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:100], order[100:]
        peer = xgboost.XGBClassifier(booster="dart", rate_drop=0.2, **shared, n_jobs=1, random_state=seed)
        peer.fit(X[train], y[train])
        model = BoostedTreesClassifier(
            booster=weald.Dart(rate_drop=0.2), **DEPTHWISE, **shared, random_state=seed
        )
        model.fit(X[train], y[train])
        theirs.append(log_loss(y[test], peer.predict_proba(X[test])))
        ours.append(log_loss(y[test], model.predict_proba(X[test])))
    assert np.mean(ours) < 1.05 * np.mean(theirs)


@pytest.mark.parametrize("name", ["wine_quality", "diamonds"])
def test_parallel_trees_are_xgboosts_random_forest(name: str) -> None:
    X, y = numeric(name)
    train, test = slice(0, 2_800), slice(2_800, None)
    theirs, ours = [], []
    for seed in range(4):
        peer = xgboost.XGBRFRegressor(n_estimators=40, max_depth=6, random_state=seed, n_jobs=1)
        peer.fit(X[train], y[train])
        model = BoostedTreesRegressor(
            n_estimators=1,
            booster=weald.Plain(parallel_trees=40),
            max_depth=6,
            learning_rate=1.0,
            subsample=0.8,
            colsample_bynode=0.8,
            reg_lambda=1e-5,
            random_state=seed,
            **DEPTHWISE,
        ).fit(X[train], y[train])
        assert (model.forest_.n_rounds, model.forest_.n_trees) == (1, 40)
        theirs.append(root_mean_squared_error(y[test], peer.predict(X[test])))
        ours.append(root_mean_squared_error(y[test], model.predict(X[test])))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.02)


def test_first_predictions_and_starts_are_xgboosts() -> None:
    X, y = numeric("wine_quality")
    positive = (y > 5).astype(np.int64)
    settings: dict[str, Any] = {"n_estimators": 1, "max_depth": 3, "learning_rate": 0.3}
    peer = xgboost.XGBClassifier(base_score=0.2, max_bin=256, n_jobs=1, **settings).fit(X, positive)
    ours = BoostedTreesClassifier(base_score=0.2, **DEPTHWISE, **settings).fit(X, positive)
    assert ours.predict_proba(X) == pytest.approx(peer.predict_proba(X), rel=0.02, abs=0.01)
    start = np.random.default_rng(1).standard_normal(len(X))
    peer = xgboost.XGBClassifier(max_bin=256, n_jobs=1, **settings).fit(X, positive, base_margin=start)
    expected = peer.predict(X, output_margin=True, base_margin=start)
    ours = BoostedTreesClassifier(**DEPTHWISE, **settings).fit(X, positive, init_score=start)
    found = ours.decision_function(X) + start
    assert np.mean(np.abs(found - expected)) < 0.01


def test_a_schedule_is_a_run_of_xgboosts_rounds_with_those_rates() -> None:
    X, y = numeric("wine_quality")
    low, high = X.min(axis=0), X.max(axis=0)
    X = np.round((X - low) / (high - low) * 150.0)  # values that are bins
    settings: dict[str, Any] = {"max_depth": 3, "max_bin": 256, "nthread": 1, "base_score": float(y.mean())}
    rates = [0.5, 0.2, 0.1]
    # XGBoost 3.2 applies its own scheduler's rates a round late, so that each round is a training of its own.
    peer = None
    for rate in rates:
        peer = xgboost.train({**settings, "eta": rate}, xgboost.DMatrix(X, y), 1, xgb_model=peer)
    model = BoostedTreesRegressor(**DEPTHWISE, n_estimators=3, max_depth=3)
    model.fit(X, y, callbacks=[LearningRateScheduler(rates)])
    assert model.predict(X) == pytest.approx(peer.predict(xgboost.DMatrix(X)), rel=1e-5)
