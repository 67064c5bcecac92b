"""The same script with both modules: where bins are exact in both, the same trees, leaves and predictions.

The engine's sums are of integers; on tables of this size wide ones, which carry as many digits as XGBoost's floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald.xgboost as ours

theirs: Any = pytest.importorskip("xgboost", minversion="3.0")

rng = np.random.default_rng(8)
ROWS = 500
X = rng.integers(0, 10, (ROWS, 4)).astype(np.float32)
X[rng.random(X.shape) < 0.05] = np.nan
SIGNAL = np.nan_to_num(X[:, 0]) / 3 + np.nan_to_num(X[:, 1]) * (np.nan_to_num(X[:, 2]) > 4) / 5
REAL = SIGNAL + 0.2 * rng.standard_normal(ROWS)
WEIGHT = rng.uniform(0.5, 2.0, ROWS)
LABELS = {
    "reg": REAL,
    "binary": (np.median(REAL) < REAL).astype(np.float64),
    "multi": np.digitize(REAL, np.quantile(REAL, [0.3, 0.7])).astype(np.float64),
    "count": rng.poisson(np.exp(SIGNAL / 2)).astype(np.float64),
    "positive": np.exp(REAL / 2),
    "share": 1.0 / (1.0 + np.exp(-REAL)),
}


def both(params: dict[str, Any], y: Any, rounds: int = 8, **matrix: Any) -> tuple[Any, Any]:
    """Raw scores of the two."""
    scores = []
    for module in (ours, theirs):
        data = module.DMatrix(X, y, **matrix)
        booster = module.train({"nthread": 1, "max_depth": 3, **params}, data, rounds)
        scores.append(booster.predict(data, output_margin=True))
    return scores[0], scores[1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("objective", "labels", "options"),
    [
        ("reg:squarederror", "reg", {}),
        ("reg:pseudohubererror", "reg", {"base_score": 1.0, "huber_slope": 0.7}),
        ("reg:squaredlogerror", "positive", {"base_score": 1.0}),
        ("reg:logistic", "share", {}),
        ("binary:logistic", "binary", {}),
        ("binary:hinge", "binary", {}),
        ("multi:softprob", "multi", {"num_class": 3}),
        ("count:poisson", "count", {}),
        ("reg:gamma", "positive", {}),
        ("reg:tweedie", "count", {"tweedie_variance_power": 1.4}),
    ],
)
def test_predictions_are_xgboosts(
    objective: str, labels: str, options: dict[str, Any], weighted: bool
) -> None:
    matrix = {"weight": WEIGHT} if weighted else {}
    got, want = both({"objective": objective, **options}, LABELS[labels], **matrix)
    assert got.shape == want.shape
    # A tie, or all but one, may be broken otherwise; what differs then is a few rows of a leaf.
    close = np.isclose(got, want, rtol=1e-3, atol=1e-3)
    assert close.mean() > 0.97
    assert np.abs(got - want).mean() < 5e-3 * np.abs(want).mean()


@pytest.mark.parametrize(
    "options",
    [
        {
            "gamma": 5.0,
            "tree_method": "exact",
        },  # which prunes after growth; XGBoost's hist does not grow so far
        {"lambda": 10.0, "alpha": 2.0},
        {"min_child_weight": 30},
        {"max_delta_step": 0.2},
        {"grow_policy": "lossguide", "max_leaves": 5, "max_depth": 0},
        {"eta": 1.0, "max_depth": 1},
    ],
)
def test_regularisation_is_xgboosts(options: dict[str, Any]) -> None:
    got, want = both({"objective": "reg:squarederror", "base_score": 0.0, **options}, LABELS["reg"])
    assert np.isclose(got, want, rtol=1e-3, atol=1e-3).mean() > 0.97


@pytest.mark.parametrize("alpha", [0.2, [0.1, 0.9]])
def test_quantiles_lose_no_more_than_xgboosts(alpha: Any) -> None:
    losses = []
    for module in (ours, theirs):
        found: dict[str, Any] = {}
        data = module.DMatrix(X, LABELS["reg"])
        module.train(
            {"objective": "reg:quantileerror", "quantile_alpha": alpha, "nthread": 1},
            data,
            20,
            evals=[(data, "t")],
            evals_result=found,
            verbose_eval=False,
        )
        losses.append(found["t"]["quantile"][-1])
    assert losses[0] < 1.03 * losses[1]


def test_absolute_errors_are_like_xgboosts() -> None:
    got, want = both({"objective": "reg:absoluteerror"}, LABELS["reg"], 20)
    assert np.abs(got - LABELS["reg"]).mean() < 1.03 * np.abs(want - LABELS["reg"]).mean()


@pytest.mark.parametrize("tree_method", ["hist", "approx", "exact"])
def test_a_tree_is_xgboosts_to_the_last_node(tree_method: str) -> None:
    frames = []
    for module in (ours, theirs):
        data = module.DMatrix(X, LABELS["binary"])
        params = {"objective": "binary:logistic", "max_depth": 3, "tree_method": tree_method, "nthread": 1}
        booster = module.train(params, data, 1)
        frame = booster.trees_to_dataframe()
        frames.append(frame.sort_values(["Cover", "Gain"], ascending=False).reset_index(drop=True))
    got, want = frames
    assert got["Feature"].tolist() == want["Feature"].tolist()
    assert np.allclose(got["Gain"], want["Gain"], rtol=1e-3)
    assert np.allclose(got["Cover"], want["Cover"], rtol=1e-4)


METRICS = [
    ("reg:squarederror", "positive", ["rmse", "rmsle", "mae", "mape", "mphe"]),
    ("binary:logistic", "binary", ["logloss", "error", "error@0.3", "auc", "aucpr", "rmse"]),
    ("multi:softprob", "multi", ["mlogloss", "merror", "auc"]),
    ("count:poisson", "count", ["poisson-nloglik", "tweedie-nloglik@1.3"]),
    ("reg:gamma", "positive", ["gamma-nloglik", "gamma-deviance"]),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("objective", "labels", "metrics"), METRICS)
def test_metrics_are_xgboosts(objective: str, labels: str, metrics: list[str], weighted: bool) -> None:
    found: list[dict[str, Any]] = [{}, {}]
    for module, result in zip((ours, theirs), found, strict=True):
        data = module.DMatrix(X, LABELS[labels], weight=WEIGHT if weighted else None)
        params = {"objective": objective, "eval_metric": metrics, "max_depth": 2, "nthread": 1}
        params |= {"num_class": 3} if objective.startswith("multi") else {}
        module.train(params, data, 2, evals=[(data, "t")], evals_result=result, verbose_eval=False)
    assert list(found[0]["t"]) == list(found[1]["t"]) == metrics
    for metric in metrics:
        assert found[0]["t"][metric] == pytest.approx(found[1]["t"][metric], rel=2e-3, abs=2e-3), metric


@pytest.mark.parametrize("kind", ["weight", "gain", "cover", "total_gain", "total_cover"])
def test_importances_are_xgboosts(kind: str) -> None:
    scores = []
    for module in (ours, theirs):
        params = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "gamma": 0.5}
        booster = module.train(params, module.DMatrix(X, LABELS["binary"]), 3)
        scores.append(booster.get_score(importance_type=kind))
    assert scores[0] == pytest.approx(scores[1], rel=0.02)


def test_a_positive_class_that_weighs_more_is_xgboosts() -> None:
    options = {"objective": "binary:logistic", "scale_pos_weight": 3.0, "base_score": 0.5}
    got, want = both(options, LABELS["binary"])
    assert np.isclose(got, want, rtol=1e-3, atol=1e-3).mean() > 0.97
