"""One-hot columns with and without exclusive feature bundling, and against LightGBM: 100 trees, 31 leaves, two threads.

Sections: sparse (500,000 rows, one-hot from ten columns of 50 to 100 categories, as CSR), dense (the same rows as a float32
array), farm_ads (text, in the folder that the environment variable WEALD_DATA names; bundling should leave it alone) and
ordinary (no column to bundle: what looking for them costs). Time from the table to the fitted model, and the memory that a
fit takes on top of the loaded data, each in a process of its own. Run it as ``python -m benchmarks.versus.bundling``.
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
from benchmarks.common import (
    THREADS,
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
from benchmarks.versus.memory import peak
from benchmarks.versus.sparse import load

SYSTEMS = ("weald", "weald, none", "lightgbm")
CATEGORIES = (50, 101)
N_COLUMNS = 10
TEST_ROWS = 20_000
CHUNK = 50_000


def one_hot(n_rows: int) -> tuple[Any, NDArray[np.int64]]:
    """A row has one of 50 to 100 columns ten times; every category has an effect of its own on the label."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(*CATEGORIES, N_COLUMNS)
    codes = np.stack([rng.integers(0, size, n_rows) for size in sizes], axis=1)
    effects = [rng.standard_normal(size) for size in sizes]
    score = sum(effect[codes[:, place]] for place, effect in enumerate(effects)) / 2.0
    y = (score + rng.logistic(size=n_rows) > 0.0).astype(np.int64)
    columns = (codes + np.cumsum([0, *sizes[:-1]])).astype(np.int32).reshape(-1)
    starts = np.arange(0, columns.size + 1, N_COLUMNS, dtype=np.int32)
    shape = n_rows, int(sizes.sum())
    return scipy.sparse.csr_matrix((np.ones(columns.size, np.float32), columns, starts), shape=shape), y


def filled(X: Any) -> NDArray[np.float32]:
    """The same as an array, made in chunks."""
    out = np.empty(X.shape, np.float32)
    for first in range(0, len(out), CHUNK):
        X[first : first + CHUNK].toarray(out=out[first : first + CHUNK])
    return out


def table_of(section: str, n_rows: int) -> tuple[Any, NDArray[np.int64]]:
    """The table of a section, training and test rows."""
    if section == "farm_ads":
        return load(section)
    if section == "ordinary":
        return higgs_like(n_rows + TEST_ROWS)
    X, y = one_hot(n_rows + TEST_ROWS)
    return (filled(X) if section == "dense" else X), y


def model_of(system: str, trees: int, threads: int) -> Any:
    """LightGBM's settings, and the same for Weald with and without bundles."""
    name, _, bundling = system.partition(", ")
    own: dict[str, Any] = {"bins": weald.Bins(bundling=bundling)} if bundling else {}
    if name == "weald":
        own |= {"reg_lambda": 0.0}
    return estimator(name, threads=threads, n_estimators=trees, learning_rate=0.1, **own)


def run(section: str, options: argparse.Namespace) -> Any:
    """Time, accuracy and memory of a section."""
    if section == "farm_ads" and "WEALD_DATA" not in os.environ:
        console.print(f"{section}: skipped, as WEALD_DATA does not name a folder with data sets.")
        return None
    X, y = table_of(section, options.rows)
    test = np.random.default_rng(0).random(len(y)) < 0.25
    if section != "farm_ads":
        test = np.arange(len(y)) >= options.rows
    train, judged = (X[~test], y[~test]), (X[test], y[test])
    del X
    for system in SYSTEMS:
        model_of(system, 2, options.threads).fit(*train).predict_proba(judged[0][:100])
    outcome = compete(
        {system: partial(model_of(system, options.trees, options.threads).fit, *train) for system in SYSTEMS},
        options.repeats,
        f"{section}: {train[0].shape[0]:,} x {train[0].shape[1]:,}, {options.trees} trees, {options.threads} threads",
        lambda model: {"test AUC": auc(model, *judged)},
    )
    for system in SYSTEMS:
        outcome[system]["MiB"] = memory(section, system, options)
    print_table(
        f"{section}: memory that the fit takes on top of the loaded data, in a process of its own",
        ["", "MiB"],
        [[system, f"{outcome[system]['MiB']:.0f}"] for system in SYSTEMS],
    )
    return outcome


def memory(section: str, system: str, options: argparse.Namespace) -> float:
    """What a fit adds to the peak memory of a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peak.json"
        words = ["--memory-of", f"{section}:{system}", "--json", str(path), "--rows", str(options.rows)]
        words += ["--trees", str(min(5, options.trees)), "--threads", str(options.threads)]
        subprocess.run([sys.executable, "-m", "benchmarks.versus.bundling", *words], check=True)
        return float(json.loads(path.read_text()))


def measure(options: argparse.Namespace) -> None:
    """The child's part of `memory`."""
    section, system = options.memory_of.split(":")
    X, y = table_of(section, options.rows)
    model = model_of(system, options.trees, options.threads)
    model_of(system, 1, options.threads).fit(X[:2_000], y[:2_000])  # loads libraries and kernels
    before = peak()
    model.fit(X, y)
    options.json.write_text(json.dumps(peak() - before))


SECTIONS = ("sparse", "dense", "farm_ads", "ordinary")


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="training rows (500,000; quick: 20,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--threads", type=int, default=THREADS, help="threads of every system")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    arguments.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    options.rows = options.rows or (20_000 if options.quick else 500_000)
    options.trees = options.trees or (10 if options.quick else 100)
    options.repeats = options.repeats or (1 if options.quick else 3)
    if options.memory_of:
        measure(options)
        return
    results = {section: run(section, options) for section in chosen_sections(options.sections, SECTIONS)}
    record(options, {"rows": options.rows, "trees": options.trees, **results})


if __name__ == "__main__":
    main()
