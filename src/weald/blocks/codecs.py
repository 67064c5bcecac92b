"""The bins of a column within a block as bytes, and back.

A column is stored as it is, or by the rows that are not in its most frequent bin: their number in each stretch of 65,536
rows, their places in the stretch in 16 bits each, and their bins. Either may be compressed. The shortest of these is stored.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded import Codes
from weald.runtime.errors import InputError, MissingExtraError
from weald.runtime.extras import load_extra

STRETCH: Final = 65_536
CODECS: Final = ("none", "lz4", "zstd")
_ARROW_NAMES: Final = {"lz4": "lz4_raw", "zstd": "zstd"}
_ZSTD_LEVEL: Final = 1
_DISK_RATE: Final = 500e6  # bytes a second, of the disk that a choice is made for
_TRIES: Final = 3


@dataclass(frozen=True)
class ColumnForm:
    """How a column of a block is stored; ``default``: the bin of the rows that are left out, -1 where none are."""

    codec: str
    length: int  # bytes as stored
    checksum: int
    default: int
    n_others: int  # rows that are not in the default bin

    def to_json(self) -> list[Any]:
        """The form as plain JSON data."""
        return [self.codec, self.length, self.checksum, self.default, self.n_others]

    def raw_length(self, n_rows: int, itemsize: int) -> int:
        """Bytes before they were compressed."""
        if self.default < 0:
            return n_rows * itemsize
        return 4 * _n_stretches(n_rows) + self.n_others * (2 + itemsize)


def check_codec(name: str, what: str) -> None:
    """Refuse a name that is no codec, or one whose package is missing."""
    if name not in CODECS:
        raise InputError(f"compression must be 'auto', {', '.join(map(repr, CODECS))}, not {name!r}.")
    if name != "none":
        load_extra("pyarrow", what)


def choose_codec(column: Codes) -> str:
    """The codec that brings a column from a disk of 500 MB a second soonest, time to decompress included.

    The times are measured on this column. Without pyarrow there is none.

    >>> choose_codec(np.random.default_rng(0).integers(0, 256, 50_000).astype(np.uint8))
    'none'
    """
    raw = np.ascontiguousarray(column).view(np.uint8)
    best, least = "none", len(raw) / _DISK_RATE
    try:
        load_extra("pyarrow", "compression")
    except MissingExtraError:
        return best
    for codec in CODECS[1:]:
        stored = compress(codec, raw)
        seconds = len(stored) / _DISK_RATE + min(_time_of(codec, stored, len(raw)) for _ in range(_TRIES))
        if seconds < least:
            best, least = codec, seconds
    return best


def encode(column: Codes, codec: str) -> tuple[bytes, ColumnForm]:
    """A column as it is stored: the shortest of what there is to choose from; ``codec``: what it may be compressed by."""
    column = np.ascontiguousarray(column)
    counts = np.bincount(column)
    default = int(counts.argmax())
    n_others = len(column) - int(counts[default])
    forms = [(column.view(np.uint8), -1, 0)]
    if 4 * _n_stretches(len(column)) + n_others * (2 + column.itemsize) < column.nbytes:
        forms.append((_sparse(column, default), default, n_others))
    found = []
    for raw, own_default, count in forms:
        for own_codec in dict.fromkeys(("none", codec)):
            stored = compress(own_codec, raw)
            form = ColumnForm(own_codec, len(stored), zlib.crc32(stored), own_default, count)
            found.append((stored, form))
    return min(found, key=lambda one: one[1].length)


def _sparse(column: Codes, default: int) -> NDArray[np.uint8]:
    """Stretch by stretch how many rows are not in the default bin; where these are in their stretch; and their bins."""
    rows = np.flatnonzero(column != default)
    in_stretch = np.bincount(rows // STRETCH, minlength=_n_stretches(len(column))).astype("<u4")
    parts = in_stretch.tobytes() + (rows % STRETCH).astype("<u2").tobytes() + column[rows].tobytes()
    return np.frombuffer(parts, np.uint8)


def decode(stored: memoryview, form: ColumnForm, column: Codes) -> None:
    """Fill a column from what `encode` gave."""
    raw = decompress(form.codec, stored, form.raw_length(len(column), column.itemsize))
    if form.default < 0:
        column[:] = raw.view(column.dtype)
        return
    n_stretches = _n_stretches(len(column))
    in_stretch = raw[: 4 * n_stretches].view("<u4").tolist()
    bins_begin = 4 * n_stretches + 2 * form.n_others
    offsets = raw[4 * n_stretches : bins_begin].view("<u2")
    bins = np.frombuffer(raw[bins_begin:].tobytes(), column.dtype)
    column.fill(form.default)
    begin = 0
    for number, count in enumerate(in_stretch):
        here = slice(begin, begin + count)
        column[number * STRETCH : (number + 1) * STRETCH][offsets[here]] = bins[here]
        begin += count


def compress(codec: str, raw: NDArray[np.uint8]) -> bytes:
    """The bytes of an array, compressed."""
    if codec == "none":
        return raw.tobytes()
    packed: bytes = _codec(codec).compress(np.ascontiguousarray(raw), asbytes=True)
    return packed


def decompress(codec: str, stored: memoryview, size: int) -> NDArray[np.uint8]:
    """An array of so many bytes."""
    if codec == "none":
        return np.frombuffer(stored, np.uint8, size)
    return np.frombuffer(_codec(codec).decompress(stored, decompressed_size=size), np.uint8, size)


def _codec(name: str) -> Any:
    pyarrow = load_extra("pyarrow", f"a store compressed by {name}")
    return pyarrow.Codec(_ARROW_NAMES[name], _ZSTD_LEVEL if name == "zstd" else None)


def _time_of(codec: str, stored: bytes, size: int) -> float:
    began = time.perf_counter()
    decompress(codec, memoryview(stored), size)
    return time.perf_counter() - began


def _n_stretches(n_rows: int) -> int:
    return -(-n_rows // STRETCH)
