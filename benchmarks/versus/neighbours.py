"""Threads beside others: a fit on a quiet machine, beside two spinning processes, and after LightGBM was imported and used.

Also one thread against two. Run it as ``python -m benchmarks.versus.neighbours``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.common import THREADS, compete, estimator, higgs_like, parser, record

SPIN = "while True: pass"


@contextmanager
def spinning(processes: int) -> Iterator[None]:
    """Processes that keep a core busy each."""
    running = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def fits(systems: tuple[str, ...], X: Any, y: Any, threads: int = THREADS) -> dict[str, Any]:
    """A fit of 100 trees by each system."""
    return {
        f"{system}, {threads} threads": lambda system=system: estimator(
            system, n_estimators=100, threads=threads
        ).fit(X, y)
        for system in systems
    }


def main() -> None:
    """Run all, quiet first."""
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    options = arguments.parse_args()
    rows, repeats = (20_000, 1) if options.quick else (100_000, 3)
    repeats = options.repeats or repeats
    X, y = higgs_like(rows, 20)
    small = X[:1_000], y[:1_000]
    estimator("weald", n_estimators=2).fit(*small)
    alone = fits(("weald",), X, y, 1) | fits(("weald",), X, y)
    results = {"alone": compete(alone, repeats, f"{rows:,} x 20, before LightGBM is loaded")}
    both = fits(("weald", "lightgbm"), X, y)
    results["quiet"] = compete(both, repeats, f"{rows:,} x 20, after LightGBM is loaded")
    with spinning(2):
        results["busy"] = compete(both, repeats, f"{rows:,} x 20, beside two spinning processes")
    for name in both:
        ratio = results["busy"][name]["seconds"] / results["quiet"][name]["seconds"]
        results["busy"][name]["over quiet"] = ratio
        print(f"{name}: {ratio:.2f} of the quiet time beside two spinning processes")
    one, two = (results["alone"][f"weald, {threads} threads"]["seconds"] for threads in (1, THREADS))
    print(f"weald: two threads are {one / two:.2f} times as fast as one")
    record(options, results)


if __name__ == "__main__":
    main()
