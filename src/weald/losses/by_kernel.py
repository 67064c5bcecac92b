"""Where derivatives come from: a kernel for all outputs, or a loss for each of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from weald.losses.base import Float32s, Float64s, Loss, weight_or_empty


class _ByKernel(Loss):
    # A static method: Numba's functions would become methods of the class that holds them.
    _kernel: ClassVar[Any]
    _stretch: float = 1.0  # of the hessian, to keep Newton's steps short

    def _stretched(self, hessian: Float32s) -> None:
        if self._stretch != 1.0:
            hessian *= np.float32(self._stretch)


class OneOutput(_ByKernel):
    """A loss of one score a row; its kernel is told the numbers of `_constants`, too."""

    @property
    def _constants(self) -> tuple[Any, ...]:
        return ()

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        self._kernel(tasks, scores[0], y, weight_or_empty(weight), *self._constants, gradient[0], hessian[0])
        self._stretched(hessian)


class SeveralOutputs(_ByKernel):
    """A loss of several scores a row, which its kernel sees together."""

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        self._kernel(tasks, scores, y, weight_or_empty(weight), gradient, hessian)
        self._stretched(hessian)


class SeparateOutputs(Loss):
    """The sum of a loss for every output, each by itself."""

    @abstractmethod
    def _part(self, k: int, y: Float64s) -> tuple[Loss, Float64s, Float64s | None]:
        """The loss of one output, its labels, and by what its rows' weights are multiplied; None: by nothing."""

    def _parts(self, y: Float64s) -> Iterator[tuple[slice, Loss, Float64s, Float64s | None]]:
        for k in range(self.n_outputs):
            yield slice(k, k + 1), *self._part(k, y)

    def initial_score(self, y: Float64s, weight: Float64s | None) -> Float64s:
        return np.concatenate([loss.initial_score(labels, weight) for _, loss, labels, _ in self._parts(y)])

    def values(self, scores: Float64s, y: Float64s) -> Float64s:
        lost = np.zeros(scores.shape[1])
        for own, loss, labels, factor in self._parts(y):
            values = loss.values(scores[own], labels)
            lost += values if factor is None else factor * values
        return lost

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        for own, loss, labels, factor in self._parts(y):
            weighed = weight if factor is None else factor * (1.0 if weight is None else weight)
            loss.gradients(scores[own], labels, weighed, gradient[own], hessian[own], tasks)
