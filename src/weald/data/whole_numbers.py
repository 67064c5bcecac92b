"""Whole numbers that floats cannot tell apart."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError

_EXACT = 2**53


def first_collapse(values: NDArray[Any]) -> tuple[int, int] | None:
    """Two different whole numbers of an array that are the same float64; None where there are none.

    >>> first_collapse(np.array([2**53, 2**53 + 1])), first_collapse(np.array([2**60, 2**61]))
    ((9007199254740992, 9007199254740993), None)
    """
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or len(values) == 0:
        return None
    if int(values.max()) <= _EXACT and int(values.min()) >= -_EXACT:
        return None
    distinct = np.unique(values)
    same = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0.0)
    return None if len(same) == 0 else (int(distinct[same[0]]), int(distinct[same[0] + 1]))


def first_collapse_of_cells(cells: Iterable[Any]) -> tuple[int, int] | None:
    """`first_collapse` of Python's whole numbers among other cells."""
    large = {int(cell) for cell in cells if isinstance(cell, numbers.Integral) and abs(int(cell)) >= _EXACT}
    distinct = sorted(large)
    for first, second in itertools.pairwise(distinct):
        try:
            if float(first) == float(second):
                return first, second
        except OverflowError:  # refused where it is turned to a float
            return None
    return None


def check_collapse(same: tuple[int, int] | None, name: str) -> None:
    """Refuse a column of which these two whole numbers become the same float, as long identifiers do."""
    if same is not None:
        raise InputError(
            f"Column {name!r} holds {same[0]} and {same[1]}, which are the same number to a float: leave the column out, "
            "or turn it to strings if its numbers name things."
        )
