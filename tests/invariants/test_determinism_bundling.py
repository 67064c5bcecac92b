"""The promise for bundled tables: the same bytes on any number of threads, with and without conflicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald
from invariants.shared_work import shared_histograms
from weald import BoostedTreesRegressor
from weald.binning import BundledBins, bin_once

N_ROWS = 60_000  # so that merging, histograms and partitions are shared


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    codes = rng.integers(0, 30, (N_ROWS, 6))
    columns = (codes + 30 * np.arange(6)).reshape(-1)
    matrix = scipy.sparse.csr_array(
        (np.ones(columns.size, np.float32), columns, np.arange(0, columns.size + 1, 6)), shape=(N_ROWS, 180)
    )
    numbers = scipy.sparse.csr_array(rng.standard_normal((N_ROWS, 2)).astype(np.float32))
    signal = np.sin(codes).sum(axis=1) + numbers.toarray()[:, 0]
    return scipy.sparse.hstack([matrix, numbers], format="csr"), signal + 0.2 * rng.standard_normal(N_ROWS)


@pytest.mark.parametrize("rate", [0.0, 0.01])
@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
def test_bundled_tables_give_the_same_bytes(table: Any, growth: str, rate: float) -> None:
    matrix, y = table
    files = set()
    for n_jobs in (1, 2, 3):
        model = BoostedTreesRegressor(
            n_estimators=2,
            growth=growth,
            max_depth=4,
            subsample=0.9,
            bins=weald.Bins(max_conflict_rate=rate),
            n_jobs=n_jobs,
        )
        bins = bin_once(matrix, [model]).bins
        assert isinstance(bins, BundledBins) and bins.columns.shape[0] <= 8
        with shared_histograms():
            files.add(model.fit(matrix, y, eval_set=[(matrix[:9_000], y[:9_000])])._to_bytes())
    assert len(files) == 1


def test_a_dense_table_of_mostly_zeros_gives_the_bytes_of_the_sparse_one(table: Any) -> None:
    matrix, y = table
    by_rows = matrix.toarray()
    by_columns = np.asfortranarray(by_rows)
    model = BoostedTreesRegressor(n_estimators=2, n_jobs=1)
    expected = model.fit(matrix, y).set_params(n_jobs=None)._to_bytes()
    for dense, n_jobs in ((by_rows, 1), (by_rows, 2), (by_columns, 3)):
        found = BoostedTreesRegressor(n_estimators=2, n_jobs=n_jobs).fit(dense, y).set_params(n_jobs=None)
        assert found._to_bytes() == expected
