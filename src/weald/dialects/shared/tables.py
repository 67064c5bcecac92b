"""Tables and their labels, weights and scores, as the data objects of other systems take them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.data.frames import eager_frame
from weald.data.read import open_table
from weald.runtime.errors import InputError, NotSupportedError

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]


def is_frame(table: Any) -> bool:
    """Whether a table is a data frame of one of the libraries that Weald reads."""
    return bool(nw.dependencies.is_into_dataframe(table))


def columns_of(table: Any) -> list[str]:
    """The names of a frame's columns; none of any other table."""
    return [str(name) for name in eager_frame(table).columns] if is_frame(table) else []


def is_category(dtype: Any) -> bool:
    """Whether a column's type is one of categories."""
    return bool(dtype == nw.Categorical or dtype == nw.Enum)


def frame_types(table: Any) -> dict[str, Any]:
    """Name -> type of every column of a frame; only numbers, booleans and categories are taken."""
    frame = eager_frame(table)
    types = {}
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        dtype = column.dtype
        if not (is_category(dtype) or dtype.is_numeric() or dtype == nw.Boolean):
            raise InputError(
                f"Column {name!r} is of type {dtype}; it must hold numbers, booleans or categories."
            )
        types[str(name)] = dtype
    return types


def open_data(data: Any, what: str, text: bool = False) -> Any:
    """A frame, a sparse matrix of rows or columns, or an array of numbers; ``what``: the object that takes it.

    ``text``: an array may hold text, too.
    """
    if type(data).__name__ == what:
        raise InputError(f"data is a {what} already; pass it as it is.")
    if isinstance(data, str | os.PathLike):
        raise NotSupportedError(
            f"data is the path {os.fspath(data)!r}; read the file first, for example with pandas.read_csv."
        )
    if nw.dependencies.is_into_series(data):
        return nw.to_native(nw.from_native(data, series_only=True).to_frame())
    if is_frame(data):
        return data
    if scipy.sparse.issparse(data):
        return data if data.format in ("csr", "csc") else data.tocsr()
    if isinstance(data, Mapping):
        raise InputError("data must be a table, not a dict; make a data frame of it.")
    array = array_of_rows(data)
    array = array.reshape(-1, 1) if array.ndim == 1 else array
    if text and array.dtype.kind in "OU":
        return array
    if "categorical" in open_table(array, least_rows=0).kinds():
        raise InputError(
            f"data holds text; a {what} takes numbers, and categories as a frame's category columns."
        )
    return array.astype(np.float64) if array.dtype.kind == "O" else array


def array_of_rows(rows: Any) -> NDArray[Any]:
    """An array of anything that NumPy reads; numbers beside text stay numbers."""
    try:
        array = np.asarray(rows)
    except ValueError:
        raise InputError(
            "data must be rows of equally many values, but the list is ragged, or holds tables; make one array of it."
        ) from None
    return np.array(rows, dtype=object) if array.dtype.kind in "US" and not hasattr(rows, "dtype") else array


def declared_numbers(table: Any, declared: Iterable[int]) -> list[int]:
    """Of the columns that are declared to hold categories those that are of numbers."""
    own = [is_category(dtype) for dtype in frame_types(table).values()] if is_frame(table) else []
    return [place for place in declared if not own or not own[place]]


def take_rows(table: Any, rows: NDArray[np.int64]) -> Any:
    """Some of a table's rows, as a table of the same kind."""
    if scipy.sparse.issparse(table):
        return table.tocsr()[rows]
    if is_frame(table):
        return nw.to_native(nw.from_native(table, eager_only=True)[rows.tolist()])
    return table[rows]


def with_column(table: Any, position: int, value: Any) -> Any:
    """The table with one value in all cells of a column."""
    return _with_columns(table, {position: value})


def without_columns(table: Any, positions: Iterable[int]) -> Any:
    """The table with the first row's values in all rows of some columns, so that nothing can be learned from them."""
    places = list(positions)
    if scipy.sparse.issparse(table):
        kept = np.ones(table.shape[1])
        kept[places] = 0.0
        return (table @ scipy.sparse.diags_array(kept)).asformat(table.format)
    if is_frame(table):
        frame = nw.from_native(table, eager_only=True)
        names = [frame.columns[place] for place in places]
        return nw.to_native(frame.with_columns(*(frame[name][[0] * len(frame)].alias(name) for name in names)))
    return _with_columns(table, {place: table[0, place] for place in places})


def _with_columns(table: Any, values: Mapping[int, Any]) -> Any:
    if is_frame(table):
        frame = nw.from_native(table, eager_only=True)
        named = {frame.columns[place]: value for place, value in values.items()}
        return nw.to_native(
            frame.with_columns(
                *(nw.lit(value).cast(frame[name].dtype).alias(name) for name, value in named.items())
            )
        )
    array = table.toarray() if scipy.sparse.issparse(table) else table.copy()
    for place, value in values.items():
        array[:, place] = value
    return array


def _values_of(container: Any) -> Any:
    """What a series or a frame holds as an array; anything else as it is."""
    if nw.dependencies.is_into_series(container):
        return nw.from_native(container, series_only=True).to_numpy()
    return nw.from_native(container, eager_only=True).to_numpy() if is_frame(container) else container


def as_array(name: str, values: Any) -> Float64s:
    """Numbers of any container as an array of their own."""
    try:
        return np.array(_values_of(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, but it does not.") from None


def column_of(name: str, values: Any, n_rows: int) -> NDArray[Any]:
    """One value a row, of any type."""
    array = np.asarray(_values_of(values))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise NotSupportedError(f"{name} must be one value a row, but its shape is {array.shape}.")
    if len(array) != n_rows:
        raise InputError(f"{name} has {len(array)} values, but data has {n_rows} rows.")
    return array


def one_a_row(name: str, values: Any, n_rows: int) -> Float64s:
    """One number a row."""
    return column_of(name, as_array(name, values), n_rows)


def scores_a_row(name: str, values: Any, n_rows: int, order: Literal["C", "F"] = "C") -> Float64s:
    """Scores, (rows,) or (rows, outputs); ``order``: "F" where flat ones of several outputs are output after output."""
    array = as_array(name, values)
    if n_rows == 0 and array.size == 0:
        return array.reshape(0)
    if array.size == 0 or array.size % n_rows or not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, one number a row and output, for {n_rows} rows.")
    if array.size == n_rows:
        return array.reshape(n_rows)
    return array.reshape((n_rows, -1), order=order if array.ndim == 1 else "C")


def single(values: Float64s) -> Float32s:
    """In single precision, as those systems hand numbers out."""
    return values.astype(np.float32)
