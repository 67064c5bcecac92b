"""Stacking beside scikit-learn's: the same folds give the same outputs, final estimators and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import weald

CLASSIFIERS: list[tuple[str, Any]] = [
    ("bayes", GaussianNB()),
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("ridge", RidgeClassifier()),
]
REGRESSORS: list[tuple[str, Any]] = [
    ("ridge", Ridge()),
    ("neighbours", KNeighborsRegressor()),
    ("gone", "drop"),
]


def assert_same(ours: Any, theirs: Any, X: Any) -> None:
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.stack_method_ == theirs.stack_method_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert list(ours.named_estimators_) == list(theirs.named_estimators_)
    assert ours.n_features_in_ == theirs.n_features_in_


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"passthrough": True, "cv": 3, "final_estimator": GaussianNB()},
        {"stack_method": "predict", "cv": StratifiedKFold(3, shuffle=True, random_state=1)},
    ],
)
def test_classifiers_are_those_of_scikit_learn(load: Any, choices: dict[str, Any]) -> None:
    data = load()
    X, y = data.data, data.target_names[data.target]
    theirs = ensemble.StackingClassifier(CLASSIFIERS, **choices).fit(X, y)
    ours = weald.StackingClassifier(CLASSIFIERS, **choices).fit(X, y)
    assert_same(ours, theirs, X)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


def test_decision_values_are_those_of_scikit_learn() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    members = CLASSIFIERS[1::2]
    theirs, ours = (
        kind(members, RidgeClassifier(), stack_method="decision_function").fit(X, y)
        for kind in (ensemble.StackingClassifier, weald.StackingClassifier)
    )
    assert_same(ours, theirs, X)
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert not hasattr(ours, "predict_proba")


@pytest.mark.parametrize(
    "choices", [{}, {"passthrough": True, "final_estimator": LinearRegression(), "cv": KFold(4)}]
)
def test_regressors_are_those_of_scikit_learn(choices: dict[str, Any]) -> None:
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    members = [REGRESSORS[0], ("linear", LinearRegression()), REGRESSORS[2]]
    for table in (X, scipy.sparse.csr_array(X)):
        theirs = ensemble.StackingRegressor(members, **choices)
        ours = weald.StackingRegressor(members, **choices)
        np.testing.assert_allclose(ours.fit(table, y).predict(table), theirs.fit(table, y).predict(table))
    theirs.fit(X, y, sample_weight=weight)
    assert_same(ours.fit(X, y, sample_weight=weight), theirs, X)


def test_fitted_members_are_used_as_scikit_learn_uses_them() -> None:
    X, y = load_iris(return_X_y=True)
    members = [(name, member.fit(X[::2], y[::2])) for name, member in CLASSIFIERS]
    theirs = ensemble.StackingClassifier(members, cv="prefit").fit(X[1::2], y[1::2])
    ours = weald.StackingClassifier(members, cv="prefit").fit(X[1::2], y[1::2])
    assert_same(ours, theirs, X)
    assert ours.estimators_ == [member for _, member in members]


def test_out_of_fold_predictions_are_those_of_cross_val_predict() -> None:
    X, y = load_iris(return_X_y=True)
    ours = weald.StackingClassifier(CLASSIFIERS[:2], cv=4).fit(X, y)
    expected = [
        cross_val_predict(member, X, y, cv=4, method="predict_proba") for _, member in CLASSIFIERS[:2]
    ]
    np.testing.assert_array_equal(ours.oof_predictions_, np.hstack(expected))


def test_a_stack_of_ours_predicts_as_well_as_with_bins_of_every_fold() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    members = [("trees", weald.BoostedTreesClassifier(n_estimators=20)), ("bayes", GaussianNB())]
    train, test = slice(0, 400), slice(400, None)
    theirs, ours = (
        kind(members, cv=3).fit(X[train], y[train])
        for kind in (ensemble.StackingClassifier, weald.StackingClassifier)
    )
    assert ours.score(X[test], y[test]) >= theirs.score(X[test], y[test]) - 0.02
    np.testing.assert_array_equal(
        ours.transform(X), theirs.transform(X)
    )  # refitted to all rows: the same bins
