"""Leaf values, weighted samples and losses against CatBoost's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.estimators.shared.class_weights import class_factors
from weald.losses import make_loss

catboost = pytest.importorskip("catboost")

RNG = np.random.default_rng(0)
N_ROWS = 800
X = RNG.integers(0, 4, (N_ROWS, 3)).astype(np.float64)
SIGNAL = X[:, 0] - 0.5 * X[:, 1] * X[:, 2]
LABELS: dict[str, Any] = {
    "Logloss": (RNG.random(N_ROWS) < 1.0 / (1.0 + np.exp(-SIGNAL))).astype(np.int64),
    "RMSE": 3.0 * SIGNAL + RNG.standard_normal(N_ROWS),
    "Poisson": RNG.poisson(np.exp(0.3 * SIGNAL)),
}
LABELS |= {"Quantile:alpha=0.3": LABELS["RMSE"], "MAE": LABELS["RMSE"], "LogCosh": LABELS["RMSE"]}
NAMES = {
    "Logloss": "logistic",
    "RMSE": "squared",
    "Poisson": "poisson",
    "LogCosh": "log_cosh",
    "MAE": "absolute",
}
THEIRS: dict[str, Any] = {
    "learning_rate": 1.0,
    "random_strength": 0,
    "bootstrap_type": "No",
    "score_function": "L2",
    "boost_from_average": False,
    "leaf_estimation_backtracking": "No",
    "thread_count": 1,
    "verbose": 0,
    "allow_writing_files": False,
}
OURS: dict[str, Any] = {
    "growth": "oblivious",
    "learning_rate": 1.0,
    "min_samples_leaf": 1,
    "min_child_weight": 0.0,
    "max_delta_step": 0.0,
    "n_jobs": 1,
}


def raw_scores(loss: str, method: str, iterations: int, weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Of one tree of both systems, from a score of 0."""
    theirs = catboost.CatBoost(
        {
            **THEIRS,
            "loss_function": loss,
            "iterations": 1,
            "depth": 3,
            "l2_leaf_reg": 3.0,
            "leaf_estimation_method": method,
            "leaf_estimation_iterations": iterations,
        }
    ).fit(catboost.Pool(X, LABELS[loss], weight=weight))
    maker: Any = BoostedTreesClassifier if loss == "Logloss" else BoostedTreesRegressor
    own = maker(
        NAMES.get(loss, weald.losses.Quantile(alpha=0.3)),
        **OURS,
        n_estimators=1,
        max_depth=3,
        # CatBoost's penalty is a row of mean weight.
        reg_lambda=3.0 if weight is None else 3.0 * weight.mean(),
        leaves=weald.Leaves(method=method.lower(), iterations=iterations),
    ).fit(X, LABELS[loss], sample_weight=weight, init_score=np.zeros(N_ROWS))
    return own._raw(X)[0], theirs.predict(X, prediction_type="RawFormulaVal")


@pytest.mark.parametrize("iterations", [1, 10])
@pytest.mark.parametrize(
    ("loss", "method"),
    [
        ("Logloss", "Newton"),
        ("Logloss", "Gradient"),
        ("RMSE", "Newton"),
        ("RMSE", "Gradient"),
        ("Poisson", "Newton"),
    ],
)
def test_leaf_values_of_one_tree_are_catboosts(loss: str, method: str, iterations: int) -> None:
    ours, theirs = raw_scores(loss, method, iterations)
    assert len(np.unique(ours)) == 8
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def test_leaf_values_of_weighted_rows_are_catboosts() -> None:
    weight = RNG.integers(1, 4, N_ROWS).astype(np.float64)
    ours, theirs = raw_scores("Logloss", "Newton", 5, weight)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", ["Quantile:alpha=0.3", "MAE", "LogCosh"])
def test_exact_leaves_are_catboosts(loss: str) -> None:
    ours, theirs = raw_scores(loss, "Exact", 1)
    # Where two quantiles are equally good, ours is the midpoint; CatBoost takes one of them, and stops its searches early.
    np.testing.assert_allclose(ours, theirs, atol=0.15)
    assert np.mean(np.abs(ours - theirs) < 1e-4) > 0.4  # leaves without such a tie
    name, options = NAMES.get(loss, "quantile"), {} if loss in NAMES else {"quantile_alpha": 0.3}
    lost = [make_loss(name, **options).values(scores[None], LABELS[loss]).sum() for scores in (ours, theirs)]
    assert lost[0] <= lost[1] * (1.0 + 1e-9)


def test_the_normal_loss_is_as_likely_as_catboosts() -> None:
    rng = np.random.default_rng(1)
    features = rng.uniform(size=(3_000, 3))
    y = features[:, 0] + (0.1 + features[:, 1]) * rng.standard_normal(3_000)
    train, test = slice(0, 2_000), slice(2_000, None)
    settings = {**THEIRS, "learning_rate": 0.1, "loss_function": "RMSEWithUncertainty"}
    del settings["boost_from_average"]
    theirs = catboost.CatBoost({**settings, "iterations": 60, "depth": 4}).fit(features[train], y[train])
    scores = theirs.predict(features[test], prediction_type="RawFormulaVal").T
    own = BoostedTreesRegressor(
        "normal", **OURS | {"learning_rate": 0.1}, n_estimators=60, max_depth=4, reg_lambda=3.0
    ).fit(features[train], y[train])
    likelihoods = [
        make_loss("normal").values(one, y[test]).mean() for one in (own._raw(features[test]), scores)
    ]
    assert likelihoods[0] < likelihoods[1] + 0.02


@pytest.mark.parametrize("sampling", ["Bayesian", "MVS"])
def test_weighted_samples_do_as_well_as_catboosts(sampling: str) -> None:
    rng = np.random.default_rng(2)
    features = rng.standard_normal((4_000, 6))
    y = features[:, 0] + features[:, 1] * features[:, 2] + rng.logistic(size=4_000) > 0.5
    train, test = slice(0, 2_000), slice(2_000, None)
    share = {"subsample": 0.5} if sampling == "MVS" else {}
    lost: list[list[float]] = [[], []]
    for seed in range(3):
        settings = {
            **THEIRS,
            "learning_rate": 0.1,
            "loss_function": "Logloss",
            "bootstrap_type": sampling,
            **share,
        }
        theirs = catboost.CatBoost({**settings, "iterations": 60, "depth": 4, "random_seed": seed})
        theirs.fit(features[train], y[train])
        own = BoostedTreesClassifier(
            n_estimators=60,
            max_depth=4,
            reg_lambda=3.0,
            sampling=sampling.lower(),
            random_state=seed,
            leaves=weald.Leaves(iterations=10),
            **OURS | {"learning_rate": 0.1},
            **share,
        ).fit(features[train], y[train])
        raw = theirs.predict(features[test], prediction_type="RawFormulaVal")
        for scores, place in ((own._raw(features[test]), 0), (raw[None], 1)):
            lost[place].append(make_loss("logistic").values(scores, y[test].astype(np.float64)).mean())
    assert np.mean(lost[0]) < np.mean(lost[1]) * 1.01


def test_sqrt_balanced_classes_weigh_as_catboosts() -> None:
    codes = np.array([0] * 50 + [1] * 30 + [2] * 20)
    model = catboost.CatBoostClassifier(
        iterations=1, auto_class_weights="SqrtBalanced", verbose=0, allow_writing_files=False, thread_count=1
    ).fit(np.arange(100.0)[:, None], codes)
    ours = class_factors("sqrt_balanced", codes, np.arange(3), None)
    np.testing.assert_allclose(model.get_all_params()["class_weights"], ours, rtol=1e-6)
