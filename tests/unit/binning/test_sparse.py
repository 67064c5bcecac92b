"""Bins of sparse tables: cuts and bins of the dense table, found from the stored cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray

import reference_sparse
from weald.binning import BinChoices, DenseBins, SparseBins, dense_bins, fit_bins
from weald.data import read_table


def matrix(n_rows: int, n_columns: int, share: float, dtype: Any, seed: int = 0) -> Any:
    """Random cells: negative, positive, NaN, infinite and stored zeros; a full and an empty column."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.standard_normal((n_rows, n_columns)), 2)
    values[rng.random(values.shape) < 0.05] = np.nan
    values[rng.random(values.shape) < 0.01] = np.inf
    stored = rng.random(values.shape) < share
    stored[:, 0], stored[:, 1] = True, False
    rows, columns = np.nonzero(stored)
    return scipy.sparse.csr_array((values[stored].astype(dtype), (rows, columns)), shape=values.shape)


@pytest.mark.parametrize("unstored", ["zero", "missing"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("max_bins", "tasks", "sample_rows"), [(255, 1, 10**6), (8, 2, 10**6), (8, 1, 900)])
def test_cuts_and_bins_are_those_of_the_dense_table(
    unstored: Any, dtype: Any, weighted: bool, max_bins: int, tasks: int, sample_rows: int
) -> None:
    sparse = matrix(12_000, 20, 0.04, dtype)
    dense = reference_sparse.cells(sparse, unstored).astype(dtype)
    weight: NDArray[np.float64] | None = None
    if weighted:
        weight = np.random.default_rng(1).lognormal(sigma=3.0, size=12_000)
        weight[::5] = 0.0
    expected = fit_bins(read_table(dense), weight, BinChoices(max_bins, sample_rows=sample_rows))
    table = read_table(sparse, unstored=unstored)
    mapper = fit_bins(table, weight, BinChoices(max_bins, sample_rows=sample_rows), tasks=tasks)
    assert mapper.n_bins.tolist() == expected.n_bins.tolist()
    for found, wanted in zip(mapper.cuts, expected.cuts, strict=True):
        assert found.tolist() == wanted.tolist()
    bins = mapper.transform(table, tasks)
    assert isinstance(bins, SparseBins)
    columns = expected.transform(read_table(dense), 1).columns
    assert np.array_equal(bins.columns(), columns)
    cells = reference_sparse.kept_cells(columns.T, bins.default.tolist())
    assert bins.starts.tolist() == np.cumsum([0, *map(len, cells)]).tolist()
    assert bins.rows.tolist() == [row for column in cells for row, _ in column]
    filled = dense_bins(bins)
    assert np.array_equal(filled.columns, columns)
    assert np.array_equal(filled.rows, columns.T.reshape(-1))


def test_the_weight_of_zeros_is_what_the_others_leave_exactly() -> None:
    """Sums of weights round in the order of the rows, unless the weights are rounded first."""
    rng = np.random.default_rng(2)
    for seed in range(20):
        sparse = matrix(300, 6, 0.5, np.float64, seed)
        weight = rng.lognormal(sigma=4.0, size=300)
        dense = fit_bins(read_table(reference_sparse.cells(sparse, "zero")), weight, BinChoices(5))
        found = fit_bins(read_table(sparse), weight, BinChoices(5))
        assert [cuts.tolist() for cuts in found.cuts] == [cuts.tolist() for cuts in dense.cuts]


def test_a_table_with_much_stored_has_a_byte_a_cell() -> None:
    for share, kind in ((0.5, DenseBins), (0.05, SparseBins)):
        table = read_table(matrix(500, 30, share, np.float64))
        assert isinstance(fit_bins(table, None).transform(table, 1), kind)


@pytest.mark.parametrize("unstored", ["zero", "missing"])
def test_a_table_without_stored_cells_has_one_bin_a_column(unstored: Any) -> None:
    table = read_table(scipy.sparse.csc_array((40, 3)), unstored=unstored)
    mapper = fit_bins(table, None)
    assert mapper.n_bins.tolist() == [1, 1, 1]
    bins = mapper.transform(table, 1)
    assert isinstance(bins, SparseBins)
    assert len(bins.rows) == 0
    assert bins.default.tolist() == ([0] * 3 if unstored == "zero" else [1] * 3)
