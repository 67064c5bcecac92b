"""Where compiled kernels are kept: a directory named by a hash of all kernel sources.

Numba keys a cached kernel by its own bytecode. It does not see that a callee in another file, a named tuple or a
compiler option has changed, and would load what belongs to an older Weald. A directory per hash makes that
impossible: any change to any kernel starts a new one.

The directory lies in ``NUMBA_CACHE_DIR`` when that is set, otherwise in the user's cache directory.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any, ClassVar

from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.misc.appdirs import AppDirs

# Sources of kernels that do not import runtime.jit themselves.
_ALSO_COMPILED = frozenset(
    {"atomics.py", "far.py", "jit.py", "prefetch.py", "references.py", "state.py", "tasks.py"}
)
KEPT = 3  # caches of older sources that stay: a user may switch between two environments


@functools.cache
def source_hash() -> str:
    """Sixteen hex digits that change whenever a kernel may have changed."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        if b"runtime.jit" in content or path.name in _ALSO_COMPILED:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """The directory for the kernels as they are written now."""
    base = config.CACHE_DIR or AppDirs(appname="weald", appauthor=False).user_cache_dir
    return Path(base) / f"weald-{source_hash()}"


def prune() -> None:
    """Delete the caches of older sources, but for the newest few."""
    current = cache_directory()
    try:
        others = [path for path in current.parent.glob("weald-*") if path.is_dir() and path != current]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return
    for path in others[KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Tells Numba the directory; the hash in its name stands for the freshness of the sources."""

    def __init__(self, py_file: str) -> None:
        # With the folders: several stages have a kernels.py.
        self._module = "-".join(Path(py_file).with_suffix("").parts[-3:])

    def get_cache_path(self) -> str:
        return os.fspath(cache_directory())

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        return self._module

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        locator = cls(py_file)
        return locator if _is_writable() else None


@functools.cache
def _is_writable() -> bool:
    """Make the directory; a new one is the moment to tidy the old ones away."""
    directory = cache_directory()
    try:
        is_new = not directory.is_dir()
        directory.mkdir(parents=True, exist_ok=True)
        if is_new:
            prune()
        return os.access(directory, os.W_OK)
    except OSError:
        return False


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar[list[type[_CacheLocator]]] = [_Locator]


_said_compiling = False


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's function cache in our directory; says once a process that kernels are being compiled."""

    _impl_class = _Implementation

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # The directory stands for the sources, and so for bytecode and closures; a kernel in a closure has another hash in
        # every process.
        return sig, codegen.magic_tuple()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            say_compiling()
        else:
            # What must run before machine code is loaded, starting threads for one, is lost on the way through a cache: a kernel
            # that is compiled later and calls this one would not run it.
            found.library._reload_init.update(found.reload_init)
        return found


def silence() -> None:
    """Do not say that kernels are being compiled."""
    global _said_compiling
    _said_compiling = True


def say_compiling() -> None:
    """One line on stderr, the first time that a kernel is not found compiled."""
    global _said_compiling
    if not _said_compiling:
        _said_compiling = True
        print(
            "weald: compiling kernels for this machine (about a minute, once; 'weald warmup' does it ahead)",
            file=sys.stderr,
        )
