"""scikit-learn's own checks of LightGBM's estimators."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from weald.lightgbm import LGBMClassifier, LGBMRegressor

TINY: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1, "min_child_samples": 1}


@parametrize_with_checks([LGBMClassifier(**TINY), LGBMRegressor(**TINY)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
