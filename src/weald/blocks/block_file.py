"""A block of a store in a file of its own.

The file has a signature, the length and the checksum of a header, the header, and the columns one after the other. The header
says which store and which block this is, and how every column is stored, with a checksum of each. The manifest of the store
has the checksum of the header, so that nothing can be exchanged unnoticed.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded import Codes
from weald.blocks.codecs import ColumnForm, decode, encode
from weald.runtime.errors import InputError
from weald.runtime.row_memory import IN_MEMORY, RowMemory

_MAGIC: Final = b"WEALDBLK"
_START: Final = struct.Struct("<8sII")  # signature, length and checksum of the header


def block_bytes(store: str, number: int, codes: Codes, codecs: Sequence[str]) -> tuple[bytes, int]:
    """A block's file and the checksum of its header; ``codes``: (columns, rows), ``codecs``: one a column."""
    forms, parts = [], []
    for column, codec in zip(codes, codecs, strict=True):
        stored, form = encode(column, codec)
        forms.append(form)
        parts.append(stored)
    header = {
        "store": store,
        "block": number,
        "rows": codes.shape[1],
        "bins": codes.dtype.str,
        "columns": [form.to_json() for form in forms],
    }
    written = json.dumps(header).encode()
    checksum = zlib.crc32(written)
    return b"".join([_START.pack(_MAGIC, len(written), checksum), written, *parts]), checksum


@dataclass(frozen=True)
class BlockHeader:
    """What a block's file says of itself."""

    store: str
    number: int
    n_rows: int
    dtype: np.dtype[Any]
    forms: tuple[ColumnForm, ...]
    begins: NDArray[np.int64]  # where each column's bytes begin in the file, with the end of the last
    checksum: int

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        return int(self.begins[-1])


def read_header(path: Path) -> BlockHeader:
    """The header of a block's file; an `InputError` says what is wrong with it."""
    try:
        with open(path, "rb") as file:
            start = file.read(_START.size)
            magic, length, checksum = _START.unpack(start) if len(start) == _START.size else (b"", 0, 0)
            written = file.read(length) if magic == _MAGIC else b""
    except FileNotFoundError:
        raise InputError(f"it is not there: {path}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if magic != _MAGIC or len(written) != length or zlib.crc32(written) != checksum:
        raise InputError(f"{path} is damaged, or no block of a store")
    header = json.loads(written)
    forms = tuple(ColumnForm(*form) for form in header["columns"])
    begins = _START.size + length + np.cumsum([0, *(form.length for form in forms)])
    return BlockHeader(
        header["store"], header["block"], header["rows"], np.dtype(header["bins"]), forms, begins, checksum
    )


@dataclass(frozen=True)
class StoredBlock:
    """A block of a store, which `ShardedBins` reads; ``checksum``: of its header, as the manifest has it."""

    store: str
    number: int
    path: Path
    n_rows: int
    checksum: int
    columns: tuple[str, ...]  # their names, for messages; those of the table, and of bytes behind them
    n_bins: int  # columns of bins, the first ones
    memory: RowMemory = IN_MEMORY  # that is asked to keep the limit whenever a block is read
    _header: list[BlockHeader] = field(default_factory=list, init=False, repr=False, compare=False)
    _checked: set[int] = field(default_factory=set, init=False, repr=False, compare=False)

    def read(self, columns: NDArray[np.int64] | None = None) -> Codes:
        """The bins, (columns, rows): of all columns, or of those that are asked for."""
        header = self.header()
        wanted = np.arange(self.n_bins) if columns is None else columns
        codes = np.empty((len(wanted), header.n_rows), header.dtype)
        try:
            with open(self.path, "rb", buffering=0) as file:
                for begin, end in _runs(wanted):
                    self._read_run(file, header, int(wanted[begin]), codes[begin:end])
        except OSError as error:
            raise self._problem(f"{self.path} cannot be read: {error.strerror}") from error
        self.memory.release()
        return codes

    def header(self) -> BlockHeader:
        """The file's header, read once, and that of this block."""
        if not self._header:
            try:
                header = read_header(self.path)
            except InputError as error:
                raise self._problem(str(error)) from None
            if header.store != self.store:
                raise self._problem(f"{self.path} is of another store")
            if header.number != self.number:
                raise self._problem(f"{self.path} holds block {header.number}")
            if header.checksum != self.checksum:
                raise self._problem(f"{self.path} is not the file that was written")
            if os.path.getsize(self.path) != header.n_bytes:
                raise self._problem(f"{self.path} is cut short")
            self._header.append(header)
        return self._header[0]

    def _read_run(self, file: FileIO, header: BlockHeader, first: int, codes: Codes) -> None:
        """Neighbouring columns, by one call of the system; those that are stored as they are, to their place."""
        begins = header.begins[first : first + len(codes) + 1] - header.begins[first]
        forms = header.forms[first : first + len(codes)]
        is_plain = all(form.codec == "none" and form.default < 0 for form in forms)
        room = codes.reshape(-1).view(np.uint8) if is_plain else np.empty(begins[-1], np.uint8)
        stored = memoryview(room)  # type: ignore[arg-type]
        file.seek(int(header.begins[first]))
        if file.readinto(stored) != len(stored):
            raise self._problem(f"{self.path} is cut short")
        for place, form in enumerate(forms):
            own = stored[begins[place] : begins[place + 1]]
            self._check(first + place, own, form)
            if not is_plain:
                decode(own, form, codes[place])

    def _check(self, column: int, stored: memoryview, form: ColumnForm) -> None:
        """A column's checksum, when the column is read for the first time."""
        if column not in self._checked:
            if zlib.crc32(stored) != form.checksum:
                raise self._problem(f"the column {self.columns[column]!r} in {self.path} is damaged")
            self._checked.add(column)

    def _problem(self, what: str) -> InputError:
        return InputError(
            f"Block {self.number} of the store cannot be used: {what}; bring the file back, or build the store again."
        )


def _runs(columns: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """The stretches of neighbouring columns, as places among those that are asked for."""
    ends = np.flatnonzero(np.diff(columns) != 1) + 1
    begins = [0, *ends.tolist()]
    return zip(begins, [*begins[1:], len(columns)], strict=True)
