"""A software prefetch for kernels that read scattered rows."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic


def _emit_prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """``prefetch(array, index)``: ask for the cache line that holds ``array[index]`` of a 1-D contiguous array.

    A hint to the processor: it never faults, even when ``index`` lies outside of the array.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte_pointer = ir.IntType(8).as_pointer()
        word = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte_pointer], ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        )
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
        read, keep, data_cache = ir.Constant(word, 0), ir.Constant(word, 3), ir.Constant(word, 1)
        builder.call(function, [address, read, keep, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _nothing(array: Any, index: Any) -> None:
    """Nothing to do where kernels run as plain Python."""


prefetch: Any = _nothing if config.DISABLE_JIT else intrinsic(_emit_prefetch)
