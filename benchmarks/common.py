"""What the benchmark programs share: data, estimators, a fair timer, tables and the record of a run.

Machines are noisy, so every claim is a ratio: contestants run in turn, round by round, in one process, and the
best time of each counts.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

THREADS = 2
PACKAGES = ("weald", "numpy", "numba", "scikit-learn", "pandas", "lightgbm", "xgboost", "catboost")
LOAD = os.getloadavg()[0] if hasattr(os, "getloadavg") else None  # before the program adds its own
REST = 0.05  # seconds between contestants: the OpenMP threads of the one before stop spinning and go to sleep

# scikit-learn takes its number of threads from here; read when its libraries are loaded, which is later.
os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))

console = Console(highlight=False, width=None if Console().is_terminal else 150)


# --- data -----------------------------------------------------------------------------------------


def higgs_like(
    n_rows: int, n_columns: int = 28, seed: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Columns near standard normal, some of them skewed, and a binary label with a noisy non-linear signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.8 * np.abs(X[:, 3]) - 0.6 * X[:, 4] ** 2
    score += np.where(X[:, 5] > 0.3, X[:, 6], -0.5 * X[:, 7]) + 0.4 * X[:, 8] * X[:, 9] * X[:, 10]
    for column in range(11, min(n_columns, 18)):
        score += (0.5 - 0.05 * (column - 11)) * X[:, column]
    y = (score + rng.logistic(size=n_rows) > 0.0).astype(np.int64)
    X[:, 3::4] = np.exp(0.5 * X[:, 3::4])
    return X, y


# --- estimators -----------------------------------------------------------------------------------


def estimator(system: str, task: str = "classification", threads: int = THREADS, **parameters: Any) -> Any:
    """A silent, unfitted estimator with so many threads; other parameters by the system's own names.

    ``system``: "weald", "lightgbm", "xgboost", "catboost" or "sklearn" (its histogram gradient boosting).
    """
    classifies = task == "classification"
    if system == "weald":
        import weald

        kind: Any = weald.BoostedTreesClassifier if classifies else weald.BoostedTreesRegressor
        return kind(n_jobs=threads, **parameters)
    if system == "lightgbm":
        import lightgbm

        kind = lightgbm.LGBMClassifier if classifies else lightgbm.LGBMRegressor
        return kind(n_jobs=threads, verbosity=-1, **parameters)
    if system == "xgboost":
        import xgboost

        kind = xgboost.XGBClassifier if classifies else xgboost.XGBRegressor
        return kind(n_jobs=threads, verbosity=0, **parameters)
    if system == "catboost":
        import catboost

        kind = catboost.CatBoostClassifier if classifies else catboost.CatBoostRegressor
        return kind(thread_count=threads, verbose=False, allow_writing_files=False, **parameters)
    from sklearn import ensemble

    return getattr(ensemble, f"HistGradientBoosting{'Classifier' if classifies else 'Regressor'}")(
        **parameters
    )


def auc(model: Any, X: Any, y: Any) -> float:
    """Area under the curve of a fitted classifier."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))


# --- timing ---------------------------------------------------------------------------------------


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time of one call, and what it returned."""
    gc.collect()
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def best_of(contestants: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, dict[str, Any]]:
    """Run contestants in turn, round by round: name -> best ``seconds``, all ``times``, the last ``result``."""
    outcome: dict[str, dict[str, Any]] = {name: {"times": []} for name in contestants}
    for _ in range(repeats):
        for name, action in contestants.items():
            time.sleep(REST)
            elapsed, result = seconds(action)
            outcome[name]["times"].append(elapsed)
            outcome[name]["result"] = result
    for entry in outcome.values():
        entry["seconds"] = min(entry["times"])
    return outcome


def compete(
    contestants: Mapping[str, Callable[[], Any]],
    repeats: int,
    title: str = "",
    judge: Callable[[Any], Mapping[str, float]] | None = None,
    in_milliseconds: bool = False,
) -> dict[str, dict[str, Any]]:
    """`best_of`, a table of it with the first contestant's time over each one's, and the same as plain data.

    ``judge`` turns what a contestant returned into further columns, outside the timing.
    """
    outcome = best_of(contestants, repeats)
    first = next(iter(contestants))
    for entry in outcome.values():
        result = entry.pop("result")
        entry["ratio"] = outcome[first]["seconds"] / entry["seconds"]
        entry.update(judge(result) if judge else {})
    unit, factor = ("ms", 1e3) if in_milliseconds else ("s", 1.0)
    more = [name for name in outcome[first] if name not in ("times", "seconds", "ratio")]
    print_table(
        f"{title} (best of {repeats})",
        ["", unit, f"{first} / this", *more],
        [
            [
                name,
                f"{factor * entry['seconds']:.3f}",
                f"{entry['ratio']:.3f}",
                *(f"{entry[key]:.4f}" for key in more),
            ]
            for name, entry in outcome.items()
        ],
    )
    return outcome


def latency(action: Callable[[], Any], calls: int = 2000) -> float:
    """Median time of a call, in microseconds."""
    times = np.empty(calls)
    for call in range(calls):
        start = time.perf_counter()
        action()
        times[call] = time.perf_counter() - start
    return 1e6 * float(np.median(times))


# --- tables and records ---------------------------------------------------------------------------


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose first column is text and whose others are numbers."""
    console.print(title, style="bold")
    table = Table()
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def machine() -> dict[str, Any]:
    """The processor, cores, load and versions of a run."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.partition(":")[2].strip()
            for line in cpuinfo.read_text().splitlines()
            if "model name" in line
        ]
        model = names[0] if names else model
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_average_before": None if LOAD is None else round(LOAD, 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _version(package: str) -> str | None:
    if package == "weald":  # also where it is not installed but on the path
        import weald

        return weald.__version__
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the arguments that every program takes."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file")
    return made


def chosen_sections(text: str | None, sections: Sequence[str]) -> list[str]:
    """The sections that a comma-separated list names, in their own order; all for None."""
    wanted = list(sections) if text is None else text.split(",")
    unknown = [name for name in wanted if name not in sections]
    if unknown:
        raise SystemExit(f"there is no section {unknown[0]!r}; known are {', '.join(sections)}.")
    return [name for name in sections if name in wanted]


def record(arguments: argparse.Namespace, results: Mapping[str, Any]) -> None:
    """Print what it ran on and, when asked, write the results to a file."""
    facts = machine()
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items() if version)
    console.print(
        f"{facts['processor']}, {facts['cores']} cores, load {facts['load_average_before']} before; {versions}",
        style="dim",
    )
    if arguments.json is None:
        return
    options = {
        name: str(value) if isinstance(value, Path) else value for name, value in vars(arguments).items()
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    document = {"machine": facts, "arguments": options, "results": results}
    arguments.json.write_text(json.dumps(document, indent=1) + "\n")
