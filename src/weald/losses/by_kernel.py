"""Losses whose derivatives a kernel fills: on one thread, or its parallel twin on several."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from weald.losses.base import Float32s, Float64s, Loss, weight_or_empty


class Kernels(NamedTuple):
    """A kernel and its parallel twin; in a tuple, for Numba's functions would become methods of the class that holds them."""

    serial: Any
    parallel: Any


class OneOutput(Loss):
    """A loss of one score a row; its kernels are told the numbers of `_constants`, too."""

    _kernels: ClassVar[Kernels]

    @property
    def _constants(self) -> tuple[float, ...]:
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
        given = (scores[0], y, weight_or_empty(weight), *self._constants)
        if tasks == 1:
            self._kernels.serial(*given, gradient[0], hessian[0])
        else:
            self._kernels.parallel(*given, tasks, gradient[0], hessian[0])


class SeveralOutputs(Loss):
    """A loss of several scores a row, which its kernels see together."""

    _kernels: ClassVar[Kernels]

    def gradients(
        self,
        scores: Float64s,
        y: Float64s,
        weight: Float64s | None,
        gradient: Float32s,
        hessian: Float32s,
        tasks: int,
    ) -> None:
        given = (scores, y, weight_or_empty(weight))
        if tasks == 1:
            self._kernels.serial(*given, 0, scores.shape[1], gradient, hessian)
        else:
            self._kernels.parallel(*given, tasks, gradient, hessian)
