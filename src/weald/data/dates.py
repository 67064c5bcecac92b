"""Dates as numbers: the parts that trees can split on, in a training table and in every later one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.containers import is_frame
from weald.data.date_text import date_of
from weald.data.schema import Schema
from weald.runtime.errors import InputError

#: the parts of a date, in the order of their columns
PARTS = ("days", "year", "month", "day", "weekday", "hour")
_SECOND = np.timedelta64(1, "s")


def date_parts(X: Any, columns: Iterable[str]) -> Any:
    """The table with every column of dates replaced by columns of numbers: its parts.

    ``when`` becomes ``when.days``, the days since 1970 with the time as their fraction; ``when.year``;
    ``when.month``, 1 to 12; ``when.day`` of
    the month; ``when.weekday``, 0 for Monday; and ``when.hour`` with the minutes as its fraction. Times of a zone are in UTC.

    A model that was trained on such parts takes a table with the dates themselves, too: ``predict`` and evaluation sets turn them
    to parts, also after the model was saved and loaded.

    Parameters
    ----------
    X
        A data frame, or a mapping from names to columns.
    columns
        The names of columns that hold dates: a type of dates, or text such as 2024-01-31, 2024-01-31 12:30 or 31.1.2024.

    >>> table = date_parts({"when": ["2024-01-31 12:00", "1970-01-02"], "price": [3.5, 4.0]}, ["when"])
    >>> list(table)
    ['price', 'when.days', 'when.year', 'when.month', 'when.day', 'when.weekday', 'when.hour']
    >>> table["when.days"].tolist(), table["when.weekday"].tolist()
    ([19753.5, 1.0], [2.0, 4.0])
    """
    if isinstance(columns, str):
        raise InputError(f"columns must be a list of names, not the string {columns!r}.")
    wanted = list(columns)
    present = _names(X)
    for name in wanted:
        if name not in present:
            raise InputError(f"columns names {name!r}, which X does not have.")
        for part in PARTS:
            if f"{name}.{part}" in present:
                raise InputError(f"X has a column {name}.{part} already: rename it, or leave {name!r} out.")
    return _replaced(X, wanted)


def with_known_parts(X: Any, schema: Schema) -> Any:
    """A table to predict, its dates as the parts of them that the schema has; any other table as it is."""
    if not schema.dates or not (isinstance(X, Mapping) or is_frame(X)):
        return X
    present = _names(X)
    wanted = [
        name
        for name in schema.dates
        if name in present and not any(f"{name}.{part}" in present for part in PARTS)
    ]
    return _replaced(X, wanted) if wanted else X


def parts_of(dates: NDArray[np.datetime64]) -> dict[str, NDArray[np.float64]]:
    """The parts of dates by their names; those of a missing date are missing.

    >>> {name: values.tolist() for name, values in parts_of(np.array(["2024-02-29T06:30"], "datetime64[us]")).items()}
    {'days': [19782.270833333332], 'year': [2024.0], 'month': [2.0], 'day': [29.0], 'weekday': [3.0], 'hour': [6.5]}
    """
    day, month, year = (dates.astype(f"datetime64[{unit}]") for unit in "DMY")
    whole = day.astype(np.int64)
    hour = (dates - day) / _SECOND / 3600
    parts: dict[str, NDArray[Any]] = {
        "days": whole + hour / 24,
        "year": year.astype(np.int64) + 1970,
        "month": month.astype(np.int64) % 12 + 1,
        "day": (day - month.astype(day.dtype)).astype(np.int64) + 1,
        "weekday": (whole + 3) % 7,  # the first of January 1970 was a Thursday
        "hour": hour,
    }
    missing = np.isnat(dates)
    return {name: np.where(missing, np.nan, values.astype(np.float64)) for name, values in parts.items()}


def _names(X: Any) -> tuple[str, ...]:
    if isinstance(X, Mapping):
        return tuple(X)
    if not is_frame(X):
        raise InputError(
            f"X is a {type(X).__name__}; its columns must have names, as those of a data frame or a mapping."
        )
    return tuple(getattr(X, "column_names", None) or X.columns)


def _replaced(X: Any, columns: list[str]) -> Any:
    if isinstance(X, Mapping):
        rest = {name: values for name, values in X.items() if name not in columns}
        return rest | _parts_by_name({name: _dates(X[name], name) for name in columns})
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    found = _parts_by_name({name: _dates(frame[name], name) for name in columns})
    kept = frame.drop(columns)
    new = [nw.new_series(name, values, backend=frame.implementation) for name, values in found.items()]
    if frame.implementation.is_pandas_like():  # a series of pandas is put in place by its labels
        native = kept.to_native()
        return native.assign(**found)
    return kept.with_columns(*new).to_native()


def _parts_by_name(dates: Mapping[str, NDArray[np.datetime64]]) -> dict[str, NDArray[np.float64]]:
    return {
        f"{name}.{part}": numbers
        for name, values in dates.items()
        for part, numbers in parts_of(values).items()
    }


def _dates(values: Any, name: str) -> NDArray[np.datetime64]:
    """A column as moments; text is read, anything else must be of a type of dates."""
    array = np.asarray(values if isinstance(values, list | tuple | np.ndarray) else _of_series(values))
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    found = np.empty(len(array), "datetime64[us]")
    for row, cell in enumerate(array.tolist()):
        moment = _moment(cell)
        if moment is None:
            raise InputError(
                f"Column {name!r} holds {cell!r} in row {row}, which is no date: give a type of dates, "
                "or text such as 2024-01-31."
            )
        found[row] = moment
    return found


def _of_series(values: Any) -> NDArray[Any]:
    """The column of a frame or another library; moments with a zone are in UTC."""
    import narwhals as nw

    series = nw.from_native(values, series_only=True) if not isinstance(values, nw.Series) else values
    if series.dtype == nw.Datetime and getattr(series.dtype, "time_zone", None) is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    array: NDArray[Any] = series.to_numpy()
    return array


def _moment(cell: Any) -> np.datetime64 | None:
    if cell is None or cell != cell or str(cell) in ("NaT", "<NA>", ""):
        return np.datetime64("NaT")
    return date_of(cell.strip() if isinstance(cell, str) else str(cell))
