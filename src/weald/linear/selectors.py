"""Which coordinate moves next. In every round the bias moves first, then the weights as the selector says.

cyclic   all columns in their order
shuffle  all columns in a new random order every round
random   as many draws as there are columns, with replacement
greedy   always the column whose own step is the longest at that moment; every choice looks at all columns
thrifty  by the length of the step at the beginning of the round, the longest first
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.linear.columns import Float32s, Float64s, Int64s, NumberColumns
from weald.linear.kernels import BIAS, Steps
from weald.sampling.draws import uniform_points


@dataclass(frozen=True)
class Coordinates:
    """One output's weights in one round, and the expansion that they descend on."""

    columns: NumberColumns
    steps: Steps
    tasks: int
    hessian: Float32s
    gradient: Float32s  # changes with the weights
    weights: Float64s  # (columns + 1,), the last is the bias

    def descend(self, order: Int64s) -> None:
        """Move these coordinates, one after another."""
        self.columns.descend(order, self.steps, self.hessian, self.tasks, self.gradient, self.weights)

    def lengths(self) -> Float64s:
        """How far every column would move if it were the next."""
        moves = self.columns.univariate(self.steps, self.hessian, self.tasks, self.gradient, self.weights)
        return np.abs(moves)


#: Moves the coordinates of a round: what they are, a key for random choices, and how many columns at most.
Selector = Callable[[Coordinates, int, int], None]

_ONLY_BIAS = np.array([BIAS])


def _cyclic(at: Coordinates, key: int, most: int) -> None:
    at.descend(np.arange(BIAS, at.columns.n_columns))


def _shuffle(at: Coordinates, key: int, most: int) -> None:
    order = np.argsort(_points(at.columns.n_columns, key), kind="stable")
    at.descend(np.append(_ONLY_BIAS, order))


def _random(at: Coordinates, key: int, most: int) -> None:
    n_columns = at.columns.n_columns
    drawn = (_points(n_columns, key) * n_columns).astype(np.int64)
    at.descend(np.append(_ONLY_BIAS, np.minimum(drawn, n_columns - 1)))


def _greedy(at: Coordinates, key: int, most: int) -> None:
    at.descend(_ONLY_BIAS)
    for _ in range(most):
        lengths = at.lengths()
        longest = int(np.argmax(lengths))
        if lengths[longest] == 0.0:
            return
        at.descend(np.array([longest]))


def _thrifty(at: Coordinates, key: int, most: int) -> None:
    at.descend(_ONLY_BIAS)
    at.descend(np.argsort(-at.lengths(), kind="stable")[:most])


def _points(count: int, key: int) -> NDArray[np.float64]:
    points = np.empty(count)
    uniform_points(np.uint64(key), points)
    return points


SELECTORS: dict[str, Selector] = {
    "cyclic": _cyclic,
    "shuffle": _shuffle,
    "random": _random,
    "greedy": _greedy,
    "thrifty": _thrifty,
}
