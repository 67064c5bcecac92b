"""Trees of the CART engine beside scikit-learn's, on data where every value has its own bin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_linnerud, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from weald.binning import DenseBins, fit_bins
from weald.data import read_table
from weald.tree.cart import CartLabels, CartRules, CartTree, Draw, grow_cart_trees


def binned(X: Any) -> DenseBins:
    dataset = read_table(X)
    return fit_bins(dataset, None).transform(dataset, tasks=1)


def distinct(X: Any, n_rows: int = 250, seed: int = 0) -> tuple[Any, Any]:
    """At most 250 rows, so that no two values share a bin, and with a jitter, so that no two are equal."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))[:n_rows]
    table = np.asarray(X, np.float64)[rows]
    table /= table.std(axis=0)  # scikit-learn takes values nearer than 1e-7 for equal
    return (table + 1e-3 * rng.standard_normal(table.shape)).astype(np.float32), rows


def leaf_values(tree: CartTree, bins: DenseBins) -> Any:
    leaves = tree.leaf_of_row(bins)
    if not len(tree.vectors):
        return tree.value[leaves][:, None]
    order = np.cumsum(tree.feature < 0) - 1
    return tree.vectors[order[leaves]]


def grown(bins: DenseBins, labels: CartLabels, rules: CartRules, weight: Any = None) -> CartTree:
    (tree,) = grow_cart_trees(bins, labels, weight, rules, Draw(), np.array([1], np.uint64))
    return tree


LIMITS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "shallow": ({"max_depth": 4}, {"max_depth": 4}),
    "best first": ({"max_leaf_nodes": 9}, {"max_leaf_nodes": 9}),
    "large leaves": ({"min_samples_leaf": 9}, {"min_samples_leaf": 9}),
    "large nodes": ({"min_samples_split": 30}, {"min_samples_split": 30}),
    "heavy leaves": ({"min_weight_leaf": 0.05}, {"min_weight_fraction_leaf": 0.05}),
    "decreasing": ({"min_impurity_decrease": 0.01}, {"min_impurity_decrease": 0.01}),
}


def same_trees(tree: CartTree, theirs: Any) -> bool:
    """Hold two trees equal, node by node; where two splits are equally good, only that. Whether there was no such tie."""
    peer = theirs.tree_
    weight = peer.weighted_n_node_samples
    pairs, same = [(0, 0)], True
    while pairs:
        mine, other = pairs.pop()
        assert tree.count[mine] == peer.n_node_samples[other]
        assert tree.cover[mine] == pytest.approx(weight[other])
        left, right = peer.children_left[other], peer.children_right[other]
        if tree.feature[mine] < 0 or left < 0:
            assert tree.feature[mine] < 0 and left < 0
            continue
        decrease = weight[other] * peer.impurity[other]
        decrease -= weight[left] * peer.impurity[left] + weight[right] * peer.impurity[right]
        assert tree.gain[mine] == pytest.approx(decrease / weight[0], rel=1e-6, abs=1e-9)
        own_left = int(tree.left[mine])
        if tree.feature[mine] == peer.feature[other] and tree.count[own_left] == peer.n_node_samples[left]:
            pairs += [(own_left, left), (own_left + 1, right)]
        else:
            same = False
    return same


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_iris])
def test_classification_trees_are_scikit_learns(name: str, criterion: str, load: Any) -> None:
    data = load()
    X, rows = distinct(data.data)
    y = data.target[rows]
    ours, theirs = LIMITS[name]
    n_classes = int(y.max()) + 1
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float) if name == "shallow" else None
    labels = CartLabels.classification(y, (n_classes,))
    bins = binned(X)
    tree = grown(bins, labels, CartRules(criterion, **ours), weight)
    peer = DecisionTreeClassifier(criterion=criterion, random_state=0, **theirs).fit(X, y, weight)
    expected = peer.predict_proba(X)[:, 1:] if n_classes == 2 else peer.predict_proba(X)
    if same_trees(tree, peer):
        np.testing.assert_allclose(leaf_values(tree, bins), expected, atol=1e-12)


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_trees_are_scikit_learns(name: str, criterion: str) -> None:
    data = load_diabetes()
    X, rows = distinct(data.data)
    y = data.target[rows] + np.random.default_rng(0).random(len(rows))
    ours, theirs = dict(LIMITS[name][0]), dict(LIMITS[name][1])
    if name == "decreasing":
        ours["min_impurity_decrease"] = theirs["min_impurity_decrease"] = 0.005 * float(y.std())
    bins = binned(X)
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float) if name == "shallow" else None
    tree = grown(bins, CartLabels.regression(y), CartRules(criterion, **ours), weight)
    peer = DecisionTreeRegressor(criterion=criterion, random_state=0, **theirs).fit(X, y, weight)
    if same_trees(tree, peer):
        np.testing.assert_allclose(leaf_values(tree, bins)[:, 0], peer.predict(X), rtol=1e-9)


def test_trees_of_several_outputs_are_scikit_learns() -> None:
    data = load_linnerud()
    X, _ = distinct(data.data)
    Y = data.target
    bins = binned(X)
    tree = grown(bins, CartLabels.regression(Y), CartRules("squared_error", max_depth=3))
    peer = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, Y)
    assert same_trees(tree, peer)
    np.testing.assert_allclose(leaf_values(tree, bins), peer.predict(X))
    codes = np.stack([(Y[:, 0] > 175).astype(int), np.digitize(Y[:, 1], [33, 36])], axis=1)
    tree = grown(bins, CartLabels.classification(codes, (2, 3)), CartRules("gini", max_depth=3))
    peer = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, codes)
    assert same_trees(tree, peer)
    np.testing.assert_allclose(leaf_values(tree, bins), np.concatenate(peer.predict_proba(X), axis=1))


def test_missing_values_go_where_scikit_learn_sends_them() -> None:
    data = load_wine()
    X, rows = distinct(data.data)
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    y = data.target[rows]
    bins = binned(X)
    tree = grown(bins, CartLabels.classification(y, (3,)), CartRules("gini", max_depth=3))
    peer = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    assert same_trees(tree, peer)
    np.testing.assert_allclose(leaf_values(tree, bins), peer.predict_proba(X))


def test_fully_grown_trees_fit_every_row() -> None:
    data = load_diabetes()
    X, rows = distinct(data.data)
    y = data.target[rows]
    bins = binned(X)
    for criterion in ("squared_error", "absolute_error", "poisson"):
        tree = grown(bins, CartLabels.regression(y), CartRules(criterion))
        np.testing.assert_array_equal(leaf_values(tree, bins)[:, 0], y)
