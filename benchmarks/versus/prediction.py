"""Prediction from float32 arrays: 100,000 rows, 100 trees, two threads; and the latency of one row.

Trees of 31 leaves against XGBoost, LightGBM and scikit-learn, oblivious trees of depth 6 against CatBoost.
Run it as ``python -m benchmarks.versus.prediction``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import compete, estimator, higgs_like, latency, parser, print_table, record

TRAINING_ROWS = 100_000


def leafwise(trees: int) -> dict[str, Any]:
    """Systems with trees of 31 leaves."""
    shared: dict[str, Any] = {"n_estimators": trees, "learning_rate": 0.1}
    return {
        "weald": estimator("weald", max_leaves=31, **shared),
        "xgboost": estimator("xgboost", grow_policy="lossguide", max_leaves=31, max_depth=0, **shared),
        "lightgbm": estimator("lightgbm", num_leaves=31, **shared),
        "sklearn": estimator("sklearn", max_iter=trees, max_leaf_nodes=31, early_stopping=False),
    }


def oblivious(trees: int) -> dict[str, Any]:
    """Systems with oblivious trees of depth 6."""
    return {
        "weald, oblivious": estimator("weald", growth="oblivious", max_depth=6, n_estimators=trees),
        "catboost": estimator("catboost", depth=6, iterations=trees, learning_rate=0.1),
    }


def predictions(models: dict[str, Any], X: Any) -> dict[str, Any]:
    """A call of predict_proba for every system; XGBoost also by its shortest way."""
    calls = {name: partial(model.predict_proba, X) for name, model in models.items()}
    if "xgboost" in models:
        calls["xgboost, inplace_predict"] = partial(models["xgboost"].get_booster().inplace_predict, X)
    return calls


def main() -> None:
    """Fit all, time whole tables, then single rows."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows to predict (100,000; quick: 10,000)")
    arguments.add_argument("--trees", type=int, default=100, help="trees (100)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (15; quick: 2)")
    arguments.add_argument("--calls", type=int, help="calls for the latency of a row (2,000; quick: 200)")
    options = arguments.parse_args()
    rows = options.rows or (10_000 if options.quick else 100_000)
    repeats = options.repeats or (2 if options.quick else 15)
    calls = options.calls or (200 if options.quick else 2_000)
    X, _ = higgs_like(rows, seed=1)
    train_X, train_y = higgs_like(min(TRAINING_ROWS, max(rows, 1_000)))
    results: dict[str, Any] = {}
    delays: dict[str, dict[str, float]] = {}
    for name, models in (("leafwise", leafwise(options.trees)), ("oblivious", oblivious(options.trees))):
        for model in models.values():
            model.fit(train_X, train_y)
        table = predictions(models, X)
        for call in table.values():
            call()
        title = f"{name}: predict_proba of {rows:,} x {X.shape[1]} float32, {options.trees} trees"
        results[name] = compete(table, repeats, title, in_milliseconds=True)
        one_row = np.ascontiguousarray(X[:1])
        first = 0.0
        for system, call in predictions(models, one_row).items():
            call()
            delay = latency(call, calls)
            first = first or delay  # Weald's, with trees of the same kind
            delays[system] = {"microseconds": delay, "ratio": first / delay}
    print_table(
        f"predict_proba of one row (median of {calls:,} calls)",
        ["", "µs", "weald / this"],
        [
            [system, f"{entry['microseconds']:.1f}", f"{entry['ratio']:.3f}"]
            for system, entry in delays.items()
        ],
    )
    record(options, {**results, "one_row": delays})


if __name__ == "__main__":
    main()
