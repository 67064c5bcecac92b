"""Same bytes for 1, 2 and 3 threads: target statistics, combinations and ordered boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from invariants.test_determinism import N_ROWS


def _table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    codes = {f"c{size}": rng.integers(size, size=N_ROWS) for size in (2, 7, 300)}
    table = pd.DataFrame(codes).astype(str).astype("category")
    table["x"] = rng.normal(size=N_ROWS)
    y = (table["c7"].astype(int) + table["c300"].astype(int)) % 3 + (table["x"] > 1)
    return table, y.to_numpy()


@pytest.mark.parametrize(
    "changes",
    [
        {"growth": "oblivious"},
        {"growth": "leafwise", "booster": weald.Ordered(permutations=2)},
        {"growth": "oblivious", "booster": "ordered", "splits": weald.Splits(score="cosine", noise=1.0)},
        {"growth": "depthwise", "categories": "holdout"},
        {"growth": "oblivious", "sampling": "mvs", "subsample": 0.8, "leaves": weald.Leaves(iterations=3)},
    ],
)
def test_threads_do_not_change_the_model(changes: dict[str, Any]) -> None:
    X, y = _table()
    chosen: dict[str, Any] = {
        "categories": "ordered",
        "n_estimators": 3,
        "max_depth": 4,
        "min_samples_leaf": 1,
    }
    files = set()
    for n_jobs in (1, 2, 3):
        model = weald.BoostedTreesClassifier(**(chosen | changes), n_jobs=n_jobs)
        files.add(model.fit(X, y)._to_bytes())
        files.add(model.predict_proba(X).tobytes())
    assert len(files) == 2
