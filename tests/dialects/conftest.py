"""The same scripts with the original systems and with Weald in their place."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

Data = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def _module(name: str, oldest: str) -> Any:
    if not name.startswith("weald"):
        pytest.importorskip(name, minversion=oldest)
    return importlib.import_module(name)


@pytest.fixture(params=["weald.xgboost", "xgboost"])
def xgb(request: pytest.FixtureRequest) -> Any:
    """One of the two modules."""
    return _module(request.param, "2.0")


@pytest.fixture(params=["weald.lightgbm", "lightgbm"])
def lgb(request: pytest.FixtureRequest) -> Any:
    """One of the two modules."""
    return _module(request.param, "4.0")


@pytest.fixture(params=["weald.catboost", "catboost"])
def cb(request: pytest.FixtureRequest) -> Any:
    """One of the two modules."""
    return _module(request.param, "1.2")


def make_regression(rows: int = 300) -> Data:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 12, (rows, 4)).astype(np.float64)
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + 0.5 * np.nan_to_num(X[:, 1] * (X[:, 2] > 5))
    return X, signal + 0.3 * rng.standard_normal(rows)


@pytest.fixture(scope="session")
def numbers() -> Data:
    """A small table of few distinct values, some missing, with a real label."""
    return make_regression()


@pytest.fixture(scope="session")
def two_classes() -> Data:
    X, y = make_regression()
    return X, (y > np.median(y)).astype(np.int64)


@pytest.fixture(scope="session")
def three_classes() -> Data:
    X, y = make_regression()
    return X, np.digitize(y, np.quantile(y, [0.33, 0.66]))
