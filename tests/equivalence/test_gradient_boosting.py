"""Friedman's boosting against scikit-learn's: where a column has at most 255 values, bins are as fine as exact splits.

Predictions are compared on the training rows, as a value between two of a node's may fall on either side of its threshold.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import weald

Arrays = tuple[NDArray[np.float64], NDArray[Any], NDArray[np.float64]]
# Weights without a pattern: no two splits gain the same, which scikit-learn would choose between by chance.
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "large leaves": {"min_samples_leaf": 0.03, "min_samples_split": 25},
    "heavy leaves": {"min_weight_fraction_leaf": 0.05},
    "best first": {"max_leaf_nodes": 5, "max_depth": 4},
    "worthwhile splits": {"min_impurity_decrease": 1e-3, "max_depth": 5},
    "zero": {"init": "zero", "learning_rate": 0.3},
}


@cache
def rounded(name: str) -> Arrays:
    """A bundled data set, its columns on a grid of at most 255 values, and random weights."""
    load = {"iris": load_iris, "diabetes": load_diabetes, "breast_cancer": load_breast_cancer}[name]
    X, y = load(return_X_y=True)
    width = X.max(axis=0) - X.min(axis=0)
    X = np.round((X - X.min(axis=0)) / width * 200.0) / 8.0
    assert max(len(np.unique(column)) for column in X.T) <= 255
    return X, y, np.random.default_rng(1).uniform(0.5, 2.0, len(y))


def pair(kind: str, **settings: Any) -> tuple[Any, Any]:
    """scikit-learn's estimator and ours."""
    theirs = getattr(ensemble, f"GradientBoosting{kind}")(random_state=0, **settings)
    return theirs, getattr(weald, f"GradientBoosting{kind}")(random_state=0, **settings)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_regression_predicts_what_scikit_learn_predicts(loss: str, setting: str) -> None:
    X, y, weight = rounded("diabetes")
    y = y / 100.0
    settings = dict(SETTINGS[setting])
    if loss in ("absolute_error", "quantile"):
        # In a small node all signs may be equal; scikit-learn then splits by what rounding makes of that.
        settings.setdefault("min_samples_leaf", 0.03)
    theirs, ours = pair("Regressor", loss=loss, n_estimators=40, **settings)
    theirs.fit(X, y, weight)
    ours.fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-6)
    if "min_samples_leaf" in settings:  # in small nodes two columns may divide the rows alike
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-5)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    ("data", "loss"),
    [("iris", "log_loss"), ("breast_cancer", "log_loss"), ("breast_cancer", "exponential")],
)
def test_classification_predicts_what_scikit_learn_predicts(data: str, loss: str, setting: str) -> None:
    X, y, weight = rounded(data)
    theirs, ours = pair("Classifier", loss=loss, n_estimators=20, **SETTINGS[setting])
    theirs.fit(X, y, weight)
    ours.fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-5)


@pytest.mark.parametrize("data", ["iris", "breast_cancer"])
def test_without_weights_and_after_a_hundred_rounds_classifiers_agree(data: str) -> None:
    X, y, _ = rounded(data)
    theirs, ours = pair("Classifier")
    np.testing.assert_allclose(
        ours.fit(X, y).predict_proba(X), theirs.fit(X, y).predict_proba(X), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_without_weights_and_after_a_hundred_rounds_regressors_agree(loss: str) -> None:
    X, y, _ = rounded("diabetes")
    y = y / 100.0
    theirs, ours = pair("Regressor", loss=loss)
    np.testing.assert_allclose(ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("loss", ["absolute_error", "quantile"])
def test_without_weights_signs_are_full_of_ties_but_the_losses_agree(loss: str) -> None:
    X, y, _ = rounded("diabetes")
    theirs, ours = pair("Regressor", loss=loss)
    np.testing.assert_allclose(ours.fit(X, y).train_score_, theirs.fit(X, y).train_score_, rtol=0.03)


def test_init_estimators_start_from_the_same_scores() -> None:
    X, y, weight = rounded("diabetes")
    theirs, ours = pair("Regressor", init=DecisionTreeRegressor(max_depth=2), n_estimators=10)
    ours.fit(X, y / 100.0, weight)
    theirs.fit(X, y / 100.0, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)
    X, y, weight = rounded("iris")
    theirs, ours = pair("Classifier", init=DecisionTreeClassifier(min_samples_leaf=60), n_estimators=10)
    ours.fit(X, y, weight)
    theirs.fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_early_stopping_holds_out_the_same_rows_and_stops_in_the_same_round(kind: str) -> None:
    X, y, weight = rounded("breast_cancer" if kind == "Classifier" else "diabetes")
    theirs, ours = pair(kind, n_iter_no_change=4, validation_fraction=0.2, tol=1e-3, n_estimators=200)
    theirs.fit(X, y, weight)
    ours.fit(X, y, weight)
    assert 4 < ours.n_estimators_ < 200
    assert ours.n_estimators_ == theirs.n_estimators_
    assert len(ours.train_score_) == ours.n_estimators_
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-5)
    if kind == "Classifier":
        held = ours.history_["validation"]["loss"]
        assert len(held) == ours.n_estimators_
