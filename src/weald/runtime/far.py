"""``far(kernel, arguments)``: a kernel calls another one by its address, which is found when it is first called.

Numba copies a callee's code into every kernel that calls it and optimises it there again: a chain of calls is compiled as
often as it is long, and with all that only some fits need. A far call compiles the callee once, by itself, and not before
somebody gets there. It cannot be inlined, and costs some nanoseconds: it is for what does more than that.

As the callee is not compiled with its caller, it says what it returns: ``@returns(types.float64)``.

The address is in a *cell* of the process, which compiled code knows by a name. While that is 0, the caller asks Python to
compile or load the callee, which takes the GIL meanwhile, on whatever thread it happens.
"""

from __future__ import annotations

import _thread
import ctypes
import hashlib
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

_WORD = ir.IntType(64)
_NOWHERE = ir.Constant(_WORD, 0)


@dataclass(frozen=True)
class Callee:
    """A kernel, and the types that it is called with. To call it is to make its cell, as a caller's code must find it."""

    module: str
    name: str
    arguments: tuple[Any, ...]
    result: Any

    @property
    def symbol(self) -> str:
        """What compiled code knows the cell by."""
        arguments = hashlib.sha256(str(self.arguments).encode()).hexdigest()[:16]
        return f"weald_far.{self.module}.{self.name}.{arguments}"

    def __call__(self) -> None:
        if self not in _cells:
            cell = _cells[self] = ctypes.c_int64(0)
            _callees[ctypes.addressof(cell)] = self
            llvmlite.binding.add_symbol(self.symbol, ctypes.addressof(cell))

    def compile(self) -> int:
        """Compile or load the kernel: its address."""
        dispatcher = _kernels.get(self) or getattr(import_module(self.module), self.name).far
        dispatcher.compile(self.arguments)
        compiled = dispatcher.overloads[self.arguments]
        if compiled.signature.return_type != self.result:
            raise TypeError(f"{self.name} returns {compiled.signature.return_type}, not {self.result}.")
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


_cells: dict[Callee, ctypes.c_int64] = {}
_callees: dict[int, Callee] = {}  # by the addresses of their cells
_kernels: dict[Callee, Any] = {}  # those that were met while their callers were compiled


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)  # type: ignore[untyped-decorator]
def _find(cell: int) -> int:
    """Fill a cell; 0 where the callee cannot be compiled."""
    callee = _callees[cell]
    try:
        _cells[callee].value = callee.compile()
    except KeyboardInterrupt:
        _thread.interrupt_main()
    except BaseException:
        traceback.print_exc()
    return _cells[callee].value


llvmlite.binding.add_symbol("weald_find", ctypes.cast(_find, ctypes.c_void_p).value)


def find_callee(context: Any, builder: Any, dispatcher: Any, call: Any) -> Any:
    """The address of a far kernel, as a pointer to a function, in a kernel that is being built."""
    callee = Callee(dispatcher.py_func.__module__, dispatcher.py_func.__name__, call.args, call.return_type)
    callee()
    _kernels[callee] = dispatcher
    context.active_code_library._reload_init.add(callee)
    cell = builder.module.globals.get(callee.symbol)
    if cell is None:
        cell = ir.GlobalVariable(builder.module, _WORD, callee.symbol)
    place = cgutils.alloca_once(builder, _WORD)
    builder.store(builder.load_atomic(cell, "acquire", 8), place)
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", builder.load(place), _NOWHERE)):
        kind = ir.FunctionType(_WORD, [_WORD])
        find = cgutils.get_or_insert_function(builder.module, kind, "weald_find")
        builder.store(builder.call(find, [builder.ptrtoint(cell, _WORD)]), place)
        with cgutils.if_unlikely(builder, builder.icmp_signed("==", builder.load(place), _NOWHERE)):
            said = (f"{callee.name} could not be compiled.",)
            context.call_conv.return_user_exc(builder, RuntimeError, said)
    kind = context.call_conv.get_function_type(call.return_type, call.args)
    return builder.inttoptr(builder.load(place), kind.as_pointer())


def returns(result: Any) -> Callable[[Function], Function]:
    """Above a kernel's decorator: kernels may call it by `far`; ``result``: the Numba type that it returns."""

    def mark(function: Any) -> Any:
        if not config.DISABLE_JIT:
            function.far, function.result = function, result
        return function

    return mark


def _emit_far(typing_context: Any, kernel: Any, arguments: Any) -> Any:
    """``far(kernel, arguments)`` is ``kernel(*arguments)``."""
    given = types.Tuple([types.unliteral(argument) for argument in arguments])
    call = kernel.dispatcher.result(*given)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        callee = find_callee(context, builder, kernel.dispatcher, call)
        parts = cgutils.unpack_tuple(builder, values[1], len(given))
        status, result = context.call_conv.call_function(builder, callee, call.return_type, call.args, parts)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return call.return_type(kernel, given), generate


def _near(kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The same where kernels run as plain Python."""
    return kernel(*arguments)


far: Any = _near if config.DISABLE_JIT else intrinsic(_emit_far)
