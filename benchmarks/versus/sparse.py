"""Sparse and wide tables, depth 6, 100 trees, two threads, from the matrix to the fitted model.

Sections: sparse (200,000 x 5,000 of which 1 % is stored), growth (the same shape with 0.5, 1 and 2 %), wide (50,000 x 1,000
dense), and two real sets of text, farm_ads and rcv1, as they are, and with a quarter and half of their stored cells. These sets
are in the folder that the environment variable WEALD_DATA names.
Run it as ``python -m benchmarks.versus.sparse``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

import weald
from benchmarks.common import auc, chosen_sections, compete, console, estimator, parser, print_table, record
from benchmarks.versus.memory import peak

SYSTEMS = ("weald", "xgboost", "lightgbm")
SHARES = (0.005, 0.01, 0.02)
PARTS = (0.25, 0.5, 1.0)  # of the stored cells of a real set
REAL = {"farm_ads": "farm_ads", "rcv1": "rcv1_small"}
TEST_ROWS = 20_000


def models(trees: int, systems: tuple[str, ...] = SYSTEMS) -> dict[str, Any]:
    """Depth 6 with XGBoost's limits of a leaf, and LightGBM with as many leaves."""
    shared: dict[str, Any] = {"n_estimators": trees, "learning_rate": 0.1, "max_depth": 6, "reg_lambda": 1.0}
    own: dict[str, dict[str, Any]] = {
        "weald": {
            "growth": "depthwise",
            "max_leaves": None,
            "min_samples_leaf": 1,
            "min_child_weight": 1.0,
        },
        "xgboost": {"tree_method": "hist", "min_child_weight": 1.0, "max_bin": 256},
        "lightgbm": {"num_leaves": 64, "min_child_samples": 1, "min_child_weight": 1.0},
    }
    return {
        name: estimator(
            name.partition(",")[0],
            **shared,
            **own[name.partition(",")[0]],
            **({"bins": weald.Bins(unstored="missing")} if name.endswith("missing") else {}),
        )
        for name in systems
    }


def random_matrix(n_rows: int, n_columns: int, share: float) -> tuple[Any, NDArray[np.int64]]:
    """Random places, random values in 0..1, and a label that a thousand of the columns decide."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(n_rows, n_columns, share, format="csr", dtype=np.float32, random_state=rng)
    weights = rng.standard_normal(n_columns).astype(np.float32) * (rng.random(n_columns) < 0.2)
    score = X @ weights
    return X, (score + 0.3 * score.std() * rng.standard_normal(n_rows) > 0.0).astype(np.int64)


def dense_matrix(n_rows: int, n_columns: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Normal columns, of which a tenth decide the label."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    score = X[:, ::10] @ rng.standard_normal(len(range(0, n_columns, 10)), dtype=np.float32)
    return X, (score + 0.5 * score.std() * rng.standard_normal(n_rows) > 0.0).astype(np.int64)


def run(title: str, X: Any, y: NDArray[np.int64], test: Any, trees: int, repeats: int, systems: Any) -> Any:
    """Warm up on the first rows, then let the systems fit in turn."""
    for model in models(2, systems).values():
        model.fit(X[:5_000], y[:5_000]).predict_proba(test[0][:100])
    return compete(
        {name: partial(model.fit, X, y) for name, model in models(trees, systems).items()},
        repeats,
        f"{title}, {trees} trees",
        lambda model: {"test AUC": auc(model, *test)},
    )


def sparse(options: argparse.Namespace, trees: int, repeats: int) -> Any:
    """A large random matrix."""
    rows, columns = (20_000, 500) if options.quick else (200_000, 5_000)
    X, y = random_matrix(rows + TEST_ROWS, columns, 0.01)
    return run(
        f"sparse: {rows:,} x {columns:,}, 1 % stored",
        X[:rows],
        y[:rows],
        (X[rows:], y[rows:]),
        trees,
        repeats,
        ("weald", "weald, missing", "xgboost", "lightgbm"),
    )


def growth(options: argparse.Namespace, trees: int, repeats: int) -> Any:
    """Time against the number of stored cells."""
    rows, columns = (20_000, 500) if options.quick else (200_000, 5_000)
    outcome: dict[str, Any] = {}
    for share in SHARES:
        X, y = random_matrix(rows + TEST_ROWS, columns, share)
        outcome[f"{share:.1%}"] = {
            "stored": X[:rows].nnz,
            **run(
                f"growth: {rows:,} x {columns:,}, {share:.1%} stored",
                X[:rows],
                y[:rows],
                (X[rows:], y[rows:]),
                max(2, trees // 5),
                repeats,
                ("weald", "xgboost"),
            ),
        }
    return outcome


def wide(options: argparse.Namespace, trees: int, repeats: int) -> Any:
    """Many dense columns."""
    rows, columns = (5_000, 300) if options.quick else (50_000, 1_000)
    X, y = dense_matrix(rows + TEST_ROWS, columns)
    test = X[rows:], y[rows:]
    return run(f"wide: {rows:,} x {columns:,}", X[:rows], y[:rows], test, trees, repeats, SYSTEMS)


def real(section: str, options: argparse.Namespace, trees: int, repeats: int) -> Any:
    """A set of text with many more columns than rows: time, accuracy and memory."""
    if "WEALD_DATA" not in os.environ:
        console.print(f"{section}: skipped, as WEALD_DATA does not name a folder with data sets.")
        return None
    X, y = load(section)
    test = np.random.default_rng(0).random(len(y)) < 0.25
    title = f"{section}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} stored"
    systems = ("weald", "weald, missing", "xgboost", "lightgbm")
    outcome = run(title, X[~test], y[~test], (X[test], y[test]), trees, repeats, systems)
    for name in systems:
        outcome[name]["peak MiB"] = memory(section, name, trees)
    print_table(
        f"{section}: memory that the fit takes on top of the loaded data, in a process of its own",
        ["", "MiB"],
        [[name, f"{outcome[name]['peak MiB']:.0f}"] for name in systems],
    )
    outcome["parts"] = parts_of_cells(
        section, X[~test], y[~test], (X[test], y[test]), max(2, trees // 5), repeats
    )
    return outcome


def parts_of_cells(section: str, X: Any, y: NDArray[np.int64], test: Any, trees: int, repeats: int) -> Any:
    """Time against the number of stored cells: random parts of those of a real set, rows and columns as they are."""
    outcome: dict[str, Any] = {}
    cells = X.tocoo()
    drawn = np.random.default_rng(0).random(cells.nnz)
    for part in PARTS:
        kept = drawn < part
        some = scipy.sparse.csr_matrix((cells.data[kept], (cells.row[kept], cells.col[kept])), X.shape)
        title = f"{section}, {part:.0%} of the stored cells"
        outcome[f"{part:.0%}"] = {
            "stored": some.nnz,
            **run(title, some, y, test, trees, repeats, ("weald", "xgboost")),
        }
    return outcome


def load(section: str) -> tuple[Any, NDArray[np.int64]]:
    """A real set by the name of its section."""
    import pandas as pd

    folder, name = Path(os.environ["WEALD_DATA"]), REAL[section]
    y = pd.read_parquet(folder / f"{name}_y.parquet")["y"].to_numpy()
    return scipy.sparse.load_npz(folder / f"{name}_X.npz").tocsr(), (y == 1).astype(np.int64)


def memory(section: str, system: str, trees: int) -> float:
    """What a fit adds to the peak memory of a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peak.json"
        words = ["--memory-of", f"{section}:{system}:{trees}", "--json", str(path)]
        subprocess.run([sys.executable, "-m", "benchmarks.versus.sparse", *words], check=True)
        return float(json.loads(path.read_text()))


def measure(text: str, path: Path) -> None:
    """The child's part of `memory`."""
    section, system, trees = text.split(":")
    X, y = load(section)
    model = models(int(trees), (system,))[system]
    models(1, (system,))[system].fit(X[:200, :50], y[:200])  # loads libraries and kernels
    before = peak()
    model.fit(X, y)
    path.write_text(json.dumps(peak() - before))


SECTIONS: dict[str, Any] = {
    "sparse": sparse,
    "growth": growth,
    "wide": wide,
    "farm_ads": partial(real, "farm_ads"),
    "rcv1": partial(real, "rcv1"),
}


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (2; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    arguments.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.memory_of:
        measure(options.memory_of, options.json)
        return
    trees = options.trees or (10 if options.quick else 100)
    repeats = options.repeats or (1 if options.quick else 2)
    results = {
        section: SECTIONS[section](options, trees, repeats)
        for section in chosen_sections(options.sections, list(SECTIONS))
    }
    record(options, {"trees": trees, **results})


if __name__ == "__main__":
    main()
