"""Models of weald.xgboost have the same bytes on any number of threads, whatever the objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald.xgboost as xgb

N_ROWS = 25_000  # above the size from which gradients are shared among threads


@pytest.mark.parametrize(
    ("objective", "options"),
    [
        ("multi:softprob", {"num_class": 3}),
        ("count:poisson", {}),
        ("reg:pseudohubererror", {"subsample": 0.7}),
        ("reg:quantileerror", {"quantile_alpha": [0.2, 0.8]}),
        ("binary:logistic", {"grow_policy": "lossguide", "max_leaves": 9, "scale_pos_weight": 2.0}),
    ],
)
def test_objectives_give_the_same_bytes(objective: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((N_ROWS, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.digitize(
        np.nan_to_num(X[:, 0] + X[:, 1]), [0.0] if objective.startswith("binary") else [-0.5, 0.5]
    )
    matrix = xgb.DMatrix(X, y, weight=rng.integers(1, 4, N_ROWS))
    first, *others = (
        xgb.train(
            {"objective": objective, "max_depth": 4, "nthread": threads, **options}, matrix, 2
        ).save_raw()
        for threads in (1, 2, 3)
    )
    assert all(other == first for other in others)
