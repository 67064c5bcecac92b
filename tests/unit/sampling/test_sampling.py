"""Rows and columns of a tree: how many are drawn, which, and that threads do not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest

import reference
from weald.runtime.random import ROWS, stream_key
from weald.sampling import draw_columns, draw_rows
from weald.sampling.rows import PARALLEL_ROWS


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.95])
def test_the_share_of_rows_is_that_of_independent_draws(share: float) -> None:
    n_rows = 20_000
    deviation = math.sqrt(n_rows * share * (1.0 - share))
    for seed in range(5):
        rows = draw_rows(n_rows, share, stream_key(seed, ROWS, 0), 1)
        # Five standard deviations of the binomial distribution: one draw in two million lies outside.
        assert abs(len(rows) - n_rows * share) < 5.0 * deviation


def test_rows_are_those_of_the_hash_of_key_and_number() -> None:
    key = stream_key(7, ROWS, 3)
    expected = [row for row in range(2_000) if reference.mix(row ^ key) >> 11 < int(0.4 * 2**53)]
    rows = draw_rows(2_000, 0.4, key, 1)
    assert rows.dtype == np.uint32
    assert rows.tolist() == expected


@pytest.mark.parametrize("n_rows", [PARALLEL_ROWS - 1, PARALLEL_ROWS, PARALLEL_ROWS + 7])
def test_the_number_of_tasks_changes_no_row(n_rows: int) -> None:
    serial = draw_rows(n_rows, 0.2, 12_345, 1)
    for tasks in (2, 3, 5):
        assert np.array_equal(draw_rows(n_rows, 0.2, 12_345, tasks), serial)


def test_more_rows_keep_the_draw_of_the_first_ones() -> None:
    few, many = (draw_rows(n_rows, 0.5, 99, 1) for n_rows in (1_000, 3_000))
    assert np.array_equal(many[many < 1_000], few)


def test_another_key_draws_other_rows() -> None:
    first, second = (draw_rows(5_000, 0.5, stream_key(0, ROWS, number), 1) for number in (0, 1))
    assert not np.array_equal(first, second)
    # Two independent halves share a quarter of the rows.
    assert abs(len(np.intersect1d(first, second)) - 1_250) < 5.0 * math.sqrt(5_000 * 0.25 * 0.75)


@pytest.mark.parametrize("n_rows", [1, 2, 50])
def test_at_least_one_row_is_drawn(n_rows: int) -> None:
    for seed in range(20):
        rows = draw_rows(n_rows, 1e-12, stream_key(seed, ROWS), 1)
        assert len(rows) == 1
        assert rows.dtype == np.uint32
        assert rows[0] < n_rows


def test_a_whole_share_is_the_empty_selection_that_means_all_rows() -> None:
    assert len(draw_rows(1_000, 1.0, 5, 2)) == 0


@pytest.mark.parametrize("n_columns", [1, 2, 7, 100])
@pytest.mark.parametrize("share", [0.001, 0.25, 0.5, 0.99])
def test_columns_are_ascending_and_as_many_as_the_share_rounded(n_columns: int, share: float) -> None:
    for key in (0, 1, 2**64 - 1):
        columns = draw_columns(np.arange(n_columns), share, key)
        assert columns.dtype == np.int64
        assert columns.tolist() == reference.choose(range(n_columns), share, key)
        assert len(columns) == max(1, math.floor(share * n_columns + 0.5))
        assert (np.diff(columns) > 0).all()


def test_a_whole_share_is_all_columns() -> None:
    assert draw_columns(np.arange(6), 1.0, 3).tolist() == [0, 1, 2, 3, 4, 5]


def test_every_column_is_drawn_as_often_as_the_others() -> None:
    counts = np.zeros(10)
    for number in range(2_000):
        counts[draw_columns(np.arange(10), 0.3, stream_key(0, number))] += 1
    # 600 are expected of each, with a standard deviation of 20.5.
    assert np.abs(counts - 600).max() < 103
