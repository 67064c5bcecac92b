"""Tables whose cells have types in the file: Parquet and JSON lines."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.delimited import MISSING
from weald.data.number_text import PLAIN
from weald.data.reading import FileTable, ReadOptions
from weald.data.settling import WholeNumbers, settle_text
from weald.data.streams import Source, damage_named
from weald.data.text_format import find_encoding
from weald.data.whole_numbers import first_collapse, first_collapse_of_cells
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra


def read_parquet(source: Source, options: ReadOptions) -> FileTable:
    """Read a Parquet file with pyarrow; columns of text are settled as those of a text file are."""
    pyarrow = load_pyarrow(source.name)
    with damage_named(source.name), source.open() as stream:
        data = stream.read()
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            f"the file {source.name!r} is not a Parquet file, or is damaged: {str(error).splitlines()[0]}"
        ) from None
    if table.num_columns == 0 or (table.num_rows == 0 and not options.may_be_empty):
        raise InputError(f"the file {source.name!r} has no rows or no columns")
    names = table.column_names
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise InputError(f"the file {source.name!r} has two columns named {doubled!r}; rename one of them")
    found = FileTable(source.name, tuple(names), {}, "Parquet")
    for name in names:
        if options.wants(name):
            values = _array_of_arrow(pyarrow, table.column(name), name, source.name, options)
            found.columns[name] = _settled(values, name, found, options)
    return found


def read_json_lines(source: Source, options: ReadOptions) -> FileTable:
    """Read a file with one JSON object a line; a key that a line lacks is a missing value."""
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    with damage_named(source.name):
        encoding = options.encoding or find_encoding(source.head(4096))
        try:
            with source.open() as stream:
                for number, line in enumerate(io.TextIOWrapper(stream, encoding=encoding), start=1):
                    if line.strip():
                        rows.append(_object(line, number, source.name))
                        numbers.append(number)
        except (UnicodeError, LookupError):
            raise InputError(
                f"the file {source.name!r} is not {encoding} text; say what it is with --encoding"
            ) from None
    if not rows:
        raise InputError(f"the file {source.name!r} is empty; it must have a JSON object a line")
    names = list(dict.fromkeys(name for row in rows for name in row))
    found = FileTable(source.name, tuple(names), {}, "JSON lines", lines=np.array(numbers, np.int64))
    missing = MISSING | frozenset(options.na_values)
    for name in names:
        if options.wants(name):
            cells = [row.get(name) for row in rows]
            values = _array_of_json(cells, name, found, missing, options)
            found.columns[name] = _settled(values, name, found, options)
    return found


def load_pyarrow(name: str) -> Any:
    """pyarrow with its part for Parquet; where it is missing, the extra that brings it is named."""
    what = f"the Parquet file {name!r}"
    load_extra("pyarrow.parquet", what)
    return load_extra("pyarrow", what)


def _settled(values: NDArray[Any], name: str, table: FileTable, options: ReadOptions) -> NDArray[Any]:
    if values.dtype.kind == "M":
        _check_dates(name, table, options)
        return values
    if values.dtype != object or any(not isinstance(v, str) for v in values.tolist() if v is not None):
        if name in options.dates:
            raise InputError(
                f"--dates names {name!r}, but that column of {table.file!r} holds {values.dtype}"
            )
        return values
    missing = MISSING | frozenset(options.na_values)
    cells = [None if v is None or v.strip() in missing else v.strip() for v in values.tolist()]
    text = np.empty(len(cells), dtype=object)
    text[:] = cells
    settled = settle_text(text, name, table, options, PLAIN)
    if settled.dtype.kind == "f" and name not in options.numeric and not np.isnan(settled).all():
        table.notes.append(
            f"column {name!r} holds numbers as text and is read as numbers; --categorical {name!r} says otherwise"
        )
    return settled


def _check_dates(name: str, table: FileTable, options: ReadOptions) -> None:
    if name not in options.dates:
        raise InputError(
            f"the column {name!r} of {table.file!r} holds dates: give --dates {name!r} to learn from "
            f"their parts, or --drop {name!r}"
        )


def _array_of_arrow(pyarrow: Any, column: Any, name: str, file: str, options: ReadOptions) -> NDArray[Any]:
    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_timestamp(kind) or types.is_date(kind):
        dates: NDArray[Any] = column.cast(pyarrow.timestamp("us")).to_numpy().astype("datetime64[us]")
        return dates
    if types.is_decimal(kind):
        column = column.cast(pyarrow.float64())
    elif types.is_integer(kind):
        same = first_collapse(column.drop_null().to_numpy())
        if name in options.text or (same is not None and name in options.categorical):
            column = column.cast(pyarrow.string())
        else:
            WholeNumbers(name, file).refuse(same)
    elif not (
        types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind)
        or types.is_string(kind) or types.is_large_string(kind) or "string_view" in str(kind)
    ):  # fmt: skip
        raise InputError(
            f"the column {name!r} of {file!r} is of type {kind}, which is neither numbers, text nor dates: "
            f"turn it to columns of those, or give --drop {name!r}"
        )
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    values: NDArray[Any] = column.to_numpy()
    if types.is_boolean(kind) and values.dtype == object:
        return np.array([np.nan if v is None else float(v) for v in values.tolist()])
    return values


def _object(line: str, number: int, file: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"line {number} of {file!r} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise InputError(
            f"line {number} of {file!r} is a JSON {type(row).__name__}; every line must be an object"
        )
    return row


def _array_of_json(
    cells: list[Any], name: str, table: FileTable, missing: frozenset[str], options: ReadOptions
) -> NDArray[Any]:
    types = {type(cell) for cell in cells if cell is not None}
    for kind in (list, dict):
        if kind in types:
            row = next(row for row, cell in enumerate(cells) if isinstance(cell, kind))
            raise InputError(
                f"the column {name!r} of {table.file!r} holds {'a list' if kind is list else 'an object'} in {table.place(row)}: "
                f"turn it to columns of numbers or text, or give --drop {name!r}"
            )
    if types <= {bool} and types and None not in cells:
        return np.array(cells, dtype=bool)
    if types <= {bool, int, float} and name not in options.text:
        WholeNumbers(name, table.file).refuse(first_collapse_of_cells(cells))
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    array = np.empty(len(cells), dtype=object)
    array[:] = [
        None if cell is None or cell in missing else cell if isinstance(cell, str) else json.dumps(cell)
        for cell in cells
    ]
    return array
