"""scikit-learn's own checks of LightGBM's estimators."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from weald.lightgbm import LGBMClassifier, LGBMRegressor

TINY: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1, "min_child_samples": 1}


class Passing(LGBMClassifier):  # type: ignore[misc]
    """A user's own estimator, which passes all keywords on."""

    def __init__(self, *, other: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.other = other


@parametrize_with_checks([LGBMClassifier(**TINY), LGBMRegressor(**TINY), Passing(**TINY)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
