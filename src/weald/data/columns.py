"""One column of the user's table, whatever holds it: its kind, its numbers, its categories, its codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.categories import (
    CellKind,
    codes_of_cells,
    codes_of_numbers,
    count_numbers,
    kinds_of_cells,
    numbers_of_cells,
)
from weald.data.schema import Codes, Kind
from weald.data.whole_numbers import first_collapse, first_collapse_of_cells
from weald.runtime.errors import InputError

Rows = slice | NDArray[np.int64]

ROWS_PER_BLOCK = 65_536


def row_blocks(n_rows: int) -> Iterator[slice]:
    """The rows of a column in blocks, for passes that must not hold all of a column's copies at once."""
    for start in range(0, n_rows, ROWS_PER_BLOCK):
        yield slice(start, min(start + ROWS_PER_BLOCK, n_rows))


class TableColumn(ABC):
    """A column as the user gave it; nothing is converted before rows are asked for."""

    #: What the column is by its own type.
    natural: Kind
    #: Whether the numbers are float32 in the user's table, so that a float32 block loses nothing.
    single: bool = False
    #: Whether its categories are text that nobody declared to be categories.
    is_text: bool = False

    @abstractmethod
    def numbers(self, rows: Rows) -> NDArray[Any]:
        """The chosen rows as numbers, NaN for missing; of categories only when all are missing."""

    @abstractmethod
    def all_missing(self) -> bool:
        """Whether no row has a value, so that the column goes with either kind."""

    def first_collapse(self) -> tuple[int, int] | None:
        """Two different whole numbers that are the same float; None where there are none."""
        return None

    @abstractmethod
    def counts(self) -> dict[Any, int]:
        """How often each value occurs (missing values may be among the keys)."""

    @abstractmethod
    def codes(self, rows: Rows, codes: Codes) -> NDArray[np.float64]:
        """The chosen rows as dictionary codes, NaN for missing or unknown."""


class ObjectColumn(TableColumn):
    """Python objects, or NumPy strings: numbers unless a string is among them."""

    def __init__(self, cells: NDArray[Any], name: str) -> None:
        self._cells = cells
        self._name = name
        kinds = self._kinds()
        self.natural = "categorical" if "string" in kinds else "numeric"
        self.is_text = "string" in kinds

    def _kinds(self) -> set[CellKind]:
        if self._cells.dtype.kind == "U":
            return {"string"}
        found: set[CellKind] = set()
        for rows in row_blocks(len(self._cells)):
            found |= kinds_of_cells(self._cells[rows].tolist(), self._name, rows.start)
        return found

    def numbers(self, rows: Rows) -> NDArray[np.float64]:
        return numbers_of_cells(self._cells[rows].tolist(), self._name)

    def all_missing(self) -> bool:
        return self._kinds() <= {"missing"}

    def first_collapse(self) -> tuple[int, int] | None:
        return first_collapse_of_cells(self._cells.tolist())

    def counts(self) -> dict[Any, int]:
        counts: Counter[Any] = Counter()
        for rows in row_blocks(len(self._cells)):
            counts.update(self._cells[rows].tolist())
        return counts

    def codes(self, rows: Rows, codes: Codes) -> NDArray[np.float64]:
        return codes_of_cells(self._cells[rows].tolist(), codes)


class ArrayColumn(TableColumn):
    """A one-dimensional numeric or boolean array."""

    natural = "numeric"

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values
        self.single = values.dtype.newbyteorder("=") == np.float32

    def numbers(self, rows: Rows) -> NDArray[Any]:
        chosen: NDArray[Any] = self._values[rows]
        return chosen

    def first_collapse(self) -> tuple[int, int] | None:
        return first_collapse(self._values)

    def all_missing(self) -> bool:
        return bool(self._values.dtype.kind == "f" and np.isnan(self._values).all())

    def counts(self) -> dict[Any, int]:
        counts: Counter[Any] = Counter()
        for rows in row_blocks(len(self._values)):
            counts.update(count_numbers(self._values[rows]))
        return counts

    def codes(self, rows: Rows, codes: Codes) -> NDArray[np.float64]:
        return codes_of_numbers(self._values[rows], codes)


def open_values(values: NDArray[Any], name: str) -> TableColumn:
    """The reader for one column that is a one-dimensional array."""
    kind = values.dtype.kind
    if kind in "biuf":
        return ArrayColumn(values)
    if kind in "OUT":
        return ObjectColumn(values, name)
    if kind == "c":
        raise InputError(f"Complex data not supported: column {name!r} is of type {values.dtype}.")
    how = f"pass weald.date_parts(X, [{name!r}])" if kind == "M" else "convert it first"
    raise InputError(
        f"Column {name!r} is of type {values.dtype}, which is neither numbers nor strings: {how}."
    )
