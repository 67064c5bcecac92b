"""Boosters other than the plain one against XGBoost's: 100,000 x 28, 2 threads.

``dart``: 100 trees of depth 6, of which a round drops a tenth. ``forest``: one round of 100 parallel trees, XGBoost's random
forest. ``linear``: 100 rounds of a linear model, against XGBoost's default updater, whose threads race, and its sequential one;
then the same on the sparse texts of rcv1, where WEALD_DATA names the folder that has them. Run it as
``python -m benchmarks.versus.boosters``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas
import scipy.sparse

import weald
from benchmarks.common import (
    auc,
    chosen_sections,
    compete,
    console,
    estimator,
    higgs_like,
    parser,
    record,
)

TEST_ROWS = 20_000
WARM_ROWS = 70_000  # enough rows for every kernel to take its parallel way
DEPTHWISE = {"growth": "depthwise", "max_leaves": None, "min_samples_leaf": 1, "min_child_weight": 1.0}


def dart(trees: int) -> dict[str, Any]:
    """Weald and XGBoost with dropped trees, and without for comparison."""
    shared = {"n_estimators": trees, "max_depth": 6, "learning_rate": 0.3}
    return {
        "weald": estimator("weald", booster=weald.Dart(rate_drop=0.1), **DEPTHWISE, **shared),
        "xgboost": estimator("xgboost", booster="dart", rate_drop=0.1, tree_method="hist", **shared),
        "weald, plain": estimator("weald", **DEPTHWISE, **shared),
        "xgboost, plain": estimator("xgboost", tree_method="hist", **shared),
    }


def forest(trees: int) -> dict[str, Any]:
    """One round of parallel trees."""
    shared = {
        "n_estimators": 1,
        "max_depth": 6,
        "learning_rate": 1.0,
        "subsample": 0.8,
        "colsample_bynode": 0.8,
        "reg_lambda": 1e-5,
    }
    return {
        "weald": estimator("weald", booster=weald.Plain(parallel_trees=trees), **DEPTHWISE, **shared),
        "xgboost": estimator("xgboost", tree_method="hist", num_parallel_tree=trees, **shared),
    }


def linear(rounds: int) -> dict[str, Any]:
    """A linear model without penalties."""
    shared = {"n_estimators": rounds, "learning_rate": 0.5}
    peer = partial(estimator, "xgboost", booster="gblinear", reg_lambda=0.0, **shared)
    return {
        "weald": estimator("weald", booster="linear", **shared),
        "xgboost": peer(updater="shotgun"),
        "xgboost, coord_descent": peer(updater="coord_descent"),
    }


def sparse_linear(rounds: int, repeats: int) -> dict[str, Any] | None:
    """A linear model of rcv1's texts, trained and tested on alternate rows; None where they are not at hand."""
    folder = Path(os.environ.get("WEALD_DATA", ""))
    if not (folder / "rcv1_small_X.npz").exists():
        return None
    X = scipy.sparse.load_npz(folder / "rcv1_small_X.npz")
    y = (pandas.read_parquet(folder / "rcv1_small_y.parquet").iloc[:, 0] > 0).to_numpy(int)
    linear(3)["weald"].fit(X[::2], y[::2])
    models = linear(rounds)
    del models[
        "xgboost, coord_descent"
    ]  # takes minutes: it shares out every column, and most have a few cells
    return compete(
        {name: partial(model.fit, X[::2], y[::2]) for name, model in models.items()},
        repeats,
        f"linear, rcv1: {X[::2].shape[0]:,} x {X.shape[1]:,}, {X[::2].nnz:,} stored, {rounds} rounds",
        lambda model: {"test AUC": auc(model, X[1::2], y[1::2])},
    )


#: section -> its contestants for a number of trees; "weald" / "xgboost" is what counts
SECTIONS: dict[str, Callable[[int], dict[str, Any]]] = {
    "dart": dart,
    "forest": forest,
    "linear": linear,
}


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="training rows (100,000; quick: 10,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    options = arguments.parse_args()
    rows = options.rows or (10_000 if options.quick else 100_000)
    trees = options.trees or (10 if options.quick else 100)
    repeats = options.repeats or (1 if options.quick else 3)
    X, y = higgs_like(rows + TEST_ROWS)
    warm_X, warm_y = higgs_like(WARM_ROWS)
    results: dict[str, Any] = {"rows": rows, "columns": X.shape[1], "trees": trees}
    for section in chosen_sections(options.sections, list(SECTIONS)):
        SECTIONS[section](3)["weald"].fit(warm_X, warm_y)
        outcome = compete(
            {
                name: partial(model.fit, X[:rows], y[:rows])
                for name, model in SECTIONS[section](trees).items()
            },
            repeats,
            f"{section}: {rows:,} x {X.shape[1]}, {trees} {'rounds' if section == 'linear' else 'trees'}",
            lambda model: {"test AUC": auc(model, X[rows:], y[rows:])},
        )
        ratio = outcome["weald"]["seconds"] / outcome["xgboost"]["seconds"]
        console.print(f"{section}: weald / xgboost {ratio:.3f}\n")
        results[section] = {"systems": outcome, "ratio": ratio}
    if "linear" in results and (outcome := sparse_linear(trees, repeats)):
        results["linear, rcv1"] = {"systems": outcome}
    record(options, results)


if __name__ == "__main__":
    main()
