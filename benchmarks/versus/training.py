"""Training from a float array to the fitted model: 1,000,000 x 28, 100 trees, learning rate 0.1, two threads.

Three sections, one a way of growing: leafwise (LightGBM, XGBoost), depthwise (XGBoost), oblivious (CatBoost).
Run it as ``python -m benchmarks.versus.training``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.common import auc, chosen_sections, compete, console, estimator, higgs_like, parser, record

TEST_ROWS = 100_000
WARM_ROWS = 70_000  # enough rows for every kernel to take its parallel way
ONE_THREAD = "weald, 1 thread"


def leafwise(trees: int) -> dict[str, Any]:
    """31 leaves, each system's other defaults."""
    shared: dict[str, Any] = {"n_estimators": trees, "learning_rate": 0.1}
    weald = {"max_leaves": 31, "min_samples_leaf": 20, **shared}
    lightgbm = {"num_leaves": 31, **shared}
    xgboost = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": 31,
        "max_depth": 0,
        "max_bin": 256,
    }
    return {
        "weald": estimator("weald", **weald),
        ONE_THREAD: estimator("weald", threads=1, **weald),
        "lightgbm": estimator("lightgbm", **lightgbm),
        "lightgbm, row-wise": estimator("lightgbm", force_row_wise=True, **lightgbm),
        "lightgbm, column-wise": estimator("lightgbm", force_col_wise=True, **lightgbm),
        "xgboost, lossguide": estimator("xgboost", **xgboost, **shared),
    }


def depthwise(trees: int) -> dict[str, Any]:
    """Depth 6 with XGBoost's defaults for what limits a leaf."""
    shared: dict[str, Any] = {"n_estimators": trees, "learning_rate": 0.1, "max_depth": 6, "reg_lambda": 1.0}
    weald = {
        "growth": "depthwise",
        "max_leaves": None,
        "min_samples_leaf": 1,
        "min_child_weight": 1.0,
        **shared,
    }
    return {
        "weald": estimator("weald", **weald),
        ONE_THREAD: estimator("weald", threads=1, **weald),
        "xgboost, depthwise": estimator(
            "xgboost", tree_method="hist", min_child_weight=1.0, max_bin=256, **shared
        ),
    }


def oblivious(trees: int) -> dict[str, Any]:
    """Depth 6; CatBoost without sampling and noise, with its own Newton steps a leaf and with one, as Weald."""
    weald = {
        "n_estimators": trees,
        "learning_rate": 0.1,
        "max_depth": 6,
        "reg_lambda": 3.0,
        "min_samples_leaf": 1,
    }
    catboost = {
        "iterations": trees,
        "learning_rate": 0.1,
        "depth": 6,
        "l2_leaf_reg": 3.0,
        "boosting_type": "Plain",
        "bootstrap_type": "No",
        "random_strength": 0.0,
        "border_count": 254,
    }
    return {
        "weald": estimator("weald", growth="oblivious", **weald),
        ONE_THREAD: estimator("weald", threads=1, growth="oblivious", **weald),
        "catboost": estimator("catboost", **catboost),
        "catboost, 1 step": estimator("catboost", leaf_estimation_iterations=1, **catboost),
    }


SECTIONS = {"leafwise": leafwise, "depthwise": depthwise, "oblivious": oblivious}


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="training rows (1,000,000; quick: 50,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    options = arguments.parse_args()
    rows = options.rows or (50_000 if options.quick else 1_000_000)
    trees = options.trees or (10 if options.quick else 100)
    repeats = options.repeats or (1 if options.quick else 3)
    X, y = higgs_like(rows + TEST_ROWS)
    test = X[rows:], y[rows:]
    X, y = X[:rows], y[:rows]
    warm_X, warm_y = higgs_like(WARM_ROWS)
    results: dict[str, Any] = {"rows": rows, "trees": trees}
    for section in chosen_sections(options.sections, list(SECTIONS)):
        for warm in SECTIONS[section](2).values():
            warm.fit(warm_X, warm_y).predict_proba(warm_X)
        outcome = compete(
            {name: partial(model.fit, X, y) for name, model in SECTIONS[section](trees).items()},
            repeats,
            f"{section}: {rows:,} x {X.shape[1]}, {trees} trees",
            lambda model: {"test AUC": auc(model, *test)},
        )
        scaling = outcome[ONE_THREAD]["seconds"] / outcome["weald"]["seconds"]
        console.print(f"weald, 1 thread / 2 threads: {scaling:.2f}\n")
        results[section] = {"systems": outcome, "one_thread_over_two": scaling}
    record(options, results)


if __name__ == "__main__":
    main()
