"""Kernels whose work is cut into numbered tasks, which the crew shares.

``@shared_kernel`` makes of ``body(task, tasks, *arguments)`` a kernel ``(tasks, *arguments)`` for Python and for kernels. It
calls the body for every task of ``range(tasks)``, in any order and on any thread, and comes back when all are done. Tasks
write to places of their own. What a task raises is raised to the caller; tasks that have not begun by then are left out.

The arguments stay in the caller's frame. The crew knows a job by two addresses: theirs, and that of a small function, made
here, that unpacks them and calls the body. So the crew is compiled once, and a kernel that shares work contains no threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.callconv import excinfo_ptr_t as _EXCEPTION
from numba.extending import intrinsic

from weald.runtime.atomics import word_address
from weald.runtime.far import find_callee
from weald.runtime.jit import inlined, inner_kernel, kernel

Given = ParamSpec("Given")

#: the word with the address of ``run_job`` (`weald.runtime.crew`); 0 while there are no helpers
RUN = 0

_WORD = ir.IntType(64)
_CODE = ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()
_TASK = ir.FunctionType(ir.VoidType(), [_BYTES, _WORD])


def _zero(kind: Any) -> Any:
    return ir.Constant(kind, 0)


def _field(builder: Any, pointer: Any, index: int) -> Any:
    return builder.gep(pointer, [_zero(_CODE), ir.Constant(_CODE, index)])


def _make_task(context: Any, module: Any, call: Any, frame: Any) -> Any:
    """A function of (frame, task) that calls the body, and notes in the frame what the first failing call returned."""
    function = ir.Function(module, _TASK, module.get_unique_name("weald_task"))
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    pointer = builder.bitcast(function.args[0], frame.as_pointer())
    failed = _field(builder, pointer, 0)
    with builder.if_then(
        builder.icmp_signed("!=", builder.load_atomic(failed, "monotonic", 4), _zero(_CODE))
    ):
        builder.ret_void()
    body, given = builder.load(_field(builder, pointer, 2)), builder.load(_field(builder, pointer, 3))
    values = [function.args[1], *cgutils.unpack_tuple(builder, given, len(call.args) - 1)]
    status, _ = context.call_conv.call_function(builder, body, call.return_type, call.args, values)
    with cgutils.if_unlikely(builder, status.is_error):
        outcome = builder.cmpxchg(failed, _zero(_CODE), status.code, "seq_cst", "seq_cst")
        with builder.if_then(builder.extract_value(outcome, 1)):
            builder.store(status.excinfoptr, _field(builder, pointer, 1))
    builder.ret_void()
    return function


def _run(builder: Any, function: Any, data: Any, tasks: Any) -> None:
    """Let the crew run the tasks, where there is one; otherwise run them one after another."""
    alone = builder.icmp_signed("<=", tasks, ir.Constant(_WORD, 1))
    address = builder.load_atomic(word_address(builder, ir.Constant(_WORD, RUN)), "monotonic", 8)
    alone = builder.or_(alone, builder.icmp_signed("==", address, _zero(_WORD)))
    with builder.if_else(alone) as (then, otherwise):
        with then, cgutils.for_range(builder, tasks) as loop:
            builder.call(function, [data, loop.index])
        with otherwise:
            # As Numba calls its functions: where the result and an exception would go, then the arguments. It has neither.
            result, raised = cgutils.alloca_once(builder, _BYTES), cgutils.alloca_once(builder, _EXCEPTION)
            values = [result, raised, builder.ptrtoint(function, _WORD), builder.ptrtoint(data, _WORD), tasks]
            kind = ir.FunctionType(_CODE, [value.type for value in values])
            builder.call(builder.inttoptr(address, kind.as_pointer()), values)


@intrinsic  # type: ignore[untyped-decorator]
def _in_tasks(typing_context: Any, body: Any, tasks: Any, arguments: Any) -> Any:
    """``body(task, tasks, *arguments)`` for every task."""
    given = types.Tuple([types.int64, *(types.unliteral(argument) for argument in arguments)])
    call = types.none(types.int64, *given)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        callee = find_callee(context, builder, body.dispatcher, call)
        parts = [values[1], *cgutils.unpack_tuple(builder, values[2], len(given) - 1)]
        filled = [
            _zero(_CODE),
            ir.Constant(_EXCEPTION, None),
            callee,
            context.make_tuple(builder, given, parts),
        ]
        frame = ir.LiteralStructType([value.type for value in filled])
        pointer = cgutils.alloca_once(builder, frame)
        for place, value in enumerate(filled):
            builder.store(value, _field(builder, pointer, place))
        function = _make_task(context, builder.module, call, frame)
        _run(builder, function, builder.bitcast(pointer, _BYTES), values[1])
        code = builder.load(_field(builder, pointer, 0))
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", code, _zero(_CODE))):
            raised = builder.load(_field(builder, pointer, 1))
            status = context.call_conv._get_return_status(builder, code, raised)
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(body, types.int64, types.Tuple(given.types[1:])), generate


def shared_kernel(body: Callable[Concatenate[Any, Given], None]) -> Callable[Given, None]:
    """Compile a kernel that shares its work: ``body(task, tasks, ...)`` is called as ``kernel(tasks, ...)``.

    >>> import numpy as np
    >>> @shared_kernel
    ... def double(task, tasks, values):
    ...     begin, end = part(len(values), task, tasks)
    ...     for i in range(begin, end):
    ...         values[i] *= 2
    >>> values = np.arange(5)
    >>> double(3, values)
    >>> values.tolist()
    [0, 2, 4, 6, 8]
    """
    compiled: Any = inner_kernel(body)
    plain: Any = body

    def share(tasks: int, *arguments: Any) -> None:
        _in_tasks(compiled, tasks, arguments)

    def share_in_python(tasks: int, *arguments: Any) -> None:
        for task in range(tasks):
            plain(task, tasks, *arguments)

    launcher: Any = share_in_python if config.DISABLE_JIT else share
    # To Numba's cache a function is its file, line and name.
    code, line, name = body.__code__, body.__code__.co_firstlineno, body.__name__
    launcher.__code__ = launcher.__code__.replace(
        co_filename=code.co_filename, co_firstlineno=line, co_name=name
    )
    launcher.__module__, launcher.__doc__ = body.__module__, body.__doc__
    launcher.__name__, launcher.__qualname__ = name, f"{body.__qualname__}.shared"
    shared: Any = kernel(launcher)
    shared.far = compiled
    return shared  # type: ignore[no-any-return]


@inlined
def part(n: int, task: int, tasks: int) -> tuple[np.uint64, np.uint64]:
    """The bounds of a task's part of ``n`` items, as unsigned numbers: an index that cannot be negative needs no check."""
    return np.uint64(n * task // tasks), np.uint64(n * (task + 1) // tasks)
