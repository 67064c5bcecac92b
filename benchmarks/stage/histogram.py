"""The tree kernels on one thread: histograms, partitioning and the search for a split.

Nodes: all rows in order, and the rows divided at random among 16 and 128 nodes, each visited once, so that no node
finds its bins in the cache. Bins: uniform, and 94 % of the rows in one bin. Run it as
``python -m benchmarks.stage.histogram``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import console, parser, print_table, record, seconds
from weald.runtime.jit import kernel
from weald.tree.histograms.cells import cell_words, read_cell
from weald.tree.histograms.histogram import build_histogram
from weald.tree.histograms.quantise import quantise
from weald.tree.rows.partition import fill_goes_left, partition
from weald.tree.rules import TreeRules
from weald.tree.splits.constraints import Constraints, ConstraintState
from weald.tree.splits.split import find_best_split
from weald.tree.state import STRIDE, Gradients, NodeSums, Rules, TreeInput, Workspace

COLUMNS, BINS, COMMON_BIN = 28, 255, 100
SHARES = (1, 16, 128)
SEARCHES = 200


# The loops over nodes are kernels too: passing named tuples from Python takes microseconds.


@kernel
def build_all(
    data: TreeInput,
    features: Any,
    gradients: Gradients,
    entries: Any,
    in_order: Any,
    begins: Any,
    work: Workspace,
) -> None:
    for node in range(len(begins) - 1):
        build_histogram(
            data,
            features,
            gradients,
            entries,
            in_order,
            begins[node],
            begins[node + 1],
            1,
            work,
            work.pool[0],
        )


@kernel
def partition_all(
    column: Any, goes_left: Any, source: Any, begins: Any, n_left: Any, counts: Any, target: Any
) -> None:
    for node in range(len(begins) - 1):
        partition(column, goes_left, source, begins[node], begins[node + 1], n_left[node], 1, counts, target)


@kernel
def search_many(
    times: int,
    data: TreeInput,
    features: Any,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    n_rows: int,
    histogram: Any,
    best: Any,
) -> Any:
    """Gain of the best split of a node, found so many times."""
    words = cell_words(gradients.packed, n_rows)
    g_sum, h_sum = np.int64(0), np.int64(0)
    for b in range(data.n_bins[0] + 1):
        g, h, _ = read_cell(histogram, words, np.uint64(b))
        g_sum += g
        h_sum += h
    total = 0.0
    for _ in range(times):
        node = NodeSums(histogram, (g_sum, h_sum, n_rows), 0, np.uint64(0))
        total += find_best_split(node, data, features, gradients, rules, state, 1, best)
    return total / times


class Case(NamedTuple):
    """Bins, gradients and rows divided among nodes."""

    data: TreeInput
    features: NDArray[np.int64]
    gradients: Gradients
    work: Workspace
    entries: NDArray[np.uint64]
    begins: NDArray[np.int64]


def make_case(n_rows: int, share: int, skewed: bool, packed: bool) -> Case:
    """``share`` nodes; with one, its rows are in order."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, BINS, (COLUMNS, n_rows), dtype=np.uint8)
    if skewed:
        columns[rng.random((COLUMNS, n_rows), dtype=np.float32) < 0.94] = COMMON_BIN
    offsets = np.arange(COLUMNS, dtype=np.uint64) * np.uint64(STRIDE)
    n_bins, categorical = np.full(COLUMNS, BINS, np.int64), np.zeros(COLUMNS, np.bool_)
    rows = np.ascontiguousarray(columns.T).reshape(-1)
    data = TreeInput(
        rows, columns, offsets, n_bins, categorical, categorical, uniform=True, n_cells=COLUMNS * STRIDE
    )
    cells = COLUMNS * STRIDE
    work = Workspace(
        entries=np.empty((2, n_rows), np.uint64),
        pool=np.zeros((1, 3, cells), np.int64),
        buffers=np.zeros((1, 2, cells), np.int64),
        totals=np.zeros((1, 3, cells), np.int64),
        heap=np.empty(1, np.int64),
        chunk_counts=np.empty(1, np.int64),
    )
    gradient = (columns[0] / 128.0 - 1.0 + rng.standard_normal(n_rows)).astype(np.float32)
    hessian = rng.uniform(0.05, 0.25, n_rows).astype(np.float32)
    precision = "packed_always" if packed else "wide"
    wide = np.empty(n_rows, np.uint64)
    gradients = quantise(gradient, hessian, np.empty(0, np.uint32), 1, precision, 1, wide, work.entries[0])
    node_of_row = np.sort(rng.integers(0, share, n_rows)) if share == 1 else rng.integers(0, share, n_rows)
    order = np.argsort(node_of_row, kind="stable")
    begins = np.concatenate(([0], np.cumsum(np.bincount(node_of_row, minlength=share))))
    return Case(data, np.arange(COLUMNS), gradients, work, work.entries[0][order], begins.astype(np.int64))


def fastest(action: Callable[[], Any], repeats: int) -> float:
    """Best time of several, after one that may compile."""
    action()
    return min(seconds(action)[0] for _ in range(repeats))


def histogram_time(case: Case, repeats: int) -> float:
    """ns a row and feature."""
    in_order = len(case.begins) == 2

    def build() -> None:
        build_all(case.data, case.features, case.gradients, case.entries, in_order, case.begins, case.work)

    return 1e9 * fastest(build, repeats) / (len(case.entries) * COLUMNS)


def partition_time(case: Case, repeats: int) -> float:
    """ns a row, for a split near the middle of a feature."""
    goes_left = np.zeros(256, np.uint8)
    fill_goes_left(BINS, False, BINS // 2, np.zeros(4, np.int64), 0, goes_left)
    column, target = case.data.columns[3], np.empty_like(case.entries)
    left = goes_left[column[case.entries >> np.uint64(32)]].astype(np.int64)
    n_left = np.add.reduceat(left, case.begins[:-1])
    counts = case.work.chunk_counts

    def divide() -> None:
        partition_all(column, goes_left, case.entries, case.begins, n_left, counts, target)

    return 1e9 * fastest(divide, repeats) / len(case.entries)


def search_time(case: Case, repeats: int) -> float:
    """µs a node of 28 features, with the histogram of the first node in the cache."""
    begin, end = int(case.begins[0]), int(case.begins[1])
    build_histogram(
        case.data,
        case.features,
        case.gradients,
        case.entries,
        False,
        begin,
        end,
        1,
        case.work,
        case.work.pool[0],
    )
    rules, best = TreeRules(reg_lambda=1.0).for_kernel(len(case.entries)), np.empty(6, np.int64)
    state = Constraints().state(len(case.features), 1)

    def search() -> float:
        arguments = (case.data, case.features, case.gradients, rules, state, end - begin, case.work.pool[0])
        return float(search_many(SEARCHES, *arguments, best))

    return 1e6 * fastest(search, repeats) / SEARCHES


def main() -> None:
    """Measure every node size, distribution and precision."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (1,000,000; quick: 50,000)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (7; quick: 2)")
    options = arguments.parse_args()
    rows = options.rows or (50_000 if options.quick else 1_000_000)
    repeats = options.repeats or (2 if options.quick else 7)
    results, table = [], []
    for packed in (True, False):
        for share in SHARES:
            entry: dict[str, Any] = {
                "precision": "packed" if packed else "wide",
                "node": f"1/{share}" if share > 1 else "all",
            }
            for skewed in (False, True):
                case = make_case(rows, share, skewed, packed)
                entry["skewed" if skewed else "uniform"] = histogram_time(case, repeats)
                if not skewed:
                    entry["partition"] = partition_time(case, repeats)
                    entry["search"] = search_time(case, repeats)
            entry["ratio"] = entry["skewed"] / entry["uniform"]
            results.append(entry)
            numbers = (f"{entry[key]:.2f}" for key in ("uniform", "skewed", "ratio", "partition", "search"))
            table.append([f"{entry['precision']}, {entry['node']}", *numbers])
    print_table(
        f"tree kernels: {rows:,} x {COLUMNS}, {BINS} bins, one thread (best of {repeats})",
        [
            "node",
            "uniform, ns",
            "94 % in one bin, ns",
            "skewed / uniform",
            "partition, ns a row",
            "search, µs a node",
        ],
        table,
    )
    console.print(
        "histograms: ns a row and feature; the search sees the uniform node's histogram", style="dim"
    )
    record(options, {"rows": rows, "columns": COLUMNS, "cases": results})


if __name__ == "__main__":
    main()
