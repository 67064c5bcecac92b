"""Tables in files: CSV (also gzipped) with NumPy alone, Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from weald.runtime.atomic import write_whole
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

NamedColumns = dict[str, NDArray[Any]]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL"})
_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")
# Rows turned from text to arrays at a time: bounds the memory spent on Python strings to about a megabyte a
# column.
_ROWS_A_CHUNK = 16_384


def read_file(path: str | os.PathLike[str]) -> NamedColumns:
    """Read a CSV or Parquet file into one array per column.

    In a CSV file the first line names the columns. A column in which every cell is a number becomes float64,
    with NaN for missing cells; any other becomes an object array of strings, with None. Empty cells, ``NA``,
    ``N/A``, ``NaN`` and ``null`` are missing. The first line tells commas, semicolons and tabs apart.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "weather.csv")
    >>> _ = path.write_text("town,rain\\nUlm,1.5\\nLyon,\\n")
    >>> read_file(path)
    {'town': array(['Ulm', 'Lyon'], dtype=object), 'rain': array([1.5, nan])}
    """
    file = Path(path)
    kind = _kind(file)
    if not file.exists():
        raise InputError(f"the file {str(file)!r} does not exist")
    if kind == "parquet":
        return _read_parquet(file)
    return _read_csv(file)


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
    kind = _kind(file)
    if kind == "parquet":
        pyarrow = _pyarrow(file)
        buffer = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(dict(columns)), buffer)
        write_whole(file, buffer.getvalue(), "table")
        return
    delimiter = "\t" if ".tsv" in file.name else ","
    text = io.StringIO()
    write_csv(text, columns, delimiter)
    data = text.getvalue().encode()
    write_whole(file, gzip.compress(data, mtime=0) if file.suffix == ".gz" else data, "table")


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


def _kind(file: Path) -> str:
    name = file.name.lower()
    if name.endswith(_CSV):
        return "csv"
    if name.endswith(_PARQUET):
        return "parquet"
    raise InputError(
        f"cannot tell the format of {str(file)!r} from its name; use .csv, .tsv, .csv.gz or .parquet"
    )


def _open_text(file: Path, mode: str, gzipped: bool) -> Any:
    opener: Any = gzip.open if gzipped else open
    return opener(file, mode, encoding="utf-8-sig" if mode == "rt" else "utf-8", newline="")


def _read_csv(file: Path) -> NamedColumns:
    """Read with every column taken for numbers; start again when a column turns out to be text.

    That is nearly always found in the first chunk, and spares keeping cells of numeric columns as strings.
    """
    text: frozenset[int] = frozenset()
    while True:
        try:
            with _open_text(file, "rt", gzipped=file.suffix.lower() == ".gz") as stream:
                columns, not_numbers = _scan(stream, file, text)
        except UnicodeDecodeError:
            raise InputError(f"the file {str(file)!r} is not UTF-8 text; save it as UTF-8") from None
        except (csv.Error, EOFError, gzip.BadGzipFile) as error:
            raise InputError(f"the file {str(file)!r} cannot be read: {error}") from None
        if not not_numbers:
            return columns
        text |= not_numbers


def _scan(stream: TextIO, file: Path, text: frozenset[int]) -> tuple[NamedColumns, frozenset[int]]:
    """One pass: the columns, or the positions of columns that were taken for numbers and are not."""
    first_line = stream.readline()
    delimiter = max(",;\t", key=first_line.count)
    reader = csv.reader(chain([first_line], stream), delimiter=delimiter)
    names = _header(next(reader, []), file)
    known: dict[str, str | None] = dict.fromkeys(MISSING)  # one Python string per distinct text
    chunks: list[list[NDArray[Any]]] = [[] for _ in names]
    for rows in _chunks(_rows(reader, len(names), file)):
        not_numbers = set()
        for position, cells in enumerate(zip(*rows, strict=True)):
            if position in text:
                chunks[position].append(_as_text(cells, known))
                continue
            numbers = _as_numbers(cells)
            if numbers is None:
                not_numbers.add(position)
            else:
                chunks[position].append(numbers)
        if not_numbers:
            return {}, frozenset(not_numbers)
    if not chunks[0]:
        raise InputError(f"the file {str(file)!r} has no rows below its header")
    return {name: np.concatenate(parts) for name, parts in zip(names, chunks, strict=True)}, frozenset()


def _header(cells: list[str], file: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise InputError(f"the file {str(file)!r} is empty; its first line must name the columns")
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                f"column {position} of {str(file)!r} has no name; the first line must name every column"
            )
        if name in seen:
            raise InputError(f"the file {str(file)!r} has two columns named {name!r}; rename one of them")
        seen.add(name)
    return names


def _rows(reader: Any, width: int, file: Path) -> Iterator[list[str]]:
    """The rows, each of the header's width; blank lines are skipped."""
    for row in reader:
        if len(row) == width:
            yield row
        elif row:
            raise InputError(
                f"line {reader.line_num} of {str(file)!r} has {len(row)} cells, "
                f"but the first line names {width} columns"
            )


def _chunks(rows: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    while chunk := list(islice(rows, _ROWS_A_CHUNK)):
        yield chunk


def _as_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    # Python's float() takes "1_000" for a number; in a table it is an identifier.
    if "_" in "".join(cells):
        return None
    try:
        return np.array(["nan" if cell.strip() in MISSING else cell for cell in cells], dtype=np.float64)
    except ValueError:
        return None


def _as_text(cells: Sequence[str], known: dict[str, str | None]) -> NDArray[np.object_]:
    array = np.empty(len(cells), dtype=object)
    array[:] = [known.setdefault(cell, cell) for cell in map(str.strip, cells)]
    return array


def _pyarrow(file: Path) -> Any:
    what = f"the Parquet file {str(file)!r}"
    load_extra("pyarrow.parquet", what)
    return load_extra("pyarrow", what)


def _read_parquet(file: Path) -> NamedColumns:
    pyarrow = _pyarrow(file)
    try:
        table = pyarrow.parquet.read_table(file)
    except pyarrow.ArrowInvalid as error:
        raise InputError(
            f"the file {str(file)!r} is not a Parquet file: {str(error).splitlines()[0]}"
        ) from None
    if table.num_rows == 0 or table.num_columns == 0:
        raise InputError(f"the file {str(file)!r} has no rows or no columns")
    columns: NamedColumns = {}
    for name in table.column_names:
        column = table.column(name)
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        columns[name] = column.to_numpy()
    return columns
