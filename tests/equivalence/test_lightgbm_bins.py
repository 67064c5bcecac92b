"""Bins against LightGBM's: how many a column gets, and models of more than 255 bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error

from weald import BoostedTreesRegressor
from weald.binning import BinChoices, fit_bins
from weald.data import read_table
from weald.datasets import load

lightgbm = pytest.importorskip("lightgbm")


def numbers() -> tuple[Any, Any]:
    """The numeric columns of a real table, and its target."""
    table = load("wine_quality")
    columns = [values for values in table.data.values() if values.dtype.kind == "f"]
    return np.column_stack(columns), np.asarray(table.target, float)


@pytest.mark.parametrize(("max_bins", "least"), [(255, 1), (255, 3), (1_000, 3)])
def test_columns_get_about_as_many_bins(max_bins: int, least: int) -> None:
    X, y = numbers()
    # LightGBM counts the bin of missing values, and gives zeros a bin of their own: here nothing is zero.
    X = X - X.min(axis=0) + 1.0
    params = {"max_bin": max_bins + 1, "min_data_in_bin": least, "verbosity": -1, "feature_pre_filter": False}
    peer = lightgbm.Dataset(X, y, params=params).construct()
    theirs = np.array([peer.feature_num_bin(column) for column in range(X.shape[1])])
    ours = fit_bins(read_table(X), None, BinChoices(max_bins, min_samples_bin=least)).n_bins
    assert (np.abs(ours - theirs) <= 2 + 0.15 * theirs).all()


def test_a_thousand_bins_are_as_good_as_lightgbms() -> None:
    X, y = numbers()
    train = np.arange(len(y)) % 3 != 0
    common: dict[str, Any] = {"n_estimators": 60, "learning_rate": 0.1}
    ours = BoostedTreesRegressor(bins=1_000, max_leaves=31, reg_lambda=0.0, **common)
    theirs = lightgbm.LGBMRegressor(max_bin=1_000, num_leaves=31, n_jobs=1, verbosity=-1, **common)
    errors = [
        root_mean_squared_error(y[~train], model.fit(X[train], y[train]).predict(X[~train]))
        for model in (ours, theirs)
    ]
    assert errors[0] < 1.03 * errors[1]
