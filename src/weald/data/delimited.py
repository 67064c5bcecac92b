"""Text tables, CSV and its like: cells to columns of floats and of text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.number_text import PLAIN, NumberFormat, plain_text
from weald.data.reading import FileTable, ReadOptions
from weald.data.settling import WholeNumbers, settle_text
from weald.data.streams import Source, damage_named
from weald.data.tables import made_up_names
from weald.data.text_format import FALLBACK, SAMPLE_BYTES, Rows, TextFormat, find_encoding, find_format
from weald.runtime.errors import InputError

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL"})
# Rows turned from text to arrays at a time: bounds the memory spent on Python strings to about a megabyte a
# column.
_ROWS_A_CHUNK = 16_384
_EXACT = 2.0**53

Column = NDArray[np.float64] | NDArray[np.object_]


def read_delimited(source: Source, options: ReadOptions) -> FileTable:
    """Read a text table, its format found where the options do not say it.

    Every column is taken for numbers at first, and all is read again when a column turns out to be text. That is
    nearly always found in
    the first chunk, and spares keeping cells of numeric columns as strings.
    """
    with damage_named(source.name):
        head = source.head(SAMPLE_BYTES)
        encoding = options.encoding or find_encoding(head)
        while True:
            try:
                return _read(source, head, encoding, options)
            except UnicodeDecodeError:
                if options.encoding is not None or encoding != "utf-8":
                    raise InputError(
                        f"the file {source.name!r} is not {encoding} text; say what it is with --encoding"
                    ) from None
                encoding = FALLBACK  # a letter below the sample


def _read(source: Source, head: bytes, encoding: str, options: ReadOptions) -> FileTable:
    written = find_format(head, len(head) < SAMPLE_BYTES, encoding, options, source.name)
    scan = _Scan(source, written, options)
    while not scan.finished():
        pass
    table = scan.table
    if encoding == FALLBACK and options.encoding is None:
        table.notes.append(
            f"{source.name!r} is not UTF-8 text and was read as Latin-1; --encoding says otherwise"
        )
    if not written.header and options.header is None:
        table.notes.append(
            f"the first line of {source.name!r} holds numbers and was taken for a row: the columns are named "
            f"{table.names[0]} to {table.names[-1]}; --header says that it names them"
        )
    for name, values in table.columns.items():
        if values.dtype == object:
            table.columns[name] = settle_text(values, name, table, options, written.numbers)
    return table


class _Scan:
    """Passes over a file until no column that was taken for numbers is text."""

    def __init__(self, source: Source, written: TextFormat, options: ReadOptions) -> None:
        self._source, self._written, self._options = source, written, options
        self._missing = MISSING | frozenset(options.na_values)
        self._text: set[int] = set()
        self._categories: set[int] = set()
        self._known: set[int] = set()
        self.table = FileTable(source.name, (), {}, str(written))

    def finished(self) -> bool:
        """One pass; false when it found more columns of text, and another one is due."""
        with self._source.open() as stream:
            lines = io.TextIOWrapper(stream, encoding=self._written.encoding, newline="")
            rows = self._written.reader(lines)
            try:
                return self._pass(rows)
            except csv.Error as error:
                raise InputError(
                    f"line {rows.line} of {self._source.name!r} cannot be read: {error}; is a quotation mark not closed? "
                    "--quote '' takes quotation marks for letters"
                ) from None

    def _pass(self, rows: Rows) -> bool:
        first = next(_rows(rows, None, self._source.name), [])
        first_line = rows.line
        names = self._names(first)
        chosen = [position for position, name in enumerate(names) if self._options.wants(name)]
        self._text |= {p for p in chosen if names[p] in (*self._options.text, *self._options.dates)}
        self._known = {p for p in chosen if names[p] in self._options.known_numbers}
        self._categories = {p for p in chosen if names[p] in self._options.categorical}
        known: dict[str, str | None] = dict.fromkeys(self._missing)  # one Python string per distinct text
        chunks: dict[int, list[Column]] = {position: [] for position in chosen}
        exact = {p: WholeNumbers(names[p], self._source.name) for p in chosen}
        lines: list[NDArray[np.int64]] = []
        data = _with_lines(_rows(rows, len(names), self._source.name), rows)
        if not self._written.header:
            data = _before((first, first_line), data)
        for chunk in _chunks(data):
            lines.append(np.array([line for _, line in chunk], np.int64))
            columns = list(zip(*(row for row, _ in chunk), strict=True))
            more = self._columns(columns, chunks, exact, known, chunk)
            if more:
                self._text |= more
                return False
        if not lines and not self._options.may_be_empty:
            raise InputError(f"the file {self._source.name!r} has no rows below its header")
        columns_by_name = {
            names[position]: np.concatenate(parts) if parts else self._no_cells(position)
            for position, parts in chunks.items()
        }
        rows_of_file = np.concatenate([np.empty(0, np.int64), *lines])
        self.table = replace(
            self.table, names=tuple(names), columns=columns_by_name, lines=rows_of_file, notes=[]
        )
        self._leave_out_unnamed(first)
        return True

    def _no_cells(self, position: int) -> Column:
        """A column of a table without rows."""
        is_text = position in self._text or position in self._categories
        return np.empty(0, object if is_text else np.float64)

    def _columns(
        self,
        columns: Sequence[tuple[str, ...]],
        chunks: dict[int, list[Column]],
        exact: dict[int, WholeNumbers],
        known: dict[str, str | None],
        chunk: Sequence[tuple[list[str], int]],
    ) -> set[int]:
        """Add a chunk of rows to the columns; the positions of those that turn out to be text."""
        not_numbers = set()
        for position, parts in chunks.items():
            cells = columns[position]
            joined = "".join(cells)
            if "\0" in joined:
                line = next(line for (_, line), cell in zip(chunk, cells, strict=True) if "\0" in cell)
                raise InputError(
                    f"line {line} of {self._source.name!r} has a NUL byte; the file is damaged or no text"
                )
            numbers = None
            if position not in self._text:
                numbers = _as_numbers(cells, joined, self._missing, self._written.numbers)
                if numbers is None:
                    not_numbers.add(position)
                    continue
                if self._collapses(numbers, cells, exact[position], position):
                    not_numbers.add(position)
                    continue
            parts.append(_as_text(cells, known) if numbers is None else numbers)
        return not_numbers

    def _collapses(
        self, numbers: NDArray[np.float64], cells: Sequence[str], exact: WholeNumbers, position: int
    ) -> bool:
        """Whether a column of categories must be text for its whole numbers to differ; another column is refused then."""
        large = np.flatnonzero(np.abs(numbers) >= _EXACT)
        if len(large) == 0 or position in self._known:
            return False
        texts = (cells[row] for row in large.tolist())
        same = exact.collapse(texts, lambda cell: plain_text(cell, self._written.numbers))
        if position not in self._categories:
            exact.refuse(same)
        return same is not None

    def _names(self, first: list[str]) -> list[str]:
        if not self._written.header:
            return list(made_up_names(len(first)))
        names = [cell.strip() for cell in first]
        made_up = made_up_names(len(names))
        names = [name or made_up[position] for position, name in enumerate(names)]
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise InputError(
                    f"the file {self._source.name!r} has two columns named {name!r}; rename one of them, or give --no-header "
                    "if its first line is a row"
                )
            seen.add(name)
        return names

    def _leave_out_unnamed(self, first: list[str]) -> None:
        """Say what became of columns without a name; row numbers, as pandas writes them, and empty columns are left out."""
        if not self._written.header:
            return
        for position, cell in enumerate(first):
            name = self.table.names[position]
            if cell.strip() or name not in self.table.columns:
                continue
            values = self.table.columns[name]
            if values.dtype == object and all(value is None for value in values):
                what = "is empty"
            elif position == 0 and _counts_rows(values):
                what = "numbers the rows"
            elif values.dtype != object and np.isnan(values).all():
                what = "is empty"
            else:
                self.table.notes.append(
                    f"column {position + 1} of {self.table.file!r} has no name and is called {name!r}"
                )
                continue
            del self.table.columns[name]
            self.table.notes.append(
                f"column {position + 1} of {self.table.file!r} has no name, {what}, and was left out"
            )
        if not self.table.columns and self._options.wanted is None and not self._options.dropped:
            raise InputError(f"the file {self.table.file!r} has no column with a name")


def _counts_rows(values: NDArray[Any]) -> bool:
    return bool(values.dtype != object and (np.diff(values) == 1.0).all() and values[0] in (0.0, 1.0))


def _rows(reader: Rows, width: int | None, file: str) -> Iterator[list[str]]:
    """The rows, each of the header's width; blank lines are skipped."""
    for row in reader:
        if not row:
            continue
        if width is not None and len(row) != width:
            if len(row) == 1 and not row[0].strip():
                continue
            raise InputError(
                f"line {reader.line} of {file!r} has {len(row)} cells, but the first line names {width} columns; "
                "a cell that holds the separator must be in quotes"
            )
        yield row


def _with_lines(data: Iterator[list[str]], rows: Rows) -> Iterator[tuple[list[str], int]]:
    for row in data:
        yield row, rows.line


def _before(
    first: tuple[list[str], int], data: Iterator[tuple[list[str], int]]
) -> Iterator[tuple[list[str], int]]:
    yield first
    yield from data


def _chunks(rows: Iterator[tuple[list[str], int]]) -> Iterator[list[tuple[list[str], int]]]:
    while chunk := list(islice(rows, _ROWS_A_CHUNK)):
        yield chunk


def _as_numbers(
    cells: Sequence[str], joined: str, missing: frozenset[str], written: NumberFormat
) -> NDArray[np.float64] | None:
    # Python's float() takes "1_000" for a number; in a table it is an identifier.
    if "_" in joined:
        return None
    if written == PLAIN:
        try:
            return np.array(["nan" if cell.strip() in missing else cell for cell in cells], dtype=np.float64)
        except ValueError:
            return None
    numbers = np.empty(len(cells))
    for row, cell in enumerate(cells):
        plain = "nan" if cell.strip() in missing else plain_text(cell, written)
        if plain is None:
            return None
        numbers[row] = float(plain)
    return numbers


def _as_text(cells: Sequence[str], known: dict[str, str | None]) -> NDArray[np.object_]:
    array = np.empty(len(cells), dtype=object)
    array[:] = [known.setdefault(cell, cell) for cell in map(str.strip, cells)]
    return array
