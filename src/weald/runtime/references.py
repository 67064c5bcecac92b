"""``refer(tuple)``: a named tuple of a kernel's, to be passed on by its address.

Numba passes a tuple to a kernel field by field, and an array as seven numbers: what the growth of a tree knows are hundreds
of them, pushed at every call. A reference is one. Its attributes read as the tuple's do, from the frame of the kernel that
made it, so that a kernel can be written for both; a tuple inside it is a reference again. It must not outlive that frame:
pass it down, never return it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model

_BYTES = ir.IntType(8).as_pointer()


class Reference(types.Type):  # type: ignore[misc]
    """The type of a reference to a named tuple."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Reference({kind})")


register_model(Reference)(models.OpaqueModel)


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:
        if name not in reference.kind.fields:
            return None
        kind = reference.kind.types[reference.kind.fields.index(name)]
        return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, reference: Any, value: Any, name: str) -> Any:
    place = reference.kind.fields.index(name)
    kind = reference.kind.types[place]
    whole = builder.bitcast(value, context.get_value_type(reference.kind).as_pointer())
    field = cgutils.gep_inbounds(builder, whole, 0, place)
    if isinstance(kind, types.BaseNamedTuple):
        return builder.bitcast(field, _BYTES)
    loaded = builder.load(field)
    # Nobody writes to a tuple: a loop need not read it again after it has written to an array.
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return impl_ret_borrowed(context, builder, kind, loaded)


def _emit_refer(typing_context: Any, value: Any) -> Any:
    """``refer(value)``: a reference to a named tuple; of a reference, itself."""
    if isinstance(value, Reference):
        return value(value), lambda context, builder, signature, values: values[0]

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(cgutils.alloca_once_value(builder, values[0]), _BYTES)

    return Reference(value)(value), generate


def _emit_whole(typing_context: Any, value: Any) -> Any:
    """``whole(value)``: the named tuple that a reference is to; of a tuple, itself."""
    if not isinstance(value, Reference):
        return value(value), lambda context, builder, signature, values: values[0]

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = context.get_value_type(value.kind).as_pointer()
        loaded = builder.load(builder.bitcast(values[0], pointer))
        return impl_ret_borrowed(context, builder, value.kind, loaded)

    return value.kind(value), generate


def _itself(value: Any) -> Any:
    """The same where kernels run as plain Python."""
    return value


refer: Any = _itself if config.DISABLE_JIT else intrinsic(_emit_refer)
whole: Any = _itself if config.DISABLE_JIT else intrinsic(_emit_whole)
