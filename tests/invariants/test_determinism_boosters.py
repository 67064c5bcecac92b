"""Dropped trees, parallel trees and starts give the same bytes on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from invariants.shared_work import shared_histograms
from weald import BoostedTreesClassifier, BoostedTreesRegressor, Dart, Plain
from weald.estimators.shared.persistence import to_bytes

N_ROWS = 70_000  # above the sizes from which kernels share their work


@pytest.mark.parametrize(
    "settings",
    [
        {"booster": Dart(rate_drop=0.4, sample_type="weighted")},
        {"booster": Dart(rate_drop=0.4, parallel_trees=2), "subsample": 0.6},
        {"booster": Plain(parallel_trees=3), "subsample": 0.8, "colsample_bynode": 0.8, "base_score": None},
    ],
    ids=["dart", "dart, parallel trees", "parallel trees"],
)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_boosters_give_the_same_bytes(settings: dict[str, Any], n_classes: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N_ROWS, 12))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.standard_normal(N_ROWS)
    kind: Any = BoostedTreesRegressor
    start = rng.standard_normal(N_ROWS)
    if n_classes:
        kind, y = BoostedTreesClassifier, np.digitize(y, [0.0, 1.0])
        start = rng.standard_normal((N_ROWS, n_classes))
    found = set()
    for threads in (1, 2, 3):
        model = kind(n_estimators=4, max_leaves=8, n_jobs=threads, **settings)
        sets: Any = {"eval_set": [(X[:7000], y[:7000])], "eval_init_scores": [start[:7000]]}
        with shared_histograms():
            model.fit(X, y, init_score=start, **sets)
        found.add(to_bytes(model, model._model))
    assert len(found) == 1
