"""`Booster.refit` gives LightGBM's numbers: a script that refits predicts the same with either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald.lightgbm

lightgbm = pytest.importorskip("lightgbm")

rng = np.random.default_rng(0)
# One column of few values, so that both grow the same trees.
X = rng.integers(0, 8, (600, 1)).astype(float)
Y = np.abs(
    np.array([3.0, 8.0, 1.0, 5.0, 13.0, 2.0, 7.0, 21.0])[X[:, 0].astype(int)] + rng.standard_normal(600)
)
LATER = 2.0 * Y + 1.0
GRID = np.arange(8.0).reshape(-1, 1)
#: new rows in every leaf, and new rows that half of the leaves do not have
ROWS = {"all leaves": np.arange(600) >= 300, "half of the leaves": X[:, 0] < 4}

SETS = {"max_cat_to_onehot": 1, "cat_smooth": 1.0, "cat_l2": 50.0, "min_data_per_group": 5}


def classes(values: Any) -> Any:
    return np.digitize(values, [4.0, 10.0]).astype(float)


def two(values: Any) -> Any:
    return (values > 9.0).astype(float)


def as_they_are(values: Any) -> Any:
    return values


CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("the first score is in the first tree", {"objective": "regression"}, as_they_are),
    ("no first score", {"objective": "regression", "boost_from_average": False}, as_they_are),
    ("l1 takes Newton's steps", {"objective": "l1"}, as_they_are),
    ("two classes", {"objective": "binary", "scale_pos_weight": 3.0}, two),
    ("several classes", {"objective": "multiclass", "num_class": 3}, classes),
    ("sets of categories", {"objective": "regression", **SETS}, as_they_are),
    ("single categories", {"objective": "regression", **SETS, "max_cat_to_onehot": 20}, as_they_are),
    ("regularised", {"learning_rate": 0.3, "lambda_l2": 3.0, "lambda_l1": 2.0, "max_delta_step": 1.0}, as_they_are),
]  # fmt: skip


@pytest.mark.parametrize(("case", "params", "labels"), CASES, ids=[case for case, _, _ in CASES])
def test_refitted_boosters_predict_lightgbms_numbers(case: str, params: dict[str, Any], labels: Any) -> None:
    params = {"num_leaves": 4, "verbosity": -1, "num_threads": 1, **params}
    columns = [0] if "cat_l2" in params else "auto"
    boosters = [
        module.train(params, module.Dataset(X[:300], labels(Y[:300]), categorical_feature=columns), 4)
        for module in (lightgbm, weald.lightgbm)
    ]
    for rows in ROWS.values():
        weight = np.linspace(0.5, 2.0, int(rows.sum()))
        for options in ({"decay_rate": 0.0}, {"decay_rate": 0.6, "weight": weight}):
            theirs, ours = (
                booster.refit(X[rows], labels(LATER[rows]), **options).predict(GRID) for booster in boosters
            )
            assert ours == pytest.approx(theirs, abs=1e-5)


def test_averaged_trees_are_refitted_from_a_score_of_0() -> None:
    params = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.9, "num_leaves": 8, "verbosity": -1}
    for module in (lightgbm, weald.lightgbm):
        booster = module.train({**params, "min_data_in_leaf": 1}, module.Dataset(X[:300], Y[:300]), 3)
        found = booster.refit(X[300:], LATER[300:], decay_rate=0.0).predict(GRID)
        means = [LATER[300:][X[300:, 0] == value].mean() for value in range(8)]
        assert found == pytest.approx(means, rel=1e-5)


def test_a_refitted_booster_has_all_rounds_and_no_best_one() -> None:
    data = weald.lightgbm.Dataset(X[:300], Y[:300])
    booster = weald.lightgbm.train({"verbosity": -1, "num_threads": 1}, data, 4)
    booster.best_iteration = 2
    later = booster.refit(X[300:], LATER[300:])
    assert (later.best_iteration, later.num_trees(), later.current_iteration()) == (-1, 4, 4)
    more = weald.lightgbm.train({"verbosity": -1}, weald.lightgbm.Dataset(X, Y), 2, init_model=later)
    assert more.num_trees() == 6
    assert more.predict(X, num_iteration=4) == pytest.approx(later.predict(X))
