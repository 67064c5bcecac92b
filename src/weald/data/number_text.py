"""Numbers as people write them in tables: signs for decimals and thousands, currencies, percent."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_BLANKS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2212": "-"})
_SIGNS = re.compile(r"[$€£¥₹%]")
_ZEROS = re.compile(r"[+-]?0\d")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]+")


class NumberFormat(NamedTuple):
    """How numbers are written; an empty ``thousands`` says that there is no such sign."""

    decimal: str = "."
    thousands: str = ""


PLAIN = NumberFormat()
#: what a column may be written in, the most usual first
FORMATS = (
    PLAIN,
    NumberFormat(".", ","),
    NumberFormat(",", ""),
    NumberFormat(",", "."),
    NumberFormat(".", " "),
    NumberFormat(",", " "),
    NumberFormat(".", "'"),
)


def number_of(cell: str, written: NumberFormat) -> float | None:
    """The number that a cell is, None if it is none.

    >>> number_of("1.234,5", NumberFormat(",", ".")), number_of("1.234", NumberFormat(",", ""))
    (1234.5, None)
    """
    plain = plain_text(cell, written)
    return None if plain is None else float(plain)


def plain_text(cell: str, written: NumberFormat) -> str | None:
    """The cell as ``float`` reads it; None if it is no number."""
    text = cell.strip().translate(_BLANKS)
    if _pattern(written).fullmatch(text) is None:
        return None
    if written.thousands:
        text = text.replace(written.thousands, "")
    return text.replace(written.decimal, ".")


def without_signs(cell: str) -> str:
    """The cell without signs of currency and percent; an amount in brackets is negative.

    >>> without_signs("($5)"), without_signs("12 %")
    ('-5', '12')
    """
    text = _SIGNS.sub("", cell.strip().translate(_BLANKS)).strip()
    if text.startswith("(") and text.endswith(")"):
        return "-" + text[1:-1].strip()
    return text


@lru_cache(maxsize=65_536)
def formats_of(cell: str) -> tuple[NumberFormat, ...]:
    """The formats in which a cell is a number once its signs are cut off; none for other text.

    >>> [tuple(written) for written in formats_of("$1,234.5")]
    [('.', ',')]
    """
    bare = without_signs(cell)
    return tuple(written for written in FORMATS if plain_text(bare, written) is not None)


def is_hexadecimal(cell: str) -> bool:
    """Whether the cell is a number like 0x1F."""
    return _HEXADECIMAL.fullmatch(cell) is not None


def starts_with_zero(cell: str) -> bool:
    """Whether the cell looks like a code of digits, as 007 does."""
    return _ZEROS.match(cell) is not None


@lru_cache(maxsize=64)
def _pattern(written: NumberFormat) -> re.Pattern[str]:
    decimal, thousands = re.escape(written.decimal), re.escape(written.thousands)
    whole = rf"(?:[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+|\d+)" if thousands else r"\d+"
    number = rf"(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?"
    return re.compile(rf"[+-]?(?:{number}|inf|infinity)", re.IGNORECASE)
