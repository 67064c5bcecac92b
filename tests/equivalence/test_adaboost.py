"""AdaBoost over the same members as scikit-learn's: the same errors, weights and predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import weald


class FixedTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's tree whose seed no ensemble can change, so that both break ties alike."""

    def __init__(self, max_depth: int = 1) -> None:
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FixedTree:
        tree = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0)
        self.tree_ = tree.fit(X, y, sample_weight=sample_weight)
        self.classes_ = tree.classes_
        self.feature_importances_ = tree.feature_importances_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.tree_.predict_proba(X)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_wine])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_samme_over_the_same_stumps_is_scikit_learns(load: Callable[..., Any], learning_rate: float) -> None:
    X, y = load(return_X_y=True)
    y = np.array(["first", "second", "third"])[y]
    options = {"n_estimators": 20, "learning_rate": learning_rate}
    ours = weald.AdaBoostClassifier(FixedTree(), **options).fit(X, y)
    theirs = ensemble.AdaBoostClassifier(FixedTree(), **options).fit(X, y)
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-10)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-10)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)
    assert (ours.predict(X) == theirs.predict(X)).all()
    for one, other in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_sample_weights_mean_what_they_mean_in_scikit_learn() -> None:
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    ours = weald.AdaBoostClassifier(FixedTree(2), n_estimators=8).fit(X, y, weight)
    theirs = ensemble.AdaBoostClassifier(FixedTree(2), n_estimators=8).fit(X, y, weight)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-12)


def test_a_perfect_member_ends_the_boosting_as_in_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    ours = weald.AdaBoostClassifier(FixedTree(10), n_estimators=5).fit(X, y)
    theirs = ensemble.AdaBoostClassifier(FixedTree(10), n_estimators=5).fit(X, y)
    assert len(ours) == len(theirs) == 1
    assert ours.estimator_weights_.tolist() == theirs.estimator_weights_.tolist()
    assert ours.estimator_errors_.tolist() == theirs.estimator_errors_.tolist()


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_r2_is_as_good_as_scikit_learns(loss: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    train, test = slice(0, None, 2), slice(1, None, 2)
    scores: dict[str, list[float]] = {"ours": [], "theirs": []}
    for seed in range(4):
        member = DecisionTreeRegressor(max_depth=3)
        for name, kind in (("ours", weald.AdaBoostRegressor), ("theirs", ensemble.AdaBoostRegressor)):
            model = kind(clone(member), n_estimators=25, loss=loss, random_state=seed)
            scores[name].append(model.fit(X[train], y[train]).score(X[test], y[test]))
    assert np.mean(scores["ours"]) > np.mean(scores["theirs"]) - 0.03


def test_our_stumps_are_as_good_as_scikit_learns() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    train, test = slice(0, None, 2), slice(1, None, 2)
    ours = weald.AdaBoostClassifier(n_estimators=50).fit(X[train], y[train])
    theirs = ensemble.AdaBoostClassifier(n_estimators=50, random_state=0).fit(X[train], y[train])
    assert ours.score(X[test], y[test]) >= theirs.score(X[test], y[test]) - 0.01
    # With fewer values than bins the first stump is the same: the same rows on each side.
    assert abs(ours.estimator_errors_[0] - theirs.estimator_errors_[0]) < 1e-12
