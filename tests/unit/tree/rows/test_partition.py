"""The partition against a stable sort by side."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from weald.tree.rows.partition import PARALLEL_ROWS, fill_goes_left, partition


@pytest.mark.parametrize("categorical", [True, False])
@pytest.mark.parametrize("n_bins", [1, 2, 16, 255])
def test_every_bin_goes_to_the_side_that_the_split_names(categorical: bool, n_bins: int) -> None:
    for split_bin in {0, n_bins // 2, n_bins - 1, n_bins}:
        for missing_left in (0, 1):
            table = np.full(256, 99, np.uint8)
            chosen = frozenset(range(split_bin % 3, n_bins, 3))
            words = reference.words_of_bins(chosen)
            fill_goes_left(n_bins, categorical, split_bin, words, missing_left, table)
            split = (n_bins, categorical, split_bin, chosen, missing_left)
            expected = [reference.goes_left(*split, b) for b in range(n_bins + 1)]
            assert table[: n_bins + 1].tolist() == expected
            assert (table[n_bins + 1 :] == 99).all()


@pytest.mark.parametrize("n_rows", [0, 1, 2, 1_000, PARALLEL_ROWS - 1, PARALLEL_ROWS, PARALLEL_ROWS + 7_777])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_rows_keep_their_order_on_both_sides_for_any_number_of_tasks(n_rows: int, share: float) -> None:
    generator = np.random.default_rng(n_rows)
    begin, total = 13, n_rows + 20
    column = generator.integers(0, 256, total).astype(np.uint8)
    table = (generator.random(256) < share).astype(np.uint8)
    source = generator.permutation(total).astype(np.uint64) << np.uint64(32)
    source |= generator.integers(0, 2**32, total).astype(np.uint64)
    left, right = reference.partition(column, table, source[begin : begin + n_rows])
    rubbish = generator.integers(0, 2**63, total).astype(np.uint64)
    expected = rubbish.copy()
    expected[begin : begin + n_rows] = np.array(left + right, np.uint64)
    for tasks in (1, 2, 3, 5, 8):
        target, before = rubbish.copy(), source.copy()
        counts = np.full(tasks, -5, np.int64)
        partition(column, table, source, begin, begin + n_rows, len(left), tasks, counts, target)
        assert np.array_equal(target, expected)
        assert np.array_equal(source, before)
