"""How a text file is written: its encoding, separator, quotes, header, and the signs in its numbers."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from weald.data.number_text import FORMATS, PLAIN, NumberFormat, plain_text
from weald.data.reading import ReadOptions
from weald.runtime.errors import InputError

SAMPLE_BYTES = 2**18
_SAMPLE_ROWS = 1000
_SEPARATORS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: the encoding of text that is not UTF-8: every byte is a character
FALLBACK = "latin-1"
_SPOKEN = {"\t": "tab", " ": "blank"}


@dataclass(frozen=True)
class TextFormat:
    """How the text of a table is written; ``first_line`` is the one that the table begins with, counted from 1."""

    encoding: str
    separator: str
    quote: str
    header: bool
    numbers: NumberFormat
    first_line: int = 1

    def __str__(self) -> str:
        """In words, for the user."""
        parts = [f"separator {_SPOKEN.get(self.separator, repr(self.separator))}"]
        parts.append(f"decimal sign {self.numbers.decimal!r}")
        if self.numbers.thousands:
            parts.append(f"thousands sign {self.numbers.thousands!r}")
        if self.quote != '"':
            parts.append(f"quotes {self.quote}" if self.quote else "no quotes")
        parts.append(
            {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "latin-1": "Latin-1"}.get(self.encoding, self.encoding)
        )
        parts.append("the first line names the columns" if self.header else "no line names the columns")
        return ", ".join(parts)

    def reader(self, lines: io.TextIOBase) -> Rows:
        """The rows of an open file, from the table's first line on."""
        for _ in range(self.first_line - 1):
            lines.readline()
        return Rows(lines, self.separator, self.quote, self.first_line)


class Rows:
    """The cells of every row, each a list; ``line`` is where the row last given begins."""

    def __init__(self, lines: io.TextIOBase, separator: str, quote: str, first_line: int) -> None:
        blanks = separator == " "
        if quote:
            self._reader = csv.reader(lines, delimiter=separator, quotechar=quote, skipinitialspace=blanks)
        else:
            self._reader = csv.reader(
                lines, delimiter=separator, quoting=csv.QUOTE_NONE, skipinitialspace=blanks
            )
        self._before = first_line
        self._blanks = blanks
        self.line = first_line

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> list[str]:
        self.line = self._reader.line_num + self._before
        cells = next(self._reader)
        if self._blanks and cells and cells[-1] == "":
            cells.pop()  # blanks at the end of a line
        return cells


def find_encoding(head: bytes) -> str:
    """The encoding of text by how it begins.

    >>> find_encoding("größe".encode()), find_encoding("größe".encode("utf-16")), find_encoding("größe".encode("latin-1"))
    ('utf-8', 'utf-16', 'latin-1')
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    # Latin letters of UTF-16 without a mark have a zero in every other byte.
    if len(head) >= 4:
        if head[1::2].count(0) > 0.4 * len(head) and head[::2].count(0) == 0:
            return "utf-16-le"
        if head[::2].count(0) > 0.4 * len(head) and head[1::2].count(0) == 0:
            return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return FALLBACK
    return "utf-8"


def find_format(head: bytes, whole: bool, encoding: str, options: ReadOptions, file: str) -> TextFormat:
    """The format of a text that begins like this; ``whole`` says that this is all. Options count for more than what is found."""
    text = _decoded(head, encoding, file)
    lines = text.splitlines(keepends=True)
    if not whole and len(lines) > 1:
        lines.pop()  # it may be cut
    first_line, separator, quote = 1, options.separator, options.quote
    if lines and lines[0].lower().startswith("sep=") and len(lines[0].strip("\r\n")) == 5:
        separator, first_line, lines = separator or lines[0][4], 2, lines[1:]
    if not any(line.strip() for line in lines):
        raise InputError(f"the file {file!r} is empty; it must have a line that names the columns, and rows")
    if separator is None:
        separator = _find_separator(lines, '"' if quote is None else quote)
    if quote is None:
        quote = _find_quote(lines, separator)
    sample = _sample(lines, separator, quote)
    numbers = _find_numbers([cell for row in sample[1:] or sample for cell in row], options)
    header = _has_header(sample[0], numbers) if options.header is None else options.header
    return TextFormat(encoding, separator, quote, header, numbers, first_line)


def _decoded(head: bytes, encoding: str, file: str) -> str:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except LookupError:
        raise InputError(
            f"--encoding is {encoding!r}, which is not known; use utf-8, utf-16, latin-1 or another of Python's"
        ) from None
    except UnicodeError as error:
        raise InputError(f"the file {file!r} is not {encoding} text: {error}") from None


def _sample(lines: Sequence[str], separator: str, quote: str) -> list[list[str]]:
    rows = Rows(io.StringIO("".join(lines), newline=""), separator, quote, 1)
    try:
        return [[cell.strip() for cell in row] for row in islice(rows, _SAMPLE_ROWS) if row]
    except csv.Error:
        return [list(lines[:1])]  # reading all of it will say where it breaks


def _find_separator(lines: Sequence[str], quote: str) -> str:
    """The separator that cuts most lines into as many cells as the first."""
    best, found = (0.0, 1), ","
    for separator in _SEPARATORS:
        widths = [len(row) for row in _sample(lines, separator, quote)]
        if widths and widths[0] > 1:
            agreed = sum(width == widths[0] for width in widths) / len(widths)
            if (agreed, widths[0]) > best:
                best, found = (agreed, widths[0]), separator
    if best[0] > 0 or len(lines) < 2:
        return found
    rows = _sample(lines, " ", quote)
    blanks = {len(row) for row in rows}
    numbers = sum(plain_text(cell, PLAIN) is not None for row in rows[1:] for cell in row)
    cells = sum(len(row) for row in rows[1:])
    # A column of names has blanks, too: columns between blanks must hold numbers.
    return " " if len(blanks) == 1 and max(blanks) > 1 and 2 * numbers >= cells > 0 else found


def _find_quote(lines: Sequence[str], separator: str) -> str:
    cells = [cell for row in _sample(lines, separator, '"')[1:] for cell in row]
    opened = sum(cell.startswith("'") for cell in cells)
    closed = sum(cell.endswith("'") for cell in cells)
    text = sum(plain_text(cell, PLAIN) is None for cell in cells)
    return "'" if opened == closed and 2 * opened >= text > 0 else '"'


def _find_numbers(cells: Sequence[str], options: ReadOptions) -> NumberFormat:
    """The signs that numbers are written with: those of the cells that only one way of writing fits."""
    if options.decimal is not None or options.thousands is not None:
        decimal = options.decimal or ("," if options.thousands == "." else ".")
        thousands = options.thousands or ""
        if decimal == thousands:
            raise InputError(f"--decimal and --thousands are both {decimal!r}; they must differ")
        return NumberFormat(decimal, thousands)
    points = commas = 0
    grouped = dict.fromkeys(FORMATS, 0)
    for cell in cells:
        fitting = [written for written in FORMATS if plain_text(cell, written) is not None]
        if not fitting or all(sign not in cell for sign in ".,"):
            continue
        decimals = {written.decimal for written in fitting}
        points += decimals == {"."}
        commas += decimals == {","}
        if len(fitting) == 1:
            grouped[fitting[0]] += 1
    if points and commas:
        return PLAIN  # the columns that are written otherwise are named when they are read
    decimal = "," if commas else "."
    other = NumberFormat(decimal, "." if commas else ",")
    return other if grouped[other] else NumberFormat(decimal)


def _has_header(first: Sequence[str], numbers: NumberFormat) -> bool:
    """Whether the first row names the columns: no number is a name, unless numbers count up as years do."""
    found = [cell for cell in first if plain_text(cell, numbers) is not None]
    if not found:
        return True
    if len(found) < 2 or not all(cell.isdecimal() for cell in found):
        return False
    values = [int(cell) for cell in found]
    return values == list(range(values[0], values[0] + len(values)))
