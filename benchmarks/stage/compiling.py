"""Where the time of compiling goes: by kernel, and by what Numba and LLVM do with it.

``python -m benchmarks.stage.compiling [boosted | forest | all | a part of weald.warmup]`` compiles what a first fit needs into
an empty cache, in this process. The times are CPU seconds, and a kernel's do not contain those of the kernels that it calls.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

Key = tuple[str, str]  # the kernel, and what is done with it

# Numba's passes that are worth a column of their own; the others are "other".
PASSES = {
    "inline_inlinables": "inlining",
    "shallow_inlining": "inlining",
    "inline_closure_likes": "inlining",
    "inline_overloads": "inlining",
    "nopython_type_inference": "types",
    "reconstruct_ssa": "SSA",
    "native_lowering": "lowering",
}
COLUMNS = ("inlining", "SSA", "types", "other", "lowering", "functions", "module", "machine code", "cache")


class Clock:
    """CPU seconds by kernel and step, each without what is nested in it."""

    def __init__(self) -> None:
        self.seconds: dict[Key, float] = defaultdict(float)
        self.compiled: Counter[str] = Counter()
        self._stack: list[Key] = []
        self._last = time.process_time()

    def _count(self) -> None:
        now = time.process_time()
        if self._stack:
            self.seconds[self._stack[-1]] += now - self._last
        self._last = now

    def begin(self, kernel: str | None, step: str) -> None:
        """Begin a step of a kernel; None: of the kernel that is being compiled."""
        self._count()
        if kernel is None:
            kernel = self._stack[-1][0] if self._stack else "-"
        self._stack.append((kernel, step))

    def end(self) -> None:
        """End the step that was begun last."""
        self._count()
        self._stack.pop()

    def around(self, owner: Any, name: str, step: str) -> None:
        """Count a method's time as a step."""
        inner: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            self.begin(None, step)
            try:
                return inner(*arguments, **named)
            finally:
                self.end()

        setattr(owner, name, timed)


def watch(clock: Clock) -> None:
    """Let Numba tell the clock what it does."""
    from numba.core import codegen, event

    from weald.runtime.cache import KernelCache

    class Kernels(event.Listener):  # type: ignore[misc]
        def on_start(self, happened: Any) -> None:
            function = happened.data["dispatcher"].py_func
            name = f"{function.__module__.removeprefix('weald.')}.{function.__qualname__}"
            clock.compiled[name] += 1
            clock.begin(name, "other")

        def on_end(self, happened: Any) -> None:
            clock.end()

    class Passes(event.Listener):  # type: ignore[misc]
        def on_start(self, happened: Any) -> None:
            name = happened.data["name"].split()[0]  # "pass [function]"
            clock.begin(None, PASSES.get(name, "other"))

        def on_end(self, happened: Any) -> None:
            clock.end()

    event.register("numba:compile", Kernels())
    event.register("numba:run_pass", Passes())
    clock.around(codegen.CPUCodeLibrary, "_optimize_functions", "functions")
    clock.around(codegen.CPUCodeLibrary, "_optimize_final_module", "module")
    clock.around(codegen.JITCodeLibrary, "_finalize_specific", "machine code")
    clock.around(KernelCache, "save_overload", "cache")


def boosted() -> None:
    """A first boosted fit."""
    from weald import BoostedTreesClassifier

    X, y = _table()
    BoostedTreesClassifier(n_estimators=100).fit(X, y).predict_proba(X)


def forest() -> None:
    """A first forest."""
    from weald import RandomForestClassifier

    X, y = _table()
    RandomForestClassifier(n_estimators=100).fit(X, y).predict_proba(X)


def _table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000, 20))
    return X, (X[:, 0] * X[:, 1] + rng.standard_normal(1_000) > 0).astype(int)


def job(name: str) -> None:
    """Do what is to be timed."""
    from weald import warmup

    if name in ("boosted", "forest"):
        {"boosted": boosted, "forest": forest}[name]()
    elif name == "all":
        warmup.warmup()
    else:
        warmup.PARTS[name](warmup._Tables())


def show(clock: Clock, most: int) -> None:
    """The kernels that took longest, and the sum of all."""
    kernels: dict[str, float] = defaultdict(float)
    for (kernel, _), seconds in clock.seconds.items():
        kernels[kernel] += seconds
    table = Table("kernel", "times", *COLUMNS, "sum")
    longest = sorted(kernels, key=lambda kernel: -kernels[kernel])
    for kernel in longest[:most]:
        steps = [clock.seconds.get((kernel, step), 0.0) for step in COLUMNS]
        table.add_row(
            kernel, str(clock.compiled[kernel]), *(f"{step:.2f}" for step in steps), f"{sum(steps):.2f}"
        )
    sums = [
        sum(seconds for (_, step), seconds in clock.seconds.items() if step == column) for column in COLUMNS
    ]
    table.add_section()
    table.add_row("all", str(clock.compiled.total()), *(f"{step:.2f}" for step in sums), f"{sum(sums):.2f}")
    Console(width=190).print(table)
    print("CPU seconds of the process:", round(time.process_time(), 1))


def main() -> None:
    """Compile, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="?", default="boosted")
    parser.add_argument("--most", type=int, default=30, help="kernels to show (30)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        clock = Clock()
        watch(clock)
        job(options.job)
        show(clock, options.most)


if __name__ == "__main__":
    main()
