"""``exp`` and ``log`` of arrays, the same on every CPU.

NumPy takes other code on another CPU, whose results differ in the last bit; so do C libraries' for single numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weald.runtime import mathlib
from weald.runtime.arrays import Float64s
from weald.runtime.jit import kernel


@kernel
def _exp(values: Float64s, result: Float64s) -> None:
    for i in range(len(values)):
        result[i] = mathlib.exp(values[i])


@kernel
def _log(values: Float64s, result: Float64s) -> None:
    for i in range(len(values)):
        result[i] = mathlib.log(values[i])


def exp(values: ArrayLike) -> Float64s:
    """e to the power of every number.

    >>> exp([0.0, -np.inf]).tolist()
    [1.0, 0.0]
    """
    given = np.ascontiguousarray(values, np.float64)
    result = np.empty_like(given)
    _exp(given.ravel(), result.ravel())
    return result


def log(values: ArrayLike) -> Float64s:
    """The natural logarithm of every number.

    >>> log([[1.0], [np.inf]]).tolist()
    [[0.0], [inf]]
    """
    given = np.ascontiguousarray(values, np.float64)
    result = np.empty_like(given)
    _log(given.ravel(), result.ravel())
    return result
