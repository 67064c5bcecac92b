"""What blocks cost where training needs more of all rows than sums: time and memory of fits in memory and from a store.

Statistics, ordered boosting, medians as leaves and forests, of a table with two columns of categories; every fit has a process
of its own. Run it as ``python -m benchmarks.stage.rows_in_blocks``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import weald
from benchmarks.common import parser, print_table, record
from benchmarks.versus.memory import peak
from weald.binning.parts import Part, sharded_table_of

ROUNDS = 20
CASES: dict[str, Any] = {
    "one-hot": weald.BoostedTreesRegressor(n_estimators=ROUNDS, categories="onehot"),
    "medians": weald.BoostedTreesRegressor(n_estimators=ROUNDS, categories="onehot", loss="absolute"),
    "statistics": weald.BoostedTreesRegressor(n_estimators=ROUNDS, categories="ordered"),
    "ordered boosting": weald.BoostedTreesRegressor(n_estimators=ROUNDS, booster="ordered", categories="onehot"),
    "forest": weald.RandomForestRegressor(8, max_depth=10, max_features=0.5),
}


def table(rows: int) -> tuple[dict[str, Any], Any]:
    """Ten columns of numbers, two of categories, and labels."""
    generator = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{j}": generator.normal(size=rows).astype(np.float32) for j in range(10)}
    city, street = generator.integers(0, 30, rows), generator.integers(0, 200, rows)
    y = columns["x0"] * columns["x1"] + np.sin(city) + np.cos(street) + generator.normal(size=rows)
    names = np.array([f"name {number}" for number in range(200)])
    return {**columns, "city": names[city], "street": names[street]}, y


def measure(case: str, where: str, rows: int, folder: Path) -> None:
    """The child's part: make or open the table, fit, and print what it took."""
    model = CASES[case].set_params(n_jobs=1)
    few = table(3_000)
    small: tuple[Any, ...] = few  # kernels are loaded before the clock runs
    if where == "store":
        small = (sharded_table_of([Part(*few)], model._bin_wishes(), "this model"),)
    model.fit(*small)
    given: tuple[Any, ...] = (weald.BlockStore.open(folder / case),) if where == "store" else table(rows)
    begin, before = time.perf_counter(), peak()
    model.fit(*given)
    print(json.dumps({"seconds": time.perf_counter() - begin, "mib": peak() - before}))


def main() -> None:
    """Build the stores, then fit each model in a process of its own, from memory and from its store."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (1,000,000; quick: 50,000)")
    arguments.add_argument("--child", nargs=3, help="case, where and folder: what a process of its own measures")
    options = arguments.parse_args()
    rows = options.rows or (50_000 if options.quick else 1_000_000)
    if options.child:
        case, where, folder = options.child
        measure(case, where, rows, Path(folder))
        return
    lines, found = [], {}
    with tempfile.TemporaryDirectory() as home:
        X, y = table(rows)
        for case, model in CASES.items():
            weald.BlockStore.build(X, Path(home) / case, target=y, estimator=model, memory_limit=None)
        for case in CASES:
            own = {where: fresh(case, where, rows, home) for where in ("memory", "store")}
            found[case] = own
            ratio = own["store"]["seconds"] / own["memory"]["seconds"]
            sizes = [f"{own[where]['mib'] * 2**20 / rows:.0f}" for where in own]
            seconds = [f"{own[where]['seconds']:.2f}" for where in own]
            lines.append([case, *seconds, f"{ratio:.2f}", *sizes])
    columns = ["fit", "memory, s", "store, s", "ratio", "memory, bytes a row", "store, bytes a row"]
    print_table(f"{rows:,} rows, one thread; bytes beside the table", columns, lines)
    record(options, {"rows": rows, "fits": found})


def fresh(case: str, where: str, rows: int, home: str) -> Any:
    """What a fresh process of this program prints."""
    words = ["--rows", str(rows), "--child", case, where, home]
    command = [sys.executable, "-m", "benchmarks.stage.rows_in_blocks", *words]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


if __name__ == "__main__":
    main()
