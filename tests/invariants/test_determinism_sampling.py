"""Ways to draw rows give the same bytes on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from invariants.shared_work import shared_histograms
from weald import BoostedTreesClassifier, ByClass, Plain

N_ROWS = 70_000  # above the sizes from which kernels share their work


@pytest.mark.parametrize(
    "settings",
    [
        {"sampling": "goss"},
        {"sampling": "goss", "growth": "depthwise", "booster": Plain(parallel_trees=2)},
        {"sampling": ByClass(positive=0.5, negative=0.1, frequency=2)},
    ],
    ids=["goss", "goss, parallel trees", "shares of classes"],
)
def test_drawn_rows_give_the_same_bytes(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N_ROWS, 30))  # of which few rows are drawn
    y = X[:, 0] + np.abs(X[:, 1]) + rng.standard_normal(N_ROWS) > 0.5
    if settings.get("growth") == "depthwise":
        y = y.astype(np.int64) + (X[:, 2] > 0)  # three classes: trees of all share the rows
    found = set()
    for threads in (1, 2, 3):
        model = BoostedTreesClassifier(
            n_estimators=4, max_leaves=8, learning_rate=0.9, n_jobs=threads, **settings
        )
        with shared_histograms():
            found.add(model.fit(X, y, eval_set=[(X[:7_000], y[:7_000])])._to_bytes())
    assert len(found) == 1
