"""Warnings of what a column was probably meant to be, shown at the user's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any

from weald.data.categories import is_missing
from weald.data.date_text import looks_like_date
from weald.data.number_text import formats_of, is_hexadecimal
from weald.runtime.errors import DataWarning

# Of so many different values the kinds of the most frequent are looked at.
_LOOKED_AT = 2000


def warn_of_data(message: str) -> None:
    """Warn, at the line outside of Weald that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("weald."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, DataWarning, stacklevel=level)


def warn_of_text(name: str, counts: Mapping[Any, int]) -> None:
    """Warn when a column of text, given by how often each value occurs, holds mostly numbers or mostly dates."""
    values = [value for value in counts if not is_missing(value)]
    if len(values) > _LOOKED_AT:
        values = sorted(values, key=lambda value: -counts[value])[:_LOOKED_AT]
    total = sum(counts[value] for value in values)
    numbers = [value for value in values if _is_number(value)]
    n_numbers = sum(counts[value] for value in numbers)
    if 2 * n_numbers > total:
        other = next((value for value in values if not _is_number(value)), None)
        but = "" if other is None else f", and {other!r} is none"
        warn_of_data(
            f"Column {name!r} is text, but {n_numbers:,} of {total:,} values are numbers, such as "
            f"{str(numbers[0])!r}{but}; each is taken "
            "for a category: turn the column to numbers, for example with pandas.to_numeric(column, errors='coerce'), or declare "
            "it categorical if that is meant."
        )
        return
    dates = [value for value in values if isinstance(value, str) and looks_like_date(value.strip())]
    if sum(counts[value] for value in dates) > 0.8 * total:
        warn_of_data(
            f"Column {name!r} is text that holds dates, such as {dates[0]!r}; each is taken for a category: pass "
            f"weald.date_parts(X, [{name!r}]) to learn from their parts, or declare it categorical if that is meant."
        )


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        text = value.strip()
        return bool(formats_of(text)) or is_hexadecimal(text)
    return not isinstance(value, bool)
