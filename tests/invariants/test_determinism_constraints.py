"""Constrained and pruned models have the same bytes on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from invariants.test_determinism import same_for_all_threads, table
from weald import BoostedTreesRegressor

__all__ = ["table"]


@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
@pytest.mark.parametrize("precision", ["packed_always", "wide"])
def test_constrained_models_have_the_same_bytes(table: Any, growth: str, precision: str) -> None:
    X, y, _ = table

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            "absolute" if precision == "wide" else "squared",
            n_estimators=2,
            growth=growth,
            max_depth=5,
            gamma=2.0,
            split_finder=weald.Histogram(precision=precision),
            categorical_features=[5],
            subsample=0.8,
            colsample_bynode=0.8,
            monotone_constraints=[1, 0, -1, 0, 1, 0],
            interaction_constraints=[[0, 1, 2, 5], [2, 3, 4], [5, 0]],
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, y)


def test_wide_constrained_tables_give_the_same_bytes() -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((2_000, 300))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 299]

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=2,
            monotone_constraints={0: 1, 1: 1},
            interaction_constraints=[[0, 1], [2, 299]],
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, y)
