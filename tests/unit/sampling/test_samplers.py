"""Ways to draw the rows of a round: each against its naive twin."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sampling
from weald.runtime.errors import InputError
from weald.runtime.random import ROWS, stream_key
from weald.sampling import BayesianRows, GradientRows, RowSampler, UniformRows, draw_rows, draw_rows_by_group
from weald.sampling.rows import PARALLEL_ROWS

N_ROWS = 900
RNG = np.random.default_rng(0)
GRADIENT = RNG.standard_normal((2, N_ROWS)).astype(np.float32)
HESSIAN = RNG.random((2, N_ROWS)).astype(np.float32)


def drawn(sampler: RowSampler, number: int, place: int = 0) -> list[int]:
    rows: list[int] = sampler.draw(number, place, GRADIENT, HESSIAN, 1).rows.tolist()
    return rows


@pytest.mark.parametrize("shares", [(0.1, 0.9), (1.0, 0.2), (1e-12, 1e-12)])
def test_shares_of_groups_are_those_of_the_naive_twin(shares: tuple[float, float]) -> None:
    group = (RNG.random(N_ROWS) < 0.3).astype(np.uint8)
    key = stream_key(3, ROWS)
    expected = reference_sampling.draw_rows_by_group(group.tolist(), shares, key)
    assert draw_rows_by_group(group, shares, key, 1).tolist() == expected


def test_one_group_is_drawn_as_without_groups() -> None:
    nothing = np.zeros(N_ROWS, np.uint8)
    assert np.array_equal(draw_rows_by_group(nothing, (0.4,), 5, 1), draw_rows(N_ROWS, 0.4, 5, 1))


def test_all_shares_of_one_mean_all_rows() -> None:
    assert len(draw_rows_by_group(np.zeros(N_ROWS, np.uint8), (1.0, 1.0), 5, 1)) == 0


def test_the_number_of_tasks_changes_no_row_of_a_group() -> None:
    group = (RNG.random(PARALLEL_ROWS + 7) < 0.3).astype(np.uint8)
    serial = draw_rows_by_group(group, (0.1, 0.7), 5, 1)
    for tasks in (2, 3):
        assert np.array_equal(draw_rows_by_group(group, (0.1, 0.7), 5, tasks), serial)


def test_rows_stay_for_some_rounds_and_do_not_depend_on_where_training_began() -> None:
    rounds = [drawn(UniformRows(4, (0.5,), frequency=3), number) for number in range(7)]
    assert rounds[0] == rounds[1] == rounds[2]
    assert rounds[3] == rounds[4] == rounds[5]
    assert len({tuple(rows) for rows in rounds}) == 3
    sampler = UniformRows(4, (0.5,), frequency=3)
    assert [drawn(sampler, number) for number in range(7)] == rounds
    every_round = UniformRows(4, (0.5,))
    assert rounds[3] == drawn(every_round, 3)


def test_weights_that_gradients_are_too_large_for_are_refused() -> None:
    sampler = BayesianRows(4, 20.0)
    assert np.isfinite(sampler.draw(0, 0, GRADIENT, HESSIAN, 1).gradient).all()
    said = (
        r"sampling\.temperature=20.0 multiplies derivatives of the loss of up to 2e\+30 by weights of up to"
    )
    for sign in (-1, 1):
        large = np.full((1, N_ROWS), sign * 2e30, np.float32)
        with pytest.raises(InputError, match=said):
            sampler.draw(0, 0, large, HESSIAN[:1], 1)


def test_parallel_trees_draw_their_own_rows() -> None:
    for sampler in (UniformRows(4, (0.5,), frequency=2), GradientRows(4, 0.2, 0.2, 0)):
        assert drawn(sampler, 0, 0) != drawn(sampler, 0, 2)
        assert drawn(sampler, 0, 0) == drawn(sampler, 0, 0)


def test_gradients_are_asked_for_after_the_first_rounds() -> None:
    sampler = GradientRows(seed=4, top=0.2, other=0.1, first_round=3)
    before = sampler.draw(2, 0, GRADIENT, HESSIAN, 1)
    assert len(before.rows) == 0
    assert before.gradient is GRADIENT
    sample = sampler.draw(3, 0, GRADIENT, HESSIAN, 1)
    expected, factor = reference_sampling.goss(GRADIENT, HESSIAN, 0.2, 0.1, stream_key(4, 3, 0, ROWS))
    assert sample.rows.tolist() == expected
    assert len(expected) == int(0.3 * N_ROWS)
    assert np.array_equal(sample.hessian, HESSIAN * factor)
