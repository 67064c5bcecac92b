"""Naive twins of what the ensembles over any estimator draw."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1


def naive_mix(value: int) -> int:
    """SplitMix64's finaliser, in whole numbers of any size."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def naive_uniform_points(key: int, n_points: int) -> list[float]:
    """53 bits of a hash of the key and the place, as a share."""
    return [(naive_mix(key ^ place) >> 11) / 2**53 for place in range(n_points)]


def naive_draw_by_weight(weight: NDArray[np.float64], n_draws: int, key: int) -> list[int]:
    """The first row whose weights up to it exceed the point."""
    ends = list(itertools.accumulate(weight.tolist()))
    counts = [0] * len(weight)
    for point in naive_uniform_points(key, n_draws):
        counts[next(row for row, end in enumerate(ends) if end > point * ends[-1])] += 1
    return counts
