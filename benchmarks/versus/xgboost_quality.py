"""The same script with XGBoost and with weald.xgboost, at equal settings, on real data sets.

The environment variable WEALD_DATA names the folder of data sets that `quality` describes. For every set and seed the same lines
run with both modules; the better one is told where the difference of the means is larger than twice its standard error. Run it
as ``python -m benchmarks.versus.xgboost_quality``.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, mean_poisson_deviance, root_mean_squared_error

from benchmarks.common import THREADS, auc, console, parser, print_table, record
from benchmarks.versus.quality import METRICS, Problem, frames, load, short, split_rows, why_skipped

MODULES = {"weald": "weald.xgboost", "xgboost": "xgboost"}
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "slower": {"learning_rate": 0.1, "max_depth": 6, "subsample": 0.8, "colsample_bytree": 0.8},
}


def script(xgb: Any, problem: Problem, settings: dict[str, Any], seed: int, most: int) -> dict[str, float]:
    """What an XGBoost user writes; ``xgb`` is one of the two modules."""
    train, test = split_rows(problem, seed, most)
    X_train, X_test = frames(problem, train, test, None)
    y_train, y_test = problem.y[train], problem.y[test]
    fit = {} if problem.weight is None else {"sample_weight": problem.weight[train]}
    kind = xgb.XGBClassifier if problem.kind in ("binary", "multiclass") else xgb.XGBRegressor
    objective = {"objective": "count:poisson"} if problem.kind == "count" else {}
    model = kind(
        enable_categorical=True, n_jobs=THREADS, random_state=seed, verbosity=0, **objective, **settings
    )
    model.fit(X_train, y_train, **fit)
    if problem.kind == "binary":
        probability = model.predict_proba(X_test)[:, 1].astype(np.float64)
        return {"logloss": float(log_loss(y_test, probability)), "AUC": auc(model, X_test, y_test)}
    if problem.kind == "multiclass":
        probabilities = model.predict_proba(X_test).astype(np.float64)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return {"logloss": float(log_loss(y_test, probabilities, labels=np.arange(probabilities.shape[1])))}
    predicted = model.predict(X_test).astype(np.float64)
    if problem.kind == "count":
        assert problem.weight is not None
        weight = problem.weight[test]
        return {
            "Poisson deviance": float(
                mean_poisson_deviance(y_test, np.maximum(predicted, 1e-9), sample_weight=weight)
            )
        }
    return {"RMSE": float(root_mean_squared_error(y_test, predicted))}


def compared(problem: Problem, runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Means of the metric, and which module is better beyond noise."""
    metric = METRICS[problem.kind]
    values = {name: np.array([run[metric] for run in runs[name]]) for name in MODULES}
    difference = values["weald"] - values["xgboost"]
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
    verdict = "equal within noise"
    if abs(difference.mean()) > 2.0 * error:
        verdict = "ahead" if difference.mean() < 0 else "behind"
    return {
        "rows": len(problem.y),
        "metric": metric,
        "mean": {name: float(values[name].mean()) for name in MODULES},
        "difference": float(difference.mean() / values["xgboost"].mean()),
        "error": float(error / values["xgboost"].mean()),
        "verdict": verdict,
        "runs": runs,
    }


def table_rows(results: dict[str, dict[str, Any]]) -> list[list[str]]:
    """A line a set, and one that counts the verdicts."""
    rows = [
        [
            name,
            f"{entry['rows']:,}",
            entry["metric"],
            *(f"{entry['mean'][module]:.5g}" for module in MODULES),
            f"{100 * entry['difference']:+.2f} % ±{short(100 * entry['error'])}",
            entry["verdict"],
        ]
        for name, entry in results.items()
    ]
    verdicts = [entry["verdict"] for entry in results.values()]
    told = ", ".join(f"{verdicts.count(what)} {what}" for what in ("ahead", "behind", "equal within noise"))
    return [*rows, ["in all", "", "", "", "", "", told]]


def main() -> None:
    """Run both modules on all sets."""
    arguments = parser(__doc__)
    arguments.add_argument("--sets", metavar="A,B", help="only these sets")
    arguments.add_argument("--seeds", type=int, help="runs of every set (5; quick: 2)")
    arguments.add_argument("--max-rows", type=int, help="most training rows (60,000; quick: 2,000)")
    arguments.add_argument("--settings", choices=SETTINGS, help="only these settings")
    options = arguments.parse_args()
    seeds = options.seeds or (2 if options.quick else 5)
    most = options.max_rows or (2_000 if options.quick else 60_000)
    if "WEALD_DATA" not in os.environ:
        console.print(
            "xgboost_quality: skipped, as WEALD_DATA does not name a folder with data sets and their manifest.json."
        )
        return
    folder = Path(os.environ["WEALD_DATA"])
    entries = {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}
    wanted = options.sets.split(",") if options.sets else list(entries)
    for name in wanted:
        if name not in entries:
            raise SystemExit(f"there is no set {name!r}; known are {', '.join(entries)}.")
    modules = {name: importlib.import_module(module) for name, module in MODULES.items()}
    skipped = {name: reason for name in wanted if (reason := why_skipped(entries[name])) is not None}
    chosen = [options.settings] if options.settings else list(SETTINGS)
    results: dict[str, dict[str, Any]] = {setting: {} for setting in chosen}
    for name in wanted:
        if name in skipped:
            continue
        start, problem = time.perf_counter(), load(entries[name], folder)
        for setting in chosen:
            runs: dict[str, list[dict[str, float]]] = {module: [] for module in MODULES}
            for seed in range(seeds):
                for module, xgb in modules.items():
                    runs[module].append(script(xgb, problem, SETTINGS[setting], seed, most))
            results[setting][name] = compared(problem, runs)
        console.print(f"{name}: {time.perf_counter() - start:.1f} s", style="dim")
    header = ["set", "rows", "metric", *MODULES, "weald − xgboost", "weald is"]
    for setting, sets in results.items():
        if sets:
            print_table(f"{setting}, mean of {seeds} runs", header, table_rows(sets))
    if skipped:
        console.print("left out: " + ", ".join(f"{name} ({reason})" for name, reason in skipped.items()))
    record(options, {"settings": SETTINGS, "results": results, "skipped": skipped})


if __name__ == "__main__":
    main()
