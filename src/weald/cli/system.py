"""``weald warmup`` and ``weald doctor``: the machine that Weald runs on."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from weald.cli.tables import print_rows


def warmup(
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes that compile side by side.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Compile all kernels now, so that the first training need not wait for it."""
    from weald.runtime.compiling import silence
    from weald.warmup import warmup as compile_kernels

    def say(line: str) -> None:
        if not quiet:
            typer.echo(line, err=True)

    if quiet:
        silence()
    start = time.perf_counter()
    compile_kernels(say, jobs)
    say(f"kernels are compiled and cached ({time.perf_counter() - start:.1f} s)")


def doctor() -> None:
    """Print versions, threads and the state of the cache, for a report of a problem."""
    from weald.devices.found import device_rows
    from weald.runtime.doctor import report

    print_rows("weald doctor", [*report(), *device_rows()])
