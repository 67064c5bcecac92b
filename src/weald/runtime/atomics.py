"""What compiled threads need to meet: atomic words, locks that need no GIL, calls by address.

The words are int64s at one fixed place of the process, which compiled code knows by the name ``weald_crew``. All operations
on them are sequentially consistent. The locks are CPython's own (``PyThread_*``): every platform that runs Python has
them, and they may be used without the GIL.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

N_WORDS = 2_112

words = np.zeros(N_WORDS, np.int64)
llvmlite.binding.add_symbol("weald_crew", words.ctypes.data)

_WORD = ir.IntType(64)
_CODE = ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()
_NOTHING = ir.VoidType()
_ORDER = "seq_cst"


def word_address(builder: Any, index: Any) -> Any:
    """The address of a word, in a function that is being built."""
    name = "weald_crew"
    table = builder.module.globals.get(name)
    if table is None:
        table = ir.GlobalVariable(builder.module, ir.ArrayType(_WORD, N_WORDS), name)
    return builder.gep(table, [ir.Constant(_WORD, 0), index])


def _word_operation(emit: Callable[..., Any], n_values: int) -> Any:
    """An intrinsic on ``(index, *values)`` that gives an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return emit(builder, word_address(builder, arguments[0]), *arguments[1:])

    def of_index(typing_context: Any, index: Any) -> Any:
        return types.int64(types.int64), generate

    def of_value(typing_context: Any, index: Any, value: Any) -> Any:
        return types.int64(types.int64, types.int64), generate

    def of_two_values(typing_context: Any, index: Any, expected: Any, value: Any) -> Any:
        return types.int64(types.int64, types.int64, types.int64), generate

    return intrinsic((of_index, of_value, of_two_values)[n_values])


def _emit_store(builder: Any, address: Any, value: Any) -> Any:
    builder.store_atomic(value, address, _ORDER, 8)
    return value


def _emit_replace(builder: Any, address: Any, expected: Any, value: Any) -> Any:
    outcome = builder.cmpxchg(address, expected, value, _ORDER, _ORDER)
    return builder.zext(builder.extract_value(outcome, 1), _WORD)


#: ``load(index)``
load = _word_operation(lambda builder, address: builder.load_atomic(address, _ORDER, 8), 0)
#: ``store(index, value)``
store = _word_operation(_emit_store, 1)
#: ``add(index, value)``: what the word was before
add = _word_operation(lambda builder, address, value: builder.atomic_rmw("add", address, value, _ORDER), 1)
#: ``swap(index, value)``: what the word was before
swap = _word_operation(lambda builder, address, value: builder.atomic_rmw("xchg", address, value, _ORDER), 1)
#: ``replace(index, expected, value)``: 1 where the word was as expected, and now is ``value``
replace = _word_operation(_emit_replace, 2)


def _call(builder: Any, result: Any, name: str, *arguments: Any) -> Any:
    """Call a function of the process, or of LLVM, by its name."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic  # type: ignore[untyped-decorator]
def pause(typing_context: Any) -> Any:
    """Tell the processor that this thread is only waiting, for some tens of nanoseconds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = builder.module.triple  # of the code, which is not always the machine that compiles it
        if target.startswith("x86_64"):
            _call(builder, _NOTHING, "llvm.x86.sse2.pause")
        elif target.startswith(("aarch64", "arm64")):
            _call(builder, _NOTHING, "llvm.aarch64.hint", ir.Constant(_CODE, 1))
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[untyped-decorator]
def acquire(typing_context: Any, lock: Any, microseconds: Any) -> Any:
    """Sleep until the lock is released, at most so long (-1: for ever); 1 where it was released."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lock = builder.inttoptr(arguments[0], _BYTES)
        not_by_signals = ir.Constant(_CODE, 0)
        status = _call(builder, _CODE, "PyThread_acquire_lock_timed", lock, arguments[1], not_by_signals)
        return builder.zext(status, _WORD)

    return types.int64(types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def release(typing_context: Any, lock: Any) -> Any:
    """Wake the thread that sleeps at the lock, or is about to."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _call(builder, _NOTHING, "PyThread_release_lock", builder.inttoptr(arguments[0], _BYTES))
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def call_task(typing_context: Any, function: Any, data: Any, task: Any) -> Any:
    """Call the function at an address, ``void (char *data, int64_t task)``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_NOTHING, [_BYTES, _WORD]).as_pointer()
        function = builder.inttoptr(arguments[0], kind)
        builder.call(function, [builder.inttoptr(arguments[1], _BYTES), arguments[2]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def new_lock() -> int:
    """The address of a lock that is held: who acquires it sleeps until somebody releases it."""
    allocate, take = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    allocate.restype, take.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)
    lock = allocate()
    if not lock:
        raise MemoryError("no lock could be made for Weald's threads.")
    take(lock, 0)
    return int(lock)
