"""Target statistics (Micci-Barreca 2001; Prokhorenkova and others 2018, section 3).

The statistic of a row is the mean label of some other rows with its category, drawn to a prior P that counts for ``a`` rows:

    (sum of their labels + a P) / (their number + a)

The kinds differ in whose labels a *training* row gets. ``greedy``: all rows, its own among them. ``leave_one_out``: all but its
own. ``holdout``: rows that are set aside and train no model. ``ordered``: the rows before it in a random order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.encoding.kernels import history, totals

Codes = NDArray[np.uint32]
Integers = NDArray[np.int64]


class Sums(NamedTuple):
    """Sums of labels, in the targets' fixed point, and numbers of rows: one a row or one a code."""

    sums: Integers
    counts: Integers


def total_sums(codes: Codes, target: Integers, n_codes: int) -> Sums:
    """One a code, over all rows; what new rows get, and training rows by ``greedy``.

    >>> total_sums(np.array([0, 1, 0], np.uint32), np.array([1, 1, 0]), 3)
    Sums(sums=array([1, 1, 0]), counts=array([2, 1, 0]))
    """
    found = Sums(np.empty(n_codes, np.int64), np.empty(n_codes, np.int64))
    totals(codes, target, n_codes, found.sums, found.counts)
    return found


def sums_without_own(codes: Codes, target: Integers, n_codes: int) -> Sums:
    """One a row: the rows of its code without itself (``leave_one_out``)."""
    of_code = total_sums(codes, target, n_codes)
    return Sums(of_code.sums[codes] - target, of_code.counts[codes] - 1)


def sums_before(codes: Codes, order: Codes, target: Integers, n_codes: int) -> Sums:
    """One a row: the rows of its code before it in ``order``, which names every row once (``ordered``)."""
    found = Sums(np.empty(len(codes), np.int64), np.empty(len(codes), np.int64))
    history(codes, order, target, n_codes, found.sums, found.counts)
    return found


def drawn_to_prior(sums: Sums, scale: float, prior: float, weight: float) -> NDArray[np.float64]:
    """The statistics: means drawn to ``prior``, which counts for ``weight`` rows.

    >>> drawn_to_prior(Sums(np.array([2, 0]), np.array([3, 0])), scale=1.0, prior=0.5, weight=1.0)
    array([0.625, 0.5  ])
    """
    means: NDArray[Any] = (sums.sums / scale + weight * prior) / (sums.counts + weight)
    return means
