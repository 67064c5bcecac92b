"""What `weald.lightgbm` tells beside predictions has LightGBM's numbers: raw scores, leaves, percentiles, metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weald.lightgbm

lightgbm = pytest.importorskip("lightgbm")

rng = np.random.default_rng(3)
X = rng.integers(0, 10, (600, 4)).astype(float)
Y = X[:, 0] * 2 + X[:, 1] * X[:, 2] / 3 + 0.3 * rng.standard_normal(600)
THREE = np.digitize(Y, np.quantile(Y, [0.33, 0.66])).astype(float)
WEIGHT = rng.integers(1, 5, 600).astype(float)
QUIET: dict[str, Any] = {"verbosity": -1, "num_threads": 1, "min_data_in_bin": 1, "num_leaves": 4}
#: so that no limit is read from hessians, which LightGBM counts rows by
FREE: dict[str, Any] = {**QUIET, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0}
SEVERAL: dict[str, Any] = {**FREE, "objective": "multiclass", "num_class": 3}
AVERAGED: dict[str, Any] = {**FREE, "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.999999}


def trained(module: Any, params: dict[str, Any], label: Any, rounds: int = 4, weight: Any = None) -> Any:
    return module.train(params, module.Dataset(X, label, weight=weight), rounds)


def recorded(module: Any, metric: str, weight: Any) -> Any:
    found: dict[str, Any] = {}
    data = module.Dataset(X, THREE, weight=weight)
    record = module.record_evaluation(found)
    module.train({**SEVERAL, "metric": metric}, data, 2, valid_sets=[data], callbacks=[record])
    return found["training"][metric]


def untrained(module: Any, **params: Any) -> Any:
    return module.Booster({**QUIET, **params}, module.Dataset(X, THREE))


SCRIPTS: dict[str, Callable[[Any], Any]] = {
    "raw scores of classes": lambda lgb: trained(lgb, SEVERAL, THREE).predict(X, raw_score=True),
    "contributions of classes": lambda lgb: trained(lgb, SEVERAL, THREE).predict(X, pred_contrib=True),
    "raw scores of averaged trees": lambda lgb: trained(lgb, AVERAGED, Y).predict(X, raw_score=True),
    "raw scores of two averaged trees": lambda lgb: trained(lgb, AVERAGED, Y).predict(
        X, raw_score=True, num_iteration=2
    ),
    "contributions of averaged trees": lambda lgb: trained(lgb, AVERAGED, Y).predict(X, pred_contrib=True),
    "numbers of leaves": lambda lgb: trained(lgb, SEVERAL, THREE).predict(X, pred_leaf=True),
    "values of leaves by their numbers": lambda lgb: [
        trained(lgb, FREE, Y).get_leaf_output(tree, leaf) for tree in range(2) for leaf in range(4)
    ],
    "leaves of a quantile": lambda lgb: trained(
        lgb, {**FREE, "objective": "quantile", "alpha": 0.7}, Y
    ).predict(X),
    "leaves of a weighted quantile": lambda lgb: trained(
        lgb, {**FREE, "objective": "quantile", "alpha": 0.7}, Y, weight=WEIGHT
    ).predict(X),
    "leaves of weighted medians": lambda lgb: trained(
        lgb, {**FREE, "objective": "l1"}, Y, weight=WEIGHT
    ).predict(X),
    "leaves of mape": lambda lgb: trained(lgb, {**FREE, "objective": "mape"}, np.abs(Y) + 1.0).predict(X),
    "predictions before the first round": lambda lgb: untrained(lgb).predict(X),
    "classes before the first round": lambda lgb: untrained(lgb, objective="multiclass", num_class=3).predict(
        X
    ),
    "metrics before the first round": lambda lgb: [
        one[2] for one in untrained(lgb, metric="l1").eval_train()
    ],
    "areas of pairs of classes": lambda lgb: recorded(lgb, "auc_mu", None),
    "weighted areas of pairs of classes": lambda lgb: recorded(lgb, "auc_mu", WEIGHT),
    "rows of leaves": lambda lgb: trained(
        lgb, {**QUIET, "num_leaves": 31, "min_data_in_leaf": 60}, Y
    ).trees_to_dataframe()["count"],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_same_call_has_the_same_numbers(script: str) -> None:
    theirs, ours = (np.asarray(SCRIPTS[script](module)) for module in (lightgbm, weald.lightgbm))
    assert ours.shape == theirs.shape
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("objective", ["regression", "binary"])
def test_min_data_in_leaf_counts_rows(objective: str) -> None:
    label = Y if objective == "regression" else (Y > 9).astype(float)
    params = {**QUIET, "objective": objective, "num_leaves": 31, "min_data_in_leaf": 60}
    for module in (lightgbm, weald.lightgbm):
        leaves = trained(module, params, label, 3).predict(X, pred_leaf=True)
        fewest = min(np.bincount(column)[np.unique(column)].min() for column in leaves.astype(int).T)
        # LightGBM reckons with rows of the mean hessian, so that of two classes it comes close to the number only.
        assert fewest >= (60 if module is weald.lightgbm or objective == "regression" else 30)
