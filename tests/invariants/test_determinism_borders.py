"""The same bytes for any number of threads with every border type."""

from __future__ import annotations

import numpy as np
import pytest

import weald
from invariants.test_determinism import N_ROWS, same_for_all_threads
from weald import BoostedTreesRegressor


@pytest.mark.parametrize("border_type", ["median", "uniform", "uniform_and_quantiles", "greedy_log_sum"])
def test_border_types_give_the_same_bytes(border_type: str) -> None:
    rng = np.random.default_rng(12)
    X = rng.standard_normal((N_ROWS, 3))
    X[rng.random(X.shape) < 0.05] = np.nan

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=1,
            max_leaves=4,
            bins=weald.Bins(borders=border_type, by_column={1: 31}),
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, np.nan_to_num(X[:, 0]) + X[:, 2] ** 2 > 1.0)
