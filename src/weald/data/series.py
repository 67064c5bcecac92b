"""One column of a data frame, by way of narwhals."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from weald.data.categories import (
    check_categories,
    codes_of_cells,
    codes_of_numbers,
    count_numbers,
    numbers_of_cells,
)
from weald.data.columns import ObjectColumn, Rows, TableColumn, row_blocks
from weald.data.schema import Codes, Kind
from weald.data.whole_numbers import first_collapse_of_cells
from weald.runtime.errors import InputError

# Below this many rows a Python dictionary is quicker than a table library's machinery.
_FEW_ROWS = 512


class SeriesColumn(TableColumn):
    """A typed column of a data frame: numbers, booleans, strings, or categories of any library but pandas."""

    def __init__(self, series: nw.Series[Any], natural: Kind, name: str) -> None:
        self._series = series.alias("value")
        self._name = name
        self.natural = natural
        self.single = series.dtype == nw.Float32
        self.is_text = natural == "categorical" and series.dtype == nw.String

    def numbers(self, rows: Rows) -> NDArray[Any]:
        series = self._series[rows]
        if self.natural == "categorical" or (series.dtype == nw.Unknown and self.all_missing()):
            return np.full(len(series), np.nan)
        values = decoded(series).to_numpy()
        return numbers_of_cells(values.tolist(), self._name) if values.dtype == object else values

    def all_missing(self) -> bool:
        return bool(self._series.null_count() == len(self._series))

    def first_collapse(self) -> tuple[int, int] | None:
        if not self._series.dtype.is_integer() or not _is_long(self._series):
            return None
        return first_collapse_of_cells(self._series.drop_nulls().unique().to_list())

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
    if dtype == nw.Object or (isinstance(native_type, np.dtype) and native_type.hasobject):
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
    raise InputError(f"Column {name!r} is of type {native_type or dtype}, {_how_to_convert(dtype, name)}")


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


def array_of_series(values: Any) -> NDArray[Any]:
    """A library's own series as an array of strings, booleans or numbers."""
    array: NDArray[Any] = decoded(nw.from_native(values, series_only=True)).to_numpy()
    return array


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


def _is_long(series: nw.Series[Any]) -> bool:
    """Whether whole numbers of the column are beyond what a float64 holds exactly."""
    largest, smallest = series.max(), series.min()
    return largest is not None and (int(largest) > 2**53 or int(smallest) < -(2**53))


def _how_to_convert(dtype: Any, name: str) -> str:
    if dtype in (nw.Datetime, nw.Date):
        return (
            "which is neither numbers nor categories: convert it to numbers, its year, month, day and more, with "
            f"weald.date_parts(X, [{name!r}])."
        )
    if dtype == nw.Duration:
        return "which is neither numbers nor categories: convert it to numbers, for example to seconds."
    return "which is neither numbers nor categories: convert it to numbers or to strings, or leave it out."
