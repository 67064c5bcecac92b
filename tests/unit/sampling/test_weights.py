"""Random weights of rows: which they are, and that sums stay as they were on average."""

from __future__ import annotations

import numpy as np
import pytest

import reference_sampling
from weald.params.declare import declared
from weald.runtime.random import ROWS, stream_key
from weald.sampling.parameters import Bayesian
from weald.sampling.weights import PARALLEL_ROWS, bayesian_weights, draw_by_variance, weighed


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0, 3.0])
def test_bayesian_weights_are_those_of_the_naive_twin(temperature: float) -> None:
    key = stream_key(5, ROWS)
    found = bayesian_weights(300, temperature, key, 1)
    assert found.tobytes() == reference_sampling.bayesian(300, temperature, key).tobytes()


def test_the_heaviest_row_at_the_highest_temperature_leaves_room_for_gradients() -> None:
    key = 2**64 - 0x9E3779B97F4A7C15  # the first row's hash is 0, which no other weight is above
    hottest = declared(Bayesian)["temperature"].high
    assert bayesian_weights(1, 1.0, key, 1)[0] == np.float32(53 * np.log(2.0))
    assert 1e31 < bayesian_weights(1, hottest, key, 1)[0] < np.finfo(np.float32).max / 1e7
    assert np.isinf(bayesian_weights(1, 25.0, key, 1)[0])


@pytest.mark.parametrize("reg", [None, 0.0, 0.3, 1e6])
@pytest.mark.parametrize("share", [0.001, 0.3, 0.8, 0.999])
def test_drawn_rows_and_factors_are_those_of_the_naive_twin(share: float, reg: float | None) -> None:
    rng = np.random.default_rng(1)
    for n_rows, outputs in ((1, 1), (2, 3), (700, 1), (700, 3)):
        gradient = np.round(rng.standard_cauchy((outputs, n_rows)), 1).astype(np.float32)  # ties and zeros
        key = stream_key(n_rows, outputs, ROWS)
        found = draw_by_variance(gradient, share, reg, key, 1)
        assert found.tobytes() == reference_sampling.minimal_variance(gradient, share, reg, key).tobytes()


@pytest.mark.parametrize("size", [1.0, 0.0, 3e38])
def test_gradients_that_are_all_alike_are_drawn_alike(size: float) -> None:
    factor = draw_by_variance(np.full((2, 4_000), size, np.float32), 0.25, None, 11, 1)
    assert 900 < np.count_nonzero(factor) < 1_100
    assert np.allclose(factor[factor > 0.0], 4.0)


def test_as_many_rows_are_drawn_as_wanted_and_the_largest_for_certain() -> None:
    gradient = np.random.default_rng(2).standard_cauchy((1, 20_000)).astype(np.float32)
    factor = draw_by_variance(gradient, 0.2, 0.0, 3, 1)
    assert np.count_nonzero(factor) == pytest.approx(4_000, abs=150)
    largest = np.argsort(-np.abs(gradient[0]))[:1_000]
    assert np.all(factor[largest] == 1.0)


def test_sums_stay_as_they_were_on_average_and_vary_less_than_with_equal_chances() -> None:
    rng = np.random.default_rng(3)
    gradient = rng.exponential(size=(1, 4_000)).astype(np.float32) ** 2
    side = rng.random(4_000) < 0.3  # the rows of one child
    sums, equal = [], []
    for seed in range(200):
        factor = draw_by_variance(gradient, 0.3, None, stream_key(seed, ROWS), 1)
        sums.append([(gradient[0] * factor)[side].sum(dtype=np.float64), factor[side].sum(dtype=np.float64)])
        equal.append(gradient[0, side & (rng.random(4_000) < 0.3)].sum(dtype=np.float64) / 0.3)
    error = np.std(sums, axis=0) / np.sqrt(len(sums))
    truth = np.array([gradient[0, side].sum(dtype=np.float64), side.sum()])
    assert (np.abs(np.mean(sums, axis=0) - truth) < 4.0 * error).all()
    assert np.std(sums, axis=0)[0] < 0.5 * np.std(equal)


def test_the_number_of_tasks_changes_no_weight() -> None:
    gradient = np.random.default_rng(4).standard_normal((1, PARALLEL_ROWS + 7)).astype(np.float32)
    factor = draw_by_variance(gradient, 0.4, None, 5, 1)
    weights = bayesian_weights(PARALLEL_ROWS + 7, 0.7, 5, 1)
    for tasks in (2, 3):
        assert np.array_equal(draw_by_variance(gradient, 0.4, None, 5, tasks), factor)
        assert np.array_equal(bayesian_weights(PARALLEL_ROWS + 7, 0.7, 5, tasks), weights)
        assert np.array_equal(weighed(factor, gradient, tasks), gradient * factor)
