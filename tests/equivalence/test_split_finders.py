"""All split finders grow the same trees where their candidates are all values: few distinct ones, and as many bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor, datasets

FINDERS: dict[str, Any] = {
    "exact": weald.Exact(),
    "global": weald.Approximate(),
    "local": weald.Approximate(proposals="local"),
}
STRUCTURE = ("feature", "threshold", "left", "missing_left", "value", "gain", "count")


def table() -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The wine data with at most 61 distinct values a column, some missing, and a column of categories."""
    data = datasets.load("wine_quality")
    rows = np.random.default_rng(0).permutation(data.n_rows)[:3_000]
    columns = [values[rows].astype(float) for values in data.data.values() if values.dtype != object]
    X = np.stack(columns, axis=1)
    low, high = X.min(axis=0), X.max(axis=0)
    X = np.round((X - low) / (high - low) * 60.0)
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    X[:, 0] = np.random.default_rng(2).integers(0, 7, len(X))
    return X, data.target[rows].astype(float)


def assert_same_trees(model: Any, other: Any, name: str) -> None:
    for field in STRUCTURE:
        first, second = getattr(model.forest_, field), getattr(other.forest_, field)
        assert first.tobytes() == second.tobytes(), f"{name}: {field}"


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise"])
def test_all_finders_grow_the_same_trees(growth: str, precision: str) -> None:
    X, y = table()
    labels = y > 5
    shared: dict[str, Any] = {
        "n_estimators": 4,
        "growth": growth,
        "max_leaves": 12,
        "max_depth": 5,
        "min_samples_leaf": 5,
        "subsample": 0.8,
        "colsample_bynode": 0.7,
        "categorical_features": [0],
        "categories": "onehot",
        "random_state": 1,
        "n_jobs": 1,
    }
    finder = weald.Histogram(precision=precision)
    hist = BoostedTreesClassifier(split_finder=finder, **shared).fit(X, labels)
    for name, other in FINDERS.items():
        finder = clone(other).set_params(precision=precision)
        model = BoostedTreesClassifier(split_finder=finder, **shared).fit(X, labels)
        assert_same_trees(hist, model, name)


def test_constraints_hold_for_proposals_too() -> None:
    X, y = table()
    shared: dict[str, Any] = {
        "n_estimators": 4,
        "max_leaves": 8,
        "monotone_constraints": [0, 1, -1] + [0] * (X.shape[1] - 3),
        "interaction_constraints": [[1, 2, 3], [4, 5]],
        "n_jobs": 1,
    }
    hist = BoostedTreesRegressor(**shared).fit(X, y)
    for name in ("global", "local"):
        assert_same_trees(hist, BoostedTreesRegressor(split_finder=FINDERS[name], **shared).fit(X, y), name)


def test_oblivious_trees_are_the_same_with_global_proposals() -> None:
    X, y = table()
    shared: dict[str, Any] = {
        "n_estimators": 3,
        "growth": "oblivious",
        "max_leaves": None,
        "max_depth": 4,
        "n_jobs": 1,
    }
    hist = BoostedTreesRegressor(**shared).fit(X, y)
    assert_same_trees(
        hist, BoostedTreesRegressor(split_finder=FINDERS["global"], **shared).fit(X, y), "global"
    )
