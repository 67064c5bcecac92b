"""Voting and averaging against scikit-learn's, on its bundled data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import weald

CLASSIFIERS = [
    ("line", make_pipeline(StandardScaler(), LogisticRegression())),
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier(3)),
    ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
]
REGRESSORS = [
    ("line", Ridge(0.1)),
    ("near", KNeighborsRegressor(9)),
    ("tree", DecisionTreeRegressor(max_depth=4, random_state=0)),
]


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [2, 1, 1, 2], [0.5, 0, 3, 0.25], (1, 1, 1, 1)])
def test_votes_are_scikit_learns(load: Any, voting: str, weights: Any) -> None:
    X, y = load(return_X_y=True)
    names = np.array(["zebra", "ant", "bee"])[y]
    train = np.arange(len(X)) % 3 > 0
    theirs = ensemble.VotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(
        X[train], names[train]
    )
    ours = weald.VotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X[train], names[train])
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.array_equal(ours.transform(X), theirs.transform(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert ours.score(X, names) == theirs.score(X, names)
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-13, atol=1e-15)


def test_ties_of_two_members_go_to_the_first_label_as_in_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    members = CLASSIFIERS[1:4:2]
    theirs = ensemble.VotingClassifier(members).fit(X[:, :2], y)
    ours = weald.VotingClassifier(members).fit(X[:, :2], y)
    assert (np.ptp(theirs.transform(X[:, :2]), axis=1) > 0).sum() > 10
    assert np.array_equal(ours.predict(X[:, :2]), theirs.predict(X[:, :2]))


def test_dropped_members_are_dropped_as_in_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    params = {"estimators": CLASSIFIERS, "voting": "soft", "weights": [1, 2, 3, 4]}
    theirs = ensemble.VotingClassifier(**params).set_params(near="drop").fit(X, y)
    ours = weald.VotingClassifier(**params).set_params(near="drop").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-13, atol=1e-15)
    assert list(ours.named_estimators_) == list(theirs.named_estimators_)
    assert ours.named_estimators_["near"] == theirs.named_estimators_["near"] == "drop"


@pytest.mark.parametrize("weights", [None, [2, 1, 1], [0.2, 0.3, 0.5]])
def test_averages_are_scikit_learns(weights: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    theirs = ensemble.VotingRegressor(REGRESSORS, weights=weights).fit(X, y)
    ours = weald.VotingRegressor(REGRESSORS, weights=weights).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-13)
    assert np.array_equal(ours.transform(X), theirs.transform(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_row_weights_do_what_they_do_in_scikit_learn() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0, 3, size=len(y))
    members = [CLASSIFIERS[1], CLASSIFIERS[3]]
    theirs = ensemble.VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weight)
    ours = weald.VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-13, atol=1e-15)


def test_weald_members_in_scikit_learns_voting_and_in_ours_agree() -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [("few", weald.BoostedTreesRegressor(n_estimators=5)), ("line", Ridge(0.1))]
    theirs = ensemble.VotingRegressor(members).fit(X, y)
    ours = weald.VotingRegressor(members).fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
