"""The same script with XGBoost and with weald.xgboost, at equal settings, on real data sets.

`_dialect_quality` says how they are compared. Run it as ``python -m benchmarks.versus.xgboost_quality``.
"""

from __future__ import annotations

from typing import Any

from benchmarks.common import THREADS
from benchmarks.versus._dialect_quality import main
from benchmarks.versus.quality import Problem

SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "slower": {"learning_rate": 0.1, "max_depth": 6, "subsample": 0.8, "colsample_bytree": 0.8},
}


def make(xgb: Any, problem: Problem, settings: dict[str, Any], seed: int) -> Any:
    """What an XGBoost user writes; ``xgb`` is one of the two modules."""
    kind = xgb.XGBClassifier if problem.kind in ("binary", "multiclass") else xgb.XGBRegressor
    objective = {"objective": "count:poisson"} if problem.kind == "count" else {}
    return kind(
        enable_categorical=True, n_jobs=THREADS, random_state=seed, verbosity=0, **objective, **settings
    )


if __name__ == "__main__":
    main("xgboost", make, SETTINGS, __doc__)
