"""A table that does not fit: built, trained and compared with the table in memory, and with XGBoost's external memory.

The rows are made batch by batch as Parquet, in ``--folder``. Every contestant is a process of its own, whose peak of resident
memory is measured. Run it as ``python -m benchmarks.versus.larger_than_memory --rows 20000000 --folder DISK``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import THREADS, chosen_sections, console, higgs_like, parser, print_table, record

SECTIONS = ("peers", "ahead", "growth")
FILE_ROWS, GROUP_ROWS, N_COLUMNS = 1_000_000, 131_072, 28
NAMES = [f"x{column}" for column in range(N_COLUMNS)]
#: contestant -> how its store is compressed and read; the others have none
STORES = {
    "store": ("auto", True),
    "read ahead, zstd": ("zstd", True),
    "read ahead, plain": ("none", True),
    "no read ahead, zstd": ("zstd", False),
    "no read ahead, plain": ("none", False),
}

Floats = NDArray[np.float32]


def make(folder: Path, rows: int) -> None:
    """Write the rows that are not there yet, a file a million."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(-(-rows // FILE_ROWS)):
        count = min(FILE_ROWS, rows - number * FILE_ROWS)
        file = folder / f"rows-{number:03d}-{count}.parquet"
        if file.exists():
            continue
        X, y = higgs_like(count, N_COLUMNS, seed=number)
        columns = {**dict(zip(NAMES, X.T.copy(), strict=True)), "y": y.astype(np.int8)}
        temporary = file.with_suffix(".tmp")
        parquet.write_table(pa.table(columns), temporary, row_group_size=GROUP_ROWS, compression="none")
        temporary.rename(file)


def files_of(folder: Path, rows: int) -> list[Path]:
    """The files of so many rows."""
    counts = [min(FILE_ROWS, rows - first) for first in range(0, rows, FILE_ROWS)]
    return [folder / f"rows-{number:03d}-{count}.parquet" for number, count in enumerate(counts)]


def batches(files: list[Path]) -> Iterator[tuple[Floats, NDArray[np.int8]]]:
    """Rows and labels, a group of rows at a time."""
    import pyarrow.parquet as parquet

    for file in files:
        with parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(GROUP_ROWS):
                y = batch.column("y").to_numpy()
                yield np.column_stack([batch.column(name).to_numpy() for name in NAMES]), y


# --- contestants, each in a process of its own ------------------------------------------------------


def model_of(settings: dict[str, Any]) -> Any:
    """An estimator of Weald."""
    import weald

    return weald.BoostedTreesClassifier(
        n_estimators=settings["rounds"],
        growth="depthwise",
        max_depth=settings["depth"],
        max_leaves=None,
        learning_rate=0.1,
        n_jobs=settings["threads"],
    )


def digest(model: Any) -> str:
    """A hash of a model's file."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return hashlib.sha256((Path(folder) / "model").read_bytes()).hexdigest()


def warm(settings: dict[str, Any], in_blocks: bool) -> None:
    """Load the kernels before the clock starts."""
    import weald

    X, y = higgs_like(3_000, N_COLUMNS)
    model = model_of({**settings, "rounds": 2})
    if not in_blocks:
        model.fit(X, y)
        return
    with tempfile.TemporaryDirectory() as folder:
        weald.BlockStore.build(X, folder, target=y, estimator=model)
        model.fit(weald.BlockStore.open(folder, memory_limit=settings["limit"]))


def in_memory(settings: dict[str, Any]) -> dict[str, Any]:
    """All rows in one array, with the names of its columns."""
    import pandas as pd

    files = [Path(file) for file in settings["files"]]
    X, y = np.empty((settings["rows"], N_COLUMNS), np.float32), np.empty(settings["rows"], np.int8)
    first = 0
    for part, labels in batches(files):
        X[first : first + len(part)], y[first : first + len(part)] = part, labels
        first += len(part)
    warm(settings, in_blocks=False)
    began = time.perf_counter()
    model = model_of(settings).fit(pd.DataFrame(X, columns=NAMES, copy=False), y)
    return {"fit": time.perf_counter() - began, "model": digest(model)}


def in_store(settings: dict[str, Any]) -> dict[str, Any]:
    """A store under a limit of memory, built, or open if it is there."""
    import weald

    files, folder, limit = settings["files"], Path(settings["store"]), settings["limit"]
    compression, ahead = STORES[settings["contestant"]]
    found: dict[str, Any] = {}
    if not (folder / "manifest.json").exists():
        began = time.perf_counter()
        weald.BlockStore.build(
            files, folder, target="y", estimator=model_of(settings), memory_limit=limit, compression=compression,
            n_jobs=settings["threads"],
        )  # fmt: skip
        found["build"] = time.perf_counter() - began
    warm(settings, in_blocks=True)
    store = weald.BlockStore.open(folder, memory_limit=limit, reads_ahead=ahead)
    began = time.perf_counter()
    model = model_of(settings).fit(store)
    elapsed = time.perf_counter() - began
    return {**found, "fit": elapsed, "model": digest(model), "disk": store.n_bytes / 2**20}


def in_xgboost(settings: dict[str, Any]) -> dict[str, Any]:
    """XGBoost's quantised matrix in external memory."""
    import xgboost

    files = [Path(file) for file in settings["files"]]

    class Rows(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            self._parts: Iterator[Any] = iter(())
            super().__init__(cache_prefix=str(Path(settings["store"]) / "cache"))

        def next(self, input_data: Callable[..., Any]) -> bool:
            part = next(self._parts, None)
            if part is not None:
                input_data(data=part[0], label=part[1])
            return part is not None

        def reset(self) -> None:
            self._parts = batches(files)

    Path(settings["store"]).mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    table = xgboost.ExtMemQuantileDMatrix(Rows(), max_bin=256, nthread=settings["threads"])
    built = time.perf_counter()
    xgboost.train(
        {
            "tree_method": "hist", "max_depth": settings["depth"], "max_bin": 256, "eta": 0.1, "objective": "binary:logistic",
            "nthread": settings["threads"],
        },
        table,
        num_boost_round=settings["rounds"],
    )  # fmt: skip
    return {"build": built - began, "fit": time.perf_counter() - built}


def contend(settings: dict[str, Any]) -> None:
    """What a process of this program does for a contestant."""
    run = {"in memory": in_memory, "xgboost": in_xgboost}.get(settings["contestant"], in_store)
    found = run(settings)
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
    print(json.dumps({**found, "peak": peak}))


# --- the run ----------------------------------------------------------------------------------------


class Runs:
    """Runs contestants on the first rows, each in a process of its own."""

    def __init__(self, folder: Path, options: Any) -> None:
        self._folder, self._options = folder, options

    def run(self, contestant: str, rows: int, threads: int = THREADS) -> dict[str, Any]:
        """What a contestant has found; its store stays, so that another run can train on it."""
        settings = {
            "contestant": contestant,
            "rows": rows,
            "files": [str(file) for file in files_of(self._folder / "rows", rows)],
            "store": str(self.store(contestant, rows)),
            "limit": self._options.limit,
            "rounds": self._options.rounds,
            "depth": self._options.depth,
            "threads": threads,
        }
        command = [sys.executable, "-m", "benchmarks.versus.larger_than_memory", "--contend", json.dumps(settings)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        if done.returncode:
            raise SystemExit(done.stderr)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        console.print(f"{contestant}, {rows:,} rows, {threads} threads: {found}")
        return found

    def store(self, contestant: str, rows: int) -> Path:
        """Where a contestant's store is; those of one compression are one."""
        return self._folder / f"{STORES.get(contestant, (contestant,))[0]}-{rows}"

    def forget(self, contestant: str, rows: int) -> None:
        """Remove its store."""
        shutil.rmtree(self.store(contestant, rows), ignore_errors=True)


def show(title: str, results: dict[str, dict[str, Any]]) -> None:
    """A table of results, with the first one's time over each."""
    first = next(iter(results.values()))
    print_table(
        title,
        ["", "build, s", "fit, s", "fit / first", "build + fit / first", "peak, MiB", "on disk, MiB", "same bytes"],
        [
            [
                name,
                f"{entry['build']:.1f}" if "build" in entry else "",
                f"{entry['fit']:.1f}",
                f"{entry['fit'] / first['fit']:.2f}",
                f"{(entry.get('build', 0.0) + entry['fit']) / first['fit']:.2f}",
                f"{entry['peak']:.0f}",
                f"{entry['disk']:.0f}" if "disk" in entry else "",
                {None: "", first.get("model"): "yes"}.get(entry.get("model"), "NO"),
            ]
            for name, entry in results.items()
        ],
    )


def peers(runs: Runs, rows: int) -> dict[str, Any]:
    """In memory, from a store, and XGBoost's external memory; with one thread and two."""
    found = {}
    for threads in (THREADS, 1):
        results = {}
        for name in ("in memory", "store", "xgboost"):
            results[name] = runs.run(name, rows, threads)
        runs.forget("xgboost", rows)
        show(f"{rows:,} x {N_COLUMNS}, {threads} threads", results)
        ratio = results["store"]["fit"] / results["xgboost"]["fit"]
        console.print(f"fit from a store over XGBoost's external memory: {ratio:.2f}\n")
        found[f"{threads} threads"] = results
    runs.forget("store", rows)
    return found


def ahead(runs: Runs, rows: int) -> dict[str, Any]:
    """Read-ahead and compression on and off."""
    results = {name: runs.run(name, rows) for name in STORES if name != "store"}
    for name in results:
        runs.forget(name, rows)
    show(f"{rows:,} x {N_COLUMNS}, {THREADS} threads", results)
    return results


def growth(runs: Runs, rows: int) -> dict[str, Any]:
    """A tenth, a quarter, a half and all of the rows."""
    results = {}
    for part in (rows // 10, rows // 4, rows // 2, rows):
        results[f"{part:,} rows"] = runs.run("store", part)
        runs.forget("store", part)
    show("growth of time with rows", results)
    return results


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (20,000,000; quick: 200,000)")
    arguments.add_argument("--rounds", type=int, help="trees (50; quick: 5)")
    arguments.add_argument("--depth", type=int, default=8, help="depth of the trees (8)")
    arguments.add_argument("--limit", default="512 MB", help="of resident memory (512 MB)")
    arguments.add_argument("--folder", help="where rows and stores go; None: a temporary folder")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; quick: peers")
    arguments.add_argument("--contend", help="what this program asks of its own processes")
    options = arguments.parse_args()
    if options.contend:
        contend(json.loads(options.contend))
        return
    options.rows = options.rows or (200_000 if options.quick else 20_000_000)
    options.rounds = options.rounds or (5 if options.quick else 50)
    sections = chosen_sections(options.sections, SECTIONS)
    if options.quick and options.sections is None:
        sections = ["peers"]
    programs = {"peers": peers, "ahead": ahead, "growth": growth}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        for rows in {options.rows, *((options.rows // part for part in (2, 4, 10)) if "growth" in sections else ())}:
            make(folder / "rows", rows)
        runs = Runs(folder, options)
        record(options, {section: programs[section](runs, options.rows) for section in sections})


if __name__ == "__main__":
    main()
