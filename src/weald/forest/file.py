"""The model file: a forest and a JSON header in one safetensors file that holds data and nothing else.

Layout: eight bytes with the length of the table, the table (JSON), then the arrays. The table's only metadata
entry, "weald", is canonical JSON with the keys format, header, n_features, n_outputs, sha256 and version.
"sha256" is the SHA-256 of the whole file with those 64 digits replaced by zeros; it is the last "sha256" of
the table in every format, so that any Weald can tell a damaged file from one that is newer than itself. The
same model always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

import numpy as np
import safetensors
from numpy.typing import NDArray

from weald import __version__
from weald.forest.disk import read, save
from weald.forest.floats import decode_floats, encode_floats
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES
from weald.runtime.errors import InputError, ModelFileError

__all__ = ["FORMAT", "decode_floats", "dumps", "encode_floats", "loads", "read", "save"]

FORMAT: Final = 1
# The safetensors format itself allows no longer table.
_MAXIMUM_TABLE_BYTES: Final = 100_000_000
_ENTRY: Final = "weald"
_KEYS: Final = frozenset({"format", "header", "n_features", "n_outputs", "sha256", "version"})
_DIGITS: Final = 64
_FOREIGN: Final = "This is not a Weald model file, or it is damaged"
# As it stands in the table: JSON inside a JSON string, hence the backslashes.
_MARKER: Final = b'\\"sha256\\":\\"'
_TYPE_NAMES: Final = {"float64": "F64", "int64": "I64", "int32": "I32", "uint8": "U8"}


def dumps(forest: Forest, header: dict[str, Any]) -> bytes:
    """The bytes of a model file.

    The header may hold dictionaries with text keys, lists, text, numbers (also NaN and infinities),
    booleans and None; tuples come back as lists. A forest that `loads` would refuse is refused here.

    Examples:
        >>> from weald.forest.builder import ForestBuilder
        >>> forest = ForestBuilder(n_features=3, n_outputs=1, base_score=[0.5]).build()
        >>> loaded, header = loads(dumps(forest, {"loss": "squared"}))
        >>> loaded == forest, header
        (True, {'loss': 'squared'})
    """
    forest.validate()
    metadata = {
        "format": FORMAT,
        "header": encode_floats(header),
        "n_features": forest.n_features,
        "n_outputs": forest.n_outputs,
        "sha256": "0" * _DIGITS,
        "version": __version__,
    }
    # safetensors' order, the widest numbers first, keeps every array aligned. The table is spelled here,
    # not by the library, so that the bytes of a model cannot change with the library's version.
    names = sorted(ARRAY_DTYPES, key=lambda name: (-ARRAY_DTYPES[name].itemsize, name))
    arrays = [_little_endian(getattr(forest, name)) for name in names]
    table = _spell_table(metadata, dict(zip(names, arrays, strict=True)))
    parts = [len(table).to_bytes(8, "little"), table, *arrays]
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
    parts[1] = _with_digits(table, checksum.hexdigest())
    return b"".join(parts)


def loads(data: bytes) -> tuple[Forest, dict[str, Any]]:
    """The forest and the header in the bytes of a model file; everything is checked, nothing is executed.

    Raises:
        ModelFileError: when the bytes are damaged, are no Weald model, or come from a newer Weald.
    """
    table_bytes = _find_table(data)
    digest = _check_checksum(data, table_bytes)
    table = _parse(table_bytes, "table")
    metadata = _read_metadata(table, digest)
    arrays = _read_arrays(data, table)
    forest = Forest(metadata["n_features"], metadata["n_outputs"], **arrays)
    forest.validate()
    header = decode_floats(metadata["header"])
    if not isinstance(header, dict):
        raise ModelFileError("The model file's header must be a dictionary.")
    return forest, header


def _little_endian(array: NDArray[Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _spell_table(metadata: dict[str, Any], arrays: dict[str, bytes]) -> bytes:
    try:
        table: dict[str, Any] = {"__metadata__": {_ENTRY: _canonical(metadata)}}
    except ValueError as error:
        raise InputError(f"The header cannot be written as JSON: {error}.") from error
    end = 0
    for name, array in arrays.items():
        start, end = end, end + len(array)
        dtype = ARRAY_DTYPES[name]
        shape = [len(array) // dtype.itemsize]
        table[name] = {"dtype": _TYPE_NAMES[dtype.name], "shape": shape, "data_offsets": [start, end]}
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
    if found > FORMAT:
        raise ModelFileError(f"This file was written by a newer Weald (format {found}), update Weald.")
    if metadata.keys() != _KEYS:
        wrong = ", ".join(sorted(map(repr, metadata.keys() ^ _KEYS)))
        raise ModelFileError(f"The model file's metadata has missing or unknown keys: {wrong}.")
    if metadata["sha256"] != digest or not isinstance(metadata["version"], str):
        raise ModelFileError("The model file's sha256 and version are not where they belong.")
    return dict(metadata)


def _read_arrays(data: bytes, table: dict[str, Any]) -> dict[str, NDArray[Any]]:
    names = table.keys() - {"__metadata__"}
    if names != ARRAY_DTYPES.keys():
        wrong = ", ".join(sorted(map(repr, names ^ ARRAY_DTYPES.keys())))
        raise ModelFileError(f"The model file has missing or unknown arrays: {wrong}.")
    try:
        tensors = safetensors.deserialize(data)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise ModelFileError(f"The model file's table of arrays is not valid: {error}.") from error
    return {name: _read_array(name, tensor) for name, tensor in tensors}


def _read_array(name: str, tensor: dict[str, Any]) -> NDArray[Any]:
    dtype = ARRAY_DTYPES[name]
    expected = _TYPE_NAMES[dtype.name]
    if tensor["dtype"] != expected:
        types = f"{tensor['dtype']} instead of {expected}"
        raise ModelFileError(f"The model file's array {name!r} has the type {types}.")
    if len(tensor["shape"]) != 1:
        raise ModelFileError(f"The model file's array {name!r} must have one dimension.")
    return np.frombuffer(tensor["data"], dtype=dtype.newbyteorder("<")).astype(dtype, copy=False)
