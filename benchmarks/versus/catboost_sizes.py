"""The bytes of a model file with categories: the same script with weald.catboost and with CatBoost, at CatBoost's defaults.

Both get the same number of rounds and the same learning rate. The environment variable WEALD_DATA names the data, as in
`benchmarks.versus.quality`. Run it as ``python -m benchmarks.versus.catboost_sizes``.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import THREADS, console, parser, print_table, record
from benchmarks.versus.quality import Problem, load, split_rows
from weald.forest.container import unpack

SETS = ("telco_churn", "bank_additional", "adult", "internet_usage", "amazon_access", "click_small")
MOST_ROWS = 60_000
MODULES = {"weald": "weald.catboost", "catboost": "catboost"}
SETTINGS: dict[str, Any] = {
    "random_seed": 0,
    "thread_count": THREADS,
    "verbose": False,
    "allow_writing_files": False,
}


def text_of(X: pd.DataFrame, categorical: list[str]) -> pd.DataFrame:
    """The table with its categories as text, which is what CatBoost takes."""
    text = {name: X[name].astype(object).where(X[name].notna(), "nan").astype(str) for name in categorical}
    return X.assign(**text)


def sizes(problem: Problem, rounds: int, rate: float) -> dict[str, Any]:
    """The bytes of both files, and those of our headers, trees and tables."""
    train, _ = split_rows(problem, 0, MOST_ROWS)
    X, y = text_of(problem.X.iloc[train], problem.categorical), problem.y[train]
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, module in MODULES.items():
            model = importlib.import_module(module).CatBoostClassifier(
                iterations=rounds, learning_rate=rate, cat_features=problem.categorical, **SETTINGS
            )
            path = Path(folder, name)
            model.fit(X, y).save_model(str(path))
            files[name] = path.read_bytes()
    parts = parts_of(files["weald"])
    total = {name: len(data) for name, data in files.items()}
    return {**total, **parts, "ratio": total["weald"] / total["catboost"]}


def parts_of(data: bytes) -> dict[str, int]:
    """The bytes of a file of weald.catboost by what they are: the model's own file is an array in it."""
    model = unpack(data).arrays({"model": np.dtype(np.uint8)})["model"].tobytes()
    header = 8 + int.from_bytes(model[:8], "little")
    arrays = json.loads(model[8:header])
    tables = sum(
        end - begin
        for name, entry in arrays.items()
        if name.startswith("statistic_")
        for begin, end in [entry["data_offsets"]]
    )
    return {
        "header": len(data) - len(model) + header,
        "trees": len(model) - header - tables,
        "tables": tables,
    }


def main() -> None:
    """Measure the sets."""
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, help="trees of every model (1,000; quick: 20)")
    arguments.add_argument("--rate", type=float, default=0.05, help="learning rate (0.05)")
    arguments.add_argument("--sets", metavar="A,B", default=",".join(SETS), help="only these sets")
    options = arguments.parse_args()
    if "WEALD_DATA" not in os.environ:
        console.print(
            "catboost_sizes: skipped, as WEALD_DATA does not name a folder with data sets and their manifest.json."
        )
        return
    folder, rounds = Path(os.environ["WEALD_DATA"]), options.rounds or (20 if options.quick else 1_000)
    entries = {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}
    results = {}
    for name in options.sets.split(","):
        if name not in entries:
            raise SystemExit(f"there is no set {name!r}; known are {', '.join(entries)}.")
        results[name] = sizes(load(entries[name], folder), rounds, options.rate)
    print_table(
        f"bytes of a model file, {rounds} trees",
        ["", "weald", "of it headers", "trees", "tables", "catboost", "weald / catboost"],
        [
            [
                name,
                *(f"{found[part]:,}" for part in ("weald", "header", "trees", "tables", "catboost")),
                f"{found['ratio']:.3f}",
            ]
            for name, found in results.items()
        ],
    )
    record(options, results)


if __name__ == "__main__":
    main()
