"""Codes of every distinct value and sorted columns, against Python's own sorting; cuts against the histogram engine's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_exact as reference
from weald.binning import Ranks, SparseRanks, bin_once, fit_bins, fit_ranks
from weald.data import read_table
from weald.estimators.boosted.boosted import BoostedTreesRegressor
from weald.runtime.errors import InputError


def ranked(X: Any, weight: Any = None, tasks: int = 1, **options: Any) -> Ranks:
    table = read_table(X, **options)
    return fit_ranks(table, weight, tasks).transform(table, tasks)


def assert_sorted(ranks: Ranks) -> None:
    rows, offsets = ranks.blocks.rows, ranks.blocks.offsets
    for feature, n_bins in enumerate(ranks.mapper.n_bins.tolist()):
        block = reference.column_block(ranks.codes[feature].tolist(), n_bins)
        assert rows[offsets[feature] : offsets[feature + 1]].tolist() == block
    assert offsets[-1] == len(rows)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=32), min_size=1, max_size=40), st.booleans())
def test_a_code_is_the_place_among_the_distinct_values(values: list[float], single: bool) -> None:
    column = np.array(values, np.float32 if single else np.float64)
    ranks = ranked(column.reshape(-1, 1))
    codes, n_distinct = reference.codes_of(column.tolist())
    assert ranks.mapper.n_bins.tolist() == [max(n_distinct, 1)]
    if n_distinct:
        assert ranks.codes[0].tolist() == codes
    assert_sorted(ranks)


@pytest.mark.parametrize("n_rows", [1, 2, 300, 12_000])
def test_columns_are_sorted_alike_by_any_number_of_tasks(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    X = np.stack([rng.standard_normal(n_rows), rng.integers(0, 5, n_rows), np.full(n_rows, np.nan)], axis=1)
    X[rng.random(n_rows) < 0.2, 0] = np.nan
    first = ranked(X)
    assert_sorted(first)
    for tasks in (2, 3):
        other = ranked(np.asfortranarray(X), tasks=tasks)
        assert np.array_equal(first.codes, other.codes)
        assert np.array_equal(first.blocks.rows, other.blocks.rows)


def test_cuts_are_those_of_fine_bins() -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((5_000, 3)), 1)
    weight = rng.integers(0, 3, len(X)).astype(float)
    table = read_table(X)
    bins, ranks = fit_bins(table, weight), fit_ranks(table, weight, 1)
    for ours, theirs in zip(ranks.cuts, bins.cuts, strict=True):
        assert ours.tobytes() == theirs.tobytes()
    assert np.array_equal(bins.transform(table, 1).columns, ranks.transform(table, 1).codes)


@pytest.mark.parametrize("unstored", ["zero", "missing"])
def test_a_sparse_table_has_the_codes_of_the_dense_one_and_sorts_what_it_stores(unstored: Any) -> None:
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((300, 4)) < 0.3, rng.integers(-3, 4, (300, 4)), 0.0)
    dense[::7, 3] = np.nan
    sparse = scipy.sparse.csr_array(dense)
    filled = np.where(dense == 0, np.nan, dense) if unstored == "missing" else dense
    for weight in (None, rng.integers(0, 2, 300).astype(float)):
        expected, table = ranked(filled, weight), read_table(sparse, unstored=unstored)
        for tasks in (1, 2):
            ranks = fit_ranks(table, weight, tasks).transform(table, tasks)
            assert isinstance(ranks, SparseRanks)
            assert np.array_equal(ranks.columns(), expected.codes)
            taken = ranks.take(np.array([5, 3, 3, 299]))
            assert np.array_equal(taken.columns(), expected.codes[:, [5, 3, 3, 299]])
            rows, offsets, middles, rest = ranks.blocks
            for feature, n_bins in enumerate(ranks.mapper.n_bins.tolist()):
                codes = [code if code != rest[feature] else n_bins for code in expected.codes[feature]]
                block = reference.column_block(codes, n_bins)
                assert rows[offsets[feature] : offsets[feature + 1]].tolist() == block
                below = sum(code < rest[feature] for code in codes) if rest[feature] < n_bins else 0
                assert middles[feature] == offsets[feature] + below


def test_rows_can_be_taken_and_other_rows_find_their_place() -> None:
    X = np.array([[3.0], [1.0], [np.nan], [2.0], [1.0]])
    ranks = ranked(X)
    assert ranks.codes.tolist() == [[2, 0, 3, 1, 0]]
    taken = ranks.take(np.array([3, 0, 2, 0]))
    assert (taken.codes.tolist(), taken.n_rows, taken.n_columns) == ([[1, 2, 3, 2]], 4, 1)
    assert_sorted(taken)
    other = ranks.mapper.transform(read_table(np.array([[-9.0], [1.5], [1.6], [9.0]])), 1)
    assert other.codes.tolist() == [[0, 0, 1, 2]]


def test_a_category_is_its_code_and_the_rarest_share_the_last_bin() -> None:
    names = np.array([f"c{number:03}" for number in range(300)] * 2, dtype=object).reshape(-1, 1)
    ranks = ranked(names)
    assert ranks.mapper.n_bins.tolist() == [255]
    assert sorted(set(ranks.codes[0].tolist())) == list(range(255))
    codes, counts = ranks.mapper.category_codes(np.array([0, 0]), np.array([253, 254]))
    assert codes.tolist() == list(range(253, 300))
    assert counts.tolist() == [1, 46]


def test_a_table_of_ranks_serves_estimators_that_look_at_every_value() -> None:
    X = np.random.default_rng(1).standard_normal((400, 3))
    exact = BoostedTreesRegressor(n_estimators=3, split_finder="exact", n_jobs=1)
    hist = BoostedTreesRegressor(n_estimators=3, n_jobs=1)
    table, other = bin_once(X, [exact]), bin_once(X, [hist])
    assert table is not None and other is not None
    assert table.serves(exact) and not table.serves(hist)
    assert other.serves(hist) and not other.serves(exact)
    assert bin_once(X, [exact, hist]) is None
    again = exact.fit(table, X[:, 0]).predict(X)
    assert again.tobytes() == exact.fit(X, X[:, 0]).predict(X).tobytes()
    with pytest.raises(InputError, match=r"binned with max_bins=255, but .* has split_finder='exact'"):
        exact.fit(other, X[:, 0])
