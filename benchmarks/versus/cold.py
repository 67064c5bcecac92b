"""Fresh processes: what ``import weald`` costs, and the first fit with a warm and with an empty kernel cache.

Run it as ``python -m benchmarks.versus.cold``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.common import chosen_sections, console, parser, print_table, record

SECTIONS = ("import", "warm", "empty", "warmup")

IMPORT = """
import json, sys, time
start = time.perf_counter()
import {module}
elapsed = time.perf_counter() - start
print(json.dumps({{"seconds": elapsed, "numba": "numba" in sys.modules, "pandas": "pandas" in sys.modules}}))
"""

FIT = """
import json, time
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, 20))
y = (X[:, 0] * X[:, 1] + rng.standard_normal({rows}) > 0).astype(int)
start = time.perf_counter()
from {module} import {name}
model = {name}()
middle = time.perf_counter()
model.fit(X, y)
end = time.perf_counter()
print(json.dumps({{"loaded": middle - start, "fit": end - middle}}))
"""

CLASSES = {
    "weald": {"module": "weald", "name": "BoostedTreesClassifier"},
    "lightgbm": {"module": "lightgbm", "name": "LGBMClassifier"},
    "xgboost": {"module": "xgboost", "name": "XGBClassifier"},
    "sklearn": {"module": "sklearn.ensemble", "name": "HistGradientBoostingClassifier"},
}


def fit_code(system: str, rows: int) -> str:
    return FIT.format(rows=rows, **CLASSES[system])


def fresh(code: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run a piece of code in a fresh process: what it printed, its wall time, and its lines on stderr."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return {**json.loads(done.stdout.splitlines()[-1]), "process": wall, "stderr": done.stderr.splitlines()}


def fastest(code: str, repeats: int) -> dict[str, Any]:
    """The quickest of several fresh processes."""
    return min((fresh(code) for _ in range(repeats)), key=lambda entry: entry["process"])


def said(entry: dict[str, Any]) -> str:
    return "\n".join(entry["stderr"]) or "nothing"


def with_cache(folder: str) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": folder}


def imports(repeats: int) -> dict[str, Any]:
    """Import times; numpy's own shows what is left."""
    results = {
        module: fastest(IMPORT.format(module=module), repeats)
        for module in ("weald", "numpy", "lightgbm", "xgboost")
    }
    rows = [
        [name, f"{1e3 * entry['seconds']:.1f}", str(entry["numba"]), str(entry["pandas"])]
        for name, entry in results.items()
    ]
    print_table(f"import (best of {repeats})", ["", "ms", "numba loaded", "pandas loaded"], rows)
    return results


def warm(rows: int, repeats: int) -> dict[str, Any]:
    """The first fit of a process that finds its kernels compiled."""
    fresh(fit_code("weald", rows))
    results = {system: fastest(fit_code(system, rows), repeats) for system in CLASSES}
    print_table(
        f"first fit of a process, {rows:,} x 20, 100 trees, warm cache (best of {repeats})",
        ["", "whole process, s", "loading, s", "fit, s"],
        [
            [name, *(f"{entry[key]:.3f}" for key in ("process", "loaded", "fit"))]
            for name, entry in results.items()
        ],
    )
    if results["weald"]["stderr"]:
        console.print(f"weald said: {said(results['weald'])}")
    return results


def empty(rows: int) -> dict[str, Any]:
    """The first fit on a machine: everything that it needs is compiled."""
    with tempfile.TemporaryDirectory() as folder:
        first = fresh(fit_code("weald", rows), with_cache(folder))
        second = fresh(fit_code("weald", rows), with_cache(folder))
    console.print(
        f"empty cache: whole process {first['process']:.1f} s, fit {first['fit']:.1f} s; it said:",
        style="bold",
    )
    console.print(said(first))
    console.print(
        f"next process {second['process']:.2f} s, fit {second['fit']:.2f} s; it said: {said(second)}\n"
    )
    return {"first": first, "second": second}


def warmup(rows: int) -> dict[str, Any]:
    """``weald warmup`` on an empty cache, and whether a fit after it still compiles."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "weald", "warmup", "--quiet"], check=True, env=with_cache(folder)
        )
        elapsed = time.perf_counter() - start
        after = fresh(fit_code("weald", rows), with_cache(folder))
    console.print(
        f"weald warmup: {elapsed:.1f} s; a fit after it: {after['fit']:.2f} s; it said: {said(after)}\n"
    )
    return {"seconds": elapsed, "fit_after": after}


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, default=1_000, help="rows of the fits (1,000)")
    arguments.add_argument("--repeats", type=int, help="processes of which the best counts (5; quick: 1)")
    arguments.add_argument(
        "--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all, quick: the first two"
    )
    options = arguments.parse_args()
    repeats = options.repeats or (1 if options.quick else 5)
    sections = chosen_sections(options.sections, SECTIONS)
    if options.quick and options.sections is None:
        sections = ["import", "warm"]
    programs = {
        "import": lambda: imports(repeats),
        "warm": lambda: warm(options.rows, repeats),
        "empty": lambda: empty(options.rows),
        "warmup": lambda: warmup(options.rows),
    }
    record(options, {section: programs[section]() for section in sections})


if __name__ == "__main__":
    main()
