"""Splits against CatBoost's: with the same thresholds, score and steps both grow the same trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor

catboost = pytest.importorskip("catboost")

GROWTH = {"oblivious": "SymmetricTree", "depthwise": "Depthwise", "leafwise": "Lossguide"}
CASES = [
    (growth, score, task)
    for growth in GROWTH
    for score in ("l2", "cosine")
    for task in ("regression", "classification")
    if (growth, score) != ("leafwise", "cosine")  # not there in CatBoost
]


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any, Any]:
    """Columns of few values, so that both libraries have a threshold between any two."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 12, (600, 6)).astype(float)
    signal = np.sin(X[:, 0]) + 0.3 * X[:, 1] * (X[:, 2] > 4) + 0.1 * X[:, 3]
    return X, signal - signal.mean() + rng.standard_normal(600), rng.integers(1, 4, 600).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("growth", "score", "task"), CASES)
def test_trees_are_those_of_catboost(table: Any, growth: str, score: str, task: str, weighted: bool) -> None:
    X, target, weights = table
    y = target > 0.2 if task == "classification" else target
    weight = weights if weighted else None
    # CatBoost's lambda is a multiple of the mean weight.
    reg_lambda = 3.0 * (1.0 if weight is None else float(weight.mean()))
    family = BoostedTreesClassifier if task == "classification" else BoostedTreesRegressor
    leaves = {"max_leaves": 7} if growth == "leafwise" else {"max_leaves": None}
    model: Any = family(
        n_estimators=4,
        learning_rate=0.5,
        growth=growth,
        max_depth=3,
        **leaves,
        min_samples_leaf=1,
        min_child_weight=0.0,
        reg_lambda=reg_lambda,
        splits=weald.Splits(score=score),
        base_score=0.5 if task == "classification" else 0.0,
        split_finder=weald.Histogram(precision="wide"),
        n_jobs=1,
    ).fit(X, y, sample_weight=weight)
    peer = catboost.CatBoost(
        {
            "loss_function": "Logloss" if task == "classification" else "RMSE",
            "iterations": 4,
            "learning_rate": 0.5,
            "grow_policy": GROWTH[growth],
            "depth": 3,
            **({"max_leaves": 7} if growth == "leafwise" else {}),
            "l2_leaf_reg": 3.0,
            "score_function": "L2" if score == "l2" else "Cosine",
            "random_strength": 0.0,
            "bootstrap_type": "No",
            "boosting_type": "Plain",
            "boost_from_average": False,
            "leaf_estimation_method": "Newton",
            "leaf_estimation_iterations": 1,
            "thread_count": 1,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    peer.fit(X, y.astype(float), sample_weight=weight)
    ours = model.decision_function(X) if task == "classification" else model.predict(X)
    np.testing.assert_allclose(ours, peer.predict(X), rtol=1e-5, atol=1e-6)
