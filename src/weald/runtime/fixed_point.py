"""Sums of floats as 64-bit integers, which do not depend on the order of the terms."""

from __future__ import annotations

import numpy as np


def fixed_point(largest: float, n_terms: int) -> float:
    """A power of two that brings n_terms * largest close to, but not above, 2**61.

    >>> fixed_point(1.0, 2**20) == 2.0**40
    True
    """
    exponent = int(np.frexp(max(largest, 1e-280) * n_terms)[1])
    return float(np.ldexp(1.0, min(61 - exponent, 1000)))
