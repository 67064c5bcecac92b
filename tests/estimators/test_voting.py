"""scikit-learn's own checks of voting, and the tools that people put it into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald import BoostedTreesClassifier, BoostedTreesRegressor, VotingClassifier, VotingRegressor

CLASSIFIERS = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
REGRESSORS = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
# A leaf must have so many rows, whatever they weigh: with 1 a row of weight 2 is as good as two.
OURS = [
    ("few", BoostedTreesClassifier(n_estimators=3, max_leaves=4, min_samples_leaf=1)),
    ("many", BoostedTreesClassifier(n_estimators=6, min_samples_leaf=1)),
]
TREES = [
    ("few", BoostedTreesRegressor(n_estimators=3, max_leaves=4, min_samples_leaf=1)),
    ("many", BoostedTreesRegressor(n_estimators=20, min_samples_leaf=1)),
]


@parametrize_with_checks(
    [
        VotingClassifier(CLASSIFIERS),
        VotingClassifier(CLASSIFIERS, voting="soft", weights="fit", cv=2),
        VotingRegressor(REGRESSORS, weights=[2, 1]),
        VotingRegressor(REGRESSORS, weights="fit", cv=2),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    check(estimator)


@parametrize_with_checks([VotingClassifier(OURS, ties="random"), VotingRegressor(TREES, weights="fit", cv=2)])
def test_scikit_learn_finds_nothing_to_complain_of_with_members_of_ours(estimator: Any, check: Any) -> None:
    check(estimator)


def test_grid_search_reaches_members_weights_and_rules() -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), VotingClassifier(CLASSIFIERS, voting="soft"))
    name = "votingclassifier__"
    grid = {
        f"{name}tree__max_depth": [1, 3],
        f"{name}weights": [None, "fit", [1, 2]],
        f"{name}line": ["drop", GaussianNB()],
    }
    with pytest.raises(ValueError, match="weights must have one number"):
        VotingClassifier(CLASSIFIERS, weights=[1, 2, 3]).fit(X, y)
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_members_may_be_pipelines_over_tables_that_are_no_tables_of_ours() -> None:
    texts = ["good wine", "bad wine", "good beer", "bad beer", "very bad", "very good"] * 5
    y = ["yes", "no", "yes", "no", "no", "yes"] * 5
    members = [
        ("count", make_pipeline(CountVectorizer(), MultinomialNB())),
        ("line", make_pipeline(CountVectorizer(), LogisticRegression())),
    ]
    for voting in ("hard", "soft"):
        model = VotingClassifier(members, voting=voting, weights="fit", cv=3).fit(texts, y)
        assert model.score(texts, y) == 1.0


def test_frames_reach_pipelines_with_their_columns() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    first = make_pipeline(make_column_transformer((StandardScaler(), ["bmi", "bp"])), LinearRegression())
    model = VotingRegressor([("first", first), ("trees", TREES[0][1])], weights="fit").fit(X, y)
    assert isinstance(X, pandas.DataFrame)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.score(X, y) > 0.3
    assert cross_val_score(model, X, y, cv=3).mean() > 0.2
