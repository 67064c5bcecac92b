"""The containers that a table can come in: each tells its columns' kinds and then gives its floats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data.categories import codes_of_numbers, count_numbers
from weald.data.columns import Rows, TableColumn, row_blocks
from weald.data.schema import Codes, Kind
from weald.data.whole_numbers import check_collapse, first_collapse

if TYPE_CHECKING:
    from weald.data.dataset import Source

#: A dictionary for every categorical column, None for every numeric one.
Coding = Sequence[Codes | None]

# Larger codes are not exact in float32.
_SINGLE_CODES = 2**24


class Table(Protocol):
    """A table that was opened but not yet converted.

    ``names`` are the user's names of the columns; ``named`` is false when they are made up or not strings.
    """

    @property
    def n_rows(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def named(self) -> bool: ...

    def kinds(self) -> list[Kind]:
        """What each column is by its own type."""

    def all_missing(self, position: int) -> bool:
        """Whether one column has no value in any row."""

    def is_text(self, position: int) -> bool:
        """Whether a column's categories are text that nobody declared to be categories."""

    def check_numbers(self, positions: Iterable[int]) -> None:
        """Refuse columns, among these, of whole numbers of which two become the same float."""

    def counts(self, position: int) -> dict[Any, int]:
        """How often each value of one column occurs."""

    def source(self, order: Sequence[int], coding: Coding) -> Source:
        """The floats of the columns in ``order``; ``coding`` is in that order too."""


class ArrayTable:
    """A two-dimensional numeric or boolean array; it is its own source, as no names can reorder it."""

    named = False

    def __init__(self, values: NDArray[Any], coding: Coding = ()) -> None:
        self.n_rows = values.shape[0]
        self._values = values
        self._coded = [(position, codes) for position, codes in enumerate(coding) if codes is not None]
        native = values.dtype.char in "fd" and values.dtype.isnative
        self.whole = values if native and not self._coded else None
        self._float = _float_type(values.dtype.newbyteorder("=") == np.float32, coding)

    @property
    def names(self) -> tuple[str, ...]:
        return made_up_names(self._values.shape[1])

    def kinds(self) -> list[Kind]:
        return ["numeric"] * self._values.shape[1]

    def all_missing(self, position: int) -> bool:
        return False  # numbers go with either kind anyway

    def is_text(self, position: int) -> bool:
        return False

    def check_numbers(self, positions: Iterable[int]) -> None:
        if self._values.dtype.kind not in "iu" or first_collapse(self._values.ravel()) is None:
            return
        for position in positions:
            check_collapse(first_collapse(self._values[:, position]), self.names[position])

    def counts(self, position: int) -> dict[Any, int]:
        counts: Counter[Any] = Counter()
        for rows in row_blocks(self.n_rows):
            counts.update(count_numbers(self._values[rows, position]))
        return counts

    def source(self, order: Sequence[int], coding: Coding) -> ArrayTable:
        return ArrayTable(self._values, coding)

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        for rows in row_steps(self.n_rows, step):
            yield rows.start, self._floats(self._values[rows])

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._floats(self._values[rows])

    def _floats(self, values: NDArray[Any]) -> NDArray[Any]:
        block = values.astype(self._float)
        for position, codes in self._coded:
            block[:, position] = codes_of_numbers(values[:, position], codes)
        return block


class ColumnTable:
    """Columns held one by one: arrays of objects or strings, mappings from names to arrays."""

    def __init__(
        self, columns: Sequence[TableColumn], n_rows: int, names: tuple[str, ...], named: bool
    ) -> None:
        self.n_rows = n_rows
        self.names = names
        self.named = named
        self._columns = columns

    def kinds(self) -> list[Kind]:
        return [column.natural for column in self._columns]

    def all_missing(self, position: int) -> bool:
        return self._columns[position].all_missing()

    def is_text(self, position: int) -> bool:
        return self._columns[position].is_text

    def check_numbers(self, positions: Iterable[int]) -> None:
        for position in positions:
            check_collapse(self._columns[position].first_collapse(), self.names[position])

    def counts(self, position: int) -> dict[Any, int]:
        return self._columns[position].counts()

    def source(self, order: Sequence[int], coding: Coding) -> ColumnSource:
        return ColumnSource([self._columns[position] for position in order], self.n_rows, coding)


class ColumnSource:
    """Blocks filled column by column."""

    whole = None

    def __init__(self, columns: Sequence[TableColumn], n_rows: int, coding: Coding) -> None:
        self.n_rows = n_rows
        self._columns = columns
        self._coding = coding
        numeric = [column for column, codes in zip(columns, coding, strict=True) if codes is None]
        self._float = _float_type(bool(numeric) and all(column.single for column in numeric), coding)

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        for rows in row_steps(self.n_rows, step):
            yield rows.start, self._floats(rows, rows.stop - rows.start)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._floats(rows, len(rows))

    def _floats(self, rows: Rows, n_rows: int) -> NDArray[Any]:
        # Column by column in memory: each is written once, whole.
        block = np.empty((n_rows, len(self._columns)), dtype=self._float, order="F")
        for position, (column, codes) in enumerate(zip(self._columns, self._coding, strict=True)):
            block[:, position] = column.numbers(rows) if codes is None else column.codes(rows, codes)
        return block


@lru_cache(maxsize=8)
def made_up_names(n_columns: int) -> tuple[str, ...]:
    """The names of columns that have none: x0, x1, …"""
    return tuple(f"x{position}" for position in range(n_columns))


def row_steps(n_rows: int, step: int) -> Iterator[slice]:
    """The rows in steps of so many."""
    for first in range(0, n_rows, step):
        yield slice(first, min(first + step, n_rows))


def _float_type(single: bool, coding: Coding) -> type[np.floating[Any]]:
    exact = all(len(codes) <= _SINGLE_CODES for codes in coding if codes is not None)
    return np.float32 if single and exact else np.float64
