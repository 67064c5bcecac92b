"""Smoothed values, drawn thresholds and forced splits have the same bytes on any number of threads."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import sparse

import weald
from invariants.test_determinism import same_for_all_threads, table
from weald import BoostedTreesRegressor

__all__ = ["table"]

FORCED = {
    "feature": 0,
    "threshold": 0.1,
    "left": {"feature": 5, "threshold": 2.0},
    "right": {"feature": 2, "threshold": 0},
}


CASES = [
    (growth, finder)
    for growth in ("leafwise", "depthwise", "oblivious")
    for finder in ("hist", "exact", "approx")
]


@pytest.mark.parametrize(("growth", "finder"), [*CASES, ("leafwise", "local"), ("depthwise", "local")])
def test_models_of_every_growth_have_the_same_bytes(table: Any, growth: str, finder: str) -> None:
    X, y, _ = table
    forced = FORCED if growth != "oblivious" and finder in ("hist", "approx") else None

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            "absolute" if finder == "exact" else "squared",
            n_estimators=2,
            growth=growth,
            max_depth=5,
            leaves=weald.Leaves(path_smooth=7.0),
            splits=weald.Splits(extra_trees=True, forced=forced),
            categorical_features=[5],
            colsample_bytree=0.7,
            colsample_bynode=0.8,
            n_jobs=n_jobs,
            split_finder=weald.Approximate(proposals="local") if finder == "local" else finder,
        )

    rows = slice(None) if finder == "hist" else slice(20_000)  # enough for the threads of the other finders
    if finder == "approx":
        rows = slice(None)  # whose histograms are those of "hist"
    same_for_all_threads(make, X[rows], y[rows])


def test_sparse_models_have_the_same_bytes(table: Any) -> None:
    y = table[1]
    few = sparse.random_array((len(y), 40), density=0.03, rng=1, format="csr")

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=2,
            leaves=weald.Leaves(path_smooth=7.0),
            splits=weald.Splits(
                extra_trees=True,
                forced={"feature": 3, "threshold": 0.0, "right": {"feature": 1, "threshold": 0.5}},
            ),
            min_samples_leaf=5,
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, few, y)
