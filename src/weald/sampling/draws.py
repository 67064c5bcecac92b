"""Rows that are drawn with replacement, in proportion to their weights."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Float64s, Int64s
from weald.runtime.jit import kernel
from weald.runtime.random import mix


@kernel
def uniform_points(key: np.uint64, points: Float64s) -> None:
    """Fill ``points`` (float64) with numbers of at least 0 and below 1: 53 bits of the key and the point's place."""
    for place in range(len(points)):
        points[place] = np.float64(mix(key ^ np.uint64(place)) >> np.uint64(11)) * 2.0**-53


def draw_points(n_points: int, key: int) -> Float64s:
    """Numbers of at least 0 and below 1, (points,).

    >>> points = draw_points(1000, key=7)
    >>> bool(0.45 < points.mean() < 0.55)
    True
    """
    points = np.empty(n_points)
    uniform_points(np.uint64(key), points)
    return points


def draw_by_weight(weight: Float64s, n_draws: int, key: int) -> Int64s:
    """How often each row is drawn, int64 (rows,): ``n_draws`` draws with replacement, as probable as its weight is large.

    >>> counts = draw_by_weight(np.array([1.0, 0.0, 3.0]), 1000, key=7)
    >>> int(counts.sum()), int(counts[1]), bool(700 < counts[2] < 800)
    (1000, 0, True)
    """
    points = draw_points(n_draws, key)
    ends = np.cumsum(weight)
    rows = np.searchsorted(ends, points * ends[-1], side="right")
    last = int(np.flatnonzero(weight)[-1])  # a point next to 1 can be rounded up to the end of the line
    return np.bincount(np.minimum(rows, last), minlength=len(weight))
