"""Rows of numbers in text: separated by commas or tabs, and in the format of libsvm."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.data.streams import damage_named, open_source
from weald.dialects.shared.tables import Float64s
from weald.runtime.errors import InputError, NotSupportedError

Lines = Iterable[tuple[int, str]]

_MISSING = ("", "na", "nan", "null")


@dataclass(frozen=True)
class SparseRows:
    """What libsvm's lines hold; ``ends``: where a row's cells end, behind a first 0; ``weights``: as many as are given."""

    labels: Float64s
    weights: Float64s
    places: NDArray[np.int64]
    values: Float64s
    ends: NDArray[np.int64]

    @property
    def width(self) -> int:
        """How many columns there are, up to the last one that a row has."""
        return int(self.places.max(initial=-1)) + 1


def lines_of(name: str) -> Iterator[tuple[int, str]]:
    """The lines of a file, decompressed, with their numbers from 1; without blank ones."""
    with damage_named(name), open_source(name).open() as stream:
        try:
            for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8-sig"), 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
        except UnicodeDecodeError:
            raise InputError(f"the file {name!r} is not UTF-8 text.") from None


def read_numbers(name: str, lines: Lines, separator: str | None) -> Float64s:
    """A table of numbers, (rows, columns); ``separator``: None for blanks. Empty cells, na, nan and null are missing."""
    cells, width, rows = array("d"), 0, 0
    for number, line in lines:
        words = line.split(separator)
        width = width or len(words)
        if len(words) != width:
            raise InputError(
                f"line {number} of {name!r} has {len(words)} cells, but those before it have {width}."
            )
        try:
            cells.extend([float(word) for word in words] if "_" not in line else _checked(words))
        except ValueError:
            cells.extend(_checked(words, f"line {number} of {name!r}"))
        rows += 1
    if not rows:
        raise InputError(f"the file {name!r} has no rows.")
    return np.frombuffer(cells, np.float64).reshape(rows, width)


def _checked(words: Iterable[str], where: str = "") -> list[float]:
    """Numbers, some of them missing; what is neither is a ValueError, and named where the place is known."""
    numbers = []
    for place, word in enumerate(words):
        text = word.strip()
        try:
            if "_" in text:
                raise ValueError
            numbers.append(np.nan if text.lower() in _MISSING else float(text))
        except ValueError:
            if not where:
                raise
            raise InputError(f"{where} has {text!r} in column {place}, which is no number.") from None
    return numbers


def read_libsvm(name: str, lines: Lines, labelled: bool = True) -> SparseRows:
    """Rows of ``label column:value …``, or of ``label:weight …``; behind # are comments; ``labelled``: with labels."""
    labels, weights, values = array("d"), array("d"), array("d")
    places, ends = array("q"), array("q", [0])
    for number, line in lines:
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            if labelled:
                label, _, weight = words.pop(0).partition(":")
                labels.append(float(label))
                weights.extend([float(weight)] if weight else [])
            for word in words:
                place, _, value = word.partition(":")
                if place == "qid":
                    raise NotSupportedError("qid is of ranking, which is not supported; leave it out.")
                places.append(int(place))
                values.append(float(value) if value else 1.0)
        except (ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"line {number} of {name!r} is not of the libsvm format: {line!r}.") from None
        ends.append(len(places))
    return SparseRows(
        np.array(labels, np.float64),
        np.array(weights, np.float64),
        np.array(places, np.int64),
        np.array(values, np.float64),
        np.array(ends, np.int64),
    )
