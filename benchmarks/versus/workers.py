"""Two workers of one thread each against XGBoost's and LightGBM's on Dask, and against one process with two threads.

1,000,000 x 28, binary, 100 trees of 31 leaves, all at equal settings: the sections are "dask" (`weald.dask`, `xgboost.dask`,
`lightgbm.dask` on one LocalCluster, whose workers hold the partitions before a fit begins) and "mpi" (`weald.mpi`, two ranks with
their rows). ``python -m benchmarks.versus.workers``; what is not installed is left out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import (
    auc,
    chosen_sections,
    compete,
    console,
    estimator,
    higgs_like,
    parser,
    record,
    seconds,
)

WORKERS = 2
TEST_ROWS = 100_000
RATE, LEAVES = 0.1, 31


def settings(system: str, trees: int) -> dict[str, Any]:
    """The same training, by a system's own names."""
    common = {"n_estimators": trees, "learning_rate": RATE}
    if system == "xgboost":
        return common | {
            "max_leaves": LEAVES,
            "max_depth": 0,
            "grow_policy": "lossguide",
            "max_bin": 255,
            "tree_method": "hist",
        }
    if system == "lightgbm":
        return common | {"num_leaves": LEAVES, "max_bin": 255, "min_child_samples": 20}
    return common | {"max_leaves": LEAVES}


def own_threads(X: Any, y: Any, trees: int, threads: int) -> Callable[[], Any]:
    """One process with all rows."""
    model = estimator("weald", threads=threads, **settings("weald", trees))
    return lambda: model.fit(X, y)


def on_dask(X: Any, y: Any, X_test: Any, y_test: Any, trees: int, repeats: int) -> dict[str, Any]:
    """All on one cluster, in turn."""
    import dask.array
    from distributed import Client, LocalCluster, wait

    size = len(X) // (2 * WORKERS)
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        table = dask.array.from_array(X, chunks=(size, X.shape[1])).persist()
        labels = dask.array.from_array(y, chunks=size).persist()
        wait([table, labels])
        fits: dict[str, Callable[[], Any]] = {}
        if find_spec("weald.dask") is not None:
            import weald.dask

            fits["weald.dask"] = lambda: weald.dask.BoostedTreesClassifier(
                n_jobs=1, **settings("weald", trees)
            ).fit(table, labels)
        if find_spec("xgboost") is not None:
            import xgboost.dask

            def by_xgboost() -> Any:
                model = xgboost.dask.DaskXGBClassifier(n_jobs=1, verbosity=0, **settings("xgboost", trees))
                model.client = client
                return model.fit(table, labels)

            fits["xgboost.dask"] = by_xgboost
        if find_spec("lightgbm") is not None:
            import lightgbm

            fits["lightgbm.dask"] = lambda: lightgbm.DaskLGBMClassifier(
                client=client, n_jobs=1, verbosity=-1, **settings("lightgbm", trees)
            ).fit(table, labels)
        fits["weald, 2 threads"] = own_threads(X, y, trees, WORKERS)
        for fit in fits.values():
            fit()  # kernels and libraries are loaded

        def judge(model: Any) -> dict[str, float]:
            model = model.to_local() if hasattr(model, "to_local") else model
            if type(model).__module__.startswith("xgboost"):
                from sklearn.metrics import roc_auc_score

                return {"auc": float(roc_auc_score(y_test, model.get_booster().inplace_predict(X_test)))}
            return {"auc": auc(model, X_test, y_test)}

        return compete(
            fits, repeats, f"Dask, {WORKERS} workers of one thread: {len(X):,} x {X.shape[1]}", judge
        )


def on_mpi(X: Any, y: Any, X_test: Any, y_test: Any, trees: int, repeats: int) -> dict[str, Any]:
    """Ranks are started once a repeat; they time their fits themselves, from a common start."""
    del X_test, y_test
    runner = Path(sys.executable).with_name("mpirun")
    command = str(runner) if runner.exists() else shutil.which("mpirun")
    if command is None or find_spec("mpi4py") is None:
        console.print("mpi: mpi4py or mpirun is not installed; left out", style="dim")
        return {}
    own = own_threads(X, y, trees, WORKERS)
    own()
    times: dict[str, list[float]] = {"weald.mpi": [], "weald, 2 threads": []}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        child = [sys.executable, "-m", "benchmarks.versus.workers", "--rank", folder, "--trees", str(trees)]
        for _ in range(repeats):
            done = subprocess.run(
                [command, "-n", str(WORKERS), *child], check=True, stdout=subprocess.PIPE, text=True
            )
            times["weald.mpi"].append(json.loads(done.stdout.strip().splitlines()[-1]))
            times["weald, 2 threads"].append(seconds(own)[0])
    best = {name: min(found) for name, found in times.items()}
    found = {
        name: {"times": times[name], "seconds": best[name], "ratio": best["weald.mpi"] / best[name]}
        for name in times
    }
    ratio = found["weald, 2 threads"]["ratio"]
    console.print(
        f"MPI, {WORKERS} ranks of one thread: {best['weald.mpi']:.3f} s; two threads of one process: "
        f"{best['weald, 2 threads']:.3f} s; ratio {ratio:.3f}"
    )
    return found


def rank(folder: Path, trees: int) -> None:
    """What a rank of the section "mpi" does: load its rows, warm up, meet the others, fit; the first prints the time."""
    from mpi4py import MPI

    import weald.mpi

    comm = MPI.COMM_WORLD
    X, y = np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy")
    own = np.array_split(np.arange(len(y)), comm.Get_size())[comm.Get_rank()]
    X, y = np.array(X[own[0] : own[-1] + 1]), y[own]

    def model(n_trees: int) -> Any:
        return weald.mpi.BoostedTreesClassifier(n_jobs=1, **settings("weald", n_trees))

    model(2).fit(X, y)
    comm.Barrier()
    elapsed, _ = seconds(lambda: model(trees).fit(X, y))
    if comm.Get_rank() == 0:
        print(json.dumps(elapsed), flush=True)


def main() -> None:
    """Run the sections that are asked for."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (1,000,000; quick: 50,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--only", metavar="SECTIONS", help="dask, mpi, or both by default")
    arguments.add_argument("--rank", type=Path, metavar="FOLDER", help="used by the program itself")
    options = arguments.parse_args()
    rows = options.rows or (50_000 if options.quick else 1_000_000)
    trees = options.trees or (10 if options.quick else 100)
    repeats = options.repeats or (1 if options.quick else 3)
    if options.rank:
        rank(options.rank, trees)
        return
    X, y = higgs_like(rows + TEST_ROWS)
    data = (X[:rows], y[:rows], X[rows:], y[rows:])
    sections = {"dask": on_dask, "mpi": on_mpi}
    results: dict[str, Any] = {"rows": rows, "trees": trees}
    for name in chosen_sections(options.only, list(sections)):
        results[name] = sections[name](*data, trees, repeats)
    record(options, results)


if __name__ == "__main__":
    main()
