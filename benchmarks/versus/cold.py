"""Fresh processes: what an import costs, and time and peak memory to the first model, with a warm and an empty kernel cache.

Run it as ``python -m benchmarks.versus.cold``. ``--python wheel=ENVIRONMENT/bin/python`` adds the Weald that another environment
has installed, there with a kernel cache that starts empty: for a wheel that brings its kernels.
"""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import weald
from benchmarks.common import THREADS, chosen_sections, console, parser, print_table, record

SECTIONS = ("import", "warm", "empty", "warmup")

IMPORT = """
import json, sys, time
start = time.perf_counter()
import {module}
elapsed = time.perf_counter() - start
print(json.dumps({{"seconds": elapsed, "numba": "numba" in sys.modules, "pandas": "pandas" in sys.modules}}))
"""

FIRST_MODEL = """
import json, resource, sys, time
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, 20))
y = (X[:, 0] * X[:, 1] + rng.standard_normal({rows}) > 0).astype(int)
start = time.perf_counter()
from {module} import {name}
model = {name}({arguments})
loaded = time.perf_counter()
model.fit(X, y)
fitted = time.perf_counter()
model.predict(X)
predicted = time.perf_counter()
used = resource.getrusage(resource.RUSAGE_SELF)
peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
if sys.platform == "linux":  # ru_maxrss starts at the parent's
    peak = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({{
    "loaded": loaded - start, "fit": fitted - loaded, "predict": predicted - fitted,
    "cpu": used.ru_utime + used.ru_stime, "peak": peak,
}}))
"""

#: system -> its module, class and arguments
CLASSES = {
    "weald": ("weald", "BoostedTreesClassifier", f"n_jobs={THREADS}"),
    "lightgbm": ("lightgbm", "LGBMClassifier", f"n_jobs={THREADS}, verbose=-1"),
    "xgboost": ("xgboost", "XGBClassifier", f"n_jobs={THREADS}"),
    "catboost": (
        "catboost",
        "CatBoostClassifier",
        f"iterations=100, thread_count={THREADS}, verbose=False, allow_writing_files=False",
    ),
}
PEERS = tuple(CLASSES)
CLASSES["weald's forest"] = ("weald", "RandomForestClassifier", f"n_jobs={THREADS}")
#: what a table of first models shows: column -> (key, format)
COLUMNS = {
    "whole process, s": ("process", ".3f"),
    "CPU, s": ("cpu", ".2f"),
    "loading, s": ("loaded", ".3f"),
    "fit, s": ("fit", ".3f"),
    "predict, s": ("predict", ".3f"),
    "peak, MiB": ("peak", ".0f"),
}


class Process:
    """A fresh process that can be run again and again: a piece of code, an interpreter, an environment."""

    def __init__(self, code: str, python: str = sys.executable, **changed: str | None) -> None:
        self._command = [python, "-c", code]
        # Installed packages have bytecode; that of a checkout is written by the first, uncounted run.
        changed = {"PYTHONDONTWRITEBYTECODE": None, **changed}
        kept = {name: value for name, value in os.environ.items() if name not in changed}
        self._environment = kept | {name: value for name, value in changed.items() if value is not None}

    def run(self) -> dict[str, Any]:
        """What it printed, its wall time, and its lines on stderr."""
        start = time.perf_counter()
        done = subprocess.run(self._command, capture_output=True, text=True, env=self._environment)
        wall = time.perf_counter() - start
        if done.returncode:
            raise SystemExit(done.stderr)
        printed = json.loads(done.stdout.splitlines()[-1])
        return {**printed, "process": wall, "stderr": done.stderr.splitlines()}


def first_model(system: str, rows: int, python: str = sys.executable, **changed: str | None) -> Process:
    """A process that loads a system, fits and predicts."""
    module, name, arguments = CLASSES[system]
    code = FIRST_MODEL.format(rows=rows, module=module, name=name, arguments=arguments)
    return Process(code, python, **changed)


def fastest(processes: Mapping[str, Process], repeats: int) -> dict[str, dict[str, Any]]:
    """The quickest run of each, in turn, after one that does not count."""
    for process in processes.values():
        process.run()
    runs = [{name: process.run() for name, process in processes.items()} for _ in range(repeats)]
    return {name: min((run[name] for run in runs), key=lambda entry: entry["process"]) for name in processes}


def said(entry: dict[str, Any]) -> str:
    return "\n".join(entry["stderr"]) or "nothing"


def imports(repeats: int) -> dict[str, Any]:
    """Import times; numpy's own shows what is left."""
    modules = ("weald", "numpy", "lightgbm", "xgboost", "catboost")
    results = fastest({module: Process(IMPORT.format(module=module)) for module in modules}, repeats)
    rows = [
        [name, f"{1e3 * entry['seconds']:.1f}", str(entry["numba"]), str(entry["pandas"])]
        for name, entry in results.items()
    ]
    print_table(f"import (best of {repeats})", ["", "ms", "numba loaded", "pandas loaded"], rows)
    return results


def warm(rows: int, repeats: int, others: Mapping[str, str]) -> dict[str, Any]:
    """The first model of a process that finds its kernels compiled; ``others``: name -> interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        processes = {system: first_model(system, rows) for system in PEERS}
        for name, python in others.items():
            own = Path(folder) / name
            processes[f"weald, {name}"] = first_model(
                "weald", rows, python, PYTHONPATH=None, NUMBA_CACHE_DIR=str(own)
            )
        results = fastest(processes, repeats)
    for entry in results.values():
        entry["ratio"] = results["weald"]["process"] / entry["process"]
    print_table(
        f"first model of a process, {rows:,} x 20, 100 trees, compiled kernels (best of {repeats})",
        ["", *COLUMNS, "weald / this"],
        [
            [name, *(f"{entry[key]:{form}}" for key, form in COLUMNS.values()), f"{entry['ratio']:.3f}"]
            for name, entry in results.items()
        ],
    )
    for name, entry in results.items():
        if name.startswith("weald") and entry["stderr"]:
            console.print(f"{name} said: {said(entry)}")
    return results


def empty(rows: int, repeats: int) -> dict[str, Any]:
    """The first model on a machine: everything that it needs is compiled."""
    # As pip does, so that the first process does not write it.
    compileall.compile_dir(Path(weald.__file__).parent, quiet=1)
    runs = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as another:
            process = first_model("weald", rows, NUMBA_CACHE_DIR=folder)
            run = {"first": process.run(), "second": process.run()}
            run["first, a forest"] = first_model("weald's forest", rows, NUMBA_CACHE_DIR=another).run()
        runs.append(run)
    results = {name: min((run[name] for run in runs), key=lambda entry: entry["process"]) for name in runs[0]}
    print_table(
        f"first model on a machine, {rows:,} x 20, 100 trees, empty kernel cache, and the next process (best of {repeats})",
        ["", *COLUMNS],
        [
            [name, *(f"{entry[key]:{form}}" for key, form in COLUMNS.values())]
            for name, entry in results.items()
        ],
    )
    console.print(f"They said: {said(results['first'])}; {said(results['second'])}")
    return results


def warmup(rows: int) -> dict[str, Any]:
    """``weald warmup --jobs 2`` on an empty cache, and whether a fit after it still compiles."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "weald", "warmup", "--jobs", "2", "--quiet"],
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
        )
        elapsed = time.perf_counter() - start
        after = first_model("weald", rows, NUMBA_CACHE_DIR=folder).run()
    console.print(
        f"weald warmup --jobs 2: {elapsed:.1f} s; a fit after it: {after['fit']:.2f} s; it said: {said(after)}\n"
    )
    return {"seconds": elapsed, "fit_after": after}


def interpreters(given: list[str]) -> dict[str, str]:
    """``NAME=PATH`` of other interpreters, or a path that is its own name."""
    named = (text.partition("=") if "=" in text else (text, "=", text) for text in given)
    return {name.replace(os.sep, "_"): path for name, _, path in named}


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, default=1_000, help="rows of the fits (1,000)")
    arguments.add_argument("--repeats", type=int, help="processes of which the best counts (7; quick: 1)")
    arguments.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="[NAME=]PATH",
        help="an interpreter whose environment has a Weald of its own, also timed in section warm; may be repeated",
    )
    arguments.add_argument(
        "--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all, quick: the first two"
    )
    options = arguments.parse_args()
    repeats = options.repeats or (1 if options.quick else 7)
    sections = chosen_sections(options.sections, SECTIONS)
    if options.quick and options.sections is None:
        sections = ["import", "warm"]
    programs = {
        "import": lambda: imports(repeats),
        "warm": lambda: warm(options.rows, repeats, interpreters(options.python)),
        "empty": lambda: empty(options.rows, min(repeats, 3)),
        "warmup": lambda: warmup(options.rows),
    }
    record(options, {section: programs[section]() for section in sections})


if __name__ == "__main__":
    main()
