"""Models of weald.lightgbm have the same bytes on any number of threads, whatever the objective and the way to train."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald.lightgbm as lgb
from invariants.shared_work import shared_histograms

rng = np.random.default_rng(5)
ROWS = 70_000  # above the sizes from which kernels share their work
X = rng.standard_normal((ROWS, 24))
X[:, 3] = rng.integers(0, 40, ROWS)
SCORE = X[:, 0] + np.sin(X[:, 1]) + 0.1 * (X[:, 3] % 7) + 0.3 * rng.standard_normal(ROWS)
LABELS = {
    "regression": SCORE,
    "quantile": SCORE,
    "binary": (SCORE > 0).astype(float),
    "multiclassova": np.digitize(SCORE, [-0.5, 0.5]).astype(float),
}


@pytest.mark.parametrize(
    ("objective", "params"),
    [
        ("regression", {"boosting": "goss", "learning_rate": 0.5}),
        ("quantile", {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}),
        ("binary", {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6, "is_unbalance": True}),
        ("multiclassova", {"num_class": 3, "feature_fraction": 0.5, "path_smooth": 1.0, "extra_trees": True}),
    ],
)
def test_the_number_of_threads_does_not_change_a_model(objective: str, params: dict[str, Any]) -> None:
    texts = set()
    for threads in (1, 2, 3):
        data = lgb.Dataset(X, LABELS[objective], categorical_feature=[3])
        common = {"objective": objective, "num_threads": threads, "verbosity": -1, "num_leaves": 15}
        with shared_histograms():
            booster = lgb.train({**common, **params}, data, 4)
        texts.add(booster.model_to_string())
    assert len(texts) == 1
