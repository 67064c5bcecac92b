"""Random forests: 100,000 x 28, 100 trees of full depth, two threads; and defaults against scikit-learn's on real sets.

Four sections. ``training`` and ``prediction`` are times, with the area under the curve and the bytes of the model;
``memory`` is the peak of a fresh process; ``quality`` needs the data that `benchmarks.versus.quality` describes. YDF takes
part where it is installed. Run it as ``python -m benchmarks.versus.forests``.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, root_mean_squared_error

from benchmarks.common import (
    THREADS,
    auc,
    chosen_sections,
    compete,
    console,
    higgs_like,
    parser,
    print_table,
    record,
)
from benchmarks.versus.memory import peak
from benchmarks.versus.quality import Problem, frames, load, split_rows, why_skipped

SYSTEMS = ("weald", "sklearn", "xgboost", "ydf")
SECTIONS = ("training", "prediction", "memory", "quality")
TEST_ROWS = 100_000
# Larger is better for all but RMSE.
METRICS = {"binary": "AUC", "multiclass": "accuracy", "regression": "RMSE"}


class YdfForest:
    """YDF's random forest behind scikit-learn's calls; rows and columns are drawn as in the others."""

    def __init__(self, trees: int, seed: int) -> None:
        self._trees, self._seed = trees, seed
        self._model: Any = None

    def fit(self, X: Any, y: Any) -> YdfForest:
        """Full depth: YDF's own default is 16."""
        import ydf

        learner = ydf.RandomForestLearner(
            label="y",
            num_trees=self._trees,
            max_depth=-1,
            min_examples=1,
            num_threads=THREADS,
            compute_oob_performances=False,
            random_seed=self._seed,
        )
        self._model = learner.train({"x": X, "y": y}, verbose=0)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Both classes' probabilities."""
        second = self._model.predict({"x": X}, num_threads=THREADS)
        return np.column_stack([1.0 - second, second])


def forest(system: str, trees: int, seed: int = 0) -> Any:
    """An unfitted classifier of full depth, sqrt of the columns a node, a bootstrap of the rows."""
    if system == "weald":
        import weald

        return weald.RandomForestClassifier(trees, n_jobs=THREADS, random_state=seed)
    if system == "sklearn":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(trees, n_jobs=THREADS, random_state=seed)
    if system == "ydf":
        return YdfForest(trees, seed)
    import xgboost

    # XGBoost draws rows without replacement: as many as a bootstrap has different ones.
    return xgboost.XGBRFClassifier(
        n_estimators=trees,
        tree_method="hist",
        max_depth=0,
        min_child_weight=0.0,
        subsample=0.632,
        colsample_bynode=5 / 28,
        max_bin=256,
        n_jobs=THREADS,
        random_state=seed,
    )


def systems() -> list[str]:
    """The systems that are installed."""
    missing = [name for name in ("xgboost", "ydf") if find_spec(name) is None]
    for name in missing:
        console.print(f"{name}: left out, it is not installed.", style="dim")
    return [name for name in SYSTEMS if name not in missing]


def model_bytes(model: Any) -> int:
    """The size of the model as its own system stores it."""
    if type(model).__module__.startswith("weald"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.weald"
            model.save(path)
            return path.stat().st_size
    if hasattr(model, "get_booster"):
        return len(model.get_booster().save_raw("ubj"))
    if isinstance(model, YdfForest):
        with tempfile.TemporaryDirectory() as folder:
            model._model.save(folder)
            return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return len(pickle.dumps(model))


def measure_memory(system: str, folder: Path, trees: int) -> None:
    """The child's part: load, fit, and print what it took."""
    if system == "weald":
        # Numba and the kernels are loaded before the data as the peers' libraries are.
        forest(system, 1).fit(np.zeros((100, 2), np.float32), np.arange(100) % 2)
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    before = peak()
    forest(system, trees).fit(X, y)
    print(json.dumps({"before_fit": before, "peak": peak(), "input": X.nbytes / 2**20}))


def memory(contestants: list[str], X: Any, y: Any, trees: int) -> dict[str, dict[str, float]]:
    """MiB that a fresh process of each system takes."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        for system in contestants:
            words = ["--measure", system, "--folder", folder, "--trees", str(trees)]
            command = [sys.executable, "-m", "benchmarks.versus.forests", *words]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found[system] = json.loads(done.stdout.splitlines()[-1])
    rows = [
        [
            name,
            f"{entry['before_fit']:.0f}",
            f"{entry['peak']:.0f}",
            f"{entry['peak'] - entry['before_fit']:.0f}",
        ]
        for name, entry in found.items()
    ]
    print_table("peak memory of a fresh process, MiB", ["", "before fit", "peak", "fit"], rows)
    return found


def encoded(table: pd.DataFrame) -> pd.DataFrame:
    """Categories as numbers, missing ones as missing: what scikit-learn's forests take."""
    return table.apply(
        lambda column: (
            column.cat.codes.where(column.cat.codes >= 0).astype(float)
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column
        )
    )


def evaluate(system: str, problem: Problem, seed: int, most: int) -> float:
    """The score of a system's default forest on the test rows."""
    import sklearn.ensemble

    import weald

    train, test = split_rows(problem, seed, most)
    X_train, X_test = frames(problem, train, test, None)
    if system == "sklearn":
        X_train, X_test = encoded(X_train), encoded(X_test)
    name = "RandomForestRegressor" if problem.kind == "regression" else "RandomForestClassifier"
    home: Any = weald if system == "weald" else sklearn.ensemble
    model = getattr(home, name)(n_jobs=THREADS, random_state=seed).fit(X_train, problem.y[train])
    y = problem.y[test]
    if problem.kind == "binary":
        return auc(model, X_test, y)
    predicted = model.predict(X_test)
    if problem.kind == "multiclass":
        return float(accuracy_score(y, predicted))
    return float(root_mean_squared_error(y, predicted))


def quality(sets: str | None, seeds: int, most: int) -> dict[str, Any]:
    """Weald's and scikit-learn's forests on real sets, and where the difference is more than two standard errors."""
    if "WEALD_DATA" not in os.environ:
        console.print("quality: skipped, as WEALD_DATA does not name a folder with data sets.")
        return {}
    folder = Path(os.environ["WEALD_DATA"])
    entries = {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}
    results: dict[str, Any] = {}
    rows = []
    for name in sets.split(",") if sets else entries:
        if why_skipped(entries[name]) is not None or entries[name]["kind"] not in METRICS:
            continue
        problem = load(entries[name], folder)
        metric = METRICS[problem.kind]
        runs = {
            system: np.array([evaluate(system, problem, seed, most) for seed in range(seeds)])
            for system in ("weald", "sklearn")
        }
        better = runs["weald"] - runs["sklearn"]
        better = -better if metric == "RMSE" else better
        error = better.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else np.inf
        verdict = "behind" if better.mean() < -2 * error else "ahead" if better.mean() > 2 * error else ""
        means = {system: float(values.mean()) for system, values in runs.items()}
        results[name] = {
            "metric": metric,
            "mean": means,
            "runs": {system: values.tolist() for system, values in runs.items()},
            "verdict": verdict,
        }
        rows.append([name, metric, f"{means['weald']:.5g}", f"{means['sklearn']:.5g}", verdict])
        console.print(f"{name}: {verdict or 'equal within noise'}", style="dim")
    print_table(f"default forests, {seeds} runs", ["set", "metric", "weald", "sklearn", "weald is"], rows)
    return results


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="training rows (100,000; quick: 5,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    arguments.add_argument("--sets", metavar="A,B", help="quality: only these sets")
    arguments.add_argument("--seeds", type=int, help="quality: runs of every set (5; quick: 2)")
    arguments.add_argument("--max-rows", type=int, help="quality: most training rows (60,000; quick: 2,000)")
    arguments.add_argument(
        "--measure", help="only measure the memory of this system (used by the program itself)"
    )
    arguments.add_argument("--folder", type=Path, help="where the data to measure with are")
    options = arguments.parse_args()
    rows = options.rows or (5_000 if options.quick else 100_000)
    trees = options.trees or (10 if options.quick else 100)
    repeats = options.repeats or (1 if options.quick else 3)
    if options.measure:
        measure_memory(options.measure, options.folder, trees)
        return
    sections, contestants = chosen_sections(options.sections, SECTIONS), systems()
    X, y = higgs_like(rows + TEST_ROWS)
    test, X, y = (X[rows:], y[rows:]), X[:rows], y[:rows]
    size = f"{rows:,} x {X.shape[1]}, {trees} trees of full depth"
    results: dict[str, Any] = {"rows": rows, "trees": trees}
    if {"training", "prediction"} & set(sections):
        for system in contestants:
            forest(system, 4).fit(X[:3000], y[:3000]).predict_proba(test[0])
        models = {system: forest(system, trees) for system in contestants}
        results["training"] = compete(
            {system: partial(model.fit, X, y) for system, model in models.items()},
            repeats,
            f"training, {size}",
            lambda model: {"test AUC": auc(model, *test), "model MiB": model_bytes(model) / 2**20},
        )
    if "prediction" in sections:
        results["prediction"] = compete(
            {system: partial(model.predict_proba, test[0]) for system, model in models.items()},
            max(repeats, 2),
            f"predict_proba of {TEST_ROWS:,} rows, {size}",
        )
    if "memory" in sections:
        results["memory"] = memory(contestants, X, y, trees)
    if "quality" in sections:
        seeds = options.seeds or (2 if options.quick else 5)
        most = options.max_rows or (2_000 if options.quick else 60_000)
        results["quality"] = quality(options.sets, seeds, most)
    record(options, results)


if __name__ == "__main__":
    main()
