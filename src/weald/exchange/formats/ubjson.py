"""Universal Binary JSON as XGBoost reads it: arrays of one type are written with their type and length."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

_TYPES: Final = {
    np.dtype(np.float32): (b"d", ">f4"),
    np.dtype(np.uint8): (b"U", ">u1"),
    np.dtype(np.int32): (b"l", ">i4"),
    np.dtype(np.int64): (b"L", ">i8"),
}


def to_ubjson(value: Any) -> bytes:
    """The bytes of dictionaries, lists, text, whole numbers and arrays.

    >>> to_ubjson({"a": [1]})
    b'{L\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01a[#L\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01L\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01}'
    """
    if isinstance(value, dict):
        return b"{" + b"".join(_text(name) + to_ubjson(entry) for name, entry in value.items()) + b"}"
    if isinstance(value, list):
        return b"[#L" + struct.pack(">q", len(value)) + b"".join(map(to_ubjson, value))
    if isinstance(value, np.ndarray):
        mark, kind = _TYPES[value.dtype]
        return b"[$" + mark + b"#L" + struct.pack(">q", len(value)) + value.astype(kind).tobytes()
    if isinstance(value, str):
        return b"S" + _text(value)
    return b"L" + struct.pack(">q", value)


def _text(text: str) -> bytes:
    data = text.encode()
    return b"L" + struct.pack(">q", len(data)) + data
