"""Compiled kernels: taken from the package, then from the user's cache, and otherwise compiled and kept there.

Numba's own cache keys a kernel by its bytecode. It does not see that a callee in another file, a named tuple or a compiler
option has changed, and would load what belongs to an older Weald. Here a hash of all kernel sources names the directory, so
any change to any kernel starts a new one.
"""

from __future__ import annotations

import functools
import pickle
import platform
from pathlib import Path
from typing import Any

import numba
from numba.core import sigutils
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from weald.runtime.compiling import say_compiled, say_compiling, say_uncached
from weald.runtime.kernel_files import KernelDirectory, base_directory
from weald.runtime.shipped import shipped_kernels
from weald.runtime.sources import source_hash


def cache_directory() -> Path:
    """The directory for the kernels as they are written now."""
    name = f"weald-{source_hash()}"
    return base_directory(name) / name


@functools.cache
def kept_kernels(magic: tuple[str, ...]) -> KernelDirectory:
    """The kernels that this user has compiled for a target, which Numba's code generator names."""
    target = f"{magic} numba {numba.__version__} python {platform.python_version()}"
    return KernelDirectory(cache_directory(), target)


class KernelCache(_Cache):  # type: ignore[misc]
    """Where one kernel's compiled versions come from and go. Numba asks it before and after compiling."""

    def __init__(self, function: Any) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._line = function.__code__.co_firstlineno  # tells functions of one name apart, as lambdas are

    @property
    def cache_path(self) -> str:
        return str(cache_directory())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel compiled for a signature; None where it must be compiled."""
        target_context.refresh()
        key = self._key(sig)
        kept = kept_kernels(target_context.codegen().magic_tuple())
        shipped = shipped_kernels()
        found = shipped and shipped.load(key, target_context)
        if not found:
            data = kept.read(self._name, key)
            found = data and CompileResult._rebuild(target_context, *pickle.loads(data))
        if not found:
            say_compiling(self._name, kept.path)
            return None
        # What must run before machine code is loaded is lost on the way through a cache: a kernel that is compiled later and
        # calls this one would not run it.
        found.library._reload_init.update(found.reload_init)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was compiled just now, where that is possible."""
        say_compiled()
        if data.library.has_dynamic_globals:  # it holds addresses of this process
            return
        kept = kept_kernels(data.target_context.codegen().magic_tuple())
        (*reduced, _, reload_init, environments) = data._reduce()
        try:
            # Without the annotated source, which only Numba's inspection reads.
            kept.write(self._name, self._key(sig), dumps((*reduced, "", reload_init, environments)))
        except OSError as error:
            say_uncached(kept.path, error)

    def enable(self) -> None:
        """Numba asks for it; this cache is always on."""

    def disable(self) -> None:
        """Numba asks for it; this cache is always on."""

    def flush(self) -> None:
        """Numba asks for it; what is kept stays."""

    def _key(self, sig: Any) -> str:
        arguments, _ = sigutils.normalize_signature(sig)
        return f"{self._name}:{self._line}{tuple(arguments)}"
