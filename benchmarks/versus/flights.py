"""Which flights leave more than 15 minutes late: LightGBM against weald.lightgbm.

Carrier, airports and tail number are categories. The same script runs with both modules, at LightGBM's defaults, on 336,776
flights of 4,043 tail numbers. The environment variable WEALD_DATA names the folder with ``flights.parquet``. Fits alternate, the
best of several counts. The AUC is that of a held-out fifth, for the timed fits of one split and then for several: it differs more
from split to split than between the systems. Run it as ``python -m benchmarks.versus.flights``.
"""

from __future__ import annotations

import importlib
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.common import THREADS, auc, compete, console, parser, print_table, record

MODULES = {"weald": "weald.lightgbm", "lightgbm": "lightgbm"}
LATE = 15.0
CATEGORIES = ["carrier", "origin", "dest", "tailnum"]
# Known only after the flight has left, and texts that are not among the four categories.
LEFT_OUT = ["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"]
LEFT_OUT += ["flight", "plane_type", "plane_manufacturer", "plane_model", "plane_engine"]
QUICK_ROWS = 20_000
SPLITS = 5


def read(folder: Path, most: int | None) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """The table and the labels; flights that never left are dropped."""
    table = pd.read_parquet(folder / "flights.parquet")
    table = table[table["dep_delay"].notna()].reset_index(drop=True)
    if most is not None:
        table = table.sample(most, random_state=0).reset_index(drop=True)
    y = (table["dep_delay"] > LATE).to_numpy(np.int64)
    X = table.drop(columns=LEFT_OUT)
    return X.astype(dict.fromkeys(CATEGORIES, "category")), y


def fitted(lgb: Any, X: pd.DataFrame, y: NDArray[np.int64], threads: int, **settings: Any) -> Any:
    """What a LightGBM user writes; ``lgb`` is one of the two modules."""
    return lgb.LGBMClassifier(n_jobs=threads, verbosity=-1, **settings).fit(X, y)


def quality(X: pd.DataFrame, y: NDArray[np.int64], modules: dict[str, Any], trees: int) -> dict[str, Any]:
    """The AUCs of both on several splits."""
    found: dict[str, list[float]] = {name: [] for name in modules}
    for seed in range(SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.2, random_state=seed, stratify=y
        )
        for name, lgb in modules.items():
            model = fitted(lgb, X_train, y_train, THREADS, n_estimators=trees)
            found[name].append(auc(model, X_test, y_test))
    rows = [[name, f"{np.mean(values):.5f}", *map("{:.5f}".format, values)] for name, values in found.items()]
    print_table(f"AUC of {SPLITS} splits", ["", "mean", *map(str, range(SPLITS))], rows)
    return {name: {"mean": float(np.mean(values)), "AUC": values} for name, values in found.items()}


def main() -> None:
    """Compare at LightGBM's defaults, and with one thread."""
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, help="fits of each (5; quick: 1)")
    arguments.add_argument("--trees", type=int, default=100)
    options = arguments.parse_args()
    repeats = options.repeats or (1 if options.quick else 5)
    if "WEALD_DATA" not in os.environ:
        console.print("flights: skipped, as WEALD_DATA does not name a folder with flights.parquet.")
        return
    X, y = read(Path(os.environ["WEALD_DATA"]), QUICK_ROWS if options.quick else None)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    modules = {name: importlib.import_module(path) for name, path in MODULES.items()}
    results = {}
    for threads in (THREADS, 1):
        contestants = {
            name: partial(fitted, lgb, X_train, y_train, threads, n_estimators=options.trees)
            for name, lgb in modules.items()
        }
        fitted(modules["weald"], X_train, y_train, threads, n_estimators=2)  # compiles
        title = f"{len(y_train):,} flights, {options.trees} trees, {threads} thread{'s' * (threads > 1)}"
        results[f"{threads} threads"] = compete(
            contestants, repeats, title, lambda model: {"AUC": auc(model, X_test, y_test)}
        )
    results["splits"] = quality(X, y, modules, options.trees)
    record(options, results)


if __name__ == "__main__":
    main()
