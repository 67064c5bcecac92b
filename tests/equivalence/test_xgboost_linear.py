"""The linear booster against XGBoost's coordinate descent, and against scikit-learn's solvers where both converge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.preprocessing import scale

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X).astype(np.float32)
RX, RY = load_diabetes(return_X_y=True)
RX, RY = scale(RX).astype(np.float32), RY / 100.0
IX, IY = load_iris(return_X_y=True)
IX = scale(IX).astype(np.float32)
SPARSE = scipy.sparse.csr_matrix(np.where(np.abs(X) < 0.7, 0.0, X))
PENALTIES = [{}, {"reg_lambda": 0.05}, {"reg_lambda": 0.01, "reg_alpha": 0.02}]


def xgboost_weights(
    table: Any, y: Any, rounds: int, weight: Any = None, **parameters: Any
) -> tuple[Any, Any]:
    """Weights (outputs, columns) and predictions of gblinear's sequential updater."""
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(table, y, weight=weight)
    settings = {"booster": "gblinear", "updater": "coord_descent", "eta": 0.3, "nthread": 1, "verbosity": 0}
    model = xgboost.train(settings | parameters, data, rounds)
    numbers = [float(line) for line in model.get_dump()[0].split("weight:")[1].split()]
    return np.array(numbers).reshape(table.shape[1], -1).T, model.predict(data)


@pytest.mark.parametrize("rounds", [1, 15])
@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_weights_of_regression_are_xgboosts(
    rounds: int, penalties: dict[str, float], is_weighted: bool
) -> None:
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(RY)) if is_weighted else None
    expected, predicted = xgboost_weights(RX, RY, rounds, weight, objective="reg:squarederror", **penalties)
    ours = BoostedTreesRegressor(
        booster="linear", n_estimators=rounds, learning_rate=0.3, n_jobs=1, **penalties
    )
    ours.fit(RX, RY, sample_weight=weight)
    assert ours.coef_ == pytest.approx(expected[0], abs=1e-4)
    assert ours.predict(RX) == pytest.approx(predicted, abs=1e-4)


@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("table", [X, SPARSE], ids=["dense", "sparse"])
def test_weights_of_two_classes_are_xgboosts(table: Any, penalties: dict[str, float]) -> None:
    expected, predicted = xgboost_weights(table, Y, 15, objective="binary:logistic", **penalties)
    ours = BoostedTreesClassifier(booster="linear", n_estimators=15, learning_rate=0.3, n_jobs=1, **penalties)
    ours.fit(table, Y)
    assert ours.coef_ == pytest.approx(expected, abs=1e-4)
    assert ours.predict_proba(table)[:, 1] == pytest.approx(predicted, abs=1e-4)


def test_weights_of_several_classes_are_xgboosts_with_its_hessian() -> None:
    def softmax(y: Any, scores: Any) -> Any:
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        share = odds / odds.sum(axis=1, keepdims=True)
        return share - (y[:, None] == np.arange(3)), 2.0 * share * (1.0 - share)

    expected, predicted = xgboost_weights(IX, IY, 15, objective="multi:softprob", num_class=3, base_score=0.0)
    ours = BoostedTreesClassifier(softmax, booster="linear", n_estimators=15, learning_rate=0.3, n_jobs=1)
    ours.fit(IX, IY)
    assert ours.coef_ == pytest.approx(expected, abs=1e-4)
    assert ours.predict_proba(IX) == pytest.approx(predicted, abs=1e-4)


def test_thrifty_with_few_columns_is_xgboosts() -> None:
    theirs: dict[str, Any] = {"feature_selector": "thrifty", "top_k": 2}
    expected, _ = xgboost_weights(RX, RY, 10, objective="reg:squarederror", **theirs)
    booster = weald.Linear(selector="thrifty", top_k=2)
    ours = BoostedTreesRegressor(booster=booster, n_estimators=10, learning_rate=0.3, n_jobs=1)
    assert ours.fit(RX, RY).coef_ == pytest.approx(expected[0], abs=1e-4)


def test_greedy_with_few_columns_is_xgboosts() -> None:
    theirs: dict[str, Any] = {"feature_selector": "greedy", "top_k": 2}
    expected, _ = xgboost_weights(RX, RY, 10, objective="reg:squarederror", **theirs)
    booster = weald.Linear(selector="greedy", top_k=2)
    ours = BoostedTreesRegressor(booster=booster, n_estimators=10, learning_rate=0.3, n_jobs=1)
    assert ours.fit(RX, RY).coef_ == pytest.approx(expected[0], abs=1e-4)


def test_many_rounds_come_to_ridge_regression() -> None:
    ours = BoostedTreesRegressor(
        booster="linear", n_estimators=2000, learning_rate=1.0, reg_lambda=0.1, n_jobs=1
    )
    ours.fit(RX, RY)
    ridge = Ridge(alpha=0.1 * len(RY)).fit(RX, RY)
    assert ours.coef_ == pytest.approx(ridge.coef_, abs=1e-5)
    assert ours.intercept_ == pytest.approx(ridge.intercept_, abs=1e-5)


@pytest.mark.parametrize("table", [RX, scipy.sparse.csc_matrix(RX)], ids=["dense", "sparse"])
def test_many_rounds_come_to_the_elastic_net(table: Any) -> None:
    ours = BoostedTreesRegressor(
        booster="linear", n_estimators=2000, learning_rate=1.0, reg_lambda=0.05, reg_alpha=0.05, n_jobs=1
    ).fit(table, RY)
    net = ElasticNet(alpha=0.1, l1_ratio=0.5, tol=1e-10, max_iter=100_000).fit(RX.astype(float), RY)
    assert ours.coef_ == pytest.approx(net.coef_, abs=1e-5)
    assert (ours.coef_ == 0.0).tolist() == (net.coef_ == 0.0).tolist()


def test_many_rounds_come_to_logistic_regression() -> None:
    ours = BoostedTreesClassifier(
        booster="linear", n_estimators=1000, learning_rate=1.0, reg_lambda=0.05, n_jobs=1
    )
    ours.fit(X, Y)
    logistic = LogisticRegression(C=1.0 / (0.05 * len(Y)), tol=1e-10, max_iter=10_000).fit(X.astype(float), Y)
    assert ours.coef_ == pytest.approx(logistic.coef_, abs=1e-4)
    assert ours.intercept_ == pytest.approx(logistic.intercept_, abs=1e-4)
