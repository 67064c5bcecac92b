"""scikit-learn's own checks of stacking and blending, and the tools that people put them into."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import (
    BlendingClassifier,
    BlendingRegressor,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    StackingClassifier,
    StackingRegressor,
)

CLASSIFIERS = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]
REGRESSORS = [("linear", LinearRegression()), ("trees", BoostedTreesRegressor(n_estimators=3))]
TREES = [("trees", BoostedTreesClassifier(n_estimators=3)), ("less", BoostedTreesClassifier(n_estimators=2))]


@parametrize_with_checks(
    [
        StackingClassifier(CLASSIFIERS, cv=3),
        StackingRegressor(REGRESSORS, cv=3),
        StackingClassifier([TREES, CLASSIFIERS], cv=2, refit=False, passthrough=True),
        BlendingClassifier(CLASSIFIERS, holdout=0.4),
        BlendingRegressor(REGRESSORS, refit=True),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("kind", [StackingClassifier, BlendingClassifier])
def test_metadata_goes_to_those_who_ask_for_it(kind: Any, routing: None) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.linspace(1, 2, len(y))
    asking = LogisticRegression(max_iter=500).set_fit_request(sample_weight=True)
    members = [("asks", asking), ("declines", GaussianNB().set_fit_request(sample_weight=False))]
    model = kind(members, asking, refit=True).fit(X, y, sample_weight=weight)
    alone = LogisticRegression(max_iter=500).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.named_estimators_.asks.coef_, alone.coef_)
    np.testing.assert_array_equal(model.named_estimators_.declines.theta_, GaussianNB().fit(X, y).theta_)
    kind(members, refit=True).fit(X, y, sample_weight=weight)  # the default final estimator takes weights
    with pytest.raises(UnsetMetadataPassedError):
        kind([("silent", GaussianNB())], asking).fit(X, y, sample_weight=weight)


def test_groups_reach_a_stack_inside_a_search(routing: None) -> None:
    X, y = load_iris(return_X_y=True)
    groups = np.tile(np.arange(10), 15)
    model = StackingClassifier([("bayes", GaussianNB())], LogisticRegression(), cv=GroupKFold(3))
    with pytest.raises(UnsetMetadataPassedError):
        GridSearchCV(model, {"final_estimator__C": [1.0]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
    model.set_fit_request(groups=True)
    search = GridSearchCV(model, {"final_estimator__C": [1.0]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
    assert search.best_score_ > 0.9


def test_predict_passes_arguments_to_the_final_estimator() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = StackingRegressor([("linear", LinearRegression())], BayesianRidge(), cv=2).fit(X, y)
    mean, spread = model.predict(X, return_std=True)
    assert mean.shape == spread.shape == y.shape
