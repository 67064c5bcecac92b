"""The only place that spells Numba's compilation options.

Every kernel is compiled without fastmath (so that arithmetic is plain IEEE, the same on every CPU), releases
the GIL, divides as NumPy does, and is kept once it is compiled (`weald.runtime.cache`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config

from weald.runtime.cache import KernelCache
from weald.runtime.pipeline import KernelCompiler

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": False,
    "no_cfunc_wrapper": True,
}

# For kernels to pass to kernels: a bare 0 is a type of its own to Numba, and compiles the callee a second time.
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)


def _compile(function: Function, **more: Any) -> Function:
    dispatcher = numba.njit(**_OPTIONS, **more, pipeline_class=KernelCompiler)(function)
    if not config.DISABLE_JIT:
        dispatcher._cache = KernelCache(function)
    return dispatcher  # type: ignore[no-any-return]


def kernel(function: Function) -> Function:
    """Compile a serial kernel."""
    return _compile(function)


def inner_kernel(function: Function) -> Function:
    """Compile a serial kernel that only kernels call: without the code that Python needs to call it."""
    return _compile(function, no_cpython_wrapper=True)


def bare_kernel(function: Function) -> Function:
    """Compile a serial kernel that allocates nothing, without the counting of references to its arrays.

    For what runs once a node: two atomic instructions an array and call cost more than a small node's work.
    """
    return _compile(function, _nrt=False)


def bare_inner_kernel(function: Function) -> Function:
    """Compile a bare kernel that only kernels call."""
    return _compile(function, no_cpython_wrapper=True, _nrt=False)


def inlined(function: Function) -> Function:
    """A part of kernels that is compiled inside each of them.

    For what is small or has one caller: Numba optimises a kernel's code again in every kernel that calls it, so a
    chain of calls costs as many compilations as it is long.
    """
    return _compile(function, inline="always")
