"""Fit and prediction time of weald.catboost against CatBoost: numbers, categories, and ordered boosting.

The same script runs with both modules: 400,000 x 28 numbers at depth 6, plain and ordered; Amazon's access requests, nine columns
of categories; and flights, with four. The environment variable WEALD_DATA names the folder with ``amazon_access.parquet`` and
``flights.parquet``. Fits alternate, the best of several counts. Run it as ``python -m benchmarks.versus.catboost_training``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.common import THREADS, compete, console, higgs_like, parser, record
from benchmarks.versus import flights

MODULES = {"weald": "weald.catboost", "catboost": "catboost"}
ROWS, QUICK_ROWS = 400_000, 5_000
Job = tuple[pd.DataFrame, NDArray[np.int64], list[Any], dict[str, Any]]


def numbers(rows: int, trees: int, **settings: Any) -> Job:
    """A table of numbers."""
    X, y = higgs_like(rows)
    return pd.DataFrame(X), y, [], {"iterations": trees, "depth": 6, **settings}


def access(folder: Path, trees: int, **settings: Any) -> Job:
    """Who is given access to what: nine columns of categories."""
    table = pd.read_parquet(folder / "amazon_access.parquet")
    y = table["ACTION"].to_numpy(np.int64)
    X = table.drop(columns=["ACTION", *(name for name in table if name.startswith("__"))]).astype(str)
    return X, y, list(X.columns), {"iterations": trees, **settings}


def departures(folder: Path, most: int | None, trees: int, **settings: Any) -> Job:
    """Which flights leave late."""
    X, y = flights.read(folder, most)
    X = X.assign(**{name: X[name].astype(object).fillna("none").astype(str) for name in flights.CATEGORIES})
    return X, y, list(flights.CATEGORIES), {"iterations": trees, **settings}


def fitted(
    cb: Any, X: pd.DataFrame, y: NDArray[np.int64], categories: list[Any], settings: dict[str, Any]
) -> Any:
    """What a CatBoost user writes; ``cb`` is one of the two modules."""
    model = cb.CatBoostClassifier(
        thread_count=THREADS,
        verbose=False,
        allow_writing_files=False,
        random_seed=0,
        metric_period=1000,
        **settings,
    )
    return model.fit(X, y, cat_features=categories)


def compared(name: str, job: Job, modules: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Fits of both modules in turn, then predictions of the last two models."""
    X, y, categories, settings = job
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    fitted(
        modules["weald"], X_train[:3000], y_train[:3000], categories, settings | {"iterations": 2}
    )  # compiles
    models: dict[str, Any] = {}

    def fit(system: str) -> Any:
        models[system] = fitted(modules[system], X_train, y_train, categories, settings)
        return models[system]

    fits = compete(
        {system: partial(fit, system) for system in modules},
        repeats,
        f"fit: {name}, {len(y_train):,} rows, {settings['iterations']} trees",
        lambda model: {"log loss": log_loss(y_test, model.predict_proba(X_test))},
    )
    predictions = compete(
        {system: partial(models[system].predict_proba, X_test) for system in modules},
        2 * repeats,
        f"prediction: {name}, {len(y_test):,} rows",
    )
    return {name: fits, f"{name}, prediction": predictions}


def main() -> None:
    """Compare fits, then predictions of their models."""
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, help="fits of each (3; quick: 1)")
    arguments.add_argument("--trees", type=int, default=100)
    arguments.add_argument("--jobs", help="only these, with commas between them")
    options = arguments.parse_args()
    repeats = options.repeats or (1 if options.quick else 3)
    rows = QUICK_ROWS if options.quick else ROWS
    jobs: dict[str, Callable[[], Job]] = {
        "numbers": partial(numbers, rows, options.trees, boosting_type="Plain"),
        "numbers ordered": partial(numbers, rows, options.trees, boosting_type="Ordered"),
    }
    if "WEALD_DATA" in os.environ:
        folder = Path(os.environ["WEALD_DATA"])
        jobs["amazon_access"] = partial(access, folder, options.trees)
        jobs["flights"] = partial(departures, folder, QUICK_ROWS if options.quick else None, options.trees)
        jobs["amazon_access ordered"] = partial(access, folder, options.trees, boosting_type="Ordered")
    else:
        console.print("categories: skipped, as WEALD_DATA does not name a folder with the data sets.")
    results = {}
    modules = {name: importlib.import_module(path) for name, path in MODULES.items()}
    for name in options.jobs.split(",") if options.jobs else jobs:
        results |= compared(name, jobs[name](), modules, repeats)
    record(options, results)


if __name__ == "__main__":
    main()
