"""A naive twin of trees with local proposals: candidates anew in every node, from exact integers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import reference_sketch as sketch

Integers = NDArray[np.int64]


class Split(NamedTuple):
    """Of a node: which column and threshold, with the number of rows on both sides."""

    feature: int
    threshold: float
    left: int
    right: int


def candidates(values: NDArray[np.float64], hessian: Integers, buckets: int, entries: int) -> list[float]:
    """The values after which the rows of a node may be cut; missing ones have no part in them."""
    present = ~np.isnan(values)
    distinct = np.unique(values[present])
    places = np.searchsorted(distinct, values[present])
    weighted = list(zip(places.tolist(), np.maximum(hessian[present], 1).tolist(), strict=True))
    summary = sketch.prune(sketch.build(weighted), entries)
    return [float(distinct[place]) for place in sketch.propose(summary, buckets)]


def grow(
    X: NDArray[np.float64],
    gradient: Integers,
    hessian: Integers,
    rows: Integers,
    depth: int,
    buckets: int,
    entries: int,
) -> list[Split]:
    """The splits of a tree, each before those of its left and then its right side; no penalties, no missing values."""
    best: tuple[float, Any] = (1e-9, None)
    for feature in range(X.shape[1]):
        column = X[rows, feature]
        for cut in candidates(column, hessian[rows], buckets, entries):
            goes_left = column <= cut
            gain = sum(
                float(gradient[side].sum()) ** 2 / float(hessian[side].sum())
                for side in (rows[goes_left], rows[~goes_left])
            ) - float(gradient[rows].sum()) ** 2 / float(hessian[rows].sum())
            if gain > best[0] * (1 + 1e-12):
                best = (gain, (feature, cut, rows[goes_left], rows[~goes_left]))
    if depth == 0 or best[1] is None:
        return []
    feature, cut, left, right = best[1]
    both = [grow(X, gradient, hessian, side, depth - 1, buckets, entries) for side in (left, right)]
    return [Split(feature, cut, len(left), len(right)), *both[0], *both[1]]
