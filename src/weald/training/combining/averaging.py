"""Averages of what members say: H(x) = sum_i w_i h_i(x), with w_i >= 0 and sum 1 (Zhou 2012, chapter 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError

Floats = NDArray[np.float64]

# Weights that a person wrote down in decimals sum to one only so nearly.
_SUM_TOLERANCE = 1e-9


def simple_average(outputs: Floats) -> Floats:
    """The mean over the members, the first axis.

    >>> simple_average(np.array([[1.0, 2.0], [3.0, 6.0]])).tolist()
    [2.0, 4.0]
    """
    mean: Floats = np.mean(outputs, axis=0)
    return mean


def weighted_average(outputs: Floats, weights: Any) -> Floats:
    """The weighted mean over the members, the first axis; the weights must sum to one.

    >>> weighted_average(np.array([[1.0, 2.0], [3.0, 6.0]]), [0.75, 0.25]).tolist()
    [1.5, 3.0]
    >>> weighted_average(np.array([[1.0], [3.0]]), [3, 1])
    Traceback (most recent call last):
    ...
    weald.runtime.errors.InputError: weights must sum to 1, but sum to 4.0; divide them by their sum.
    """
    checked = check_weights(weights, len(outputs))
    total = float(checked.sum())
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise InputError(f"weights must sum to 1, but sum to {total}; divide them by their sum.")
    average = np.zeros_like(outputs[0], dtype=np.float64)
    for weight, output in zip(checked, outputs, strict=True):
        average += weight * output
    return average


def check_weights(weights: Any, count: int) -> Floats:
    """The members' weights as floats: one each, finite, not negative, not all zero.

    >>> check_weights([2, 1], 2)
    array([2., 1.])
    """
    try:
        checked = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"weights must be numbers, one for every estimator, not {weights!r}.") from None
    if checked.ndim != 1 or len(checked) != count:
        found = f"{len(checked)} weights" if checked.ndim == 1 else f"an array of shape {checked.shape}"
        raise InputError(f"weights must have one number for each of the {count} estimators, not {found}.")
    wrong = np.flatnonzero(~(np.isfinite(checked) & (checked >= 0)))
    if len(wrong):
        raise InputError(
            f"weights must be finite and not negative, but number {wrong[0]} is {checked[wrong[0]]}."
        )
    if not checked.any():
        raise InputError("weights are all zero; at least one must be positive.")
    return checked


def normalised(weights: Floats) -> Floats:
    """Weights as shares of their sum.

    >>> normalised(np.array([2.0, 1.0, 1.0])).tolist()
    [0.5, 0.25, 0.25]
    """
    shares: Floats = weights / weights.sum()
    return shares
