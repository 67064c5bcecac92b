"""Rows drawn by their weights."""

from __future__ import annotations

import numpy as np

from reference_ensembles import naive_draw_by_weight, naive_uniform_points
from weald.runtime.random import stream_key
from weald.sampling import draw_by_weight
from weald.sampling.draws import uniform_points


def test_points_are_those_of_the_naive_twin() -> None:
    for key in (0, 1, stream_key(3, 5), 2**64 - 1):
        points = np.full(100, np.nan)
        uniform_points(np.uint64(key), points)
        assert points.tolist() == naive_uniform_points(key, 100)
        assert (points >= 0).all() and (points < 1).all()


def test_counts_are_those_of_the_naive_twin() -> None:
    rng = np.random.default_rng(0)
    for n_rows in (1, 2, 17, 200):
        weight = rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.7)
        weight[rng.integers(n_rows)] = 1.0
        key = stream_key(n_rows, 1)
        assert draw_by_weight(weight, 50, key).tolist() == naive_draw_by_weight(weight, 50, key)


def test_rows_without_weight_are_never_drawn() -> None:
    weight = np.array([0.0, 1.0, 0.0, 1e-300, 0.0])
    counts = draw_by_weight(weight, 10_000, key=1)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert counts.sum() == 10_000


def test_shares_follow_the_weights() -> None:
    counts = draw_by_weight(np.array([1.0, 2.0, 5.0]), 80_000, key=9)
    np.testing.assert_allclose(counts / 80_000, [0.125, 0.25, 0.625], atol=0.01)
