"""Weald's trees and forests against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble, tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import cross_val_score

import weald
from unit.estimators.converted import converted_forest
from weald.forest.predict import leaf_indices, raw_scores


def rounded_diabetes() -> tuple[Any, Any]:
    """Diabetes with at most 255 distinct values a column, so that bins lose nothing.

    Without the sixth column, which splits some nodes just as the fifth does: of such equals any may be chosen.
    """
    X, y = load_diabetes(return_X_y=True)
    return np.round(np.delete(X, 5, axis=1) * 300) / 300, y


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("limits", [{"max_depth": 4}, {"max_leaf_nodes": 12}, {"min_samples_leaf": 17}])
def test_a_regression_tree_is_scikit_learns_where_no_value_is_lost(criterion: str, limits: Any) -> None:
    X, y = rounded_diabetes()
    ours = weald.DecisionTreeRegressor(criterion=criterion, **limits).fit(X, y)
    theirs = tree.DecisionTreeRegressor(criterion=criterion, random_state=0, **limits).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert np.allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_classification_tree_is_as_pure_as_scikit_learns(criterion: str, weighted: bool) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    ours = weald.DecisionTreeClassifier(criterion=criterion, max_depth=2).fit(X, y, weight)
    theirs = tree.DecisionTreeClassifier(criterion=criterion, max_depth=2, random_state=0).fit(X, y, weight)
    assert ours.score(X, y, weight) == pytest.approx(theirs.score(X, y, weight))
    assert np.sort(ours.predict_proba(X), axis=0) == pytest.approx(np.sort(theirs.predict_proba(X), axis=0))


@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees"])
def test_forests_are_as_accurate_as_scikit_learns(name: str) -> None:
    for load in (load_iris, load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        pair = [
            cross_val_score(getattr(module, f"{name}Classifier")(60, random_state=0), X, y, cv=5).mean()
            for module in (weald, ensemble)
        ]
        assert pair[0] > pair[1] - 0.025, load.__name__
    X, y = load_diabetes(return_X_y=True)
    pair = [
        cross_val_score(getattr(module, f"{name}Regressor")(60, random_state=0), X, y, cv=5).mean()
        for module in (weald, ensemble)
    ]
    assert pair[0] > pair[1] - 0.03


def test_a_heavy_tail_is_learned_as_well_as_scikit_learn_learns_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.lognormal(sigma=2.0, size=(3000, 4))
    y = X[:, 0] + 0.1 * X[:, 1] * rng.lognormal(sigma=0.2, size=3000)
    errors = []
    for module in (weald, ensemble):
        model = module.RandomForestRegressor(40, random_state=0).fit(X[:2000], y[:2000])
        errors.append(float(np.sqrt(np.mean((model.predict(X[2000:]) - y[2000:]) ** 2))))
    assert errors[0] < 1.15 * errors[1]


def test_out_of_bag_scores_agree_with_scikit_learns_within_noise() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    ours = weald.RandomForestClassifier(100, oob_score=True).fit(X, y)
    theirs = ensemble.RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.02)


def test_importances_agree_with_scikit_learns_within_noise() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    ours = weald.RandomForestClassifier(150).fit(X, y)
    theirs = ensemble.RandomForestClassifier(150, random_state=0).fit(X, y)
    assert np.corrcoef(ours.feature_importances_, theirs.feature_importances_)[0, 1] > 0.95


@pytest.mark.parametrize("several", [False, True])
def test_scikit_learns_trees_in_our_forest_predict_the_same(several: bool) -> None:
    X, y = load_wine(return_X_y=True)
    y = y if several else (y > 0).astype(int)
    X = X.astype(np.float32)
    theirs = ensemble.RandomForestClassifier(10, random_state=0).fit(X, y)
    forest, nodes = converted_forest(theirs)
    forest.validate()
    scores = raw_scores(forest, [(0, X)], len(X)) / 10
    probabilities = theirs.predict_proba(X)
    expected = probabilities.T if several else probabilities[:, 1:].T
    assert np.allclose(scores, expected, rtol=0, atol=1e-12)
    leaves = leaf_indices(forest, [(0, X)], len(X))
    assert all(np.array_equal(nodes[t][leaves[:, t]], theirs.apply(X)[:, t]) for t in range(10))
