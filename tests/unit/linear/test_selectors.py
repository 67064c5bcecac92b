"""Which coordinates a round moves, and in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.linear.columns import DenseColumns
from weald.linear.kernels import BIAS, Steps
from weald.linear.selectors import SELECTORS, Coordinates

N_COLUMNS = 6


class Recording(DenseColumns):
    """Columns that remember which coordinates were moved."""

    def __init__(self, values: Any) -> None:
        super().__init__(values)
        self.moved: list[int] = []

    def descend(self, order: Any, *rest: Any) -> None:
        self.moved += order.tolist()
        super().descend(order, *rest)


def moved_by(
    name: str, key: int = 1, most: int = N_COLUMNS, l1: float = 0.0
) -> tuple[list[int], Coordinates]:
    rng = np.random.default_rng(5)
    columns = Recording(rng.standard_normal((N_COLUMNS, 300)))
    gradient = (columns.values.T @ np.array([0.1, 3.0, 0.2, -2.0, 0.0, 1.0])).astype(np.float32)
    steps = Steps(1.0, l1, 0.0, np.full(N_COLUMNS + 1, np.inf))
    at = Coordinates(columns, steps, 1, np.ones(300, np.float32), gradient, np.zeros(N_COLUMNS + 1))
    SELECTORS[name](at, key, most)
    return columns.moved.copy(), at


@pytest.mark.parametrize("name", SELECTORS)
def test_the_bias_moves_first_and_once(name: str) -> None:
    moved, _ = moved_by(name)
    assert moved[0] == BIAS and BIAS not in moved[1:]


def test_cyclic_goes_through_the_columns_in_order() -> None:
    assert moved_by("cyclic")[0] == [BIAS, *range(N_COLUMNS)]


def test_shuffle_visits_every_column_once_in_an_order_of_the_key() -> None:
    first, again, other = (moved_by("shuffle", key)[0] for key in (1, 1, 2))
    assert sorted(first[1:]) == list(range(N_COLUMNS)) and first == again != other


def test_random_draws_with_replacement() -> None:
    draws = [moved_by("random", key)[0][1:] for key in range(40)]
    assert all(len(drawn) == N_COLUMNS and set(drawn) <= set(range(N_COLUMNS)) for drawn in draws)
    assert any(len(set(drawn)) < N_COLUMNS for drawn in draws)
    assert set().union(*draws) == set(range(N_COLUMNS))


def test_thrifty_goes_by_the_length_of_the_first_steps() -> None:
    moved, _ = moved_by("thrifty", most=3)
    assert moved == [BIAS, 1, 3, 5]


def test_greedy_looks_again_after_every_step() -> None:
    moved, at = moved_by("greedy", most=4)
    assert moved[1:4] == [1, 3, 5]
    assert np.count_nonzero(at.weights[:-1]) == len(set(moved[1:]))
    columns = at.columns
    assert isinstance(columns, Recording)
    gradient = np.float32(columns.values.T @ np.array([0.1, 3.0, 0.2, -2.0, 0.0, 1.0]))
    naive = Coordinates(columns, at.steps, 1, at.hessian, gradient, np.zeros(N_COLUMNS + 1))
    naive.descend(np.array([BIAS]))
    for choice in moved[1:]:
        assert int(np.argmax(naive.lengths())) == choice
        naive.descend(np.array([choice]))
    assert naive.weights.tobytes() == at.weights.tobytes()


def test_greedy_stops_when_nothing_would_move() -> None:
    assert moved_by("greedy", l1=1e9)[0] == [BIAS]
