"""Checkpoints have the same bytes on any number of threads, and go on to those of a whole fit on any other number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from invariants.shared_work import shared_histograms
from weald import Averaging, Checkpoint, Dart, Linear
from weald.linear.columns import PARALLEL_CELLS, PARALLEL_ROWS
from weald.training.boosting.descent import PARALLEL_SCORES

N_ROWS = 90_000  # above the sizes from which kernels share their work
THREADS = (1, 2, 3)
SMALL: dict[str, Any] = {"max_leaves": 8, "min_samples_leaf": 5}
OBLIVIOUS: dict[str, Any] = {"growth": "oblivious", "max_depth": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"subsample": 0.8, **SMALL},
    "dart": {"booster": Dart(rate_drop=0.6), **SMALL},
    "averaging": {"booster": Averaging(), "subsample": 0.8, **SMALL},
    "linear": {"booster": Linear(selector="shuffle")},
    "ordered": {"booster": "ordered", **OBLIVIOUS},
    "statistics": {"categories": "ordered", **OBLIVIOUS},
    "ordered, with statistics": {"booster": "ordered", "categories": "greedy", **OBLIVIOUS},
}


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(9)
    X = pd.DataFrame(rng.standard_normal((N_ROWS, 7)), columns=list("abcdefg"))
    towns, shops = rng.integers(0, 12, N_ROWS), rng.integers(0, 200, N_ROWS)
    X["town"], X["shop"] = pd.Categorical(towns.astype(str)), pd.Categorical(shops.astype(str))
    return X, X["a"].to_numpy() + np.abs(X["b"]).to_numpy() + towns % 3 + (shops + towns) % 2


@pytest.mark.parametrize("name", SETTINGS)
def test_checkpoints_and_what_they_go_on_to_have_the_same_bytes(
    name: str, table: Any, tmp_path: Path
) -> None:
    X, y = table
    if name == "linear":
        X = X[list("abcdefg")]
        assert max(PARALLEL_ROWS, PARALLEL_SCORES) <= N_ROWS and X.size >= PARALLEL_CELLS
    eval_set = [(X[:7_000], y[:7_000])]

    def made(threads: int) -> Any:
        return weald.BoostedTreesRegressor(n_estimators=4, n_jobs=threads, random_state=2, **SETTINGS[name])

    checkpoints, models = set(), set()
    for threads in THREADS:
        path = tmp_path / f"{threads}.weald"

        def interrupt(state: Any) -> None:
            if state.number == 2:
                raise KeyboardInterrupt

        with shared_histograms(), pytest.raises(KeyboardInterrupt):
            made(threads).fit(X, y, eval_set=eval_set, callbacks=[Checkpoint(path, every=2), interrupt])
        checkpoints.add(path.read_bytes())
        others = THREADS[threads % 3]
        models.add(made(others).fit(X, y, eval_set=eval_set, resume_from=path)._to_bytes())
    models.add(made(2).fit(X, y, eval_set=eval_set)._to_bytes())
    assert len(checkpoints) == len(models) == 1
