"""Time and memory of binning a million rows, against LightGBM's construction of its data set, in one run.

Run it as ``python benchmarks/stage/binning.py [rows] [columns]``; both systems have two threads.
"""

from __future__ import annotations

import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import fit_bins
from weald.data import Dataset, read_table

TASKS = 2
REPEATS = 5


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def binned(dataset: Dataset) -> None:
    fit_bins(dataset, None, tasks=TASKS).transform(dataset, TASKS)


def lightgbm_binned(table: NDArray[np.float32], label: NDArray[np.float64]) -> None:
    import lightgbm

    lightgbm.Dataset(table, label=label, params={"num_threads": TASKS, "verbose": -1}).construct()


def report_memory(table: NDArray[np.float32], dataset: Dataset) -> None:
    """The peak while binning, beyond the input; kernels' own buffers show in the resident set only."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    binned(dataset)
    resident = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    tracemalloc.start()
    binned(dataset)
    traced = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    print(
        f"memory beyond the input: peak {traced:.1f} MiB traced, {resident:.1f} MiB resident; "
        f"2 bytes a cell are {2 * table.size / 2**20:.1f} MiB"
    )


def main(n_rows: int = 1_000_000, n_columns: int = 28) -> None:
    table = np.random.default_rng(0).standard_normal((n_rows, n_columns), dtype=np.float32)
    label = (table[:, 0] > 0.0).astype(np.float64)
    dataset = read_table(table)
    binned(read_table(table[:5_000]))  # compiles
    report_memory(table, dataset)
    lightgbm_binned(table[:5_000], label[:5_000])
    fit_times, transform_times, total_times, peer_times = [], [], [], []
    for _ in range(REPEATS):
        start = time.perf_counter()
        mapper = fit_bins(dataset, None, tasks=TASKS)
        middle = time.perf_counter()
        mapper.transform(dataset, TASKS)
        end = time.perf_counter()
        fit_times.append(middle - start)
        transform_times.append(end - middle)
        total_times.append(end - start)
        peer_times.append(seconds(lambda: lightgbm_binned(table, label)))
    mapper = fit_bins(dataset, None)
    one_task = min(seconds(lambda: mapper.transform(dataset, 1)) for _ in range(REPEATS))
    print(f"fit {min(fit_times):.3f} s, transform {min(transform_times):.3f} s with {TASKS} tasks")
    print(f"transform with one task {1e9 * one_task / table.size:.2f} ns a value")
    ours, theirs = min(total_times), min(peer_times)
    print(f"both {ours:.3f} s, LightGBM {theirs:.3f} s: ratio {ours / theirs:.3f}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
