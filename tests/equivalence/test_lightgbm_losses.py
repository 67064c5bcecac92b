"""Fair, mape and one-vs-rest losses, averaged trees and refitted leaves against LightGBM's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import log_loss, mean_absolute_error, roc_auc_score
from sklearn.model_selection import KFold

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.losses import METRICS, make_metric
from weald.losses.lightgbm import lightgbm_loss

lightgbm = pytest.importorskip("lightgbm")

QUIET: dict[str, Any] = {
    "verbose": -1,
    "num_threads": 1,
    "min_data_in_bin": 1,
    "feature_pre_filter": False,
    "min_sum_hessian_in_leaf": 0.0,
}
OURS: dict[str, Any] = {
    "min_child_weight": 0.0,
    "split_finder": weald.Histogram(precision="wide"),
    "n_jobs": 1,
}


def peer(X: Any, y: Any, rounds: int, **parameters: Any) -> Any:
    settings = {**QUIET, **parameters}
    return lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), rounds)


def test_a_tree_of_the_fair_loss_is_lightgbms() -> None:
    X, y = load_diabetes(return_X_y=True)
    theirs = peer(X, y, 1, objective="fair", fair_c=200.0, num_leaves=7, learning_rate=1.0)
    ours = BoostedTreesRegressor(
        weald.losses.Fair(scale=200.0),
        n_estimators=1,
        max_leaves=7,
        learning_rate=1.0,
        reg_lambda=0.0,
        **OURS,
    ).fit(X, y)
    assert ours.forest_.base_score[0] == pytest.approx(y.mean())
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-3)


def test_a_tree_of_the_mape_loss_is_lightgbms_but_for_the_definition_of_a_median() -> None:
    X, y = load_diabetes(return_X_y=True)
    theirs = peer(X, y, 1, objective="mape", num_leaves=3, learning_rate=1.0)
    ours = BoostedTreesRegressor(
        "mape", n_estimators=1, max_leaves=3, learning_rate=1.0, reg_lambda=0.0, **OURS
    ).fit(X, y)
    predicted = theirs.predict(X)
    assert ours.predict(X) == pytest.approx(predicted, abs=2.0)  # between two labels of a leaf
    assert METRICS["bounded_mape"](y, ours.predict(X)) <= METRICS["bounded_mape"](y, predicted) * 1.001


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_a_tree_a_class_against_the_rest_is_lightgbms(load: Any) -> None:
    X, y = load(return_X_y=True)
    theirs = peer(X, y, 1, objective="multiclassova", num_class=3, num_leaves=5, learning_rate=1.0)
    ours = BoostedTreesClassifier(
        "one_vs_rest", n_estimators=1, max_leaves=5, learning_rate=1.0, reg_lambda=0.0, **OURS
    ).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(theirs.predict(X, raw_score=True), abs=1e-4)
    sigmoids = theirs.predict(X)
    assert lightgbm_loss("multiclassova", num_class=3).respond(ours._raw(X)) == pytest.approx(
        sigmoids, abs=1e-5
    )
    shares = sigmoids / sigmoids.sum(axis=1, keepdims=True)
    assert ours.predict_proba(X) == pytest.approx(shares, abs=1e-5)


def test_lightgbms_huber_is_clipped_newton_from_the_mean() -> None:
    X, y = load_diabetes(return_X_y=True)
    theirs = peer(X, y, 1, objective="huber", alpha=30.0, num_leaves=2, learning_rate=1.0)
    loss = lightgbm_loss("huber", alpha=30.0)
    start = loss.initial_score(y, None)
    left = theirs.predict(X, pred_leaf=True)[:, 0] == 0
    gradient, hessian = np.empty((1, len(y)), np.float32), np.empty((1, len(y)), np.float32)
    loss.gradients(np.full((1, len(y)), start[0]), y, None, gradient, hessian, 1)
    for leaf in (left, ~left):
        step = start[0] - gradient[0, leaf].sum() / hessian[0, leaf].sum()
        assert theirs.predict(X[leaf]) == pytest.approx(np.full(leaf.sum(), step), rel=1e-5)


def _folds(X: Any, y: Any, ours: Any, theirs: Any, lost: Any) -> tuple[Any, Any]:
    scores = []
    for train, test in KFold(5, shuffle=True, random_state=1).split(X):
        pair = (lost(y[test], one(X[train], y[train], X[test])) for one in (ours, theirs))
        scores.append(tuple(pair))
    return np.array(scores).T


def _within_noise(ours: Any, theirs: Any) -> None:
    """The mean difference over the folds is no worse than three standard errors of it and half a percent."""
    difference = ours - theirs
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert difference.mean() <= 3.0 * error + 0.005 * theirs.mean()


@pytest.mark.parametrize(
    ("loss", "objective", "theirs"),
    [(weald.losses.Fair(scale=50.0), "fair", {"fair_c": 50.0}), ("mape", "mape", {})],
    ids=["fair", "mape"],
)
def test_fifty_trees_of_a_regression_are_as_good_as_lightgbms(
    loss: Any, objective: str, theirs: dict[str, Any]
) -> None:
    X, y = load_diabetes(return_X_y=True)

    def weald_fit(train: Any, target: Any, test: Any) -> Any:
        model = BoostedTreesRegressor(loss, n_estimators=50, max_leaves=7, reg_lambda=0.0, n_jobs=1)
        return model.fit(train, target).predict(test)

    def lightgbm_fit(train: Any, target: Any, test: Any) -> Any:
        return peer(train, target, 50, objective=objective, num_leaves=7, **theirs).predict(test)

    _within_noise(*_folds(X, y, weald_fit, lightgbm_fit, mean_absolute_error))


def test_fifty_trees_a_class_are_as_good_as_lightgbms() -> None:
    X, y = load_wine(return_X_y=True)

    def weald_fit(train: Any, target: Any, test: Any) -> Any:
        model = BoostedTreesClassifier("one_vs_rest", n_estimators=50, max_leaves=4, n_jobs=1)
        return model.fit(train, target).predict_proba(test)

    def lightgbm_fit(train: Any, target: Any, test: Any) -> Any:
        model = peer(train, target, 50, objective="multiclassova", num_class=3, num_leaves=4, lambda_l2=1.0)
        sigmoids = model.predict(test)
        return sigmoids / sigmoids.sum(axis=1, keepdims=True)

    _within_noise(*_folds(X, y, weald_fit, lightgbm_fit, log_loss))


def test_an_averaged_forest_is_as_good_as_lightgbms() -> None:
    X, y = load_breast_cancer(return_X_y=True)

    def weald_fit(train: Any, target: Any, test: Any) -> Any:
        model = BoostedTreesClassifier(
            booster="averaging",
            n_estimators=50,
            subsample=0.6,
            colsample_bytree=0.6,
            n_jobs=1,
            reg_lambda=0.0,
        )
        return model.fit(train, target).predict_proba(test)[:, 1]

    def lightgbm_fit(train: Any, target: Any, test: Any) -> Any:
        sampling = {"bagging_fraction": 0.6, "bagging_freq": 1, "feature_fraction": 0.6}
        return peer(train, target, 50, objective="binary", boosting="rf", **sampling).predict(test)

    folds = _folds(X, y, weald_fit, lightgbm_fit, lambda y, p: 1.0 - roc_auc_score(y, p))
    _within_noise(*folds)
    _within_noise(*_folds(X, y, weald_fit, lightgbm_fit, log_loss))


@pytest.mark.parametrize("rounds", [1, 5])
def test_refitted_leaves_are_lightgbms(rounds: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (600, 1)).astype(float)  # one column of few values: both grow the same trees
    y = np.array([3.0, 8.0, 1.0, 5.0, 13.0, 2.0, 7.0, 21.0])[X[:, 0].astype(int)] + rng.standard_normal(600)
    shared: dict[str, Any] = {"num_leaves": 4, "learning_rate": 0.4, "boost_from_average": False}
    theirs = peer(X[:300], y[:300], rounds, objective="regression", lambda_l2=2.0, **shared)
    ours = BoostedTreesRegressor(
        base_score=0.0, n_estimators=rounds, max_leaves=4, learning_rate=0.4, reg_lambda=2.0, **OURS
    ).fit(X[:300], y[:300])
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-5)
    new = 2.0 * y[300:] + 1.0
    for decay_rate in (0.0, 0.5, 0.9):
        later = theirs.refit(X[300:], new, decay_rate=decay_rate)
        expected = later.predict(X)
        assert ours.refit(X[300:], new, decay_rate=decay_rate).predict(X) == pytest.approx(expected, rel=1e-5)


def test_a_refitted_classifier_is_lightgbms() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = np.digitize(X[:, :1], [12.0, 13.0, 15.0]).astype(float)
    theirs = peer(X[:300], y[:300], 3, objective="binary", num_leaves=3, boost_from_average=False)
    ours = BoostedTreesClassifier(base_score=0.5, n_estimators=3, max_leaves=3, reg_lambda=0.0, **OURS)
    ours.fit(X[:300], y[:300])
    raw = theirs.refit(X[300:], y[300:], decay_rate=0.7).predict(X, raw_score=True)
    assert ours.refit(X[300:], y[300:], decay_rate=0.7).decision_function(X) == pytest.approx(raw, abs=1e-5)


def _recorded(metrics: dict[str, Any], objective: str, X: Any, y: Any, **parameters: Any) -> Any:
    history: dict[str, Any] = {}
    settings = {**QUIET, "objective": objective, "metric": list(metrics), **parameters}
    data = lightgbm.Dataset(X, y, params=settings)
    watch = lightgbm.record_evaluation(history)
    model = lightgbm.train(settings, data, 3, valid_sets=[data], callbacks=[watch])
    return model, {name: values[-1] for name, values in next(iter(history.values())).items()}


@pytest.mark.parametrize(
    ("objective", "metrics"),
    [
        (
            "regression",
            {
                "l1": "mae",
                "l2": "mse",
                "rmse": "rmse",
                "quantile": "pinball",
                "mape": "bounded_mape",
                "huber": "huber",
                "fair": "fair",
            },
        ),
        ("poisson", {"poisson": "poisson_loss", "tweedie": "tweedie_nloglik"}),
        ("gamma", {"gamma": "gamma_nloglik", "gamma_deviance": "gamma_deviance"}),
        (
            "binary",
            {
                "binary_logloss": "logloss",
                "binary_error": "error",
                "auc": "auc",
                "average_precision": "average_precision",
            },
        ),
        ("cross_entropy", {"cross_entropy": "cross_entropy", "kullback_leibler": "kullback_leibler"}),
        ("multiclass", {"multi_logloss": "logloss", "multi_error": "error"}),
    ],
)
def test_every_metric_of_lightgbm_has_one_of_the_same_value(objective: str, metrics: dict[str, str]) -> None:
    X, y = load_diabetes(return_X_y=True)
    extra: dict[str, Any] = {}
    if objective == "cross_entropy":
        y = (y - y.min()) / (y.max() - y.min())
    elif objective == "binary":
        y = (y > 140).astype(float)
    elif objective == "multiclass":
        y, extra = np.digitize(y, [100, 200]).astype(float), {"num_class": 3}
    model, values = _recorded(metrics, objective, X, y, **extra)
    prediction = model.predict(X)
    options = {"huber": {"huber_delta": 0.9}, "pinball": {"quantile_alpha": 0.9}}
    for theirs, name in metrics.items():
        ours = METRICS[name].function(y, prediction, None, **options.get(name, {}))
        if theirs == "gamma_deviance":
            ours *= len(y)  # LightGBM's is a sum over the rows
        assert ours == pytest.approx(values[theirs], rel=1e-6), theirs


@pytest.mark.parametrize(
    "objective", ["huber", "fair", "quantile", "mape", "tweedie", "poisson", "multiclassova"]
)
def test_losses_of_lightgbms_objectives_have_a_metric(objective: str) -> None:
    loss = lightgbm_loss(objective, num_class=3)
    assert make_metric(loss.default_metric, loss).name == loss.default_metric
