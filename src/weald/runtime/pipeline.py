"""How Numba compiles the kernels of `weald.runtime.jit`: by its own passes, but for one.

Numba inlines a function into its caller after it has inlined into that function whatever it calls, and copies the result
twice: what is nested four deep is processed and copied eight times. `ShallowInlining` takes a function's own statements,
and leaves its calls to be inlined where they end up; the result is the same. Nor does Python look for garbage meanwhile,
which among the many objects of a compiler took a quarter of the time.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.untyped_passes import InlineInlinables


def _own_statements(state: Any) -> Any:
    """The passes that bring a function to where its calls would be inlined."""
    passes = DefaultPassBuilder.define_untyped_pipeline(state)
    kinds = [kind for kind, _ in passes.passes]
    del passes.passes[kinds.index(InlineInlinables) :]
    return passes


@register_pass(mutates_CFG=True, analysis_only=False)
class ShallowInlining(InlineInlinables):  # type: ignore[misc]
    """Numba's pass, but that a function is inlined as it is written."""

    _name = "shallow_inlining"

    def _do_work(self, state: Any, work: Any, block: Any, place: int, call: Any, worker: Any) -> Any:
        worker._compiler_pipeline = _own_statements
        has_ssa = state.flags.enable_ssa
        try:
            return super()._do_work(state, work, block, place, call, worker)
        finally:
            # Inlining switches it off, and every function of Numba's would be compiled for callers with and without it.
            state.flags.enable_ssa = has_ssa


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with `ShallowInlining`, and without the collection of garbage."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function; called by Numba, which compiles one at a time."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if collects:
                gc.enable()

    def define_pipelines(self) -> Any:
        """The passes; called by Numba."""
        pipelines = super().define_pipelines()
        for passes in pipelines:
            passes.passes = [
                (ShallowInlining if kind is InlineInlinables else kind, text) for kind, text in passes.passes
            ]
            passes.finalize()
        return pipelines
