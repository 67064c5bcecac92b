"""The container of every model file: named arrays and a JSON header in one safetensors file, under a checksum.

Layout: eight bytes with the length of the table, the table (JSON), then the arrays. The table's only metadata
entry, "weald", is canonical JSON with the keys format, header, sha256, version and those of the kind of model.
"sha256" is the SHA-256 of the whole file with those 64 digits replaced by zeros; it is the last "sha256" of
the table in every format, so that any Weald can tell a damaged file from one that is newer than itself. The
same content always gives the same bytes.

What is in the container is not known here: `forest/file.py` keeps a forest in it, and a composite of several
models (`estimators/shared/composite.py`) the model files of its members.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import safetensors
from numpy.typing import NDArray

from weald import __version__
from weald.forest.floats import decode_floats, encode_floats
from weald.runtime.errors import InputError, ModelFileError

# Format 1: a forest whose leaves hold one number each. Format 2: forests with vector leaves, and composites. Format 3:
# forests with weights of trees or with parallel trees, and linear models. Format 4: forests whose trees are averaged.
# Format 5: forests with target statistics. Format 6: those of symmetric trees, in few small arrays.
NEWEST_FORMAT: Final = 6
# The safetensors format itself allows no longer table.
_MAXIMUM_TABLE_BYTES: Final = 100_000_000
_ENTRY: Final = "weald"
_KEYS: Final = frozenset({"format", "header", "sha256", "version"})
_DIGITS: Final = 64
_FOREIGN: Final = "This is not a Weald model file, or it is damaged"
# As it stands in the table: JSON inside a JSON string, hence the backslashes.
_MARKER: Final = b'\\"sha256\\":\\"'
_TYPE_NAMES: Final = {
    "float64": "F64",
    "float32": "F32",
    "int64": "I64",
    "int32": "I32",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
}
STORED_TYPES: Final = frozenset(_TYPE_NAMES)
#: The names of arrays with the type of each, or with those that it may have.
ArrayTypes = Mapping[str, np.dtype[Any] | tuple[np.dtype[Any], ...]]


@dataclass(frozen=True)
class Container:
    """The checked content of a file: its header, the other fields of its metadata, and arrays to be read."""

    header: dict[str, Any]
    fields: dict[str, Any]
    _data: bytes
    _names: frozenset[str]

    def require_fields(self, names: frozenset[str]) -> dict[str, Any]:
        """The metadata's fields, which must be just these."""
        if self.fields.keys() != names:
            raise _wrong_keys(self.fields.keys() ^ names)
        return self.fields

    def holds(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return name in self._names

    def arrays(self, dtypes: ArrayTypes) -> dict[str, NDArray[Any]]:
        """All arrays, flat and read-only, which must have just these names and types."""
        if self._names != dtypes.keys():
            wrong = ", ".join(sorted(map(repr, self._names ^ dtypes.keys())))
            raise ModelFileError(f"The model file has missing or unknown arrays: {wrong}.")
        try:
            tensors = safetensors.deserialize(self._data)  # type: ignore[no-untyped-call]
        except Exception as error:
            raise ModelFileError(f"The model file's table of arrays is not valid: {error}.") from error
        return {name: _read_array(name, tensor, dtypes[name]) for name, tensor in tensors}


def pack(
    file_format: int, header: dict[str, Any], fields: dict[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> bytes:
    """The bytes of a model file; the arrays are written flat.

    Examples:
        >>> data = pack(2, {"kind": "example"}, {}, {"numbers": np.arange(3)})
        >>> content = unpack(data)
        >>> content.header, content.arrays({"numbers": np.dtype(np.int64)})["numbers"].tolist()
        ({'kind': 'example'}, [0, 1, 2])
    """
    metadata = {
        "format": file_format,
        "header": encode_floats(header),
        "sha256": "0" * _DIGITS,
        "version": __version__,
        **fields,
    }
    # safetensors' order, the widest numbers first, keeps every array aligned. The table is spelled here,
    # not by the library, so that the bytes of a model cannot change with the library's version.
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    table = _spell_table(metadata, {name: arrays[name] for name in names})
    parts = [len(table).to_bytes(8, "little"), table, *(_little_endian(arrays[name]) for name in names)]
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
    parts[1] = _with_digits(table, checksum.hexdigest())
    return b"".join(parts)


def unpack(data: bytes) -> Container:
    """The content of a model file's bytes; nothing is executed.

    Raises:
        ModelFileError: when the bytes are damaged, are no Weald model, or come from a newer Weald.
    """
    table_bytes = _find_table(data)
    digest = _check_checksum(data, table_bytes)
    table = _parse(table_bytes, "table")
    metadata = _read_metadata(table, digest)
    header = decode_floats(metadata["header"])
    if not isinstance(header, dict):
        raise ModelFileError("The model file's header must be a dictionary.")
    fields = {key: value for key, value in metadata.items() if key not in _KEYS}
    return Container(header, fields, data, frozenset(table.keys() - {"__metadata__"}))


@contextmanager
def of_one_kind(what: str) -> Iterator[None]:
    """Where a model is made of a file: whatever its content makes fail is a `ModelFileError`.

    Sizes and forms are checked before they are used. What is left are values that only their user can judge, such as a
    parameter that another package checks.
    """
    try:
        yield
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"The file's content is not that of {what}: {error}") from error


def _little_endian(array: NDArray[Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _spell_table(metadata: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    try:
        table: dict[str, Any] = {"__metadata__": {_ENTRY: _canonical(metadata)}}
    except ValueError as error:
        raise InputError(f"The header cannot be written as JSON: {error}.") from error
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        dtype = _TYPE_NAMES[array.dtype.name]
        table[name] = {"dtype": dtype, "shape": [array.size], "data_offsets": [start, end]}
    text = json.dumps(table, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    if len(text) > _MAXIMUM_TABLE_BYTES:
        limit = f"a model file holds at most {_MAXIMUM_TABLE_BYTES}"
        raise InputError(f"The header (names, categories, history) takes {len(text)} bytes; {limit}.")
    return text


def _with_digits(table: bytes, digits: str) -> bytes:
    start = table.rindex(_MARKER) + len(_MARKER)
    return table[:start] + digits.encode("ascii") + table[start + _DIGITS :]


def _find_table(data: bytes) -> bytes:
    if len(data) < 8:
        raise ModelFileError(f"{_FOREIGN}: it has only {len(data)} bytes.")
    length = int.from_bytes(data[:8], "little")
    if length > min(len(data) - 8, _MAXIMUM_TABLE_BYTES):
        raise ModelFileError(f"{_FOREIGN}: its table of contents is longer than a table can be.")
    table = data[8 : 8 + length]
    if not table.startswith(b"{") or _MARKER not in table:
        raise ModelFileError(f"{_FOREIGN}: it holds no checksum of Weald's.")
    return table


def _check_checksum(data: bytes, table: bytes) -> str:
    start = 8 + table.rindex(_MARKER) + len(_MARKER)
    found = data[start : start + _DIGITS]
    whole = memoryview(data)
    checksum = hashlib.sha256(whole[:start])
    checksum.update(b"0" * _DIGITS)
    checksum.update(whole[start + _DIGITS :])
    digest = checksum.hexdigest()
    if found != digest.encode("ascii"):
        raise ModelFileError("The model file is damaged: its checksum does not match its content.")
    return digest


def _parse(text: bytes | str, part: str) -> Any:
    try:
        plain = text if isinstance(text, str) else text.decode("ascii")
        return _STRICT_JSON.decode(plain)
    except RecursionError:
        raise ModelFileError(f"The model file's {part} is nested too deeply.") from None
    except ValueError as error:
        raise ModelFileError(f"The model file's {part} is not valid JSON: {error}.") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("a key is given twice")
    return unique


def _refuse_name(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


_STRICT_JSON: Final = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_refuse_name, parse_float=_finite
)


def _read_metadata(table: Any, digest: str) -> dict[str, Any]:
    entries = table.get("__metadata__") if isinstance(table, dict) else None
    if not isinstance(entries, dict) or entries.keys() != {_ENTRY} or not isinstance(entries[_ENTRY], str):
        raise ModelFileError(f"The model file's metadata must be one text, {_ENTRY!r}.")
    metadata = _parse(entries[_ENTRY], "metadata")
    found = metadata.get("format") if isinstance(metadata, dict) else None
    if type(found) is not int or found < 1:
        raise ModelFileError("The model file's format must be a whole number from 1.")
    if found > NEWEST_FORMAT:
        raise ModelFileError(f"This file was written by a newer Weald (format {found}), update Weald.")
    if not metadata.keys() >= _KEYS:
        raise _wrong_keys(_KEYS - metadata.keys())
    if metadata["sha256"] != digest or not isinstance(metadata["version"], str):
        raise ModelFileError("The model file's sha256 and version are not where they belong.")
    return dict(metadata)


def _wrong_keys(keys: Set[str]) -> ModelFileError:
    wrong = ", ".join(sorted(map(repr, keys)))
    return ModelFileError(f"The model file's metadata has missing or unknown keys: {wrong}.")


def _read_array(
    name: str, tensor: dict[str, Any], dtypes: np.dtype[Any] | tuple[np.dtype[Any], ...]
) -> NDArray[Any]:
    allowed = {
        _TYPE_NAMES[dtype.name]: dtype for dtype in (dtypes if isinstance(dtypes, tuple) else (dtypes,))
    }
    dtype = allowed.get(tensor["dtype"])
    if dtype is None:
        types = f"{tensor['dtype']} instead of {' or '.join(allowed)}"
        raise ModelFileError(f"The model file's array {name!r} has the type {types}.")
    if len(tensor["shape"]) != 1:
        raise ModelFileError(f"The model file's array {name!r} must have one dimension.")
    return np.frombuffer(tensor["data"], dtype=dtype.newbyteorder("<")).astype(dtype, copy=False)
