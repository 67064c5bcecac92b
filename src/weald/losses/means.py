"""Weighted means from compensated sums: the same on every CPU and any number of threads."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Float64s
from weald.runtime.errors import InputError
from weald.runtime.jit import kernel

# Multiplying by 2**27 + 1 splits a float64 into two halves whose products are exact (Dekker 1971).
_SPLITTER = np.float64(134217729.0)


@kernel
def compensated_sum(values: Float64s) -> float:
    """The sum of `values` as if added in twice the precision and rounded once (Ogita, Rump, Oishi 2005)."""
    total = 0.0
    error = 0.0
    for i in range(values.shape[0]):
        value = values[i]
        added = total + value
        back = added - total
        error += (total - (added - back)) + (value - back)
        total = added
    return total + error


@kernel
def compensated_dot(values: Float64s, weight: Float64s) -> float:
    """The sum of values * weight as if in twice the precision and rounded once (Ogita, Rump, Oishi 2005)."""
    total = 0.0
    error = 0.0
    for i in range(values.shape[0]):
        value = values[i]
        factor = weight[i]
        product = value * factor
        split = value * _SPLITTER
        value_high = split - (split - value)
        value_low = value - value_high
        split = factor * _SPLITTER
        factor_high = split - (split - factor)
        factor_low = factor - factor_high
        lost = product - value_high * factor_high - value_low * factor_high - value_high * factor_low
        added = total + product
        back = added - total
        error += (total - (added - back)) + (product - back) + (value_low * factor_low - lost)
        total = added
    return total + error


def weighted_mean(values: Float64s, weight: Float64s | None) -> float:
    """The mean of `values`; an integer weight counts like as many copies of the row.

    >>> weighted_mean(np.array([1.0, 2.0]), np.array([3.0, 1.0]))
    1.25
    """
    if values.shape[0] == 0:
        raise InputError("A mean needs at least one row, but there is none.")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if weight is None:
        return float(compensated_sum(values)) / float(values.shape[0])
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    total = float(compensated_sum(weight))
    if not total > 0.0:
        raise InputError(f"sample_weight must add up to more than 0, but it adds up to {total}.")
    return float(compensated_dot(values, weight)) / total
