"""Gradient-based one-side sampling: its time against all rows and LightGBM's, its quality against uniform sampling.

``time``: 500,000 x 28 and, where WEALD_DATA names the folder that has it, flights; 100 trees of 31 leaves, 2 threads,
top_rate=0.2 and other_rate=0.1. LightGBM with the same settings, with and without GOSS.

``quality``: 5 seeds of adult, flights, higgs_lgb (from WEALD_DATA) and of a synthetic table, at most 100,000 rows: GOSS, as many
rows drawn uniformly, all rows, and LightGBM's GOSS, at several rates. Better or worse than uniform is said where the mean
difference over the seeds is above twice its standard error. Run it as ``python -m benchmarks.versus.goss``.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

import weald
from benchmarks.common import (
    auc,
    chosen_sections,
    compete,
    console,
    estimator,
    higgs_like,
    parser,
    print_table,
    record,
)
from benchmarks.versus.quality import frames, load, split_rows

SECTIONS = ("time", "quality")
SETS = ("adult", "flights", "higgs_lgb")
RATES = ((0.2, 0.1), (0.1, 0.1), (0.05, 0.05))
TEST_ROWS = 50_000
WARM_ROWS = 70_000
MOST_CATEGORIES = 254
Split = tuple[Any, Any, Any, Any]  # X and y to train on, X and y to test on


def contestants(
    trees: int, top: float, other: float, seed: int = 0, learning_rate: float = 0.1
) -> dict[str, Any]:
    """The same trees on all rows and on samples."""
    shared = {"n_estimators": trees, "learning_rate": learning_rate, "random_state": seed}
    theirs = {"min_child_samples": 20, "reg_lambda": 1.0, **shared}
    return {
        "weald, goss": estimator("weald", sampling=weald.Goss(top, other), **shared),
        "weald, uniform": estimator("weald", subsample=top + other, **shared),
        "weald, all rows": estimator("weald", **shared),
        "lightgbm, goss": estimator(
            "lightgbm", data_sample_strategy="goss", top_rate=top, other_rate=other, **theirs
        ),
        "lightgbm, all rows": estimator("lightgbm", **theirs),
    }


def real_split(name: str, seed: int, most: int) -> Split | None:
    """A set of WEALD_DATA, divided for a seed; None where it is not at hand."""
    folder = Path(os.environ.get("WEALD_DATA", ""))
    if not (folder / "manifest.json").exists():
        return None
    entries = {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}
    if name not in entries:
        return None
    problem = load(entries[name], folder)
    train, test = split_rows(problem, seed, most)
    X_train, X_test = frames(problem, train, test, MOST_CATEGORIES)
    return X_train, problem.y[train], X_test, problem.y[test]


def synthetic_split(seed: int, rows: int) -> Split:
    """Rows of a noisy non-linear signal."""
    X, y = higgs_like(rows + TEST_ROWS, seed=seed)
    return X[:rows], y[:rows], X[rows:], y[rows:]


def time_section(rows: int, trees: int, repeats: int) -> dict[str, Any]:
    """Fits in turn."""
    splits = {f"synthetic, {rows:,} x 28": synthetic_split(0, rows)}
    if (flights := real_split("flights", 0, rows)) is not None:
        splits[f"flights, {len(flights[1]):,} x {flights[0].shape[1]}"] = flights
    top, other = RATES[0]
    results = {}
    for title, (X, y, X_test, y_test) in splits.items():
        for model in contestants(12, top, other).values():
            model.fit(X[:WARM_ROWS], y[:WARM_ROWS])
        outcome = compete(
            {name: partial(model.fit, X, y) for name, model in contestants(trees, top, other).items()},
            repeats,
            f"{title}, {trees} trees, top_rate={top}, other_rate={other}",
            lambda model, X_test=X_test, y_test=y_test: {"test AUC": auc(model, X_test, y_test)},
        )
        goss = outcome["weald, goss"]["seconds"]
        gain, peer = outcome["weald, all rows"]["seconds"] / goss, outcome["lightgbm, goss"]["seconds"] / goss
        console.print(f"goss is {gain:.2f} x as fast as all rows, {peer:.2f} x as fast as LightGBM's\n")
        results[title] = {"systems": outcome, "times_faster": gain, "times_faster_than_lightgbm": peer}
    return results


def quality_section(rows: int, trees: int, seeds: int) -> dict[str, Any]:
    """Log loss and AUC of every contestant, mean over the seeds."""
    results: dict[str, Any] = {}
    for name in (*SETS, "synthetic"):
        splits = [
            synthetic_split(seed, rows) if name == "synthetic" else real_split(name, seed, rows)
            for seed in range(seeds)
        ]
        if any(split is None for split in splits):
            console.print(f"{name}: skipped, as WEALD_DATA does not name a folder that has it.")
            continue
        results[name] = {f"{top} + {other}": _compare(splits, trees, top, other) for top, other in RATES}
        _print_quality(name, results[name])
    return results


def _compare(splits: list[Any], trees: int, top: float, other: float) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for seed, (X, y, X_test, y_test) in enumerate(splits):
        for system, model in contestants(trees, top, other, seed).items():
            probability = model.fit(X, y).predict_proba(X_test)[:, 1]
            own = found.setdefault(system, {"log loss": [], "AUC": []})
            own["log loss"].append(float(log_loss(y_test, probability)))
            own["AUC"].append(float(roc_auc_score(y_test, probability)))
    return found


def _print_quality(name: str, by_rate: dict[str, dict[str, dict[str, list[float]]]]) -> None:
    rows = []
    for rates, found in by_rate.items():
        uniform = np.array(found["weald, uniform"]["log loss"])
        for system, values in found.items():
            difference = np.array(values["log loss"]) - uniform
            error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
            verdict = (
                "" if abs(difference.mean()) <= 2 * error else "better" if difference.mean() < 0 else "worse"
            )
            means = [f"{np.mean(values[metric]):.5f}" for metric in ("log loss", "AUC")]
            rows.append([f"{rates}  {system}", *means, verdict])
    print_table(f"{name}: top_rate + other_rate", ["", "log loss", "AUC", "than uniform"], rows)


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows of `time` (500,000; quick: 20,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 15)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--seeds", type=int, help="seeds of `quality` (5; quick: 2)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    options = arguments.parse_args()
    rows = options.rows or (20_000 if options.quick else 500_000)
    trees = options.trees or (15 if options.quick else 100)
    results: dict[str, Any] = {"rows": rows, "trees": trees}
    for section in chosen_sections(options.sections, SECTIONS):
        if section == "time":
            results[section] = time_section(rows, trees, options.repeats or (1 if options.quick else 3))
        else:
            most = 5_000 if options.quick else 100_000
            results[section] = quality_section(most, trees, options.seeds or (2 if options.quick else 5))
    record(options, results)


if __name__ == "__main__":
    main()
