"""Ways to draw the rows of a boosting round; each is a function of the seed, the round's number and its gradients alone.

So a training that is interrupted, or goes on later, draws what one training would have drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError
from weald.runtime.random import ROWS, stream_key
from weald.runtime.team import RowShare
from weald.sampling.gradients import draw_by_gradient
from weald.sampling.rows import ALL_ROWS, NO_GROUPS, NO_ROWS, draw_rows, draw_rows_by_group
from weald.sampling.weights import bayesian_weights, draw_by_variance, weighed

Float32s = NDArray[np.float32]


class Sample(NamedTuple):
    """The rows that a tree sees, ascending (empty: all), and its gradients and hessians, (outputs, rows).

    ``factor``: what those of every row were multiplied by, (rows,); None: nothing.
    """

    rows: NDArray[np.uint32]
    gradient: Float32s
    hessian: Float32s
    factor: Float32s | None = None

    def weigh(self, weight: Float32s) -> Float32s:
        """The rows' weights, (rows,), in the sample."""
        return weight if self.factor is None else weight * self.factor


class RowSampler(Protocol):
    """A way to draw rows."""

    def draw(
        self,
        number: int,
        place: int,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
        whole: RowShare | None = None,
    ) -> Sample:
        """The sample of a round's trees from ``place`` on, a tree an output; gradients, (outputs, rows), stay as they are.

        ``whole``: the table that the rows are a part of; None: they are all.
        """


class UniformRows:
    """All rows alike, or all of a group: drawn anew every ``frequency`` rounds.

    ``shares``: of every group, by the numbers in ``group``; without groups there is one.
    """

    def __init__(
        self,
        seed: int,
        shares: tuple[float, ...],
        group: NDArray[np.uint8] = NO_GROUPS,
        frequency: int = 1,
    ) -> None:
        self._seed = seed
        self._shares = shares
        self._group = group
        self._frequency = frequency
        self._drawn_in = -1
        self._drawn: dict[int, NDArray[np.uint32]] = {}  # by place: what later rounds see again

    def draw(
        self,
        number: int,
        place: int,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
        whole: RowShare | None = None,
    ) -> Sample:
        """The rows of the last round that drew."""
        drawn_in = number - number % self._frequency
        if drawn_in != self._drawn_in:
            self._drawn_in, self._drawn = drawn_in, {}
        if place not in self._drawn:
            key = stream_key(self._seed, drawn_in, place, ROWS)
            self._drawn[place] = self._rows(gradient.shape[1], key, tasks, whole)
        return Sample(self._drawn[place], gradient, hessian)

    def _rows(self, n_rows: int, key: int, tasks: int, whole: RowShare | None) -> NDArray[np.uint32]:
        if len(self._group):
            return draw_rows_by_group(self._group, self._shares, key, tasks, whole)
        return draw_rows(n_rows, self._shares[0], key, tasks, whole)


@dataclass(frozen=True)
class GradientRows:
    """Rows of large gradients and some of the others, see `gradients`; all rows before round ``first_round``.

    In the first rounds most rows are wrong by as much, and their gradients say little about which are of use.
    """

    seed: int
    top: float
    other: float
    first_round: int

    def draw(
        self,
        number: int,
        place: int,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
        whole: RowShare | None = None,
    ) -> Sample:
        """The same rows for all outputs, drawn by what their gradients are together."""
        if number < self.first_round:
            return Sample(ALL_ROWS, gradient, hessian)
        key = stream_key(self.seed, number, place, ROWS)
        return Sample(*draw_by_gradient(gradient, hessian, self.top, self.other, key, tasks, whole))


@dataclass(frozen=True)
class BayesianRows:
    """All rows, each with a random weight, see `weights`; drawn anew every ``frequency`` rounds."""

    seed: int
    temperature: float
    frequency: int = 1

    def draw(
        self,
        number: int,
        place: int,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
        whole: RowShare | None = None,
    ) -> Sample:
        """The same weights for all outputs."""
        key = stream_key(self.seed, number - number % self.frequency, place, ROWS)
        factor = bayesian_weights(gradient.shape[1], self.temperature, key, tasks, whole)
        sample = Sample(ALL_ROWS, weighed(factor, gradient, tasks), weighed(factor, hessian, tasks), factor)
        for values, products in ((gradient, sample.gradient), (hessian, sample.hessian)):
            if not (math.isfinite(products.min()) and math.isfinite(products.max())):
                raise InputError(
                    f"sampling.temperature={self.temperature} multiplies derivatives of the loss of up to "
                    f"{np.abs(values).max():.3g} by weights of up to {factor.max():.3g}, which is more than a float32 holds; "
                    "use a lower temperature, or labels and weights on a smaller scale."
                )
        return sample


@dataclass(frozen=True)
class VarianceRows:
    """Rows with chances that grow with their gradients, see `weights`; ``reg`` None: from each round's gradients."""

    seed: int
    share: float
    reg: float | None = None

    def draw(
        self,
        number: int,
        place: int,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
        whole: RowShare | None = None,
    ) -> Sample:
        """The same rows for all outputs, drawn by what their gradients are together."""
        key = stream_key(self.seed, number, place, ROWS)
        factor = draw_by_variance(gradient, self.share, self.reg, key, tasks, whole)
        rows = np.flatnonzero(factor != 0.0).astype(np.uint32)
        return Sample(rows if len(rows) else NO_ROWS, weighed(factor, gradient, tasks), weighed(factor, hessian, tasks), factor)
