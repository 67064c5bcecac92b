"""Universal Binary JSON, as XGBoost writes it: https://ubjson.org, draft 12.

The reader keeps a stack of its own, so that depth cannot exhaust Python's, and takes no array that is longer than the bytes that
are left. Arrays of one type of numbers become NumPy arrays.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weald.runtime.errors import ModelFileError

_NUMBERS: Final[dict[bytes, np.dtype[Any]]] = {
    b"i": np.dtype(">i1"),
    b"U": np.dtype(">u1"),
    b"I": np.dtype(">i2"),
    b"l": np.dtype(">i4"),
    b"L": np.dtype(">i8"),
    b"d": np.dtype(">f4"),
    b"D": np.dtype(">f8"),
}
_CONSTANTS: Final = {b"Z": None, b"T": True, b"F": False}
_DEEPEST: Final = 64


class _Bytes:
    """Bytes that are read from the beginning on."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self.place = 0

    def take(self, count: int) -> bytes:
        """The next so many bytes."""
        if not 0 <= count <= len(self._data) - self.place:
            raise ModelFileError("The UBJSON ends too early.")
        self.place += count
        return bytes(self._data[self.place - count : self.place])

    def marker(self) -> bytes:
        """The next marker; no-operations are passed over."""
        while True:
            marker = self.take(1)
            if marker != b"N":
                return marker

    def peek(self) -> bytes:
        """The next byte, which stays."""
        return bytes(self._data[self.place : self.place + 1])

    def length(self) -> int:
        """A whole number with its marker, at most the bytes that are left."""
        marker = self.marker()
        if marker not in _NUMBERS or marker in b"dD":
            raise ModelFileError(f"The UBJSON has {marker!r} where a length belongs.")
        count = int(self.number(marker))
        if not 0 <= count <= len(self._data) - self.place:
            raise ModelFileError(f"The UBJSON has a length of {count}, which is more than is left of it.")
        return count

    def number(self, marker: bytes) -> float:
        """A number of a type."""
        dtype = _NUMBERS[marker]
        value: float = np.frombuffer(self.take(dtype.itemsize), dtype)[0].item()
        return value

    def text(self) -> str:
        """A string without its marker."""
        try:
            return self.take(self.length()).decode("utf-8")
        except UnicodeDecodeError:
            raise ModelFileError("The UBJSON has text that is not UTF-8.") from None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self.place == len(self._data)


class _Open:
    """An array or an object that is being read; ``left``: how many entries it still gets, None until its end marker."""

    def __init__(self, value: Any, left: int | None, kind: bytes | None) -> None:
        self.value, self.left, self.kind = value, left, kind

    def is_at_end(self, data: _Bytes) -> bool:
        if self.left is not None:
            return self.left == 0
        end = b"}" if isinstance(self.value, dict) else b"]"
        if data.peek() == end:
            data.take(1)
            return True
        return False

    def add(self, key: str | None, value: Any) -> None:
        if self.left is not None:
            self.left -= 1
        if key is None:
            self.value.append(value)
        else:
            self.value[key] = value


def ubjson_of(data: bytes) -> Any:
    """The value of UBJSON bytes.

    >>> ubjson_of(b"{L" + bytes(7) + b"\\x01aU\\x05}")
    {'a': 5}
    """
    reader = _Bytes(data)
    stack: list[_Open] = []
    root = _value(reader, reader.marker(), stack)
    while stack:
        top = stack[-1]
        if top.is_at_end(reader):
            stack.pop()
            continue
        key = reader.text() if isinstance(top.value, dict) else None
        marker = top.kind if top.kind is not None else reader.marker()
        depth = len(stack)
        value = _value(reader, marker, stack)
        top.add(key, value)
        if depth > _DEEPEST:
            raise ModelFileError("The UBJSON is nested deeper than a model can be.")
    if not reader.is_done:
        raise ModelFileError("The UBJSON goes on after its end.")
    return root


def _value(reader: _Bytes, marker: bytes, stack: list[_Open]) -> Any:
    """The value behind a marker; what holds others is put on the stack, to be filled."""
    if marker in _CONSTANTS:
        return _CONSTANTS[marker]
    if marker in _NUMBERS:
        return reader.number(marker)
    if marker == b"C":
        return chr(reader.take(1)[0])
    if marker == b"S":
        return reader.text()
    if marker not in (b"[", b"{"):
        raise ModelFileError(f"The UBJSON has the marker {marker!r}, which is not known.")
    kind = left = None
    if reader.peek() == b"$":
        reader.take(1)
        kind = reader.take(1)
        if reader.peek() != b"#":
            raise ModelFileError("The UBJSON has a typed array without its length.")
    if reader.peek() == b"#":
        reader.take(1)
        if kind in _NUMBERS and marker == b"[":
            return _numbers(reader, _NUMBERS[kind])
        left = reader.length()
        if kind in _CONSTANTS:
            raise ModelFileError("The UBJSON has an array of constants, which no model has.")
    value: Any = [] if marker == b"[" else {}
    stack.append(_Open(value, left, kind))
    return value


def _numbers(reader: _Bytes, dtype: np.dtype[Any]) -> Any:
    count = reader.length()
    return np.frombuffer(reader.take(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
