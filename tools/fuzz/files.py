"""Model files with a checksum that is right and a content that is not."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.fuzz.draws import Draws
from tools.fuzz.fits import Case
from tools.fuzz.originals import originals

_MARKER = b'\\"sha256\\":\\"'
_DIGITS = 64


def draw_file(seed: int, number: int) -> Case:
    """The mutant of this number: everything about it follows from the two."""
    draws = Draws(seed, number)
    original = draws.one(originals())
    data, told = mutated(draws, original.data)

    def run() -> list[Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mutant.weald")
            with open(path, "wb") as file:
                file.write(data)
            return original.ask(path)

    return Case(told.split(":")[0], f"{told}, of {original.name}", run)


def mutated(draws: Draws, data: bytes) -> tuple[bytes, str]:
    """A damaged copy of a file, and what was done to it."""
    kind = draws.one(list(_MUTATIONS), [2, 2, 0.3, 5, 4, 3])
    return _MUTATIONS[kind](draws, data)


# A file taken apart, and put together again whatever is in it.


def _opened(data: bytes) -> tuple[dict[str, Any], dict[str, Any], dict[str, bytes]]:
    """(metadata, entry of every array in the table, bytes of every array)."""
    length = int.from_bytes(data[:8], "little")
    table = json.loads(data[8 : 8 + length])
    metadata = json.loads(table.pop("__metadata__")["weald"])
    body = data[8 + length :]
    contents = {name: body[slice(*entry["data_offsets"])] for name, entry in table.items()}
    return metadata, table, contents


def _closed(metadata: Any, table: dict[str, Any], contents: dict[str, bytes], lie: bool = False) -> bytes:
    """The bytes of a file under a right checksum; ``lie``: offsets stay as the table has them."""
    end = 0
    for name in table:
        start, end = end, end + len(contents[name])
        if not lie:
            table[name]["data_offsets"] = [start, end]
    spelled = json.dumps(metadata, sort_keys=True, separators=(",", ":"))
    text = json.dumps({"__metadata__": {"weald": spelled}, **table}, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    return _repaired(len(text).to_bytes(8, "little") + text + b"".join(contents[name] for name in table))


def _repaired(data: bytes) -> bytes:
    """The same bytes with the checksum that they should have, where there is a place for one."""
    length = int.from_bytes(data[:8], "little")
    place = data.rfind(_MARKER, 0, 8 + min(length, len(data)))
    if place < 0:
        return data
    start = place + len(_MARKER)
    blank = data[:start] + b"0" * _DIGITS + data[start + _DIGITS :]
    return data[:start] + hashlib.sha256(blank).hexdigest().encode("ascii") + data[start + _DIGITS :]


# What is done to it.


def flipped(draws: Draws, data: bytes, begin: int, end: int) -> bytes:
    changed = bytearray(data)
    for _ in range(draws.one([1, 2, 8])):
        changed[draws.whole(begin, end - 1)] = draws.one([0, 1, 0x7F, 0x80, 0xFF, draws.whole(0, 255)])
    return bytes(changed)


def _flip_arrays(draws: Draws, data: bytes) -> tuple[bytes, str]:
    begin = 8 + int.from_bytes(data[:8], "little")
    return _repaired(flipped(draws, data, begin, len(data))), "bytes of arrays: flipped"


def _flip_table(draws: Draws, data: bytes) -> tuple[bytes, str]:
    end = 8 + int.from_bytes(data[:8], "little")
    return _repaired(flipped(draws, data, draws.one([0, 8]), end)), "bytes of the table: flipped"


def _cut(draws: Draws, data: bytes) -> tuple[bytes, str]:
    if draws.chance(0.5):
        return flipped(draws, data, 0, len(data)), "checksum: flipped bytes"
    data = data[: draws.whole(0, len(data) - 1)]
    return (_repaired(data) if draws.chance(0.5) else data), "checksum: cut"


def _deep(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


_HOSTILE: list[Any] = [
    None, True, False, -1, 0, 1, 2, 255, 2**31 - 1, 2**31, 2**32, 2**62, 2**63, 2**64, 10**30, 10**400, -(2**63), 0.5, 1e308,
    -1e308, 5e-324, "", "x", "nan", "<U400000000", "<U4", "|O", "O", "float64", "f8,f8", "V8", "(2,)f8", "2000000000f8", "M8[s]",
    ",", "f8)", "[('a', 'f8')]", "BoostedTreesRegressor", "softmax", "log", "\u0000", "a" * 100_000, [], {}, [[]], [None],
    [0] * 1_000,
    [1.5, "x", True], _deep(50), _deep(150), {"float": "nan"}, {"float": "inf"}, {"float": {"float": "x"}},
    {"pairs": [[1, 2]]},
    {"pairs": [[{"choice": "Goss"}, 2]]}, {"function": "print"}, {"function": []}, {"object": {}}, {"array": ["float64", [1]]},
    {"choice": "Goss", "params": {"top_rate": 2}}, {"choice": "Bins", "params": {"max_bins": 10**9}}, {"value": None},
    {"choice": "Histogram", "params": {}}, {"labels": {"dtype": "<U400000000", "values": ["a", "b"]}},
    {"dtype": "<U400000000", "values": ["a", "b"]}, {"dtype": "<i8", "values": [10**30, 1]},
    {"dtype": "|b1", "values": ["a", ""]},
]  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside JSON data; of a long list only the first entries."""
    found = [path] if path else []
    entries: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = list(enumerate(value[:8]))
    for key, entry in entries:
        found += _places(entry, (*path, key))
    return found


def _near(draws: Draws, value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool) or value is None:
        return draws.one([True, False, None, 1])
    if isinstance(value, int | float):
        factor = draws.one([2, -1, 1_000, 10**6, 10**9])
        return draws.one([value + 1, value - 1, value * factor])
    if isinstance(value, str):
        return draws.one([value + "x", value[:-1], value.upper(), value * 3])
    if isinstance(value, list):
        return draws.one([value[:-1], value * 2, value[::-1], [*value, 0], [value]])
    changed = dict(value)
    if changed and draws.chance(0.5):
        changed.pop(draws.one(list(changed)))
        return changed
    return {**changed, "unknown": 1}


def changed_json(draws: Draws, content: Any) -> str:
    """Change some places inside JSON data; what was done."""
    told = []
    for _ in range(draws.one([1, 2, 4], [6, 2, 1])):
        paths = [path for path in _places(content) if path[0] != "sha256"]
        if not paths:
            break
        *path, last = draws.one(paths)
        holder = content
        for key in path:
            holder = holder[key]
        value = draws.one(_HOSTILE) if draws.chance(0.5) else _near(draws, holder[last])
        told.append(f"{'.'.join(map(str, [*path, last]))} = {value!r:.60}")
        holder[last] = value
    return "; ".join(told)


def _change_header(draws: Draws, data: bytes) -> tuple[bytes, str]:
    metadata, table, contents = _opened(data)
    told = changed_json(draws, metadata)
    return _closed(metadata, table, contents), f"header: {told}"


_EXTREMES: dict[str, list[Any]] = {
    "F64": [0.0, -0.0, 1e308, -1e308, np.inf, -np.inf, np.nan, 5e-324, 1e-300, 800.0, 0.5],
    "F32": [0.0, 3e38, -3e38, np.inf, np.nan, 1e-45],
    "I64": [0, 1, -1, 2**62, 2**63 - 1, -(2**63), 1_000_000],
    "I32": [0, 1, -1, 2**31 - 1, -(2**31), 7],
    "U64": [0, 1, 2**64 - 1, 2**63],
    "U32": [0, 1, 2**32 - 1, 2**31],
    "U16": [0, 1, 2**16 - 1, 300],
    "U8": [0, 1, 2, 5, 20, 30, 31, 255],
}
_NUMPY = {
    "F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1",
}  # fmt: skip
_CHANGES = ("number", "swap", "cut", "grow", "empty", "fill", "type", "drop", "shape", "offsets", "shuffle")


def _change_arrays(draws: Draws, data: bytes) -> tuple[bytes, str]:
    metadata, table, contents = _opened(data)
    name, other = (draws.one(list(table)) for _ in range(2))
    kind = table[name]["dtype"]
    size = len(np.dtype(_NUMPY[kind]).type().tobytes())
    values = np.frombuffer(contents[name], _NUMPY[kind]).copy()
    what = draws.one(_CHANGES, [6] + [1] * 10)
    lie = False
    if what == "swap":
        contents[name], contents[other] = contents[other], contents[name]
        table[name], table[other] = table[other], table[name]
    elif what == "number" and len(values):
        for _ in range(draws.one([1, 3])):
            values[draws.whole(0, len(values) - 1)] = draws.one(_EXTREMES[kind])
    elif what == "fill":
        values[:] = draws.one(_EXTREMES[kind])
    elif what == "cut":
        values = values[: draws.whole(0, len(values))]
    elif what == "grow":
        values = np.concatenate([values] * draws.one([2, 3, 100]))
    elif what == "empty":
        values = values[:0]
    elif what == "shuffle":
        values = draws.generator.permutation(values)
    elif what == "type":
        table[name]["dtype"] = draws.one([*_NUMPY, "BF16", "BOOL", "X", 5])
    elif what == "drop":
        del table[name], contents[name]
        return _closed(metadata, table, contents), f"arrays: {name} dropped"
    elif what == "shape":
        table[name]["shape"] = draws.one([[], [2**40], [len(values), 1], [-1], [0.5], "x", [2**63, 2]])
        return _closed(metadata, table, contents), f"arrays: {name} of shape {table[name]['shape']}"
    elif what == "offsets":
        _closed(metadata, table, contents)
        table[name]["data_offsets"] = draws.one([[0, 0], [-8, 8], [0, 2**62], [8, 0], [0, 8], [], "x"])
        lie = True
    if what not in ("swap", "offsets"):
        contents[name] = values.tobytes()
    if what not in ("swap", "type", "offsets"):
        table[name]["shape"] = [len(contents[name]) // size]
    return _closed(metadata, table, contents, lie), f"arrays: {what} of {name} (and {other})"


def _change_member(draws: Draws, data: bytes) -> tuple[bytes, str]:
    """A mutant of a member's file inside a composite's; of any other file, its header."""
    metadata, table, contents = _opened(data)
    members = [name for name in table if _MARKER in contents[name][:20_000]]
    if not members:
        return _change_header(draws, data)
    name = draws.one(members)
    contents[name], told = mutated(draws, contents[name])
    table[name]["shape"] = [len(contents[name])]
    return _closed(metadata, table, contents), f"member: {name}, {told}"


_MUTATIONS: dict[str, Callable[[Draws, bytes], tuple[bytes, str]]] = {
    "bytes of arrays": _flip_arrays,
    "bytes of the table": _flip_table,
    "checksum": _cut,
    "header": _change_header,
    "arrays": _change_arrays,
    "member": _change_member,
}
