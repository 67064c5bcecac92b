"""scikit-learn's own checks of CatBoost's estimators."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from weald.catboost import CatBoostClassifier, CatBoostRegressor

TINY: dict[str, Any] = {
    "iterations": 8,
    "learning_rate": 0.3,
    "depth": 3,
    "thread_count": 1,
    "verbose": False,
    "bootstrap_type": "No",
    "random_strength": 0.0,
    "score_function": "NewtonL2",  # of three classes it would be L2, in which these few rows have splits of equal gains
    "l2_leaf_reg": 0.0,  # it grows with the mean weight, as in CatBoost, so that weights are not repetitions
}


@parametrize_with_checks([CatBoostClassifier(**TINY), CatBoostRegressor(**TINY)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
