"""Cuts proposed from stored cells: those of the same table written out, and the trees that grow on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor
from weald.binning import fit_ranks
from weald.binning.proposals import BLOCK, Proposer, with_buckets
from weald.binning.sparse_proposals import SparseProposalTable, SparseProposer
from weald.data import read_table


def sparse_numbers(n_rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Columns of many and few values on both sides of zero, one that is nearly full, and one that stores nothing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 5))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = np.abs(X[:, 2])
    X[:, 4] = 0.0
    X[rng.random(X.shape) < np.array([0.9, 0.8, 0.95, 0.02, 0.0])] = 0.0
    return X


@pytest.mark.parametrize("tasks", [1, 2])
def test_cuts_and_bins_are_those_of_the_table_written_out(tasks: int) -> None:
    n_rows = 2 * BLOCK + 1_000
    X = sparse_numbers(n_rows)
    rng = np.random.default_rng(1)
    weight = (rng.random(n_rows) ** 8 * 2**20).astype(np.uint32)
    weight[rng.random(n_rows) < 0.2] = 0
    dense = read_table(X)
    dense_codes: Any = with_buckets(fit_ranks(dense, None, 1).transform(dense, 1), 12, 255)
    table = read_table(scipy.sparse.csc_array(X))
    codes = with_buckets(fit_ranks(table, None, tasks).transform(table, tasks), 12, 255)
    assert isinstance(codes, SparseProposalTable)
    full, proposer = Proposer(dense_codes, 1), SparseProposer(codes, tasks)
    expected, mapper = full.propose(weight), proposer.propose(weight)
    assert [own.tolist() for own in mapper.cuts] == [own.tolist() for own in expected.cuts]
    assert mapper.n_bins.tolist() == expected.n_bins.tolist()
    columns = full.bins_of(dense_codes, expected).columns
    np.testing.assert_array_equal(proposer.bins_of(codes, mapper).columns(), columns)


@pytest.mark.parametrize("proposals", ["global", "local"])
@pytest.mark.parametrize("unstored", ["zero", "missing"])
def test_trees_are_those_of_the_table_written_out(proposals: str, unstored: Any) -> None:
    X = sparse_numbers(700)
    matrix = scipy.sparse.csr_array(X)
    y = np.random.default_rng(2).standard_normal(700) + X[:, 0] - np.abs(X[:, 1]) + 3.0 * (X[:, 2] > 0)
    dense = X if unstored == "zero" else np.where(X == 0.0, np.nan, X)
    choices: Any = {
        "split_finder": weald.Approximate(proposals=proposals, eps=0.1),
        "n_estimators": 4,
        "min_samples_leaf": 5,
        "n_jobs": 1,
    }
    expected = BoostedTreesRegressor(**choices).fit(dense, y, eval_set=[(dense, y)])
    model = BoostedTreesRegressor(bins=weald.Bins(unstored=unstored), **choices).fit(
        matrix, y, eval_set=[(matrix, y)]
    )
    assert model.forest_ == expected.forest_
    assert model.history_ == expected.history_
    assert len(np.unique(model.forest_.feature)) > 3


@pytest.mark.parametrize("proposals", ["global", "local"])
def test_sparse_proposals_give_the_same_bytes_for_all_threads(proposals: str) -> None:
    matrix = scipy.sparse.random(40_000, 40, 0.05, format="csr", random_state=np.random.default_rng(7))
    y = np.asarray(matrix[:, :5].sum(axis=1)).ravel() > 0.1
    files = {
        BoostedTreesClassifier(
            n_estimators=3,
            split_finder=weald.Approximate(proposals=proposals, eps=0.1),
            subsample=0.8,
            n_jobs=n_jobs,
        )
        .fit(matrix, y)
        ._to_bytes()
        for n_jobs in (1, 2, 3)
    }
    assert len(files) == 1
