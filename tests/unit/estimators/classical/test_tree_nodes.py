"""The nodes of a tree by scikit-learn's names, beside scikit-learn's own trees."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import ensemble, tree
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import weald

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
NODES = ("feature", "n_node_samples", "weighted_n_node_samples", "missing_go_to_left")


def from_left_to_right(nodes: Any) -> NDArray[np.int64]:
    """The numbers of the nodes, every one before what is below it: node numbers are not scikit-learn's."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if nodes.children_left[node] >= 0:
            waiting += [nodes.children_right[node], nodes.children_left[node]]
    return np.array(order)


def assert_same(ours: Any, theirs: Any, *numbers: str) -> None:
    here, there = from_left_to_right(ours), from_left_to_right(theirs)
    for name in NODES:
        assert np.array_equal(getattr(ours, name)[here], getattr(theirs, name)[there]), name
    for name in ("threshold", *numbers):
        np.testing.assert_allclose(getattr(ours, name)[here], getattr(theirs, name)[there], 1e-5, 1e-7)
    assert np.array_equal(ours.compute_node_depths()[here], theirs.compute_node_depths()[there])
    for name in ("node_count", "n_leaves", "max_depth", "n_features", "n_outputs", "max_n_classes"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.n_classes.tolist() == theirs.n_classes.tolist()
    for normalize in (True, False):
        shares = (nodes.compute_feature_importances(normalize) for nodes in (ours, theirs))
        np.testing.assert_allclose(*shares, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("target", ["three", "two", "both"])
def test_a_classifiers_nodes_are_those_of_scikit_learn(criterion: str, target: str) -> None:
    X, y = IRIS[0][:, [0, 1, 2]], IRIS[1]  # the fourth column ties with the third; none is left below depth 2
    labels = {"three": y, "two": np.where(y == 1, "a", "b"), "both": np.column_stack([y, y > 1])}[target]
    weight = 1.0 + np.arange(len(y)) % 3
    options: dict[str, Any] = {"max_depth": 2, "criterion": criterion, "random_state": 0}
    ours = weald.DecisionTreeClassifier(**options).fit(X, labels, weight)
    theirs = tree.DecisionTreeClassifier(**options).fit(X, labels, weight)
    assert_same(ours.tree_, theirs.tree_, "value", "impurity")
    np.testing.assert_allclose(ours.tree_.predict(X), theirs.tree_.predict(X.astype(np.float32)))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_regressors_nodes_are_those_of_scikit_learn(criterion: str) -> None:
    X, y = DIABETES
    options: dict[str, Any] = {"max_depth": 3, "criterion": criterion}
    ours = weald.DecisionTreeRegressor(**options).fit(X, y)
    theirs = tree.DecisionTreeRegressor(**options, random_state=0).fit(X, y)
    assert_same(ours.tree_, theirs.tree_)
    here, there = (from_left_to_right(model.tree_) for model in (ours, theirs))
    known = ~np.isnan(ours.tree_.value[here, 0, 0])
    np.testing.assert_allclose(ours.tree_.value[here][known], theirs.tree_.value[there][known])
    above = ours.tree_.feature[here] >= 0
    assert np.array_equal(known, ~above if criterion == "absolute_error" else np.ones_like(above))
    # Two outputs: a leaf has two numbers.
    both = np.column_stack([y, -2.0 * y])
    assert_same(
        weald.DecisionTreeRegressor(max_depth=2).fit(X, both).tree_,
        tree.DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, both).tree_,
        "value",
    )


def test_the_impurity_of_numbers_is_known_above_leaves_of_one_row_and_nowhere_else() -> None:
    X, y = DIABETES[0][:40], np.arange(40.0) ** 2
    full = weald.DecisionTreeRegressor().fit(X, y).tree_
    assert full.impurity[0] == pytest.approx(y.var())
    assert np.array_equal(full.impurity == 0.0, full.n_node_samples == 1)
    assert np.isnan(weald.DecisionTreeRegressor(max_depth=1).fit(X, y).tree_.impurity).all()


def test_a_split_on_categories_has_no_threshold_but_says_which_go_left() -> None:
    table = {
        "size": np.array([1.0, 2.0, 3.0, np.nan] * 5),
        "colour": np.array(["red", "blue", "red", "green"] * 5),
    }
    model = weald.DecisionTreeClassifier(max_depth=1).fit(table, table["colour"] == "red")
    assert model.feature_names_in_[model.tree_.feature[0]] == "colour"
    assert np.isnan(model.tree_.threshold[0])
    (left,) = [found for found in model.tree_.categories_left if found is not None]
    goes_left = np.isin(table["colour"], left)
    assert len({bool(red) for red in table["colour"][goes_left] == "red"}) == 1
    assert np.array_equal(model.tree_.apply(table) == model.tree_.children_left[0], goes_left)


def test_rows_find_the_leaves_that_apply_and_decision_path_say() -> None:
    X, y = IRIS
    forest = weald.RandomForestClassifier(5, max_depth=3).fit(X, y)
    indicator, offsets = forest.decision_path(X)
    assert np.diff(offsets).tolist() == [member.tree_.node_count for member in forest]
    for number, member in enumerate(forest):
        nodes = member.tree_
        assert np.array_equal(nodes.apply(X), forest.apply(X)[:, number])
        assert (nodes.decision_path(X) != indicator[:, offsets[number] : offsets[number + 1]]).nnz == 0
        assert np.array_equal(nodes.predict(X), member.predict_proba(X))


@pytest.mark.parametrize("name", ["GradientBoostingRegressor", "GradientBoostingClassifier"])
def test_the_steps_of_gradient_boosting_have_the_nodes_of_scikit_learn(name: str) -> None:
    X, y = DIABETES
    y = y > 140 if name.endswith("Classifier") else y
    options: dict[str, Any] = {"n_estimators": 2, "max_depth": 2, "random_state": 0}
    ours = getattr(weald, name)(**options).fit(X, y).estimators_[0, 0]
    theirs = getattr(ensemble, name)(**options).fit(X, y).estimators_[0, 0]
    assert_same(ours.tree_, theirs.tree_)
    leaves = ours.tree_.feature < 0
    assert set(ours.predict(X)) == set(ours.tree_.value[leaves, 0, 0])
    assert pickle.loads(pickle.dumps(ours)).tree_.node_count == ours.tree_.node_count


def test_a_tree_that_is_not_fitted_has_no_nodes_and_a_new_fit_has_new_ones() -> None:
    model = weald.DecisionTreeClassifier(max_depth=1)
    assert not hasattr(model, "tree_")
    with pytest.raises(NotFittedError):
        model.tree_  # noqa: B018
    assert model.fit(*IRIS).tree_.max_depth == 1
    assert model.set_params(max_depth=2).fit(*IRIS).tree_.max_depth == 2
    assert not hasattr(clone(model), "tree_")
    assert pickle.loads(pickle.dumps(model)).tree_.node_count == model.tree_.node_count
