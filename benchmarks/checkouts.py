"""This checkout against another one, in one run, alternating: fits of 1,000 to 1,000,000 rows, and predictions.

``python -m benchmarks.checkouts OTHER [--repeats 3] [--quick]``; OTHER is the folder of the other checkout. Each has a cache of
kernels of its own, and every contestant runs in a fresh process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import higgs_like, print_table

HERE = Path(__file__).resolve().parent.parent
SIZES = ((1_000, 20, 15), (10_000, 20, 9), (100_000, 20, 4), (1_000_000, 28, 2))  # rows, columns, repeats
PREDICTED = 100_000


def best(action: Callable[[], Any], repeats: int) -> float:
    """The shortest of several times."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def measured(most: int) -> dict[str, float]:
    """Seconds of every job, up to so many rows, in this process."""
    from weald import BoostedTreesClassifier

    found = {}
    for rows, columns, repeats in SIZES:
        if rows > most:
            continue
        X, y = higgs_like(rows, columns)
        model = BoostedTreesClassifier(n_estimators=100).fit(X, y)
        found[f"fit {rows:,} x {columns}"] = best(lambda X=X, y=y, model=model: model.fit(X, y), repeats)  # type: ignore[misc]
    X, y = higgs_like(min(most, PREDICTED), 28)
    model = BoostedTreesClassifier(n_estimators=100).fit(X, y)
    model.predict_proba(X)
    found[f"predict {len(X):,} rows"] = best(lambda: model.predict_proba(X), 7)
    found["predict one row"] = best(lambda: [model.predict_proba(X[:1]) for _ in range(300)], 7) / 300
    return found


def run(checkout: Path, cache: str, most: int) -> dict[str, float]:
    """The same in a process that has the sources of a checkout."""
    places = {"PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{HERE}", "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-m", "benchmarks.checkouts", "--measure", str(most)]
    done = subprocess.run(command, cwd=HERE, env={**os.environ, **places}, stdout=subprocess.PIPE, text=True)
    done.check_returncode()
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return times


def main() -> None:
    """Alternate, and print the best of each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", nargs="?", type=Path, help="folder of the other checkout")
    parser.add_argument("--repeats", type=int, default=3, help="rounds of which the best counts (3)")
    parser.add_argument("--quick", action="store_true", help="up to 10,000 rows")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measured(options.measure)))
        return
    if options.other is None:
        parser.error("the folder of another checkout is needed")
    most = 10_000 if options.quick else 1_000_000
    checkouts = {"other": options.other.resolve(), "this": HERE}
    times: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as caches:
        for _ in range(options.repeats):
            for name, checkout in checkouts.items():
                for job, seconds in run(checkout, os.path.join(caches, name), most).items():
                    times.setdefault(job, {}).setdefault(name, []).append(seconds)
    rows = []
    for job, own in times.items():
        other, this = min(own["other"]), min(own["this"])
        rows.append([job, f"{1e3 * other:.3f}", f"{1e3 * this:.3f}", f"{this / other:.3f}"])
    print_table(f"best of {options.repeats}", ["", "other, ms", "this, ms", "this / other"], rows)


if __name__ == "__main__":
    main()
