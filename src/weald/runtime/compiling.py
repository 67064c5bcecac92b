"""What a user is told while kernels are compiled: one line, which on a terminal says what is being waited for."""

from __future__ import annotations

import sys
import time
from pathlib import Path

_said: set[str] = set()
_begun = 0.0
_count = 0
_ERASE = "\r\x1b[K"


def silence() -> None:
    """Do not say that kernels are being compiled."""
    _said.add("compiling")


def say_once(topic: str, line: str) -> None:
    """One line on stderr, the first time that something is to be said of the topic."""
    if topic not in _said:
        _said.add(topic)
        print(f"weald: {line}", file=sys.stderr)


def say_compiling(kernel: str, directory: Path) -> None:
    """A kernel was not found compiled, and now is being compiled."""
    global _begun, _count
    if "compiling" in _said:
        return
    if not sys.stderr.isatty():
        say_once(
            "compiling",
            f"compiling kernels for this machine, once (they are kept in {directory}; "
            "'weald warmup' does it ahead)",
        )
        return
    _begun = _begun or time.monotonic()
    _count += 1
    name, seconds = kernel.rsplit(".", 1)[-1], time.monotonic() - _begun
    line = f"weald: compiling kernels, once on this machine: {_count}, {name} ({seconds:.0f} s)"
    print(f"{_ERASE}{line[:79]}", end="", file=sys.stderr, flush=True)


def say_compiled() -> None:
    """A kernel is compiled: take the line away that said so."""
    if _count and "compiling" not in _said and sys.stderr.isatty():
        print(_ERASE, end="", file=sys.stderr, flush=True)


def say_uncached(directory: Path, error: OSError) -> None:
    """A compiled kernel cannot be kept."""
    reason = error.strerror or str(error)
    say_once(
        "uncached",
        f"compiled kernels cannot be kept in {directory} ({reason}), so every process compiles them anew; "
        "set NUMBA_CACHE_DIR to a directory of yours that can be written",
    )
