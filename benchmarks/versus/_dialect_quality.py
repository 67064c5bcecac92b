"""The same script with another system and with Weald's module of its interface, at equal settings, on real data sets.

The environment variable WEALD_DATA names the folder of data sets that `quality` describes. For every set and seed the same lines
run with both modules; the better one is told where the difference of the means is larger than twice its standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, mean_poisson_deviance, root_mean_squared_error

from benchmarks.common import auc, console, parser, print_table, record
from benchmarks.versus.quality import METRICS, Problem, frames, load, short, split_rows, why_skipped

#: function(module, problem, settings, seed) -> an estimator, as a user of the module writes it
Maker = Callable[[Any, Problem, dict[str, Any], int], Any]


def script(
    make: Maker, module: Any, problem: Problem, settings: dict[str, Any], seed: int, most: int
) -> dict[str, float]:
    """What a user writes; ``module`` is one of the two."""
    train, test = split_rows(problem, seed, most)
    X_train, X_test = frames(problem, train, test, None)
    y_train, y_test = problem.y[train], problem.y[test]
    fit = {} if problem.weight is None else {"sample_weight": problem.weight[train]}
    model = make(module, problem, settings, seed)
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


def compared(peer: str, problem: Problem, runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Means of the metric, and which module is better beyond noise."""
    metric = METRICS[problem.kind]
    values = {name: np.array([run[metric] for run in runs[name]]) for name in ("weald", peer)}
    difference = values["weald"] - values[peer]
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
    verdict = "equal within noise"
    if abs(difference.mean()) > 2.0 * error:
        verdict = "ahead" if difference.mean() < 0 else "behind"
    return {
        "rows": len(problem.y),
        "metric": metric,
        "mean": {name: float(values[name].mean()) for name in ("weald", peer)},
        "difference": float(difference.mean() / values[peer].mean()),
        "error": float(error / values[peer].mean()),
        "verdict": verdict,
        "runs": runs,
    }


def table_rows(peer: str, results: dict[str, dict[str, Any]]) -> list[list[str]]:
    """A line a set, and one that counts the verdicts."""
    rows = [
        [
            name,
            f"{entry['rows']:,}",
            entry["metric"],
            *(f"{entry['mean'][module]:.5g}" for module in ("weald", peer)),
            f"{100 * entry['difference']:+.2f} % ±{short(100 * entry['error'])}",
            entry["verdict"],
        ]
        for name, entry in results.items()
    ]
    verdicts = [entry["verdict"] for entry in results.values()]
    told = ", ".join(f"{verdicts.count(what)} {what}" for what in ("ahead", "behind", "equal within noise"))
    return [*rows, ["in all", "", "", "", "", "", told]]


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    seeds: int
    most: int  # training rows
    wanted: Sequence[str]
    entries: Mapping[str, dict[str, Any]]
    folder: Path

    def problems(self, names: Sequence[str]) -> Iterator[tuple[str, Problem]]:
        """Of some sets those that were asked for."""
        for name in names:
            if name in self.wanted:
                yield name, load(self.entries[name], self.folder)


def main(
    peer: str,
    make: Maker,
    all_settings: dict[str, dict[str, Any]],
    description: str | None,
    sets: Sequence[str] | None = None,
    further: Callable[[Options], dict[str, Any]] | None = None,
) -> None:
    """Run both modules on all sets; ``peer``: the other system's module, of which ``weald.peer`` has the interface.

    ``sets``: those that are taken where none are named; ``further``: measures something else, and returns what is recorded.
    """
    arguments = parser(description)
    arguments.add_argument("--sets", metavar="A,B", help="only these sets")
    arguments.add_argument("--seeds", type=int, help="runs of every set (5; quick: 2)")
    arguments.add_argument("--max-rows", type=int, help="most training rows (60,000; quick: 2,000)")
    arguments.add_argument("--settings", choices=all_settings, help="only these settings")
    options = arguments.parse_args()
    seeds = options.seeds or (2 if options.quick else 5)
    most = options.max_rows or (2_000 if options.quick else 60_000)
    if "WEALD_DATA" not in os.environ:
        console.print(
            f"{peer}_quality: skipped, as WEALD_DATA does not name a folder with data sets and their manifest.json."
        )
        return
    folder = Path(os.environ["WEALD_DATA"])
    entries = {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}
    wanted = options.sets.split(",") if options.sets else list(sets or entries)
    for name in wanted:
        if name not in entries:
            raise SystemExit(f"there is no set {name!r}; known are {', '.join(entries)}.")
    modules = {"weald": importlib.import_module(f"weald.{peer}"), peer: importlib.import_module(peer)}
    skipped = {name: reason for name in wanted if (reason := why_skipped(entries[name])) is not None}
    chosen = [options.settings] if options.settings else list(all_settings)
    results: dict[str, dict[str, Any]] = {setting: {} for setting in chosen}
    for name in wanted:
        if name in skipped:
            continue
        start, problem = time.perf_counter(), load(entries[name], folder)
        for setting in chosen:
            runs: dict[str, list[dict[str, float]]] = {name: [] for name in modules}
            for seed in range(seeds):
                for contestant, module in modules.items():
                    runs[contestant].append(script(make, module, problem, all_settings[setting], seed, most))
            results[setting][name] = compared(peer, problem, runs)
        console.print(f"{name}: {time.perf_counter() - start:.1f} s", style="dim")
    header = ["set", "rows", "metric", *modules, f"weald − {peer}", "weald is"]
    for setting, measured in results.items():
        if measured:
            print_table(f"{setting}, mean of {seeds} runs", header, table_rows(peer, measured))
    if skipped:
        console.print("left out: " + ", ".join(f"{name} ({reason})" for name, reason in skipped.items()))
    more = {} if further is None else further(Options(seeds, most, wanted, entries, folder))
    record(options, {"settings": all_settings, "results": results, "skipped": skipped, **more})
