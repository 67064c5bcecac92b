"""What target statistics sum up: labels as integers, one row of them for every statistic of a category."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError
from weald.runtime.fixed_point import fixed_point


class Targets(NamedTuple):
    """``values``: int64 (statistics, rows); a label is an integer over ``scale``."""

    values: NDArray[np.int64]
    scale: float

    def means(self) -> NDArray[np.float64]:
        """The mean label of every statistic."""
        means: NDArray[np.float64] = self.values.sum(axis=1) / (self.scale * self.values.shape[1])
        return means

    def part(self, rows: NDArray[np.int64]) -> Targets:
        """Those of some rows."""
        return Targets(np.ascontiguousarray(self.values[:, rows]), self.scale)


def class_targets(codes: NDArray[np.int64], n_classes: int) -> Targets:
    """Whether a row is of a class: of the second one of two, else a statistic for each.

    >>> class_targets(np.array([0, 2, 1]), 3).values.tolist()
    [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    """
    wanted = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return Targets((codes == wanted[:, None]).astype(np.int64), 1.0)


def number_targets(y: NDArray[np.float64]) -> Targets:
    """The labels themselves, in fixed point.

    >>> targets = number_targets(np.array([0.25, -1.5]))
    >>> (targets.values / targets.scale).tolist()
    [[0.25, -1.5]]
    """
    largest = float(np.abs(y).max())
    if not np.isfinite(largest * len(y)):
        raise InputError(
            f"y has a label of size {largest:g}, too large to be summed: divide the labels first."
        )
    scale = fixed_point(largest, len(y))
    return Targets(np.rint(y * scale).astype(np.int64)[None], scale)


def border_targets(y: NDArray[np.float64], borders: NDArray[np.float64]) -> Targets:
    """Whether a label lies above a border, a statistic for each."""
    return Targets((y > borders[:, None]).astype(np.int64), 1.0)


def target_borders(y: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """At most ``count`` borders that part the labels in groups as even as they can be, ascending.

    A border lies half-way between two neighbouring labels. Where there are few, each gap has one; a single label has none.

    >>> target_borders(np.array([1.0, 2.0, 3.0, 10.0]), 1)
    array([2.5])
    >>> target_borders(np.array([1.0, 1.0, 1.0, 5.0]), 3)
    array([3.])
    """
    distinct, counts = np.unique(y, return_counts=True)
    if len(distinct) < 2:
        return np.empty(0)
    below = np.arange(len(distinct) - 1)  # the labels that have a border above them
    if count < len(below):
        wanted = len(y) * np.arange(1, count + 1) / (count + 1)
        below = np.unique(np.minimum(np.searchsorted(np.cumsum(counts), wanted), below[-1]))
    lower, upper = distinct[below], distinct[below + 1]
    middle: NDArray[np.float64] = lower / 2 + upper / 2
    middle[middle >= upper] = lower[middle >= upper]  # of two neighbouring floats the middle may be the upper
    return middle
