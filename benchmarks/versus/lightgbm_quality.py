"""The same script with LightGBM and with weald.lightgbm, at equal settings, on real data sets.

`_dialect_quality` says how they are compared. Run it as ``python -m benchmarks.versus.lightgbm_quality``.
"""

from __future__ import annotations

from typing import Any

from benchmarks.common import THREADS
from benchmarks.versus._dialect_quality import main
from benchmarks.versus.quality import Problem

SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "slower": {
        "learning_rate": 0.05,
        "n_estimators": 200,
        "subsample": 0.8,
        "subsample_freq": 1,
        "colsample_bytree": 0.8,
    },
}


def make(lgb: Any, problem: Problem, settings: dict[str, Any], seed: int) -> Any:
    """What a LightGBM user writes; ``lgb`` is one of the two modules."""
    kind = lgb.LGBMClassifier if problem.kind in ("binary", "multiclass") else lgb.LGBMRegressor
    objective = {"objective": "poisson"} if problem.kind == "count" else {}
    return kind(n_jobs=THREADS, random_state=seed, verbosity=-1, **objective, **settings)


if __name__ == "__main__":
    main("lightgbm", make, SETTINGS, __doc__)
