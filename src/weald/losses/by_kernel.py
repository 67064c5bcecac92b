"""Losses whose derivatives a kernel fills."""

from __future__ import annotations

from typing import Any, ClassVar

from weald.losses.base import Float32s, Float64s, Loss, weight_or_empty


class OneOutput(Loss):
    """A loss of one score a row; its kernel is told the numbers of `_constants`, too."""

    _kernel: ClassVar[
        Any
    ]  # a static method: Numba's functions would become methods of the class that holds them

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


class SeveralOutputs(Loss):
    """A loss of several scores a row, which its kernel sees together."""

    _kernel: ClassVar[Any]

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
