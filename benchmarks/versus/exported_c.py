"""The exported C file against tl2cgen's C of the same trees: 100,000 rows, 100 trees, one thread.

Run it as ``python -m benchmarks.versus.exported_c``. Both are compiled by gcc -O2 and both compute in float64.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import compete, estimator, higgs_like, parser, record

TRAINING_ROWS = 100_000


def own_library(model: Any, folder: Path, X: Any) -> Any:
    """A call of the exported file's function for all rows."""
    model.export(folder / "own.c", format="c")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "own.c", "-o", "own.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "own.so"))
    rows, scores = np.ascontiguousarray(X, np.float64), np.empty(len(X))

    def call() -> Any:
        given, out = ctypes.c_void_p(rows.ctypes.data), ctypes.c_void_p(scores.ctypes.data)
        library.own_scores(given, ctypes.c_size_t(len(rows)), out)
        return scores

    return call


def tl2cgen_library(model: Any, folder: Path, X: Any) -> Any:
    """A call of tl2cgen's predictor for all rows, of the trees that treelite was given."""
    import tl2cgen

    from weald.exchange.formats.treelite import treelite_model

    path = folder / "theirs.so"
    trees = treelite_model(model._exchanged())
    options = {"parallel_comp": 8}
    tl2cgen.export_lib(trees, toolchain="gcc", libpath=str(path), params=options, options=["-O2"])
    predictor = tl2cgen.Predictor(str(path), nthread=1)
    rows = tl2cgen.DMatrix(np.ascontiguousarray(X, np.float64), dtype="float64")
    return partial(predictor.predict, rows, pred_margin=True)


def main() -> None:
    """Fit, export, compile, check that both say the same, and time them."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows to predict (100,000; quick: 10,000)")
    arguments.add_argument("--trees", type=int, default=100, help="trees (100)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (15; quick: 3)")
    options = arguments.parse_args()
    rows = options.rows or (10_000 if options.quick else 100_000)
    repeats = options.repeats or (3 if options.quick else 15)
    X, _ = higgs_like(rows, seed=1)
    train_X, train_y = higgs_like(min(TRAINING_ROWS, max(rows, 1_000)))
    results: dict[str, Any] = {}
    for title, leaves in (("31 leaves", 31), ("255 leaves", 255)):
        model = estimator("weald", max_leaves=leaves, n_estimators=options.trees, learning_rate=0.1)
        model.fit(train_X, train_y)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            calls = {"weald, C": own_library(model, folder, X), "tl2cgen": tl2cgen_library(model, folder, X)}
            said = [np.asarray(call()).reshape(-1) for call in calls.values()]
            assert np.array_equal(said[0], said[1]), "the two libraries differ"
            about = f"{title}: scores of {rows:,} x {X.shape[1]}, {options.trees} trees, one thread"
            results[title] = compete(calls, repeats, about, in_milliseconds=True)
    record(options, results)


if __name__ == "__main__":
    main()
