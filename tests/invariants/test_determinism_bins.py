"""The same bytes for any number of threads where columns have more than 255 bins, and whatever shapes the bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from invariants.test_determinism import N_ROWS, same_for_all_threads
from weald import BoostedTreesRegressor


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    X = rng.standard_normal((N_ROWS, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 5] = np.floor(rng.random(N_ROWS) ** 2 * 3_000)
    effect = rng.standard_normal(3_000)
    return X, np.nan_to_num(X[:, 0]) + effect[X[:, 5].astype(int)] + rng.standard_normal(N_ROWS)


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
@pytest.mark.parametrize("categories", ["onehot", "partition"])
def test_wide_bins_and_categories_give_the_same_bytes(table: Any, growth: str, categories: str) -> None:
    X, y = table

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=2,
            growth=growth,
            max_depth=4,
            bins=weald.Bins(max_bins=1_000, max_categories=3_000),
            categories=categories,
            categorical_features=[5],
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, y)


def test_choices_of_bins_give_the_same_bytes(table: Any) -> None:
    X, y = table

    def make(n_jobs: int) -> BoostedTreesRegressor:
        return BoostedTreesRegressor(
            n_estimators=2,
            bins=weald.Bins(
                sample=20_000,
                min_samples=30,
                by_column={1: 31},
                forced={0: [-1.0, 0.0, 1.0]},
                rare_categories=0.05,
                zero_as_missing=True,
            ),
            categorical_features=[5],
            random_state=5,
            n_jobs=n_jobs,
        )

    same_for_all_threads(make, X, y)
