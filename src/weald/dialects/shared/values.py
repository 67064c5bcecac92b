"""Single values that interfaces take: whole numbers, names and positions of columns, how much is said, seeds."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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


def whole_number(name: str, value: Any, least: int) -> int:
    """A whole number, checked; of NumPy's types too.

    >>> whole_number("num_boost_round", np.int64(7), 1)
    7
    """
    number = whole_of(value)
    if number is None or number < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return number


def position_of(column: Any, names: Sequence[str], what: str) -> int:
    """The position of a column that ``what`` gives by its name or position, as text too."""
    if isinstance(column, str) and column in names:
        return list(names).index(column)
    place = int(column) if isinstance(column, str) and column.isdecimal() else whole_of(column)
    if place is not None and 0 <= place < len(names):
        return place
    raise InputError(f"{what} names the column {column!r}, which the data does not have.")


def names_of_columns(what: str, names: Iterable[Any], n_columns: int, marks: str = "") -> list[str]:
    """Names of the columns, checked; ``marks``: what none of them may contain."""
    chosen = [str(name) for name in names]
    if len(chosen) != n_columns:
        raise InputError(f"{what} has {len(chosen)} names, but data has {n_columns} columns.")
    if len(set(chosen)) != len(chosen):
        raise InputError(f"{what} must differ from each other.")
    wrong = next((name for name in chosen if any(mark in name for mark in marks)), None)
    if wrong is not None:
        raise InputError(f"{what} must not contain any of {marks}, but one is {wrong!r}.")
    return chosen


@contextmanager
def without_warnings(when: bool) -> Iterator[None]:
    """A block whose warnings are not shown, where that is asked for."""
    with warnings.catch_warnings():
        if when:
            warnings.simplefilter("ignore")
        yield


def read_seed(seed: Any) -> Any:
    """Whole numbers, also as text, and what scikit-learn takes as a random state."""
    if not isinstance(seed, str):
        return seed
    try:
        return int(seed)
    except ValueError:
        raise InputError(f"seed must be a whole number, not {seed!r}.") from None
