"""Default against default on real data sets: Weald, LightGBM, XGBoost, CatBoost and scikit-learn, categories natively.

The environment variable WEALD_DATA names a folder with parquet files and a manifest.json: a list of sets with their
``name``, ``files``, ``kind``, ``target`` and, where there are any, ``positive``, ``drop``, ``categorical``,
``split`` and ``exposure``. A published split is used with five 90 % subsamples of its training rows; other sets are
split 80/20 five times. Run it as ``python -m benchmarks.versus.quality``.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss, mean_poisson_deviance, root_mean_squared_error
from sklearn.model_selection import train_test_split

from benchmarks.common import auc, chosen_sections, console, estimator, parser, print_table, record

SYSTEMS = ("weald", "lightgbm", "xgboost", "catboost", "sklearn")
KINDS = ("binary", "multiclass", "regression", "count")
MOST_COLUMNS = 40_000
MOST_COUNT_ROWS = 100_000
SKLEARN_CATEGORIES = 254
COUNT_LOSSES = {
    "weald": {"loss": "poisson"},
    "lightgbm": {"objective": "poisson"},
    "xgboost": {"objective": "count:poisson"},
    "catboost": {"loss_function": "Poisson"},
    "sklearn": {"loss": "poisson"},
}
METRICS = {"binary": "logloss", "multiclass": "logloss", "regression": "RMSE", "count": "Poisson deviance"}


class Problem(NamedTuple):
    """One data set, ready to be split."""

    name: str
    kind: str
    X: pd.DataFrame  # categorical columns are still text
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    published: NDArray[np.bool_] | None  # training rows
    categorical: list[str]


def why_skipped(entry: dict[str, Any]) -> str | None:
    """The reason for leaving a set out, if there is one."""
    if entry["kind"] not in KINDS:
        return str(entry["kind"])
    if entry.get("sparse") and entry["cols"] > MOST_COLUMNS:
        return f"sparse, {entry['cols']:,} columns"
    return None


def load(entry: dict[str, Any], folder: Path) -> Problem:
    """Read a set as the manifest describes it; rows without a target are dropped."""
    table = pd.read_parquet(folder / entry["files"][0])
    table = table[table[entry["target"]].notna()].reset_index(drop=True)
    if entry["kind"] == "count" and len(table) > MOST_COUNT_ROWS:
        table = table.sample(MOST_COUNT_ROWS, random_state=0).reset_index(drop=True)
    weight = None
    if entry["kind"] == "count":
        # The usual cleaning of claims: at most four, and at most a year.
        weight = table[entry["exposure"]].clip(upper=1.0).to_numpy(np.float64)
    y = _target(table[entry["target"]], entry, weight)
    published = table[entry["split"]].to_numpy() == "train" if "split" in entry else None
    unused = {entry["target"], entry.get("exposure"), *entry["drop"]}
    X = table[[column for column in table.columns if column not in unused and not column.startswith("__")]]
    categorical = [column for column in entry["categorical"] if column in X.columns]
    names = {column: re.sub(r"\W", "_", column) for column in X.columns}
    return Problem(
        entry["name"],
        entry["kind"],
        X.rename(columns=names),
        y,
        weight,
        published,
        [names[c] for c in categorical],
    )


def _target(column: pd.Series, entry: dict[str, Any], weight: NDArray[np.float64] | None) -> NDArray[Any]:
    if entry["kind"] == "binary":
        positive = entry["positive"]
        if isinstance(positive, str) and positive.startswith(">") and pd.api.types.is_numeric_dtype(column):
            return (column > float(positive[1:])).to_numpy(np.int64)
        return (column == positive).to_numpy(np.int64)
    if entry["kind"] == "multiclass":
        return pd.factorize(column, sort=True)[0].astype(np.int64)
    values = column.to_numpy(np.float64)
    return np.minimum(values, 4.0) / weight if entry["kind"] == "count" else values


def split_rows(problem: Problem, seed: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and test rows of a seed, stratified by class, the training rows at most so many."""
    labels = problem.y if problem.kind in ("binary", "multiclass") else None
    if problem.published is None:
        rows = np.arange(len(problem.y))
        train, test = train_test_split(rows, test_size=0.2, random_state=seed, stratify=labels)
    else:
        train, test = np.flatnonzero(problem.published), np.flatnonzero(~problem.published)
        within = None if labels is None else labels[train]
        train = train_test_split(train, train_size=0.9, random_state=seed, stratify=within)[0]
    if len(train) > most:
        some = np.random.default_rng(seed).choice(train, most, replace=False)
        # A class that the sample has lost comes back whole: all systems need every class.
        lost = train[:0] if labels is None else train[~np.isin(labels[train], labels[some])]
        train = np.concatenate([some, lost])
    return train, test


def frames(problem: Problem, train: Any, test: Any, limit: int | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables with the categories of the training rows, the most frequent ones where there is a limit."""
    X_train, X_test = problem.X.iloc[train].copy(), problem.X.iloc[test].copy()
    for column in problem.categorical:
        counts = X_train[column].value_counts()
        known = pd.Index(sorted(counts.index[:limit].astype(str)), dtype=object)
        for part in (X_train, X_test):
            values = part[column].astype(object)
            part[column] = pd.Categorical(values.where(values.isin(known), None), categories=known)
    return X_train, X_test


def texts(problem: Problem, table: pd.DataFrame) -> pd.DataFrame:
    """A table with its categories as text, as CatBoost takes them; a missing one is a text of its own."""
    found = table.copy()
    for column in problem.categorical:
        found[column] = found[column].astype(object).where(found[column].notna(), "missing").astype(str)
    return found


def evaluate(system: str, problem: Problem, seed: int, most: int) -> dict[str, float]:
    """Fit a system's defaults and score it on the test rows."""
    train, test = split_rows(problem, seed, most)
    X_train, X_test = frames(problem, train, test, SKLEARN_CATEGORIES if system == "sklearn" else None)
    parameters: dict[str, Any] = {"random_state": seed}
    parameters |= COUNT_LOSSES[system] if problem.kind == "count" else {}
    parameters |= {"enable_categorical": True} if system == "xgboost" else {}
    parameters |= {"categorical_features": "from_dtype"} if system == "sklearn" else {}
    if system == "catboost":
        X_train, X_test = texts(problem, X_train), texts(problem, X_test)
        parameters |= {"cat_features": problem.categorical}
    classifies = problem.kind in ("binary", "multiclass")
    model = estimator(system, "classification" if classifies else "regression", **parameters)
    start = time.perf_counter()
    model.fit(
        X_train, problem.y[train], sample_weight=None if problem.weight is None else problem.weight[train]
    )
    elapsed, y = time.perf_counter() - start, problem.y[test]
    if classifies:
        scores = {"logloss": float(log_loss(y, model.predict_proba(X_test), labels=model.classes_))}
        return {
            **scores,
            **({"AUC": auc(model, X_test, y)} if problem.kind == "binary" else {}),
            "seconds": elapsed,
        }
    prediction = np.asarray(model.predict(X_test), np.float64)
    if problem.kind == "regression":
        return {"RMSE": float(root_mean_squared_error(y, prediction)), "seconds": elapsed}
    deviance = mean_poisson_deviance(y, np.maximum(prediction, 1e-9), sample_weight=problem.weight[test])
    return {"Poisson deviance": float(deviance), "seconds": elapsed}


def summarise(problem: Problem, scores: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Means, deviations, ranks, and whether Weald is behind the best by more than two standard errors.

    Systems that were run with fewer seeds are compared on these.
    """
    metric = METRICS[problem.kind]
    values = {
        system: np.array([score[metric] for score in scores[system]])
        for system in SYSTEMS
        if system in scores
    }
    order = sorted(values, key=lambda system: values[system].mean())
    shared = min(len(values["weald"]), len(values[order[0]]))
    difference = values["weald"][:shared] - values[order[0]][:shared]
    error = difference.std(ddof=1) / np.sqrt(shared) if shared > 1 else np.inf
    return {
        "rows": len(problem.y),
        "metric": metric,
        "rank": {system: order.index(system) + 1 for system in values},
        "mean": {system: float(own.mean()) for system, own in values.items()},
        "std": {system: float(own.std(ddof=1)) if len(own) > 1 else 0.0 for system, own in values.items()},
        "behind": bool(difference.mean() > 2.0 * error),
        "runs": scores,
    }


def short(value: float) -> str:
    """Two digits, never with an exponent."""
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def table_rows(results: dict[str, dict[str, Any]]) -> list[list[str]]:
    """A line a set, and for binary sets one with the areas under the curve."""
    rows = []
    for name, entry in results.items():
        cells = [
            f"{entry['mean'][s]:.5g} ±{short(entry['std'][s])} ({entry['rank'][s]})" if s in entry["mean"] else ""
            for s in SYSTEMS
        ]
        rows.append(
            [name, f"{entry['rows']:,}", entry["metric"], *cells, "behind" if entry["behind"] else ""]
        )
        if "AUC" in entry["runs"]["weald"][0]:
            areas = [
                f"{np.mean([run['AUC'] for run in entry['runs'][s]]):.4f}" if s in entry["runs"] else ""
                for s in SYSTEMS
            ]
            rows.append(["", "", "AUC", *areas, ""])
    complete = [entry["rank"] for entry in results.values() if len(entry["rank"]) == len(SYSTEMS)]
    ranks = [np.mean([rank[system] for rank in complete]) if complete else np.nan for system in SYSTEMS]
    behind = sum(entry["behind"] for entry in results.values())
    rows.append([f"mean rank, {len(complete)} sets", "", "", *(f"{rank:.2f}" for rank in ranks), f"{behind} behind"])
    return rows


def _known(path: Path | None) -> dict[str, dict[str, Any]]:
    """The sets that a file of results has."""
    if path is None or not path.exists():
        return {}
    known: dict[str, dict[str, Any]] = json.loads(path.read_text())["results"]["sets"]
    return known


def write_markdown(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    path.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines), encoding="utf-8")


def main() -> None:
    """Evaluate all systems on all sets."""
    arguments = parser(__doc__)
    arguments.add_argument("--sets", metavar="A,B", help="only these sets")
    arguments.add_argument("--seeds", type=int, help="runs of every set (5; quick: 2)")
    arguments.add_argument("--max-rows", type=int, help="most training rows (60,000; quick: 2,000)")
    arguments.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file")
    arguments.add_argument("--systems", metavar="A,B", help="only these systems; with --go-on")
    arguments.add_argument(
        "--go-on", action="store_true", help="keep the runs that the file of --json has; it is written set by set"
    )
    options = arguments.parse_args()
    seeds, most = (
        options.seeds or (2 if options.quick else 5),
        options.max_rows or (2_000 if options.quick else 60_000),
    )
    if "WEALD_DATA" not in os.environ:
        console.print(
            "quality: skipped, as WEALD_DATA does not name a folder with data sets and their manifest.json."
        )
        return
    folder = Path(os.environ["WEALD_DATA"])
    entries = {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}
    unknown = [name for name in (options.sets or "").split(",") if name and name not in entries]
    if unknown:
        raise SystemExit(f"there is no set {unknown[0]!r}; known are {', '.join(entries)}.")
    systems = chosen_sections(options.systems, SYSTEMS)
    results = _known(options.json) if options.go_on else {}
    skipped: dict[str, str] = {}
    for name in options.sets.split(",") if options.sets else entries:
        reason = why_skipped(entries[name])
        if reason is not None:
            skipped[name] = reason
            continue
        runs = dict(results[name]["runs"]) if name in results else {}
        missing = [system for system in systems if system not in runs]
        if not missing:
            continue
        start, problem = time.perf_counter(), load(entries[name], folder)
        for system in missing:
            runs[system] = [evaluate(system, problem, seed, most) for seed in range(seeds)]
        results[name] = summarise(problem, runs)
        console.print(f"{name}: {time.perf_counter() - start:.1f} s", style="dim")
        if options.go_on:
            record(options, {"sets": results, "skipped": skipped})
    header = ["set", "rows", "metric", *SYSTEMS, "weald"]
    if results:
        print_table(f"defaults, mean ± deviation of {seeds} runs (rank)", header, table_rows(results))
    if skipped:
        console.print("left out: " + ", ".join(f"{name} ({reason})" for name, reason in skipped.items()))
    if options.markdown and results:
        write_markdown(options.markdown, header, table_rows(results))
    record(options, {"sets": results, "skipped": skipped})


if __name__ == "__main__":
    main()
