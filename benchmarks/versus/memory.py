"""Peak memory of a whole process that loads a 1,000,000 x 28 float32 array from a file and fits 100 trees.

Every system has a fresh process. Run it as ``python -m benchmarks.versus.memory``.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import estimator, higgs_like, parser, print_table, record

SYSTEMS = ("weald", "lightgbm", "xgboost")


def peak() -> float:
    """Largest resident set so far, in MiB.

    Linux's ru_maxrss starts at the parent's when a process is spawned; VmHWM counts this process alone.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (2**20 if sys.platform == "darwin" else 1024)


def measure(system: str, folder: Path, trees: int) -> None:
    """The child's part: load, fit, and print what it took."""
    model = estimator(system, n_estimators=trees, learning_rate=0.1)
    if system == "weald":
        # Numba and the kernels are loaded before the data as the peers' libraries are.
        estimator(system, n_estimators=1).fit(np.zeros((100, 2), np.float32), np.arange(100) % 2)
    imported = peak()
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    before = peak()
    model.fit(X, y)
    print(json.dumps({"imported": imported, "before_fit": before, "peak": peak(), "input": X.nbytes / 2**20}))


def fresh(*words: str) -> str:
    """What a fresh process of this program prints."""
    command = [sys.executable, "-m", "benchmarks.versus.memory", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Make the data in a process of its own, then measure one system after another."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (1,000,000; quick: 100,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument(
        "--child", nargs=2, metavar=("SYSTEM", "FOLDER"), help="used by the program itself"
    )
    options = arguments.parse_args()
    rows = options.rows or (100_000 if options.quick else 1_000_000)
    trees = options.trees or (10 if options.quick else 100)
    if options.child and options.child[0] == "data":
        for name, array in zip(("X", "y"), higgs_like(rows), strict=True):
            np.save(Path(options.child[1]) / f"{name}.npy", array)
        return
    if options.child:
        measure(options.child[0], Path(options.child[1]), trees)
        return
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sizes = ("--rows", str(rows), "--trees", str(trees))
        fresh("--child", "data", folder, *sizes)
        fresh("--child", "weald", folder, *sizes)  # so that the one that counts need not compile
        for system in SYSTEMS:
            results[system] = json.loads(fresh("--child", system, folder, *sizes))
    for entry in results.values():
        entry["fit"] = entry["peak"] - entry["before_fit"]
        entry["ratio"] = results["weald"]["peak"] / entry["peak"]
    columns = ("imported", "before_fit", "peak", "fit")
    print_table(
        f"resident set in MiB: {rows:,} x 28 float32 ({results['weald']['input']:.0f} MiB), {trees} trees",
        ["", "library loaded", "data loaded", "peak", "peak - data loaded", "weald / this"],
        [
            [system, *(f"{entry[column]:.0f}" for column in columns), f"{entry['ratio']:.3f}"]
            for system, entry in results.items()
        ],
    )
    record(options, {"rows": rows, "trees": trees, "systems": results})


if __name__ == "__main__":
    main()
