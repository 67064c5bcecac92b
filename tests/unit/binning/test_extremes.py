"""The least and the greatest value of every column."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from weald.binning import bin_once, dense_bins, fit_bins, with_extremes
from weald.data import read_table
from weald.estimators.classical.extra_trees import ExtraTreesRegressor

X = np.array([[3.0, np.nan], [-1.0, np.nan], [0.0, np.nan], [9.0, 2.0]])


def test_rows_without_weight_and_missing_values_are_no_extremes() -> None:
    table = read_table(X)
    bins = fit_bins(table, None).transform(table, tasks=1)
    assert bins.mapper.extremes is None
    found = with_extremes(bins, table, np.array([1.0, 1.0, 1.0, 0.0])).mapper.extremes
    assert found is not None
    np.testing.assert_array_equal(found, [[-1.0, 3.0], [np.nan, np.nan]])


def test_extremes_follow_columns_and_rows() -> None:
    table = read_table(X)
    bins = with_extremes(fit_bins(table, None).transform(table, tasks=1), table, None)
    taken = bins.take(np.array([0, 2])).take_columns(np.array([1]))
    assert taken.mapper.extremes is not None
    assert taken.mapper.extremes.tolist() == [[2.0, 2.0]]


def test_sparse_and_shared_tables_have_the_extremes_of_dense_ones() -> None:
    values = np.array([[0.0, 5.0], [2.0, 0.0], [0.0, 7.0]])
    shared = bin_once(values, [ExtraTreesRegressor()])
    assert shared is not None
    for table in (read_table(sparse.csr_matrix(values)), shared):
        bins = dense_bins(shared.bins)
        found = with_extremes(bins, table, None).mapper.extremes
        assert found is not None and found.tolist() == [[0.0, 2.0], [0.0, 7.0]]
