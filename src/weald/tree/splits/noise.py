"""Noise in the choice of columns: what CatBoost calls random strength.

The best split of every column gets a normal number of its own for the comparison with other columns, so that of two columns that
are nearly as good now one wins and now the other. The noise is in units of what a split without any meaning scores by chance:
the mean square of the gradients over the mean hessian, or its square root where the score is a cosine. Only splits that pay
take part, and a split's gain stays what it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Float32s, Int, Uint32s
from weald.runtime.jit import inlined, kernel
from weald.runtime.mathlib import log, sigmoid64
from weald.runtime.random import SCORE_NOISE, mix, normal, stream
from weald.tree.histograms.quantise import largest_values
from weald.tree.state import Gradients

_STEPS = 2.0**20  # of a square between 0 and the largest, and of a hessian: sums of 2**43 rows fit


@inlined
def noise_of(key: np.uint64, node: int, feature: int) -> float:
    """The standard normal number of a column in a node, or in the level that begins with the node; ``key``: the tree's."""
    return normal(mix(mix(stream(key, SCORE_NOISE) + np.uint64(node)) + np.uint64(feature)))


@kernel
def _whole_sums(
    gradient: Float32s, hessian: Float32s, rows: Uint32s, largest_gradient: float, largest_hessian: float
) -> tuple[Int, Int]:
    """Sums of squared gradients and of hessians of the rows (empty: all), in whole steps of the largest."""
    squares, hessians = np.int64(0), np.int64(0)
    for i in range(len(rows) if len(rows) > 0 else len(gradient)):
        row = np.uint64(rows[i]) if len(rows) > 0 else np.uint64(i)
        share = np.float64(gradient[row]) / largest_gradient
        squares += np.int64(share * share * _STEPS + 0.5)
        hessians += np.int64(np.float64(hessian[row]) / largest_hessian * _STEPS + 0.5)
    return squares, hessians


def noise_unit(
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    rows: NDArray[np.uint32],
    gradients: Gradients,
    cosine: bool,
) -> float:
    """The standard deviation of noise of strength 1, in units of the integer sums, for the rows (empty: all) of a tree."""
    return unit_of_squares(
        *sum_squares(gradient, hessian, rows, largest_values(gradients)), gradients, cosine
    )


def sum_squares(
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    rows: NDArray[np.uint32],
    largest: tuple[float, float],
) -> tuple[int, int]:
    """Sums of squared gradients and of hessians of the rows (empty: all), in whole steps of the largest of all rows."""
    squares, hessians = _whole_sums(gradient, hessian, rows, *largest)
    return int(squares), int(hessians)


def unit_of_squares(squares: int, hessians: int, gradients: Gradients, cosine: bool) -> float:
    """`noise_unit` from the sums over all rows of a tree."""
    if squares == 0 or hessians == 0:
        return 0.0
    largest = largest_values(gradients)
    ratio = squares / hessians * largest[0] * largest[0] / largest[1]
    unit = gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    return math.sqrt(ratio / unit) if cosine else ratio / unit


def fading(n_rows: int, n_rounds: int, learning_rate: float) -> float:
    """The share of the noise that is left after so many rounds: n / (n + exp(rounds * learning_rate)).

    About 1 until the sum of the learning rates comes near to the logarithm of the number of rows, then fast to 0.

    >>> round(fading(1000, 0, 0.1), 3), round(fading(1000, 200, 0.1), 3)
    (0.999, 0.0)
    """
    return float(sigmoid64(log(float(n_rows)) - n_rounds * learning_rate))
