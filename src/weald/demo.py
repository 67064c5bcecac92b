"""A first look: train on census data, compare with other libraries, save and load (``make demo``)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn import metrics

from weald import datasets
from weald.estimators.boosted.boosted import BoostedTreesClassifier
from weald.estimators.shared.registry import load
from weald.runtime.progress import TrainingProgress, progress

Columns = dict[str, NDArray[Any]]
_ROUNDS = 100


@dataclass(frozen=True)
class _Problem:
    """The published split of the data, as columns and as the matrix of codes that the peers take."""

    train: Columns
    train_target: NDArray[Any]
    test: Columns
    test_target: NDArray[Any]
    train_matrix: NDArray[np.float64]
    test_matrix: NDArray[np.float64]
    categorical: list[int]


@dataclass(frozen=True)
class _Result:
    name: str
    seconds: float
    probability: NDArray[np.float64]


def main() -> None:
    """Run the demonstration."""
    console = Console()
    adult = datasets.load("adult")
    console.print(f"[bold]Adult[/bold]: {adult.description}\n[dim]{adult.source}; {adult.licence}[/dim]\n")
    problem = _problem(adult)

    _warm_up(problem)
    model, ours = _train_weald(problem)
    results = [ours, _train_scikit_learn(problem)]
    if find_spec("lightgbm") is not None:
        results.append(_train_lightgbm(problem))
    console.print(_comparison(results, problem.test_target))
    _save_and_load(model, problem, console)
    _say_what_next(console)


def _problem(table: datasets.ExampleTable) -> _Problem:
    train, train_target = table.part("train")
    test, test_target = table.part("test")
    train_matrix, test_matrix = _codes(train, test)
    categorical = [place for place, values in enumerate(train.values()) if values.dtype.kind == "O"]
    return _Problem(train, train_target, test, test_target, train_matrix, test_matrix, categorical)


def _codes(train: Columns, test: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Matrices in which a category is its number in sorted order, and NaN where it is missing or new."""
    encoded: list[list[NDArray[np.float64]]] = [[], []]
    for name, values in train.items():
        if values.dtype.kind != "O":
            encoded[0].append(values)
            encoded[1].append(test[name])
            continue
        numbers = {word: float(code) for code, word in enumerate(sorted({word for word in values if word}))}
        for part, words in zip(encoded, (values, test[name]), strict=True):
            part.append(np.array([numbers.get(word, np.nan) for word in words]))
    return np.column_stack(encoded[0]), np.column_stack(encoded[1])


def _warm_up(problem: _Problem) -> None:
    """Compile the kernels on the same rows, so that the times below are of training alone."""
    start = time.perf_counter()
    print("compiling kernels (only the first time) ...", end=" ", flush=True)
    model = BoostedTreesClassifier(n_estimators=2).fit(problem.train, problem.train_target)
    model.predict_proba(problem.test)
    print(f"{time.perf_counter() - start:.1f} s\n")


def _train_weald(problem: _Problem) -> tuple[BoostedTreesClassifier, _Result]:
    model = BoostedTreesClassifier(n_estimators=_ROUNDS, random_state=0)
    with progress(_ROUNDS, "Weald") as bar:
        start = time.perf_counter()
        model.fit(problem.train, problem.train_target, callbacks=[TrainingProgress(bar)])
        seconds = time.perf_counter() - start
    return model, _Result("Weald", seconds, model.predict_proba(problem.test)[:, 1])


def _train_scikit_learn(problem: _Problem) -> _Result:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=_ROUNDS, categorical_features=problem.categorical, early_stopping=False, random_state=0
    )
    return _train_peer("scikit-learn HistGradientBoosting", model.fit, model.predict_proba, problem)


def _train_lightgbm(problem: _Problem) -> _Result:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=_ROUNDS, random_state=0, verbose=-1)

    def fit(matrix: NDArray[np.float64], target: NDArray[Any]) -> None:
        model.fit(matrix, target, categorical_feature=problem.categorical)

    return _train_peer("LightGBM", fit, model.predict_proba, problem)


def _train_peer(
    name: str, fit: Callable[..., Any], predict: Callable[..., Any], problem: _Problem
) -> _Result:
    start = time.perf_counter()
    fit(problem.train_matrix, problem.train_target)
    seconds = time.perf_counter() - start
    return _Result(name, seconds, predict(problem.test_matrix)[:, 1])


def _comparison(results: list[_Result], target: NDArray[Any]) -> Table:
    table = Table(title=f"{_ROUNDS} trees, other settings by default; {len(target):,} test rows")
    for heading in ("", "fit, s", "AUC", "log loss", "accuracy"):
        table.add_column(heading, justify="left" if not heading else "right")
    positive = target == ">50K"
    for result in results:
        table.add_row(
            result.name,
            f"{result.seconds:.2f}",
            f"{metrics.roc_auc_score(positive, result.probability):.4f}",
            f"{metrics.log_loss(positive, result.probability):.4f}",
            f"{metrics.accuracy_score(positive, result.probability > 0.5):.4f}",
        )
    return table


def _save_and_load(model: BoostedTreesClassifier, problem: _Problem, console: Console) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "adult.weald")
        model.save(path)
        size = path.stat().st_size
        before = model.predict_proba(problem.test)
        after = load(path).predict_proba(problem.test)
    if before.tobytes() != after.tobytes():
        raise RuntimeError("the loaded model predicts differently from the saved one: please report this")
    console.print(f"\nSaved and loaded: {size / 1024:,.0f} KB, predictions equal bit for bit.")


def _say_what_next(console: Console) -> None:
    console.print(
        "\n[bold]What to try next[/bold]\n"
        "  weald train DATA.csv --target COLUMN --model model.weald\n"
        "  weald predict DATA.csv --model model.weald --out predictions.csv\n"
        "  weald doctor\n"
        "and in Python: weald.BoostedTreesClassifier().fit(X, y),\n"
        "where X is a NumPy array, a pandas or polars frame, or a dict of columns.",
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
