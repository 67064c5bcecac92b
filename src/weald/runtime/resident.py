"""How much memory this process has resident, and a limit that it is to stay below."""

from __future__ import annotations

import os
import re
from typing import Any, Final

from weald.runtime.errors import InputError

_STATUS: Final = "/proc/self/statm"
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
#: what Python, NumPy, Numba, Arrow and the compiled kernels take before there is any row
INTERPRETER: Final = 288 * 2**20
_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def resident_bytes() -> int | None:
    """The bytes of this process that are in memory now, mapped files included; None where the system does not tell.

    >>> (resident_bytes() or 2**21) > 2**20
    True
    """
    try:
        with open(_STATUS, "rb", buffering=0) as file:
            return int(file.read(128).split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return None


def read_limit(given: Any, argument: str = "memory_limit") -> int | None:
    """A limit in bytes, from a number of bytes or a text such as "512 MB"; K, M and G are powers of 1024.

    >>> read_limit("512 MB"), read_limit(2**30), read_limit(None)
    (536870912, 1073741824, None)
    """
    if given is None:
        return None
    if isinstance(given, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", given, re.IGNORECASE)
        if found is not None:
            return int(float(found[1]) * _UNITS[found[2].upper()])
    elif not isinstance(given, bool) and isinstance(given, int) and given > 0:
        return given
    raise InputError(f"{argument} must be a number of bytes, or a text such as '512 MB', not {given!r}.")


def said_of(size: int) -> str:
    """A size in words.

    >>> said_of(512 * 2**20)
    '512 MiB'
    """
    return f"{size / 2**20:.0f} MiB"
