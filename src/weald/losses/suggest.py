"""The error for an unknown name, with the nearest known one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from weald.runtime.errors import NotSupportedError


def unknown_name(argument: str, value: str, known: Iterable[str]) -> NotSupportedError:
    """The error that lists the known names and asks whether the nearest was meant."""
    names = list(known)
    near = difflib.get_close_matches(value, names, n=1)
    question = f" Did you mean {near[0]!r}?" if near else ""
    return NotSupportedError(f"{argument}={value!r} is not known; use one of {', '.join(names)}.{question}")
