"""Smoothing, drawn thresholds and forced splits as LightGBM has them: its first tree, or its error after fifty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error

import weald
from equivalence.test_peers import LEAFWISE, ROUNDS, halves, lightgbm_model, one_thread, rounded
from weald import BoostedTreesRegressor

__all__ = ["one_thread"]

FIRST: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0}


@pytest.mark.parametrize("smooth", [0.5, 10.0, 300.0])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_first_smoothed_tree_is_lightgbms(smooth: float, missing: float) -> None:
    X, y = rounded("wine_quality", missing)
    # Where smoothing turns a value's sign, LightGBM's gain is not that of the L1 penalty: alpha only with little smoothing.
    alpha = 1.0 if smooth < 100.0 else 0.0
    penalties = {"reg_lambda": 3.0, "reg_alpha": alpha}
    for limits in ({}, {"max_depth": 4}, penalties, {"min_samples_leaf": 60}):
        peer = lightgbm_model("Regressor", path_smooth=smooth, **FIRST, **_lightgbm(limits)).fit(X, y)
        ours = BoostedTreesRegressor(
            leaves=weald.Leaves(path_smooth=smooth), **{**LEAFWISE, **FIRST, **limits}
        ).fit(X, y)
        assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-6)


def test_smoothed_models_are_as_good_as_lightgbms() -> None:
    X, X_test, y, y_test = halves("wine_quality")
    shared: dict[str, Any] = {"learning_rate": 0.1, "n_estimators": ROUNDS}
    peer = lightgbm_model("Regressor", path_smooth=20.0, **shared).fit(X, y)
    ours = BoostedTreesRegressor(leaves=weald.Leaves(path_smooth=20.0), **LEAFWISE, **shared).fit(X, y)
    expected = root_mean_squared_error(y_test, peer.predict(X_test))
    assert root_mean_squared_error(y_test, ours.predict(X_test)) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("name", ["wine_quality", "diamonds"])
def test_trees_of_drawn_thresholds_are_as_good_as_lightgbms(name: str) -> None:
    X, X_test, y, y_test = halves(name)
    errors: dict[str, list[float]] = {"ours": [], "peer": []}
    for seed in range(4):
        shared: dict[str, Any] = {"learning_rate": 0.1, "n_estimators": ROUNDS}
        peer = lightgbm_model("Regressor", **shared, extra_trees=True, extra_seed=seed).fit(X, y)
        drawn = weald.Splits(extra_trees=True)
        ours = BoostedTreesRegressor(splits=drawn, **LEAFWISE, **shared, random_state=seed).fit(X, y)
        errors["peer"].append(root_mean_squared_error(y_test, peer.predict(X_test)))
        errors["ours"].append(root_mean_squared_error(y_test, ours.predict(X_test)))
    assert np.mean(errors["ours"]) < 1.02 * np.mean(errors["peer"])


FORCED: dict[str, dict[str, Any]] = {
    "one": {"feature": 1, "threshold": 40},
    "two levels": {
        "feature": 10,
        "threshold": 60,
        "left": {"feature": 1, "threshold": 30},
        "right": {"feature": 9, "threshold": 20.0, "right": {"feature": 7, "threshold": 50}},
    },
    "few rows": {"feature": 10, "threshold": 9, "right": {"feature": 6, "threshold": 25}},
}


@pytest.mark.parametrize("name", FORCED)
def test_the_first_tree_with_forced_splits_is_lightgbms(name: str, tmp_path: Path) -> None:
    X, y = rounded("wine_quality", 0.0)
    path = tmp_path / "forced.json"
    path.write_text(json.dumps(FORCED[name]))
    peer = lightgbm_model("Regressor", **FIRST, forcedsplits_filename=str(path)).fit(X, y)
    ours = BoostedTreesRegressor(splits=weald.Splits(forced=FORCED[name]), **LEAFWISE, **FIRST).fit(X, y)
    assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-6)
    tree, top = ours.forest_.tree(0), FORCED[name]
    assert tree.feature[0] == top["feature"]
    theirs = peer.booster_.dump_model()["tree_info"][0]["tree_structure"]
    assert np.isclose(tree.threshold[0], theirs["threshold"])
    for side, node in (("left", tree.left[0]), ("right", tree.left[0] + 1)):
        if side in top:
            assert tree.feature[node] == top[side]["feature"] == theirs[f"{side}_child"]["split_feature"]


def _lightgbm(limits: dict[str, Any]) -> dict[str, Any]:
    names = {"min_samples_leaf": "min_child_samples"}
    return {names.get(name, name): value for name, value in limits.items()}
