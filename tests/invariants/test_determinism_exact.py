"""Exact split finding: the same bytes on any number of threads, and the trees of the histogram engine where its bins are fine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weald
from invariants.test_determinism import same_for_all_threads
from weald import BoostedTreesClassifier, BoostedTreesRegressor

N_ROWS = 20_000
SAMPLING = {"subsample": 0.7, "colsample_bytree": 0.8, "colsample_bylevel": 0.8, "colsample_bynode": 0.8}


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N_ROWS, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 5] = rng.integers(0, 9, N_ROWS)
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) + (X[:, 5] == 3)
    return X, signal + rng.standard_normal(N_ROWS)


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
def test_exact_trees_have_the_same_bytes(table: Any, growth: str, precision: str) -> None:
    X, y = table
    for sampling in ({}, SAMPLING):

        def make(n_jobs: int, sampling: dict[str, float] = sampling) -> BoostedTreesRegressor:
            return BoostedTreesRegressor(
                n_estimators=2,
                growth=growth,
                max_depth=4,
                split_finder=weald.Exact(precision=precision),
                categorical_features=[5],
                random_state=3,
                n_jobs=n_jobs,
                **sampling,
            )

        same_for_all_threads(make, X, y, eval_set=[(X[:6000], y[:6000])])


def both(make: Any, X: Any, y: Any, **fit: Any) -> None:
    """Fit both split finders and compare everything that they give."""
    models = [make(finder).fit(X, y, **fit) for finder in (weald.Histogram, weald.Exact)]
    hist, exact = (model.forest_ for model in models)
    for name in ("feature", "threshold", "left", "missing_left", "value", "gain", "cover", "count"):
        assert getattr(hist, name).tobytes() == getattr(exact, name).tobytes(), name
    assert models[0].history_ == models[1].history_


def few_values(kind: str, n_rows: int = 3_000) -> tuple[Any, Any]:
    """Columns with at most 255 distinct values, so that bins are as fine as values."""
    rng = np.random.default_rng(len(kind))
    X = np.stack(
        [
            rng.integers(0, 200, n_rows) / 7.0,
            np.round(rng.standard_normal(n_rows), 1),
            rng.integers(0, 2, n_rows),
            np.round(rng.exponential(2.0, n_rows), 1),
            rng.integers(0, 12, n_rows),
        ],
        axis=1,
    )
    if kind == "with missing values":
        X[rng.random(X.shape) < 0.2] = np.nan
        X[:, 2] = np.where(rng.random(n_rows) < 0.9, np.nan, 1.0)
    if kind == "with ties":
        X[:, 1] = X[:, 0]
        X = np.round(X)
    score = np.nan_to_num(X[:, 0]) / 14 - np.nan_to_num(X[:, 1] * X[:, 3]) / 3 + (X[:, 4] == 3)
    return X, score + 0.5 * rng.standard_normal(n_rows)


@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
@pytest.mark.parametrize("kind", ["plain", "with missing values", "with ties"])
def test_fine_bins_and_exact_splits_grow_the_same_trees(kind: str, growth: str) -> None:
    X, y = few_values(kind)
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    settings: list[dict[str, Any]] = [
        {},
        SAMPLING,
        {"categorical_features": [4], "reg_alpha": 0.3, "gamma": 0.05, "min_child_weight": 2.0},
        {"max_delta_step": 0.1, "monotone_constraints": [1, -1, 0, 0, 0]},
        {"interaction_constraints": [[0, 1], [1, 2, 3]], "min_samples_leaf": 1},
    ]
    for more in settings:
        precision = "wide" if more is SAMPLING else "packed"

        def make(
            finder: Any, more: dict[str, Any] = more, precision: str = precision
        ) -> BoostedTreesRegressor:
            return BoostedTreesRegressor(
                n_estimators=3,
                growth=growth,
                max_depth=5,
                n_jobs=1,
                split_finder=finder(precision=precision),
                categories="onehot",
                **more,
            )

        both(make, X, y, sample_weight=weight, eval_set=[(X[::3], y[::3])])


def test_fine_bins_and_exact_splits_grow_the_same_trees_of_three_classes() -> None:
    X, y = few_values("with missing values")

    def make(finder: Any) -> BoostedTreesClassifier:
        return BoostedTreesClassifier(
            n_estimators=3, subsample=0.8, split_finder=finder(), n_jobs=1, class_weight="balanced"
        )

    both(make, X, np.digitize(y, [0.0, 1.0]))
