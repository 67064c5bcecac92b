"""Time of prediction, in nanoseconds per (row, tree), on random forests shaped like trained ones.

Run it from the root of the repository: ``python benchmarks/stage/predict.py [--rows 100000] [--trees 100]``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores

N_FEATURES = 28


def leafwise_tree(generator: np.random.Generator, n_leaves: int) -> dict[str, Any]:
    """A tree as leaf-wise training grows it: a leaf with many rows is the likeliest to be split next."""
    feature, threshold, left = np.full((3, 2 * n_leaves - 1), -1.0)
    rows = np.zeros(2 * n_leaves - 1)
    rows[0] = 1.0
    for split in range(n_leaves - 1):
        chances = np.where(feature < 0, rows, 0.0) ** 0.5
        node = int(generator.choice(rows.size, p=chances / chances.sum()))
        child = 2 * split + 1
        feature[node], threshold[node], left[node] = generator.integers(N_FEATURES), generator.normal(), child
        rows[child] = rows[node] * generator.beta(2, 2)
        rows[child + 1] = rows[node] - rows[child]
    return nodes(generator, feature, threshold, np.maximum(left, 0))


def oblivious_tree(generator: np.random.Generator, depth: int) -> dict[str, Any]:
    """A full tree with one test for each level."""
    index = np.arange(2 ** (depth + 1) - 1)
    level = np.log2(index + 1).astype(np.int64)
    inner = level < depth
    feature = generator.integers(N_FEATURES, size=depth + 1)[level]
    threshold = generator.normal(size=depth + 1)[level]
    return nodes(generator, np.where(inner, feature, -1), threshold, np.where(inner, 2 * index + 1, 0))


def nodes(generator: np.random.Generator, feature: Any, threshold: Any, left: Any) -> dict[str, Any]:
    size = len(feature)
    return {
        "feature": feature.astype(np.int32),
        "threshold": threshold.astype(np.float32),
        "left": left.astype(np.int32),
        "missing_left": np.zeros(size),
        "category_set": np.full(size, -1),
        "value": generator.normal(size=size),
        "gain": np.zeros(size),
        "cover": np.zeros(size),
        "count": np.zeros(size),
    }


def forest_of(n_trees: int, make_tree: Callable[[np.random.Generator], dict[str, Any]]) -> Forest:
    generator = np.random.default_rng(0)
    builder = ForestBuilder(N_FEATURES, 1, [0.0])
    for _ in range(n_trees):
        builder.append(**make_tree(generator))
    return builder.build()


def best_seconds(forest: Forest, rows: Any, tasks: int, calls: int, repeats: int) -> float:
    """The shortest time of a call, each measurement over so many calls."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        for _ in range(calls):
            raw_scores(forest, [(0, rows)], len(rows), tasks)
        times.append((time.perf_counter() - start) / calls)
    return min(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    single = np.random.default_rng(1).normal(size=(options.rows, N_FEATURES)).astype(np.float32)
    shapes: dict[str, Callable[[np.random.Generator], dict[str, Any]]] = {
        "leaf-wise, 31 leaves": lambda generator: leafwise_tree(generator, 31),
        "leaf-wise, 255 leaves": lambda generator: leafwise_tree(generator, 255),
        "oblivious, depth 6": lambda generator: oblivious_tree(generator, 6),
    }
    print(f"{options.rows} rows x {N_FEATURES}, {options.trees} trees, best of {options.repeats}")
    for name, make_tree in shapes.items():
        forest = forest_of(options.trees, make_tree)
        for rows in (single, single.astype(np.float64)):
            for tasks in (1, 2):
                seconds = best_seconds(forest, rows, tasks, 1, options.repeats)
                each = seconds * 1e9 / (options.rows * options.trees)
                kind = f"{name}, {rows.dtype}, {tasks} task{'s' * (tasks > 1)}"
                print(f"{kind:44s} {each:7.2f} ns per (row, tree) {seconds * 1e3:9.2f} ms")
        seconds = best_seconds(forest, single[:1].copy(), 1, 1000, options.repeats)
        print(f"{name + ', one row':44s} {seconds * 1e6:7.2f} us a call")


if __name__ == "__main__":
    main()
