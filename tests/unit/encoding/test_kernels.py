from __future__ import annotations

import numpy as np
import pytest

import reference_statistics
from weald.encoding.kernels import history, totals
from weald.runtime.random import permutation

POISON = -77


def _table(n_rows: int, n_codes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(n_codes, size=n_rows).astype(np.uint32)
    return codes, rng.integers(-(2**40), 2**40, size=n_rows)


@pytest.mark.parametrize(("n_rows", "n_codes"), [(1, 1), (40, 1), (60, 90), (200, 7)])
def test_history_is_the_sum_over_the_rows_before(n_rows: int, n_codes: int) -> None:
    codes, target = _table(n_rows, n_codes)
    order = permutation(n_rows, key=n_codes)
    sums, counts = np.full(n_rows, POISON), np.full(n_rows, POISON)
    history(codes, order, target, n_codes, sums, counts)
    expected_sums, expected_counts = reference_statistics.history(codes, order, target)
    assert dict(enumerate(sums.tolist())) == expected_sums
    assert dict(enumerate(counts.tolist())) == expected_counts


def test_rows_outside_the_order_neither_give_nor_get() -> None:
    codes, target = _table(50, 3)
    order = permutation(50, key=1)[:20]
    sums, counts = np.full(50, POISON), np.full(50, POISON)
    history(codes, order, target, 3, sums, counts)
    expected_sums, expected_counts = reference_statistics.history(codes, order, target)
    assert sums.tolist() == [expected_sums.get(row, POISON) for row in range(50)]
    assert counts.tolist() == [expected_counts.get(row, POISON) for row in range(50)]


@pytest.mark.parametrize(("n_rows", "n_codes"), [(1, 1), (60, 90), (200, 7)])
def test_totals_are_the_sums_over_all_rows(n_rows: int, n_codes: int) -> None:
    codes, target = _table(n_rows, n_codes)
    sums, counts = np.full(n_codes, POISON), np.full(n_codes, POISON)
    totals(codes, target, n_codes, sums, counts)
    assert (sums.tolist(), counts.tolist()) == reference_statistics.totals(codes, target, n_codes)


@pytest.mark.parametrize("key", [0, 1, 2**63, 2**64 - 1])
def test_permutation_is_the_order_of_the_hashes(key: int) -> None:
    assert permutation(100, key).tolist() == reference_statistics.permutation(100, key)


def test_permutations_of_neighbouring_keys_have_nothing_in_common() -> None:
    first, second = permutation(4000, 1), permutation(4000, 2)
    assert sorted(first.tolist()) == list(range(4000))
    assert (first == second).sum() < 10
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06
