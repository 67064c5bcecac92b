"""The values that are in the bins of a column."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from weald.binning import BinChoices, bin_once, dense_bins, fit_bins, with_bin_values
from weald.data import read_table
from weald.estimators.classical.extra_trees import ExtraTreesRegressor

X = np.array([[3.0, np.nan], [-1.0, np.nan], [0.0, np.nan], [9.0, 2.0]])


def test_a_bin_has_the_middle_of_its_values_and_those_at_both_ends_the_extremes() -> None:
    table = read_table(np.arange(12.0)[:, None] ** 2)
    bins = fit_bins(table, None, BinChoices(4)).transform(table, tasks=1)
    assert np.bincount(bins.columns[0]).tolist() == [3, 3, 3, 3]
    found = with_bin_values(bins, table, None).mapper.bin_values
    assert found is not None and found[0, :4].tolist() == [0.0, (9 + 25) / 2, (36 + 64) / 2, 121.0]


def test_rows_without_weight_and_missing_values_are_not_looked_at() -> None:
    table = read_table(X)
    bins = fit_bins(table, None).transform(table, tasks=1)
    assert bins.mapper.bin_values is None
    found = with_bin_values(bins, table, np.array([1.0, 1.0, 1.0, 0.0])).mapper.bin_values
    assert found is not None
    np.testing.assert_array_equal(found[0, :5], [-1.0, 0.0, 3.0, np.nan, np.nan])
    assert np.isnan(found[1, 0])


def test_values_follow_columns_and_rows() -> None:
    table = read_table(X)
    bins = with_bin_values(fit_bins(table, None).transform(table, tasks=1), table, None)
    taken = bins.take(np.array([0, 2])).take_columns(np.array([1]))
    assert taken.mapper.bin_values is not None
    assert taken.mapper.bin_values[:, 0].tolist() == [2.0]


def test_sparse_and_shared_tables_have_the_values_of_dense_ones() -> None:
    values = np.array([[0.0, 5.0], [2.0, 0.0], [0.0, 7.0]])
    shared = bin_once(values, [ExtraTreesRegressor()])
    assert shared is not None
    for table in (read_table(sparse.csr_matrix(values)), shared):
        bins = dense_bins(shared.bins)
        found = with_bin_values(bins, table, None).mapper.bin_values
        assert found is not None
        kept = [found[column, : bins.mapper.n_bins[column]] for column in range(2)]
        assert [of[np.isfinite(of)].tolist() for of in kept] == [[0.0, 2.0], [0.0, 5.0, 7.0]]
