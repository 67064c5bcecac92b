"""Arrays and strings as C writes them, in ASCII whatever they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

_LINE: Final = 110
_PLAIN: Final = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:;+-=()[]{}<>|&^~!@#%$*"
)


def array(kind: str, name: str, values: Iterable[Any]) -> str:
    """A constant array; an empty one has a 0, as C has none without entries."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    written = [number(value) for value in listed] or ["0"]
    return f"static const {kind} {name}[] = {{\n{wrapped(written)}\n}};"


def number(value: Any) -> str:
    """A number whose bits the compiler finds again."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, int):
        return f"INT64_C({value})" if abs(value) >= 2**31 else str(value)
    if np.isnan(value):
        return "NAN"
    if np.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    return repr(float(value))


def strings(name: str, texts: Sequence[str]) -> str:
    """A constant array of strings."""
    written = [string(text) for text in texts] or ['""']
    return f"static const char *const {name}[] = {{\n{wrapped(written)}\n}};"


def string(text: str) -> str:
    """A string literal: whatever is not plain becomes three octal digits, so that nothing can end it early.

    >>> print(string('"); system("x'))
    "\\042); system(\\042x"
    """
    data = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in data) + '"'


def wrapped(written: Sequence[str]) -> str:
    """Entries with commas between them, on lines that are not too long."""
    lines, line = [], "    "
    for entry in written:
        if len(line) + len(entry) > _LINE and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += entry + ", "
    return "\n".join([*lines, line.rstrip().removesuffix(",")])
