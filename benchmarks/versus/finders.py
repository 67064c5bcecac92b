"""Exact and approximate split finding against XGBoost's: 100,000 x 28, 100 trees of depth 6, equal settings.

The peers grow level by level, so Weald does too. Run it as ``python -m benchmarks.versus.finders``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.common import (
    THREADS,
    auc,
    chosen_sections,
    compete,
    console,
    estimator,
    higgs_like,
    parser,
    record,
)

COLUMNS = 28
DEPTH = 6
TEST_ROWS = 20_000
WARM_ROWS = 30_000  # enough rows for every kernel to take its parallel way
SHARED: dict[str, Any] = {
    "max_depth": DEPTH,
    "learning_rate": 0.1,
    "reg_lambda": 1.0,
    "min_child_weight": 1.0,
}
WEALD: dict[str, Any] = {"growth": "depthwise", "max_leaves": None, "min_samples_leaf": 1}
# Section -> each system's own parameters of the split finder.
SECTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "exact": {"weald": {"split_finder": "exact"}, "xgboost": {"tree_method": "exact"}},
    "approx": {"weald": {"split_finder": "approx"}, "xgboost": {"tree_method": "approx", "max_bin": 255}},
}


def contestants(section: str, trees: int, threads: int) -> dict[str, Any]:
    """Both systems with the section's split finder."""
    own = SECTIONS[section]
    return {
        "weald": estimator("weald", threads=threads, n_estimators=trees, **SHARED, **WEALD, **own["weald"]),
        "xgboost": estimator("xgboost", threads=threads, n_estimators=trees, **SHARED, **own["xgboost"]),
    }


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="training rows (100,000; quick: 10,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--threads", type=int, default=THREADS, help=f"threads ({THREADS})")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (2; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    options = arguments.parse_args()
    rows = options.rows or (10_000 if options.quick else 100_000)
    trees = options.trees or (10 if options.quick else 100)
    X, y = higgs_like(rows + TEST_ROWS, COLUMNS)
    warm_X, warm_y = higgs_like(WARM_ROWS, COLUMNS)
    results: dict[str, Any] = {"rows": rows, "columns": COLUMNS, "trees": trees, "threads": options.threads}
    for section in chosen_sections(options.sections, list(SECTIONS)):
        contestants(section, 2, options.threads)["weald"].fit(warm_X, warm_y)
        outcome = compete(
            {
                name: partial(model.fit, X[:rows], y[:rows])
                for name, model in contestants(section, trees, options.threads).items()
            },
            options.repeats or (1 if options.quick else 2),
            f"{section}: {rows:,} x {COLUMNS}, {trees} trees of depth {DEPTH}, {options.threads} threads",
            partial(_quality, X[rows:], y[rows:]),
        )
        ratio = outcome["weald"]["seconds"] / outcome["xgboost"]["seconds"]
        console.print(f"weald / xgboost: {ratio:.2f}\n")
        results[section] = {"systems": outcome, "ratio": ratio}
    record(options, results)


def _quality(X: Any, y: Any, model: Any) -> dict[str, float]:
    return {"test AUC": auc(model, X, y)}


if __name__ == "__main__":
    main()
