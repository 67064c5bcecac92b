"""The promise for sparse tables: the same bytes on any number of threads, with frequent and rare columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald
from invariants.shared_work import shared_searches
from weald import BoostedTreesRegressor

N_ROWS, N_COLUMNS = 40_000, 900  # so that searches and partitions are shared


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    rare = scipy.sparse.random(N_ROWS, N_COLUMNS - 2, 0.01, dtype=np.float32, random_state=rng)
    frequent = rng.standard_normal((N_ROWS, 2)).astype(np.float32)  # more cells than a packed sum may hold
    matrix = scipy.sparse.hstack([rare, frequent], format="csr")
    signal = np.asarray(matrix[:, :5].sum(axis=1)).ravel() + frequent[:, 0]
    return matrix, signal + 0.2 * rng.standard_normal(N_ROWS)


@pytest.mark.parametrize("precision", ["packed_always", "wide"])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
def test_sparse_tables_give_the_same_bytes(table: Any, growth: str, precision: str) -> None:
    matrix, y = table
    files = set()
    for n_jobs in (1, 2, 3):
        model = BoostedTreesRegressor(
            n_estimators=2,
            growth=growth,
            max_depth=4,
            split_finder=weald.Histogram(precision=precision),
            subsample=0.9,
            n_jobs=n_jobs,
            bins=weald.Bins(unstored="missing"),
        )
        with shared_searches():
            files.add(model.fit(matrix, y, eval_set=[(matrix[:9_000], y[:9_000])])._to_bytes())
    assert len(files) == 1
