"""Single values that interfaces take: whole numbers, positions of columns, seeds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from weald.runtime.errors import InputError


def whole_of(value: Any) -> int | None:
    """The whole number that a value is, of NumPy's types too; None: it is none, as truth values are none.

    >>> whole_of(np.int64(7)), whole_of(True), whole_of(7.0)
    (7, None, None)
    """
    try:
        return None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        return None


def position_of(column: Any, names: Sequence[str], what: str) -> int:
    """The position of a column that ``what`` gives by its name or position."""
    place = whole_of(column)
    if place is not None and 0 <= place < len(names):
        return place
    if column in names:
        return list(names).index(column)
    raise InputError(f"{what} names the column {column!r}, which the data does not have.")


def read_seed(seed: Any) -> Any:
    """Whole numbers, also as text, and what scikit-learn takes as a random state."""
    if not isinstance(seed, str):
        return seed
    try:
        return int(seed)
    except ValueError:
        raise InputError(f"seed must be a whole number, not {seed!r}.") from None
