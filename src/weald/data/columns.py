"""One column of the user's table, whatever holds it: its kind, its numbers, its categories, its codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from weald.data.categories import (
    CellKind,
    check_categories,
    codes_of_cells,
    codes_of_numbers,
    count_numbers,
    kinds_of_cells,
    numbers_of_cells,
)
from weald.data.schema import Codes, Kind
from weald.runtime.errors import InputError

Rows = slice | NDArray[np.int64]

ROWS_PER_BLOCK = 65_536
# Below this many rows a Python dictionary is quicker than a table library's machinery.
_FEW_ROWS = 512


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

    @abstractmethod
    def numbers(self, rows: Rows) -> NDArray[Any]:
        """The chosen rows as numbers, NaN for missing; of categories only when all are missing."""

    @abstractmethod
    def all_missing(self) -> bool:
        """Whether no row has a value, so that the column goes with either kind."""

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

    def all_missing(self) -> bool:
        return bool(self._values.dtype.kind == "f" and np.isnan(self._values).all())

    def counts(self) -> dict[Any, int]:
        counts: Counter[Any] = Counter()
        for rows in row_blocks(len(self._values)):
            counts.update(count_numbers(self._values[rows]))
        return counts

    def codes(self, rows: Rows, codes: Codes) -> NDArray[np.float64]:
        return codes_of_numbers(self._values[rows], codes)


class SeriesColumn(TableColumn):
    """A typed column of a data frame: numbers, booleans, strings, or categories of any library but pandas."""

    def __init__(self, series: nw.Series[Any], natural: Kind, name: str) -> None:
        self._series = series.alias("value")
        self._name = name
        self.natural = natural
        self.single = series.dtype == nw.Float32

    def numbers(self, rows: Rows) -> NDArray[Any]:
        series = self._series[rows]
        if self.natural == "categorical" or (series.dtype == nw.Unknown and self.all_missing()):
            return np.full(len(series), np.nan)
        values = decoded(series).to_numpy()
        return numbers_of_cells(values.tolist(), self._name) if values.dtype == object else values

    def all_missing(self) -> bool:
        return bool(self._series.null_count() == len(self._series))

    def counts(self) -> dict[Any, int]:
        counts: Counter[Any] = Counter()
        for rows in row_blocks(len(self._series)):
            series = decoded(self._series[rows])
            if series.dtype == nw.String:
                categories, how_often = series.value_counts(sort=False, name="count").iter_columns()
                counts.update(dict(zip(categories.to_list(), how_often.to_list(), strict=True)))
                continue
            values = series.to_numpy()
            counts.update(values.tolist() if values.dtype == object else count_numbers(values))
        return counts

    def codes(self, rows: Rows, codes: Codes) -> NDArray[np.float64]:
        series = decoded(self._series[rows])
        if series.dtype == nw.String:
            return _codes_of_strings(series, codes)
        values = series.to_numpy()
        if values.dtype == object:
            return codes_of_cells(values.tolist(), codes)
        return codes_of_numbers(values, codes)


class DictionaryColumn(TableColumn):
    """Categories that the data frame itself holds as codes: those are translated through one small table."""

    natural = "categorical"

    def __init__(self, series: nw.Series[Any], name: str) -> None:
        self._series = series
        self._name = name

    def numbers(self, rows: Rows) -> NDArray[np.float64]:
        return np.full(len(self._series[rows]), np.nan)

    def all_missing(self) -> bool:
        return bool(self._series.null_count() == len(self._series))

    def counts(self) -> dict[Any, int]:
        counts: Counter[Any] = Counter()
        for rows in row_blocks(len(self._series)):
            positions, values = _dictionary_positions(self._series[rows])
            how_often = np.bincount(positions + 1, minlength=len(values) + 1)[1:]
            for present in np.flatnonzero(how_often).tolist():
                counts[values[present]] += int(how_often[present])
        check_categories(list(counts), self._name)
        return counts

    def codes(self, rows: Rows, codes: Codes) -> NDArray[np.float64]:
        series = self._series[rows]
        if len(series) <= _FEW_ROWS:
            return codes_of_cells(decoded(series).to_list(), codes)
        positions, values = _dictionary_positions(series)
        return _translated(positions, values, codes)


def open_series(series: nw.Series[Any], name: str) -> TableColumn:
    """The reader for one column of a data frame; a type that is neither numbers nor categories is refused."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return SeriesColumn(series, "numeric", name)
    native_type = getattr(series.to_native(), "dtype", None)
    # Narwhals looks at some rows of a pandas object column only; all of them decide here. A type of polars may say that it
    # equals one of NumPy's.
    if dtype == nw.Object or (isinstance(native_type, np.dtype) and native_type.kind == "O"):
        return ObjectColumn(series.to_numpy(), name)
    if dtype == nw.String:
        return SeriesColumn(series, "categorical", name)
    if dtype in (nw.Categorical, nw.Enum):
        # pandas has an Arrow-backed type without codes of its own.
        with_codes = not _is_pandas(series) or hasattr(native_type, "ordered")
        return DictionaryColumn(series, name) if with_codes else SeriesColumn(series, "categorical", name)
    if dtype == nw.Unknown and series.null_count() == len(series):
        return SeriesColumn(series, "numeric", name)
    kind = series[:0].to_numpy().dtype.kind
    if kind == "c":
        raise InputError(f"Complex data not supported: column {name!r} is of type {native_type}.")
    if dtype == nw.Unknown and kind in "biuf":  # for example pandas' sparse columns
        return SeriesColumn(series, "numeric", name)
    raise InputError(f"Column {name!r} is of type {native_type or dtype}, {_how_to_convert(dtype)}")


def open_values(values: NDArray[Any], name: str) -> TableColumn:
    """The reader for one column that is a one-dimensional array."""
    kind = values.dtype.kind
    if kind in "biuf":
        return ArrayColumn(values)
    if kind in "OUT":
        return ObjectColumn(values, name)
    if kind == "c":
        raise InputError(f"Complex data not supported: column {name!r} is of type {values.dtype}.")
    raise InputError(
        f"Column {name!r} is of type {values.dtype}, which is neither numbers nor strings: convert it first."
    )


def decoded(series: nw.Series[Any]) -> nw.Series[Any]:
    """The same values in a form that turns to NumPy as strings, booleans or numbers."""
    if series.dtype in (nw.Categorical, nw.Enum) and not _is_pandas(series):
        native = series.to_native()
        if series.implementation.is_pyarrow():
            # Arrow turns a dictionary to NumPy without its nulls, so its values come first.
            return nw.from_native(native.cast(native.type.value_type), series_only=True)
        return series.cast(nw.String)
    if type(series.dtype).__name__ in ("Decimal", "Int128", "UInt128"):
        return series.cast(nw.Float64)
    return series


def _codes_of_strings(series: nw.Series[Any], codes: Codes) -> NDArray[np.float64]:
    if len(series) <= _FEW_ROWS:
        return codes_of_cells(series.to_list(), codes)
    if _is_pandas(series):
        positions, values = series.to_native().factorize()
        return _translated(np.asarray(positions, dtype=np.int64), values.tolist(), codes)
    present = series.drop_nulls().unique().to_list()
    if not present:
        return np.full(len(series), np.nan)
    new = codes_of_cells(present, codes).tolist()
    coded = series.replace_strict(present, new, return_dtype=nw.Float64).to_numpy()
    return np.asarray(coded, dtype=np.float64)


def _dictionary_positions(series: nw.Series[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """A categorical series as positions, -1 for missing, in a list of values."""
    native = series.to_native()
    if _is_pandas(series):
        return native.cat.codes.to_numpy().astype(np.int64), native.cat.categories.tolist()
    if series.implementation.is_pyarrow():
        whole = native.unify_dictionaries().combine_chunks()
        return whole.indices.fill_null(-1).to_numpy().astype(np.int64), whole.dictionary.to_pylist()
    # The codes of polars count through all categories of the process: only those that occur are looked up.
    physical = native.to_physical().cast(int).fill_null(-1).to_numpy()
    a_row = np.full(physical.max(initial=-1) + 2, -1)
    a_row[physical + 1] = np.arange(len(physical))
    present = np.flatnonzero(a_row[1:] >= 0)
    values = series[a_row[1:][present]].cast(nw.String).to_list()
    position_of = np.full(len(a_row), -1)
    position_of[1:][present] = np.arange(len(present))
    return position_of[physical + 1], values


def _translated(positions: NDArray[np.int64], values: list[Any], codes: Codes) -> NDArray[np.float64]:
    return np.append(codes_of_cells(values, codes), np.nan)[positions]  # position -1, missing, is the last


def _is_pandas(series: nw.Series[Any]) -> bool:
    return bool(series.implementation.is_pandas_like())


def _how_to_convert(dtype: Any) -> str:
    if dtype in (nw.Datetime, nw.Date, nw.Duration):
        return (
            "which is neither numbers nor categories: convert it to numbers, for example to its year, "
            "month and day, or to seconds."
        )
    return "which is neither numbers nor categories: convert it to numbers or to strings, or leave it out."
