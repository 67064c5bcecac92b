"""Gradient-based one-side sampling: which rows are kept, and that sums stay as they were on average."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sampling
from weald.runtime.random import ROWS, stream_key
from weald.sampling.gradients import PARALLEL_ROWS, draw_by_gradient


@pytest.mark.parametrize(("top", "other"), [(0.2, 0.1), (0.0, 0.5), (0.5, 0.0), (0.01, 0.01), (0.7, 0.3)])
@pytest.mark.parametrize("outputs", [1, 3])
def test_rows_and_gradients_are_those_of_the_naive_twin(top: float, other: float, outputs: int) -> None:
    rng = np.random.default_rng(1)
    for n_rows in (1, 2, 10, 1_333):
        gradient = np.round(rng.standard_normal((outputs, n_rows)), 1).astype(np.float32)  # many ties
        hessian = rng.choice(np.array([0.25, 1.0], np.float32), (outputs, n_rows))
        key = stream_key(n_rows, ROWS)
        expected, factor = reference_sampling.goss(gradient, hessian, top, other, key)
        before = gradient.copy(), hessian.copy()
        draw = draw_by_gradient(gradient, hessian, top, other, key, 1)
        assert draw.rows.dtype == np.uint32
        assert draw.rows.tolist() == expected
        assert np.array_equal(draw.gradient, gradient * factor)
        assert np.array_equal(draw.hessian, hessian * factor)
        assert np.array_equal(gradient, before[0])
        assert np.array_equal(hessian, before[1])


@pytest.mark.parametrize("all_alike", [False, True])
def test_the_number_of_tasks_changes_no_row(all_alike: bool) -> None:
    rng = np.random.default_rng(2)
    gradient = rng.standard_normal((1, PARALLEL_ROWS + 7)).astype(np.float32)
    if all_alike:
        gradient[...] = 1.0
    hessian = np.ones_like(gradient)
    serial = draw_by_gradient(gradient, hessian, 0.1, 0.2, 5, 1)
    for tasks in (2, 3):
        for one, other in zip(draw_by_gradient(gradient, hessian, 0.1, 0.2, 5, tasks), serial, strict=True):
            assert np.array_equal(one, other)


def test_sums_stay_as_they_were_on_average() -> None:
    rng = np.random.default_rng(3)
    gradient = rng.exponential(size=(1, 4_000)).astype(np.float32)
    side = rng.random(4_000) < 0.3  # the rows of one child
    sums = []
    for seed in range(200):
        draw = draw_by_gradient(gradient, np.ones_like(gradient), 0.1, 0.1, stream_key(seed, ROWS), 1)
        kept = draw.rows[side[draw.rows]]
        sums.append(
            [draw.gradient[0, kept].sum(dtype=np.float64), draw.hessian[0, kept].sum(dtype=np.float64)]
        )
    error = np.std(sums, axis=0) / np.sqrt(len(sums))
    truth = np.array([gradient[0, side].sum(dtype=np.float64), side.sum()])
    assert (np.abs(np.mean(sums, axis=0) - truth) < 4.0 * error).all()


def test_gradients_of_zero_leave_a_draw_by_lot() -> None:
    gradient = np.zeros((1, 100), np.float32)
    rows = draw_by_gradient(gradient, np.ones_like(gradient), 0.2, 0.3, 9, 1).rows
    assert len(rows) == 50
    assert rows[:20].tolist() == list(range(20))  # of equal importance the first rows


def test_infinite_importance_is_kept() -> None:
    gradient = np.full((1, 50), 1e-3, np.float32)
    gradient[0, 7] = 3e38
    assert 7 in draw_by_gradient(gradient, np.full_like(gradient, 10.0), 0.02, 0.1, 1, 1).rows
