"""What may be said about a table in a file, and what was found in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

NamedColumns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; None means that the file itself shows it.

    Parameters
    ----------
    separator, decimal, thousands, quote, encoding : of text; an empty ``thousands`` or ``quote`` says that there is none.
    header : whether the first line names the columns.
    na_values : cells that are missing values, beside the usual ones.
    numeric : columns of numbers: signs of currency and percent are cut off, and what is no number is missing.
    categorical : columns of categories: text where not every cell is a number.
    text : columns that are text even where every cell is a number.
    known_numbers : columns that are numbers in another table, which this one goes with: none of their cells makes them text.
    dates : columns of dates, which are read as numbers, their parts.
    date_format : how dates are written, as in ``strptime``; None for 2024-01-31, also with a time, and 31.1.2024.
    wanted : the columns to read; None for all.
    dropped : columns not to read.
    may_be_empty : whether a table may have names of columns and no rows.
    """

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    na_values: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    known_numbers: frozenset[str] = frozenset()
    dates: tuple[str, ...] = ()
    date_format: str | None = None
    wanted: frozenset[str] | None = None
    dropped: frozenset[str] = frozenset()
    may_be_empty: bool = False

    def wants(self, name: str) -> bool:
        """Whether a column is to be read."""
        return name not in self.dropped and (self.wanted is None or name in self.wanted)


@dataclass
class FileTable:
    """A table that was read from a file, and how.

    ``file`` is what messages call it, ``names`` are all of its columns, also those that were not wanted, ``found``
    is how its text was
    understood, ``notes`` are sentences about what is not as written, and ``lines`` has the line of every row, counted from 1.
    """

    file: str
    names: tuple[str, ...]
    columns: NamedColumns
    found: str
    notes: list[str] = field(default_factory=list)
    lines: NDArray[np.int64] | None = None

    def place(self, row: int) -> str:
        """Where a row is: its line in a text file, its number counted from 1 elsewhere.

        >>> table = FileTable("a.csv", (), {}, "CSV", lines=np.array([2, 4]))
        >>> table.place(1)
        'line 4'
        """
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"
