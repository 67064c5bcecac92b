"""The same algorithm as its peers, at the same settings: their first tree, and their metric after fifty.

First trees are compared on columns with fewer distinct values than there are bins, so that every library may cut
between any two neighbours, and on settings where no two splits of a node gain the same: of equals every library
takes another. (Rows divide alike by several columns where leaves are small and labels few.) LightGBM's trees part
from the others' when lambda is large, so that case is compared with XGBoost's.

Later trees part where two splits gain the same to the last bits; what is left to compare is the metric on rows that
took no part. All tolerances are relative. Peers that are not installed are skipped. Everything runs on one thread:
several libraries' threads that wait for each other make these tests slow, and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import (
    log_loss,
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_tweedie_deviance,
    root_mean_squared_error,
)
from threadpoolctl import threadpool_limits

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor, datasets

Floats = NDArray[np.float64]

ROUNDS = 50
load = cache(datasets.load)  # reading takes longer than most tests
LEAFWISE: dict[str, Any] = {"reg_lambda": 0.0, "split_finder": weald.Histogram(precision="wide"), "n_jobs": 1}
DEPTHWISE: dict[str, Any] = {
    "growth": "depthwise",
    "max_depth": 6,
    "max_leaves": None,
    "min_samples_leaf": 1,
    "split_finder": weald.Histogram(precision="wide"),
    "n_jobs": 1,
}
OBLIVIOUS: dict[str, Any] = {
    "growth": "oblivious",
    "max_depth": 6,
    "max_leaves": None,
    "min_samples_leaf": 1,
    "reg_lambda": 3.0,
    "n_jobs": 1,
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """scikit-learn's boosting has no argument for its threads."""
    with threadpool_limits(limits=1, user_api="openmp"):
        yield


def numeric(name: str) -> tuple[Floats, NDArray[Any]]:
    """The numeric columns and the target of a table, at most 8,000 rows in a random order."""
    table = load(name)
    columns = [values for values in table.data.values() if values.dtype != object]
    order = np.random.default_rng(0).permutation(table.n_rows)[:8_000]
    return np.stack(columns, axis=1).astype(np.float64)[order], table.target[order]


def rounded(name: str, missing: float) -> tuple[Floats, NDArray[Any]]:
    """Columns with at most 151 distinct values each, and missing ones."""
    X, y = numeric(name)
    low, high = X.min(axis=0), X.max(axis=0)
    X = np.round((X - low) / (high - low) * 150.0)
    X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
    return X, y


def halves(name: str) -> tuple[Floats, Floats, Floats, Floats]:
    """Training and test rows of a regression table."""
    X, y = numeric(name)
    cut = len(X) * 7 // 10
    return X[:cut], X[cut:], y[:cut].astype(np.float64), y[cut:].astype(np.float64)


def lightgbm_model(kind: str, **settings: Any) -> Any:
    lightgbm = pytest.importorskip("lightgbm")
    fixed = {"min_data_in_bin": 1, "num_threads": 1, "verbose": -1, "n_estimators": ROUNDS}
    return getattr(lightgbm, f"LGBM{kind}")(**{**fixed, **settings})


def xgboost_model(kind: str, **settings: Any) -> Any:
    xgboost = pytest.importorskip("xgboost")
    fixed = {"tree_method": "hist", "max_bin": 256, "max_depth": 6, "n_jobs": 1, "n_estimators": ROUNDS}
    return getattr(xgboost, f"XGB{kind}")(**{**fixed, **settings})


def histogram_model(loss: str, **settings: Any) -> Any:
    return HistGradientBoostingRegressor(loss=loss, max_iter=ROUNDS, early_stopping=False, **settings)


# --- the first tree -------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("penalties", [{}, {"reg_lambda": 2.0, "reg_alpha": 1.5}, {"reg_lambda": 5.0}])
def test_the_first_tree_of_a_regression_is_lightgbms(missing: float, penalties: dict[str, float]) -> None:
    X, y = rounded("wine_quality", missing)
    settings: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0}
    peer = lightgbm_model("Regressor", **settings, **penalties).fit(X, y)
    ours = BoostedTreesRegressor(**{**LEAFWISE, **settings, **penalties}).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_first_tree_of_two_classes_is_lightgbms(missing: float) -> None:
    X, y = rounded("wine_quality", missing)
    peer = lightgbm_model("Classifier", n_estimators=1).fit(X, y > 5)
    ours = BoostedTreesClassifier(n_estimators=1, **LEAFWISE).fit(X, y > 5)
    assert ours.predict_proba(X) == pytest.approx(peer.predict_proba(X), rel=1e-6)


def test_the_first_trees_of_three_classes_are_lightgbms() -> None:
    X, y = rounded("wine_quality", 0.05)
    labels = np.clip(y, 5, 7)
    peer = lightgbm_model("Classifier", n_estimators=1).fit(X, labels)
    ours = BoostedTreesClassifier(n_estimators=1, **LEAFWISE).fit(X, labels)
    assert ours.predict_proba(X) == pytest.approx(peer.predict_proba(X), rel=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("reg_lambda", [1.0, 40.0])
def test_the_first_leafwise_tree_is_xgboosts(missing: float, reg_lambda: float) -> None:
    X, y = rounded("wine_quality", missing)
    settings: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0, "reg_lambda": reg_lambda}
    # The hessians are one, so a weight of 20 is 20 rows.
    limits: dict[str, Any] = {
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": 31,
        "min_child_weight": 20,
    }
    peer = xgboost_model("Regressor", base_score=y.mean(), **settings, **limits).fit(X, y)
    ours = BoostedTreesRegressor(**{**LEAFWISE, **settings}).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("penalties", [{}, {"gamma": 5.0}, {"reg_alpha": 2.0}])
def test_the_first_tree_of_a_regression_is_xgboosts(missing: float, penalties: dict[str, float]) -> None:
    X, y = rounded("wine_quality", missing)
    settings: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0, "min_child_weight": 20.0}
    # XGBoost's gain is twice that of the paper, so the same price of a leaf is twice its gamma.
    theirs = {**penalties, "gamma": 2.0 * penalties.get("gamma", 0.0)}
    peer = xgboost_model("Regressor", base_score=y.mean(), **settings, **theirs).fit(X, y)
    ours = BoostedTreesRegressor(**{**DEPTHWISE, **settings, **penalties}).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-5)


def test_the_first_tree_of_two_classes_is_xgboosts() -> None:
    X, y = rounded("wine_quality", 0.05)
    positive = (y > 5).astype(np.int64)
    settings: dict[str, Any] = {"n_estimators": 1, "learning_rate": 0.3, "min_child_weight": 1.0}
    peer = xgboost_model("Classifier", base_score=positive.mean(), **settings).fit(X, positive)
    ours = BoostedTreesClassifier(**DEPTHWISE, **settings).fit(X, positive)
    assert ours.predict_proba(X) == pytest.approx(peer.predict_proba(X), rel=1e-5)


# --- the metric after fifty trees -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["wine_quality", "bike_sharing", "diamonds"])
@pytest.mark.parametrize("precision", ["wide", "packed"])
def test_leafwise_regression_is_as_good_as_lightgbm_and_scikit_learn(name: str, precision: str) -> None:
    X, X_test, y, y_test = halves(name)
    finder = weald.Histogram(precision=precision)
    ours = BoostedTreesRegressor(**{**LEAFWISE, "split_finder": finder}, n_estimators=ROUNDS).fit(X, y)
    error = root_mean_squared_error(y_test, ours.predict(X_test))
    for peer in (histogram_model("squared_error"), lightgbm_model("Regressor")):
        expected = root_mean_squared_error(y_test, peer.fit(X, y).predict(X_test))
        assert error == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("name", ["wine_quality", "bike_sharing", "diamonds"])
def test_depthwise_regression_is_as_good_as_xgboost(name: str) -> None:
    X, X_test, y, y_test = halves(name)
    peer = xgboost_model("Regressor", learning_rate=0.1, min_child_weight=1.0).fit(X, y)
    ours = BoostedTreesRegressor(**DEPTHWISE, n_estimators=ROUNDS, min_child_weight=1.0).fit(X, y)
    expected = root_mean_squared_error(y_test, peer.predict(X_test))
    assert root_mean_squared_error(y_test, ours.predict(X_test)) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", ["wine_quality", "bike_sharing", "diamonds"])
def test_oblivious_regression_is_as_good_as_catboost(name: str) -> None:
    catboost = pytest.importorskip("catboost")
    X, X_test, y, y_test = halves(name)
    peer = catboost.CatBoostRegressor(
        n_estimators=ROUNDS,
        learning_rate=0.1,
        depth=6,
        l2_leaf_reg=3,
        border_count=254,
        bootstrap_type="No",
        random_strength=0,
        boosting_type="Plain",
        score_function="L2",
        leaf_estimation_iterations=1,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    ).fit(X, y)
    ours = BoostedTreesRegressor(**OBLIVIOUS, n_estimators=ROUNDS).fit(X, y)
    expected = root_mean_squared_error(y_test, peer.predict(X_test))
    assert root_mean_squared_error(y_test, ours.predict(X_test)) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("data", "n_splits", "tolerance"), [("breast cancer", 10, 0.05), ("adult", 1, 0.02)])
def test_two_classes_are_told_apart_as_well_as_by_lightgbm_and_scikit_learn(
    data: str, n_splits: int, tolerance: float
) -> None:
    X, y = load_breast_cancer(return_X_y=True) if data == "breast cancer" else numeric("adult")
    models = (
        BoostedTreesClassifier(**LEAFWISE, n_estimators=ROUNDS),
        HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False),
        lightgbm_model("Classifier"),
    )
    # 284 rows leave much to chance (one split's losses differ by 6 % from LightGBM's, as a standard deviation), so
    # that losses of several splits are averaged.
    losses = np.zeros((n_splits, len(models)))
    for split in range(n_splits):
        order = np.random.default_rng(split).permutation(len(X))
        train, test = order[: len(X) // 2], order[len(X) // 2 :]
        for place, model in enumerate(models):
            probabilities = model.fit(X[train], y[train]).predict_proba(X[test])
            losses[split, place] = log_loss(y[test], probabilities)
    ours, *others = losses.mean(axis=0).tolist()
    for expected in others:
        assert ours == pytest.approx(expected, rel=tolerance)


def test_many_classes_are_told_apart_as_well_as_by_lightgbm() -> None:
    table = datasets.load("letter")
    X, y = np.stack(list(table.data.values()), axis=1)[:6_000], table.target[:6_000]
    peer = lightgbm_model("Classifier", n_estimators=10, num_leaves=15).fit(X[:4_000], y[:4_000])
    ours = BoostedTreesClassifier(**LEAFWISE, n_estimators=10, max_leaves=15).fit(X[:4_000], y[:4_000])
    expected = log_loss(y[4_000:], peer.predict_proba(X[4_000:]))
    assert log_loss(y[4_000:], ours.predict_proba(X[4_000:])) == pytest.approx(expected, rel=0.02)


# --- other losses ---------------------------------------------------------------------------------


def pinball(y: Floats, prediction: Floats) -> float:
    return float(mean_pinball_loss(y, prediction, alpha=0.9))


def tweedie(y: Floats, prediction: Floats) -> float:
    return float(mean_tweedie_deviance(y, prediction, power=1.5))


def test_quantiles_are_as_good_as_lightgbms_and_scikit_learns() -> None:
    X, X_test, y, y_test = halves("bike_sharing")
    ours = BoostedTreesRegressor(weald.losses.Quantile(alpha=0.9), n_estimators=ROUNDS, **LEAFWISE).fit(X, y)
    error = pinball(y_test, ours.predict(X_test))
    peers = (
        histogram_model("quantile", quantile=0.9),
        lightgbm_model("Regressor", objective="quantile", alpha=0.9),
    )
    for peer in peers:
        assert error == pytest.approx(pinball(y_test, peer.fit(X, y).predict(X_test)), rel=0.02)


def test_absolute_errors_are_as_small_as_lightgbms_and_scikit_learns() -> None:
    X, X_test, y, y_test = halves("bike_sharing")
    ours = BoostedTreesRegressor("absolute", **LEAFWISE, n_estimators=ROUNDS).fit(X, y)
    error = mean_absolute_error(y_test, ours.predict(X_test))
    for peer in (histogram_model("absolute_error"), lightgbm_model("Regressor", objective="l1")):
        assert error == pytest.approx(mean_absolute_error(y_test, peer.fit(X, y).predict(X_test)), rel=0.02)


def test_counts_are_as_good_as_lightgbms_and_scikit_learns() -> None:
    X, X_test, y, y_test = halves("bike_sharing")
    ours = BoostedTreesRegressor("poisson", max_delta_step=0, **LEAFWISE, n_estimators=ROUNDS).fit(X, y)
    error = mean_poisson_deviance(y_test, ours.predict(X_test))
    # LightGBM enlarges the hessian by exp(poisson_max_delta_step): no such thing here.
    peer = lightgbm_model("Regressor", objective="poisson", poisson_max_delta_step=1e-9)
    for model in (histogram_model("poisson"), peer):
        assert error == pytest.approx(
            mean_poisson_deviance(y_test, model.fit(X, y).predict(X_test)), rel=0.02
        )


def test_gamma_deviances_are_scikit_learns_and_smaller_with_the_steps_limit() -> None:
    X, X_test, y, y_test = halves("bike_sharing")
    peer = histogram_model("gamma").fit(X, y)
    expected = mean_gamma_deviance(y_test, peer.predict(X_test))
    ours = BoostedTreesRegressor("gamma", max_delta_step=0, **LEAFWISE, n_estimators=ROUNDS).fit(X, y)
    assert mean_gamma_deviance(y_test, ours.predict(X_test)) == pytest.approx(expected, rel=0.02)
    limited = BoostedTreesRegressor("gamma", **LEAFWISE, n_estimators=ROUNDS).fit(X, y)
    assert mean_gamma_deviance(y_test, limited.predict(X_test)) < 0.5 * expected


def test_tweedie_deviances_are_as_small_as_lightgbms() -> None:
    X, X_test, y, y_test = halves("bike_sharing")
    peer = lightgbm_model("Regressor", objective="tweedie", tweedie_variance_power=1.5).fit(X, y)
    ours = BoostedTreesRegressor("tweedie", max_delta_step=0, **LEAFWISE, n_estimators=ROUNDS).fit(X, y)
    expected = tweedie(y_test, peer.predict(X_test))
    assert tweedie(y_test, ours.predict(X_test)) == pytest.approx(expected, rel=0.02)


def test_huber_errors_are_not_above_lightgbms() -> None:
    X, X_test, y, y_test = halves("bike_sharing")
    scale = y.std()

    def error(prediction: Floats) -> float:
        distance = np.abs(y_test / scale - prediction)
        near = np.minimum(distance, 0.5)
        return float(np.mean(near * (distance - 0.5 * near)))

    peer = lightgbm_model("Regressor", objective="huber", alpha=0.5).fit(X, y / scale)
    ours = BoostedTreesRegressor(weald.losses.Huber(delta=0.5), n_estimators=ROUNDS, **LEAFWISE).fit(
        X, y / scale
    )
    # LightGBM takes a step of gradient descent a leaf, Weald the leaf's best value: ahead after fifty rounds.
    assert error(ours.predict(X_test)) < 1.01 * error(peer.predict(X_test))
