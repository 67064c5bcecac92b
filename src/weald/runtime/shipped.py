"""Compiled kernels that came with the package: a file a level of the CPU, and a manifest that says what they fit.

A platform wheel has them (`weald.packing` makes them), a pure wheel and a checkout do not. They are used where Python, Numba,
NumPy, the sources and the CPU are those that they were compiled for. Otherwise one line says why not, and kernels are compiled.
Arithmetic is plain IEEE, so a level changes speed, and never a model.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pickle
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import config
from numba.core.compiler import CompileResult

from weald.runtime.compiling import say_once
from weald.runtime.sources import source_hash

FOLDER = Path(__file__).resolve().parent.parent / "_kernels"
MANIFEST = "manifest.json"
#: "0": leave the package's kernels alone
SWITCH = "WEALD_SHIPPED_KERNELS"

_V2 = {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf"}
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
#: level -> what a CPU must have, the best level first; "generic" is what every CPU of its kind has
LEVELS: dict[str, set[str]] = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2, "generic": set()}


def fitting() -> dict[str, str]:
    """What compiled kernels must fit, as a manifest says it."""
    return {
        "platform": sysconfig.get_platform(),
        "Python": str(sys.implementation.cache_tag),
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "NumPy's ABI": np.__version__.split(".")[0],
        "Weald's sources": source_hash(),
    }


@dataclass(frozen=True)
class Shipped:
    """The kernels of one level.

    The file begins with the length of its index; the index has for the digest of a key the place, the length and the digest
    of a pickled kernel.
    """

    level: str
    file: Path
    index: dict[str, tuple[int, int, str]]

    def load(self, key: str, target_context: Any) -> Any:
        """The kernel of a key; None where it is not there, or not as it was."""
        place, length, digest = self.index.get(key_digest(key), (0, 0, ""))
        if not length:
            return None
        try:
            with open(self.file, "rb") as file:
                file.seek(place)
                data = file.read(length)
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() != digest:
            say_once("damaged", f"{self.file} is damaged, so kernels are compiled; reinstall weald")
            return None
        linkable, reduced = pickle.loads(data)
        found = CompileResult._rebuild(target_context, *reduced)
        if not linkable:
            found.library._shared_module = _Unlinkable(key)
        return found


class _Unlinkable:
    """In place of the intermediate code of a kernel that only Python and far calls reach, which is not shipped."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"{self._key} was shipped without what its callers need; set {SWITCH}=0.")


def key_digest(key: str) -> str:
    """What the index calls a key."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


@functools.cache
def shipped_kernels() -> Shipped | None:
    """The package's kernels for this CPU; None, and a line where there are some, if none of them fit."""
    if not (FOLDER / MANIFEST).exists() or os.environ.get(SWITCH) == "0":
        return None
    found = find_shipped(FOLDER)
    if isinstance(found, str):
        say_once("shipped", f"the compiled kernels of this package are not used: {found}")
        return None
    return found


def find_shipped(folder: Path) -> Shipped | str:
    """The kernels in a folder that fit best, or why none does."""
    if config.BOUNDSCHECK or config.DEBUGINFO_DEFAULT or config.CPU_NAME or config.CPU_FEATURES:
        return "NUMBA_* variables ask for other code"
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        for what, here in fitting().items():
            if manifest["fits"][what] != here:
                return f"{what} is {here}, and they are for {manifest['fits'][what]}"
        has = {name for name, present in binding.get_host_cpu_features().items() if present}
        level = next(
            (level for level in LEVELS if level in manifest["levels"] and LEVELS[level] <= has), None
        )
        if level is None:
            return f"this CPU has none of the levels {', '.join(manifest['levels'])}"
        file = folder / f"{level}.kernels"
        with open(file, "rb") as content:
            index = content.read(int.from_bytes(content.read(8), "little"))
        if hashlib.sha256(index).hexdigest() != manifest["levels"][level]:
            return f"{file} is damaged; reinstall weald"
        return Shipped(level, file, {key: tuple(entry) for key, entry in json.loads(index).items()})
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{folder} cannot be read ({type(error).__name__}: {error}); reinstall weald"
