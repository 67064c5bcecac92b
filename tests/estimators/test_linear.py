"""scikit-learn's own checks of the linear booster."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor

ROUNDS: dict[str, Any] = {"n_estimators": 30, "learning_rate": 0.9}


@parametrize_with_checks(
    [
        BoostedTreesRegressor(booster="linear", **ROUNDS),
        BoostedTreesClassifier(booster="linear", **ROUNDS),
        BoostedTreesClassifier(booster=weald.Linear(selector="greedy"), **ROUNDS),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator: Any, check: Any) -> None:
    if is_classifier(estimator) and "sample_weight_equivalence" in str(check):
        pytest.skip(
            "gradients are float32: a row of weight 3 and three rows agree to six digits, not to seven"
        )
    check(estimator)
