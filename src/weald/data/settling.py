"""What a column of text is: numbers with cells that are none, dates, or categories. Nothing is guessed without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.date_text import date_of, looks_like_date
from weald.data.number_text import (
    FORMATS,
    NumberFormat,
    formats_of,
    is_hexadecimal,
    number_of,
    plain_text,
    starts_with_zero,
    without_signs,
)
from weald.data.reading import FileTable, ReadOptions
from weald.runtime.errors import InputError

# Up to this share of cells that are no numbers are missing values of a column of numbers; one cell always may be.
_FEW = 0.05
# A column of text of which more is dates is one of dates.
_DATES = 0.8
# A column of text with more different values than this share of its rows tells rows apart, not kinds of rows.
_MANY_CATEGORIES = 0.5
_MANY_ROWS = 50
_SHOWN = 3
_EXACT = 2.0**53


@dataclass(frozen=True)
class _Cells:
    """A column of text, None for missing: how often each text occurs, and where."""

    name: str
    values: NDArray[np.object_]
    counts: Counter[str]
    table: FileTable

    @property
    def total(self) -> int:
        return self.counts.total()

    def count(self, texts: Iterable[str]) -> int:
        return sum(self.counts[text] for text in texts)

    def shown(self, texts: Iterable[str]) -> str:
        """Some of the texts, each with the place where it is first."""
        chosen = list(texts)
        parts = [f"{text!r} in {self._place(text)}" for text in chosen[:_SHOWN]]
        more = f" and {len(chosen) - _SHOWN:,} others" if len(chosen) > _SHOWN else ""
        return ", ".join(parts) + more

    def _place(self, text: str) -> str:
        return self.table.place(next(row for row, value in enumerate(self.values) if value == text))

    def mapped(self, values: Mapping[str, Any], missing: Any, dtype: Any) -> NDArray[Any]:
        cells = (missing if text is None else values[text] for text in self.values)
        return np.fromiter(cells, dtype=dtype, count=len(self.values))


def settle_text(
    values: NDArray[np.object_], name: str, table: FileTable, options: ReadOptions, written: NumberFormat
) -> NDArray[Any]:
    """A column of text as what it is: floats, dates (``datetime64``), or the text; what was done is noted in ``table``."""
    counts: Counter[str] = Counter(value for value in values.tolist() if value is not None)
    cells = _Cells(name, values, counts, table)
    if name in options.dates:
        return _dates(cells, options)
    if name in options.numeric:
        return _declared_numbers(cells, written)
    if name in options.text or name in options.categorical:
        return values
    return _undeclared(cells, written, name in options.known_numbers)


def _undeclared(cells: _Cells, written: NumberFormat, known: bool) -> NDArray[Any]:
    numbers = {text for text in cells.counts if plain_text(text, written) is not None}
    others = [text for text in cells.counts if text not in numbers]
    if not others:
        return _as_numbers(cells, {text: number_of(text, written) for text in numbers})
    codes = [text for text in cells.counts if text in numbers and starts_with_zero(text)]
    signed = [text for text in others if formats_of(text) or is_hexadecimal(text)]
    n_numbers, n_signed = cells.count(numbers), cells.count(signed)
    if signed and (known or (not codes and 2 * (n_numbers + n_signed) > cells.total)):
        raise InputError(_signed_sentence(cells, signed, written, known))
    if known:
        return _few_or_many(cells, numbers, others, written, known)
    if cells.count(text for text in others if looks_like_date(text)) > _DATES * cells.total:
        raise InputError(
            f"the column {cells.name!r} of {cells.table.file!r} holds dates, {cells.shown(others[:1])}: give --dates "
            f"{cells.name!r} to learn from their parts, --drop {cells.name!r} to leave them out, or "
            f"--categorical {cells.name!r} to take every date for a category"
        )
    if 2 * n_numbers <= cells.total:
        _note_many_categories(cells)
        return cells.values
    if codes:
        cells.table.notes.append(
            f"column {cells.name!r} is read as text, not as numbers: it holds {cells.shown(others)}, and "
            f"{cells.shown(codes[:1])} begins with a zero as codes do; --numeric {cells.name!r} says otherwise"
        )
        return cells.values
    return _few_or_many(cells, numbers, others, written, known)


def _few_or_many(
    cells: _Cells, numbers: set[str], others: list[str], written: NumberFormat, known: bool
) -> NDArray[np.float64]:
    n_others = cells.count(others)
    if n_others > max(1, _FEW * cells.total):
        raise InputError(
            f"the column {cells.name!r} of {cells.table.file!r} holds numbers, but {n_others:,} of its "
            f"{cells.total:,} cells are none, {cells.shown(others)}: give --na-values {others[0]!r} if that means missing, or "
            f"--numeric {cells.name!r} to take all such cells for missing{_or_categories(cells, known)}"
        )
    cells.table.notes.append(
        f"column {cells.name!r}: {n_others:,} of {cells.total:,} cells are no numbers and count as missing, {cells.shown(others)}"
    )
    return _as_numbers(cells, {text: number_of(text, written) for text in numbers})


def _or_categories(cells: _Cells, known: bool) -> str:
    """The last way out, which a column has that is not known to be numbers."""
    return "" if known else f", or --categorical {cells.name!r} if they are categories"


def _signed_sentence(cells: _Cells, signed: list[str], written: NumberFormat, known: bool) -> str:
    """Numbers that are written with signs: which options would read them."""
    start = (
        f"the column {cells.name!r} of {cells.table.file!r} holds numbers that are written with other signs, "
        f"{cells.shown(signed)}: "
    )
    if any(is_hexadecimal(text) for text in signed):
        return start + "write them as decimal numbers" + _or_categories(cells, known)
    kept = [way for way in FORMATS if all(way in formats_of(text) for text in signed)]
    fitting = {way: cells.count(text for text in cells.counts if way in formats_of(text)) for way in kept}
    best = [way for way in kept if fitting[way] == max(fitting.values())]
    simple = {way.decimal for way in best if not way.thousands}
    best = [way for way in best if not way.thousands or way.decimal not in simple]
    ways = [_options_of(way) for way in best][:2]
    wanted = [" or ".join(ways)] if ways and written not in best else []
    if any(without_signs(text) != text for text in signed) or not wanted:
        wanted.append(f"--numeric {cells.name!r}, which cuts off signs of currency and percent")
    return start + f"give {' and '.join(wanted)}{_or_categories(cells, known)}"


def _options_of(written: NumberFormat) -> str:
    decimal = f"--decimal {written.decimal!r}" if written.decimal == "," or not written.thousands else ""
    thousands = f"--thousands {written.thousands!r}" if written.thousands else ""
    return " ".join(filter(None, (decimal, thousands)))


def _declared_numbers(cells: _Cells, written: NumberFormat) -> NDArray[np.float64]:
    found = {text: number_of(without_signs(text), written) for text in cells.counts}
    others = [text for text, number in found.items() if number is None]
    if len(others) == len(found):
        raise InputError(
            f"--numeric names {cells.name!r}, but no cell of that column is a number, {cells.shown(others)}"
        )
    signed = [text for text, number in found.items() if number is not None and without_signs(text) != text]
    if signed:
        cells.table.notes.append(
            f"column {cells.name!r}: signs were cut off {cells.count(signed):,} of {cells.total:,} numbers, {cells.shown(signed)}"
        )
    if others:
        cells.table.notes.append(
            f"column {cells.name!r}: {cells.count(others):,} of {cells.total:,} cells are no numbers and "
            f"count as missing, {cells.shown(others)}"
        )
    return _as_numbers(cells, found)


def _as_numbers(cells: _Cells, found: Mapping[str, float | None]) -> NDArray[np.float64]:
    values = {text: np.nan if found.get(text) is None else found[text] for text in cells.counts}
    exact = WholeNumbers(cells.name, cells.table.file)
    large = (text for text, number in values.items() if number is not None and abs(number) >= _EXACT)
    exact.refuse(exact.collapse(large))
    return cells.mapped(values, np.nan, np.float64)


def _dates(cells: _Cells, options: ReadOptions) -> NDArray[Any]:
    found = {text: date_of(text, options.date_format) for text in cells.counts}
    others = [text for text, date in found.items() if date is None]
    if not others:
        return cells.mapped(found, np.datetime64("NaT"), "datetime64[us]")
    if cells.count(others) > max(1, _FEW * cells.total) or len(others) == len(found):
        how = f"like {options.date_format!r}" if options.date_format else "like 2024-01-31 or 31.1.2024"
        raise InputError(
            f"--dates names {cells.name!r}, but {cells.count(others):,} of its {cells.total:,} cells are "
            f"no dates {how}, {cells.shown(others)}: "
            "say how they are written, as in --date-format '%m/%d/%Y'"
        )
    cells.table.notes.append(
        f"column {cells.name!r}: {cells.count(others):,} of {cells.total:,} cells are no dates and count "
        f"as missing, {cells.shown(others)}"
    )
    dates = {text: np.datetime64("NaT") if date is None else date for text, date in found.items()}
    return cells.mapped(dates, np.datetime64("NaT"), "datetime64[us]")


def _note_many_categories(cells: _Cells) -> None:
    if cells.total >= _MANY_ROWS and len(cells.counts) > _MANY_CATEGORIES * cells.total:
        cells.table.notes.append(
            f"column {cells.name!r} is text with {len(cells.counts):,} different values in "
            f"{cells.total:,} rows, too many to learn much from: --drop {cells.name!r}?"
        )


class WholeNumbers:
    """Notices that two different whole numbers of a column, beyond 2**53, are the same float."""

    def __init__(self, name: str, file: str) -> None:
        self._seen: dict[float, int] = {}
        self._name, self._file = name, file

    def collapse(
        self, texts: Iterable[str], to_plain: Callable[[str], str | None] = str.strip
    ) -> tuple[int, int] | None:
        """Two whole numbers, of these texts and those seen before, that are the same float; None where there are none."""
        for text in texts:
            plain = to_plain(text)
            if plain is None or not plain.lstrip("+-").isdecimal():
                continue
            whole = int(plain)
            first = self._seen.setdefault(float(whole), whole)
            if first != whole:
                return first, whole
        return None

    def refuse(self, same: tuple[int, int] | None) -> None:
        """Refuse the column if two of its numbers are the same float."""
        if same is not None:
            raise InputError(
                f"the column {self._name!r} of {self._file!r} holds {same[0]} and {same[1]}, which are the same number to a "
                f"float: give --drop {self._name!r}, or --categorical {self._name!r} if they name things"
            )
