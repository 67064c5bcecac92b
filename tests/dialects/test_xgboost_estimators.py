"""scikit-learn's own checks of XGBoost's estimators on Weald's engine."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from weald.xgboost import XGBClassifier, XGBRegressor, XGBRFClassifier

# XGBoost's own classifiers fail these two as well: a weight of 2 and two rows are rounded, or drawn, differently.
WEIGHTS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "weights and copies of rows are not the same to the last digits",
)
TINY: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1}


@parametrize_with_checks(
    [XGBClassifier(**TINY), XGBRegressor(**TINY), XGBRFClassifier(**TINY)],
    expected_failed_checks=lambda estimator: WEIGHTS if is_classifier(estimator) else {},
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
