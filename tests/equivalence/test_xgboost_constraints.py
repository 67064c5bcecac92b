"""Constraints and pruning as XGBoost has them: its first tree where every cut is allowed, its error after fifty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error

from equivalence.test_peers import DEPTHWISE, LEAFWISE, ROUNDS, halves, rounded, xgboost_model
from weald import BoostedTreesRegressor

FIRST: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0}
WINE = [
    "fixed",
    "volatile",
    "citric",
    "sugar",
    "chlorides",
    "free",
    "total",
    "density",
    "pH",
    "sulphates",
    "alcohol",
]
ORDERS = {
    "one column": {"alcohol": 1},
    "against the data": {"alcohol": -1},
    "several": {"alcohol": 1, "volatile": -1, "sulphates": 1, "density": -1, "chlorides": -1},
}
GROUPS = {
    "two": [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10]],
    "overlapping": [[10, 1], [10, 9, 2], [1, 5, 6], [7, 8]],
    "columns in no group": [[1, 10]],
    "alone": [[column] for column in range(11)],
}


def signs(order: dict[str, int]) -> tuple[int, ...]:
    return tuple(order.get(name, 0) for name in WINE)


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("name", ORDERS)
def test_the_first_monotone_tree_is_xgboosts(name: str, missing: float) -> None:
    X, y = rounded("wine_quality", missing)
    monotone = signs(ORDERS[name])
    for weight, penalty in ((20.0, 1.0), (60.0, 10.0)):
        limits: dict[str, Any] = {**FIRST, "min_child_weight": weight, "reg_lambda": penalty}
        peer = xgboost_model("Regressor", base_score=y.mean(), **limits, monotone_constraints=monotone)
        ours = BoostedTreesRegressor(**{**DEPTHWISE, **limits}, monotone_constraints=monotone).fit(X, y)
        assert ours.predict(X) == pytest.approx(peer.fit(X, y).predict(X), rel=1e-5)


@pytest.mark.parametrize("name", GROUPS)
def test_the_first_tree_of_groups_is_xgboosts(name: str) -> None:
    X, y = rounded("wine_quality", 0.1)
    limits: dict[str, Any] = {**FIRST, "min_child_weight": 20.0}
    groups = GROUPS[name]
    peer = xgboost_model("Regressor", base_score=y.mean(), **limits, interaction_constraints=str(groups))
    ours = BoostedTreesRegressor(**{**DEPTHWISE, **limits}, interaction_constraints=groups).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.fit(X, y).predict(X), rel=1e-5)


def test_the_first_leafwise_tree_under_both_constraints_is_xgboosts() -> None:
    X, y = rounded("wine_quality", 0.0)
    both: dict[str, Any] = {
        "monotone_constraints": signs(ORDERS["several"]),
        "interaction_constraints": GROUPS["overlapping"],
    }
    theirs = {**both, "interaction_constraints": str(GROUPS["overlapping"])}
    limits = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 31, "min_child_weight": 20}
    peer = xgboost_model("Regressor", base_score=y.mean(), reg_lambda=1.0, **FIRST, **limits, **theirs)
    ours = BoostedTreesRegressor(**{**LEAFWISE, **FIRST, "reg_lambda": 1.0}, **both).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.fit(X, y).predict(X), rel=1e-5)


@pytest.mark.parametrize("gamma", [1.0, 5.0, 20.0])
def test_the_first_pruned_tree_is_that_of_xgboosts_exact_grower(gamma: float) -> None:
    X, y = rounded("wine_quality", 0.05)
    limits: dict[str, Any] = {**FIRST, "min_child_weight": 20.0, "max_depth": 8}
    # XGBoost's gain is twice that of the paper, so the same price of a leaf is twice its gamma.
    peer = xgboost_model(
        "Regressor", base_score=y.mean(), **limits, gamma=2.0 * gamma, tree_method="exact", max_bin=None
    )
    ours = BoostedTreesRegressor(**{**DEPTHWISE, **limits}, gamma=gamma).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.fit(X, y).predict(X), rel=1e-5)
    tree = ours.forest_.tree(0)
    kept = tree.gain[tree.feature >= 0]
    assert len(kept) > 3
    assert (kept > 0).all()
    if gamma == 1.0:
        assert (kept < gamma).any(), "no split stays for its subtree's sake"


@pytest.mark.parametrize(("name", "monotone"), [("diamonds", {0: 1}), ("wine_quality", {10: 1, 1: -1})])
def test_monotone_models_are_as_good_as_xgboosts(name: str, monotone: dict[int, int]) -> None:
    X, X_test, y, y_test = halves(name)
    order = tuple(monotone.get(column, 0) for column in range(X.shape[1]))
    shared: dict[str, Any] = {"learning_rate": 0.1, "min_child_weight": 1.0, "monotone_constraints": order}
    peer = xgboost_model("Regressor", **shared).fit(X, y)
    ours = BoostedTreesRegressor(**DEPTHWISE, **shared, n_estimators=ROUNDS).fit(X, y)
    expected = root_mean_squared_error(y_test, peer.predict(X_test))
    assert root_mean_squared_error(y_test, ours.predict(X_test)) == pytest.approx(expected, rel=0.02)
    oblivious = BoostedTreesRegressor(
        growth="oblivious", max_leaves=None, n_jobs=1, **shared, n_estimators=ROUNDS
    )
    free = BoostedTreesRegressor(growth="oblivious", max_leaves=None, n_jobs=1, n_estimators=ROUNDS)
    scores = [model.fit(X, y).score(X_test, y_test) for model in (oblivious, free)]
    assert scores[0] == pytest.approx(scores[1], abs=0.03)


def test_the_names_are_those_of_the_table() -> None:
    assert len(WINE) == rounded("wine_quality", 0.0)[0].shape[1] == len(np.unique(WINE))
