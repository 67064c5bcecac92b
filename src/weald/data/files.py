"""Tables in files: text tables (CSV and its like) and JSON lines with NumPy alone, Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import gzip
import io
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from weald.data.dates import parts_of
from weald.data.delimited import read_delimited
from weald.data.reading import FileTable, NamedColumns, ReadOptions
from weald.data.streams import COMPRESSIONS, Source, open_source
from weald.data.structured import load_pyarrow, read_json_lines, read_parquet
from weald.runtime.atomic import write_whole
from weald.runtime.errors import DataWarning, InputError

_TEXT = (".csv", ".tsv", ".txt", ".psv", ".tab", ".dat", ".data")
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_WRITTEN = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


def read_file(path: str | os.PathLike[str], options: ReadOptions | None = None) -> NamedColumns:
    """Read a file into one array per column, and warn of whatever is not as it is written there.

    See `open_file`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "weather.csv")
    >>> _ = path.write_text("town,rain\\nUlm,1.5\\nLyon,\\n")
    >>> read_file(path)
    {'town': array(['Ulm', 'Lyon'], dtype=object), 'rain': array([1.5, nan])}
    """
    table = open_file(path, options)
    for note in table.notes:
        warnings.warn(note, DataWarning, stacklevel=2)
    return table.columns


def open_file(path: str | os.PathLike[str], options: ReadOptions | None = None) -> FileTable:
    """Read a text table, JSON lines or Parquet, also compressed, or standard input for ``-``.

    A column in which every cell is a number becomes float64, with NaN for missing cells; text becomes an object
    array of strings, with
    None; columns of dates, which options must name, become their parts. Empty cells, ``NA``, ``N/A``, ``NaN`` and
    ``null`` are missing.
    Separator, signs in numbers, quotes, encoding and header are found out where the options do not say them. A few
    cells that are no
    numbers in a column of numbers are missing and noted; many are refused.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "weather.csv")
    >>> _ = path.write_text("town;rain\\nUlm;1,5\\nLyon;2,25\\n")
    >>> table = open_file(path)
    >>> table.columns["rain"].tolist(), table.found
    ([1.5, 2.25], "separator ';', decimal sign ',', UTF-8, the first line names the columns")
    """
    options = options or ReadOptions()
    source = open_source(os.fspath(path))
    reader = {"text": read_delimited, "json": read_json_lines, "parquet": read_parquet}[_kind(source)]
    table = reader(source, options)
    _check_declared(table, options)
    table.columns = _with_parts(table.columns)
    return table


def write_file(path: str | os.PathLike[str], columns: Mapping[str, NDArray[Any]]) -> None:
    """Write columns of equal length to a CSV (also ``.csv.gz``) or Parquet file, atomically.

    None and NaN are written as empty cells; floats with as many digits as give the same float back.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "out.csv")
    >>> write_file(path, {"prediction": np.array([0.1, 2.0])})
    >>> path.read_text()
    'prediction\\n0.1\\n2.0\\n'
    """
    file = Path(path)
    check_written(file)
    if file.name.lower().endswith(_PARQUET):
        pyarrow = load_pyarrow(str(file))
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(dict(columns)), buffer)
        write_whole(file, buffer.getvalue(), "table")
        return
    delimiter = "\t" if ".tsv" in file.name else ","
    text = io.StringIO()
    write_csv(text, columns, delimiter)
    data = text.getvalue().encode()
    write_whole(file, gzip.compress(data, mtime=0) if file.suffix == ".gz" else data, "table")


def check_written(file: Path) -> None:
    """Refuse a name for a table to write that tells no format that can be written."""
    if not file.name.lower().endswith((*_WRITTEN, *_PARQUET)):
        raise InputError(
            f"cannot tell the format of {str(file)!r} from its name; use .csv, .tsv, .csv.gz or .parquet"
        )


def write_csv(stream: TextIO, columns: Mapping[str, NDArray[Any]], delimiter: str = ",") -> None:
    """Write columns of equal length as CSV text to an open stream."""
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    cells = [_cells(values) for values in columns.values()]
    writer.writerows(zip(*cells, strict=True))


def _cells(values: NDArray[Any]) -> list[Any]:
    array = np.asarray(values)
    cells: list[Any] = array.tolist()
    if array.dtype.kind in "fO":
        return ["" if cell is None or cell != cell else cell for cell in cells]
    return cells


def _kind(source: Source) -> str:
    name = source.plain_name
    if not name:  # standard input
        head = source.head(64).lstrip()
        return "parquet" if head.startswith(b"PAR1") else "json" if head.startswith(b"{") else "text"
    for kind, suffixes in (("text", _TEXT), ("json", _JSON_LINES), ("parquet", _PARQUET)):
        if name.endswith(suffixes):
            return kind
    raise InputError(
        f"cannot tell the format of {source.name!r} from its name; use .csv, .tsv, .txt, .jsonl or .parquet, "
        f"also followed by {', '.join(COMPRESSIONS)}, or - for standard input"
    )


def _check_declared(table: FileTable, options: ReadOptions) -> None:
    """Refuse options that name a column twice, or one that is not there."""
    kinds = {"--numeric": options.numeric, "--categorical": options.categorical, "--dates": options.dates}
    owner: dict[str, str] = {}
    for option, names in kinds.items():
        for name in names:
            if name in owner:
                raise InputError(f"the column {name!r} is named by {owner[name]} and by {option}; one must do")
            owner[name] = option
            if name not in table.names and options.wanted is None:
                raise InputError(unknown_column(option, name, table))


def unknown_column(option: str, name: str, table: FileTable) -> str:
    """What is wrong with an option that names a column that the file does not have: the nearest one that it has."""
    from difflib import get_close_matches

    close = get_close_matches(name, table.names, n=1)
    known = ", ".join(table.names[:20]) + (f", … ({len(table.names)} in all)" if len(table.names) > 20 else "")
    hint = f"did you mean {close[0]!r}?" if close else f"its columns are {known}"
    return f"{option} is {name!r}, but {table.file!r} has no such column; {hint}"


def _with_parts(columns: NamedColumns) -> NamedColumns:
    """The columns with dates as their parts, each where the date was."""
    expanded: NamedColumns = {}
    for name, values in columns.items():
        if values.dtype.kind != "M":
            expanded[name] = values
            continue
        for part, numbers in parts_of(values).items():
            if f"{name}.{part}" in columns:
                raise InputError(f"the column {name!r} of dates would make {name}.{part}, which is there already: rename it")
            expanded[f"{name}.{part}"] = numbers
    return expanded
