"""Cells to numbers and to dictionary codes; counting a column's categories."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Category, Codes
from weald.runtime.errors import InputError, InputTypeError

CellKind = Literal["missing", "number", "string", "other"]

# pandas' own missing values, by name: this module never imports pandas.
_PANDAS_MISSING = ("NAType", "NaTType")


def kind_of_type(cell_type: type) -> CellKind:
    """What cells of this type are; a float NaN counts as a number here."""
    if cell_type is type(None) or (
        cell_type.__name__ in _PANDAS_MISSING and cell_type.__module__.startswith("pandas.")
    ):
        return "missing"
    if issubclass(cell_type, str):
        return "string"
    if issubclass(cell_type, (numbers.Number, np.bool_)):
        return "number"
    return "other"


def is_missing(cell: object) -> bool:
    """Whether a cell of an object column is None, NaN, pandas' NA or NaT."""
    kind = kind_of_type(type(cell))
    return kind == "missing" or (kind == "number" and bool(cell != cell))


def kinds_of_cells(cells: Sequence[Any], name: str, first_row: int = 0) -> set[CellKind]:
    """The kinds of cells in one object column; a cell that no column can hold is refused with its row.

    ``first_row`` is the row number of ``cells[0]`` in the user's table.
    """
    types = set(map(type, cells))
    for cell_type in types:
        if issubclass(cell_type, (complex, np.complexfloating)):
            raise InputError(f"Complex data not supported: column {name!r} holds {cell_type.__name__}.")
        if kind_of_type(cell_type) == "other":
            row = first_row + next(i for i, cell in enumerate(cells) if type(cell) is cell_type)
            raise InputTypeError(
                f"In column {name!r}, row {row}, the argument must be a string or a number, "
                f"not {cell_type.__name__!r}."
            )
    return {kind_of_type(cell_type) for cell_type in types}


class CodesWithUnknown(Codes):
    """A dictionary in which unknown categories have the code after the last one; only missing values are NaN.

    >>> codes = CodesWithUnknown({"red": 0.0, "blue": 1.0})
    >>> codes["blue"], codes["green"], codes[None]
    (1.0, 2.0, nan)
    """

    def __missing__(self, category: Any) -> float:
        code = super().__missing__(category)
        return code if code == code or is_missing(category) else float(len(self))


def check_categories(categories: Iterable[Any], name: str) -> None:
    """Refuse the categories of a data frame's column when they are, for example, intervals or dates."""
    for cell_type in set(map(type, categories)):
        if kind_of_type(cell_type) == "other" or issubclass(cell_type, (complex, np.complexfloating)):
            raise InputError(
                f"Column {name!r} has categories of type {cell_type.__name__}; they must be strings or "
                "numbers: convert them, for example with .astype(str).astype('category')."
            )


def numbers_of_cells(cells: Sequence[Any], name: str) -> NDArray[np.float64]:
    """Object cells that are numbers or missing, as float64 with NaN for missing."""
    # NumPy itself reads None as NaN, but not pandas' missing values.
    strange = {kind for kind in set(map(type, cells)) if kind_of_type(kind) == "missing"} - {type(None)}
    if strange:
        cells = [None if type(cell) in strange else cell for cell in cells]
    try:
        return np.array(cells, dtype=object).astype(np.float64)
    except OverflowError:
        raise InputError(f"Column {name!r} holds an integer that is too large for a float64.") from None


def count_numbers(values: NDArray[Any]) -> dict[Any, int]:
    """How often each number occurs in a numeric or boolean array; NaN is left out."""
    distinct, counts = np.unique(_sortable(values), return_counts=True)
    return {
        value: count
        for value, count in zip(distinct.tolist(), counts.tolist(), strict=True)
        if value == value  # leaves out NaN
    }


def codes_of_numbers(values: NDArray[Any], codes: Codes) -> NDArray[np.float64]:
    """The dictionary codes of a numeric or boolean array."""
    distinct, inverse = np.unique(_sortable(values), return_inverse=True)
    return codes_of_cells(distinct.tolist(), codes)[inverse]


def codes_of_cells(cells: Iterable[Any], codes: Codes) -> NDArray[np.float64]:
    """The dictionary codes of Python objects; unknown and missing ones are NaN."""
    return np.fromiter(map(codes.__getitem__, cells), dtype=np.float64)


def dictionary(counts: Mapping[Any, int]) -> tuple[Category, ...]:
    """A column's categories, most frequent first.

    Ties are in sorted order, numbers before strings, so that the order of the rows does not matter. Integral
    floats become ints, and booleans beside other numbers too.
    """
    merged: Counter[Category] = Counter()
    for cell, count in counts.items():
        if not is_missing(cell):
            merged[_plain(cell)] += count
    if not all(isinstance(category, bool) for category in merged):
        merged = Counter({int(key) if isinstance(key, bool) else key: count for key, count in merged.items()})
    return tuple(sorted(merged, key=lambda value: (-merged[value], isinstance(value, str), value)))


def _sortable(values: NDArray[Any]) -> NDArray[Any]:
    # An extended-precision scalar does not become a Python float, and would not be found in a dictionary.
    return values.astype(np.float64) if values.dtype.kind == "f" and values.dtype.itemsize > 8 else values


def _plain(cell: Any) -> Category:
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    if isinstance(cell, numbers.Integral):
        return int(cell)
    number = float(cell)
    return int(number) if number.is_integer() else number
