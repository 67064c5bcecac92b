"""The bytes of a model file with categories: symmetric trees with ordered target statistics, and CatBoost at its defaults.

Both get trees of depth 6 and the same number of rounds and learning rate. The environment variable WEALD_DATA names the data, as
in `benchmarks.versus.quality`. Run it as ``python -m benchmarks.versus.catboost_sizes``.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.common import console, estimator, parser, print_table, record
from benchmarks.versus.quality import Problem, load, split_rows

SETS = ("telco_churn", "bank_additional", "adult", "internet_usage", "amazon_access", "click_small")
MOST_ROWS = 60_000
OURS: dict[str, Any] = {
    "growth": "oblivious",
    "max_depth": 6,
    "reg_lambda": 3.0,
    "min_samples_leaf": 1,
    "min_child_weight": 0.0,
    "categories": "ordered",
    "max_cat_to_onehot": 2,
}


def text_of(X: pd.DataFrame, categorical: list[str]) -> pd.DataFrame:
    """The table with its categories as text, which is what CatBoost takes."""
    text = {name: X[name].astype(object).where(X[name].notna(), "nan").astype(str) for name in categorical}
    return X.assign(**text)


def sizes(problem: Problem, rounds: int, rate: float) -> dict[str, Any]:
    """The bytes of both files, and those of our header, trees and tables."""
    train, _ = split_rows(problem, 0, MOST_ROWS)
    X, y = text_of(problem.X.iloc[train], problem.categorical), problem.y[train]
    theirs = estimator(
        "catboost", iterations=rounds, learning_rate=rate, random_seed=0, cat_features=problem.categorical
    ).fit(X, y)
    ours = estimator("weald", n_estimators=rounds, learning_rate=rate, random_state=0, **OURS)
    ours.fit(X.astype(dict.fromkeys(problem.categorical, "category")), y)
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "model.weald"), Path(folder, "model.cbm")
        ours.save(paths[0])
        theirs.save_model(str(paths[1]))
        data, catboost = paths[0].read_bytes(), paths[1].stat().st_size
    header = 8 + int.from_bytes(data[:8], "little")
    arrays = json.loads(data[8:header])
    tables = sum(
        end - begin
        for name, entry in arrays.items()
        if name.startswith("statistic_")
        for begin, end in [entry["data_offsets"]]
    )
    return {
        "weald": len(data),
        "header": header,
        "trees": len(data) - header - tables,
        "tables": tables,
        "catboost": catboost,
        "ratio": len(data) / catboost,
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
        ["", "weald", "of it header", "trees", "tables", "catboost", "weald / catboost"],
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
