"""Small fits: 1,000 to 100,000 rows x 20 columns, 100 trees, two threads, everything warm.

The section ``threads`` compares Weald on one and on two threads from 100 to 300,000 rows: two are never to be
slower. Run it as ``python -m benchmarks.versus.small``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.common import (
    auc,
    best_of,
    chosen_sections,
    compete,
    estimator,
    higgs_like,
    parser,
    print_table,
    record,
)

COLUMNS = 20
PEER_ROWS = (1_000, 10_000, 100_000)
THREAD_ROWS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
SLOWER = 1.05  # a ratio up to this is noise


def contestants(trees: int) -> dict[str, Any]:
    """Every system with its defaults, but for the number of trees and the learning rate."""
    shared: dict[str, Any] = {"n_estimators": trees, "learning_rate": 0.1}
    return {
        "weald": estimator("weald", **shared),
        "lightgbm": estimator("lightgbm", **shared),
        "xgboost": estimator("xgboost", **shared),
        "sklearn": estimator("sklearn", max_iter=trees, learning_rate=0.1, early_stopping=False),
        "catboost": estimator("catboost", iterations=trees, learning_rate=0.1),
    }


def peers(sizes: tuple[int, ...], trees: int, repeats: int) -> dict[str, Any]:
    """All systems at every size."""
    results = {}
    for rows in sizes:
        X, y = higgs_like(rows + 10_000, COLUMNS)
        test = X[rows:], y[rows:]
        models = contestants(trees)
        for model in models.values():
            model.fit(X[:rows], y[:rows])
        results[str(rows)] = compete(
            {name: partial(model.fit, X[:rows], y[:rows]) for name, model in models.items()},
            repeats,
            f"{rows:,} x {COLUMNS}, {trees} trees",
            lambda model, test=test: {"test AUC": auc(model, *test)},  # type: ignore[misc]
            in_milliseconds=True,
        )
    return results


def threads(sizes: tuple[int, ...], trees: int, repeats: int) -> dict[str, Any]:
    """Weald on one thread and on two."""
    results, table = {}, []
    for rows in sizes:
        X, y = higgs_like(rows, COLUMNS)
        models = {count: estimator("weald", threads=count, n_estimators=trees) for count in (1, 2)}
        for model in models.values():
            model.fit(X, y)
        outcome = best_of({str(count): partial(model.fit, X, y) for count, model in models.items()}, repeats)
        one, two = outcome["1"]["seconds"], outcome["2"]["seconds"]
        results[str(rows)] = {"one": one, "two": two, "two_over_one": two / one}
        remark = "slower" if two > SLOWER * one else ""
        table.append([f"{rows:,}", f"{1e3 * one:.2f}", f"{1e3 * two:.2f}", f"{two / one:.3f}", remark])
    title = f"weald, {trees} trees, {COLUMNS} columns (best of {repeats})"
    print_table(title, ["rows", "1 thread, ms", "2 threads, ms", "2 / 1", ""], table)
    return results


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, metavar="MOST", help="leave larger sizes out")
    arguments.add_argument("--trees", type=int, default=100, help="trees (100)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (7; quick: 2)")
    arguments.add_argument("--sections", metavar="A,B", help="of peers,threads; both by default")
    options = arguments.parse_args()
    most = options.rows or (10_000 if options.quick else 300_000)
    repeats = options.repeats or (2 if options.quick else 7)
    sections = {"peers": (peers, PEER_ROWS), "threads": (threads, THREAD_ROWS)}
    results = {}
    for name in chosen_sections(options.sections, list(sections)):
        section, sizes = sections[name]
        results[name] = section(tuple(size for size in sizes if size <= most), options.trees, repeats)
    record(options, results)


if __name__ == "__main__":
    main()
