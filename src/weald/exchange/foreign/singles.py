"""Thresholds of systems that compare float32, as thresholds of float64 that decide the same.

Such a system rounds a value to float32 before it compares it, to the nearest and of two to the even one. All float64
that are rounded to a float32 lie within half a step of it. So "rounded at most ``b``" is "at most the middle between ``b`` and
the next float32", where the middle itself is rounded down if ``b`` is the even one of the two. Every float64 then goes where its
float32 goes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]


def at_most(bounds: Singles) -> NDArray[np.float64]:
    """Float64 thresholds for ``float32(x) <= bound``.

    >>> at_most(np.array([1.0], np.float32)) - 1.0 == 2.0**-24
    array([ True])
    """
    bounds = np.asarray(bounds, np.float32) + np.float32(0)  # -0.0 is 0.0
    with np.errstate(over="ignore"):
        above = np.nextafter(bounds, np.float32(np.inf))
    # Above the largest float32 is 2**128, which float64 has.
    upper = np.where(np.isposinf(above) & np.isfinite(bounds), 2.0**128, above.astype(np.float64))
    middle: NDArray[np.float64] = 0.5 * bounds.astype(np.float64) + 0.5 * upper
    is_even = (bounds.view(np.int32) & 1) == 0
    middle = np.where(is_even, middle, np.nextafter(middle, -np.inf))
    # Everything is at most infinity; only -infinity, and what is rounded to it, is at most -infinity.
    lowest = -(2.0**128) + 2.0**103
    middle = np.where(np.isneginf(bounds), lowest, middle)
    return np.where(np.isposinf(bounds), np.inf, middle)


def below(bounds: Singles) -> NDArray[np.float64]:
    """Float64 thresholds for ``float32(x) < bound``; NaN where nothing is below.

    >>> rows = np.array([1.0 - 2.0**-24, 1.0 - 2.0**-25, 1.0])
    >>> (rows <= below(np.array([1.0], np.float32))).tolist(), (rows.astype(np.float32) < 1).tolist()
    ([True, False, False], [True, False, False])
    """
    bounds = np.asarray(bounds, np.float32)
    with np.errstate(over="ignore"):
        smaller = np.nextafter(bounds, np.float32(-np.inf))
    return np.where(np.isneginf(bounds), np.nan, at_most(smaller))


def at_most_of_doubles(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Float64 thresholds for ``float32(x) <= bound``, where bounds are float64.

    >>> at_most_of_doubles(np.array([1.0 + 2.0**-30])) == at_most(np.array([1.0], np.float32))
    array([ True])
    """
    with np.errstate(over="ignore"):
        single = np.asarray(bounds, np.float64).astype(np.float32)
        smaller = np.nextafter(single, np.float32(-np.inf))
    too_high = single.astype(np.float64) > bounds
    return at_most(np.where(too_high, smaller, single))
