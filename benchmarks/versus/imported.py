"""Models of other systems, imported, against the same models at home: 100,000 rows, one row, Shapley values; two threads.

XGBoost and LightGBM with trees of 31 leaves, CatBoost with oblivious trees of depth 6, scikit-learn's random forest and gradient
boosting. Run it as ``python -m benchmarks.versus.imported``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import weald
from benchmarks.common import THREADS, compete, estimator, higgs_like, latency, parser, print_table, record

TRAINING_ROWS = 100_000
EXPLAINED_ROWS = 1_000
Calls = dict[str, Callable[[Any], Any]]


def systems(trees: int, X: Any, y: Any) -> Iterator[tuple[str, Calls]]:
    """(system, (ours, theirs, perhaps their other way; Shapley values of both, where they have some))."""
    shared: dict[str, Any] = {"n_estimators": trees, "learning_rate": 0.1}
    yield (
        "xgboost",
        _xgboost(
            estimator("xgboost", grow_policy="lossguide", max_leaves=31, max_depth=0, **shared).fit(X, y)
        ),
    )
    yield "lightgbm", _lightgbm(estimator("lightgbm", num_leaves=31, **shared).fit(X, y))
    yield "catboost", _catboost(estimator("catboost", depth=6, iterations=trees, learning_rate=0.1).fit(X, y))
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )

    few = slice(0, 20_000)
    for model in (
        RandomForestClassifier(trees, min_samples_leaf=5, n_jobs=THREADS, random_state=0),
        GradientBoostingClassifier(n_estimators=trees, random_state=0),
        HistGradientBoostingClassifier(max_iter=trees, max_leaf_nodes=31, early_stopping=False),
    ):
        trained = model.fit(X[few], y[few])
        ours = _two_threads(weald.load_foreign(trained))
        yield type(model).__name__, {"ours": ours.predict_proba, "theirs": trained.predict_proba}


def _two_threads(model: Any) -> Any:
    model.n_jobs = THREADS
    return model


def _xgboost(trained: Any) -> Calls:
    import xgboost

    booster = trained.get_booster()
    ours = _two_threads(weald.load_foreign(trained))

    def shap(X: Any) -> Any:
        return booster.predict(xgboost.DMatrix(X), pred_contribs=True)

    return {
        "ours": ours.predict_proba, "theirs": trained.predict_proba, "inplace_predict": booster.inplace_predict,
        "our shap": ours.shap_values, "their shap": shap,
    }  # fmt: skip


def _lightgbm(trained: Any) -> Calls:
    ours = _two_threads(weald.load_foreign(trained))
    return {
        "ours": ours.predict_proba, "theirs": trained.predict_proba, "our shap": ours.shap_values,
        "their shap": partial(trained.booster_.predict, pred_contrib=True),
    }  # fmt: skip


def _catboost(trained: Any) -> Calls:
    import catboost

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        trained.save_model(str(path), format="json")
        ours = _two_threads(weald.load_foreign(path))

    def shap(X: Any) -> Any:
        return trained.get_feature_importance(catboost.Pool(X), type="ShapValues", thread_count=THREADS)

    return {
        "ours": ours.predict_proba, "theirs": trained.predict_proba, "our shap": ours.shap_values, "their shap": shap,
    }  # fmt: skip


def main() -> None:
    """Import all, time whole tables, single rows and Shapley values."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows to predict (100,000; quick: 10,000)")
    arguments.add_argument("--trees", type=int, default=100, help="trees (100)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (9; quick: 2)")
    options = arguments.parse_args()
    rows = options.rows or (10_000 if options.quick else 100_000)
    repeats = options.repeats or (2 if options.quick else 9)
    X, _ = higgs_like(rows, seed=1)
    train_X, train_y = higgs_like(min(TRAINING_ROWS, max(rows, 1_000)))
    row, some = np.ascontiguousarray(X[:1]), X[:EXPLAINED_ROWS]
    results: dict[str, Any] = {}
    lines = []
    for system, calls in systems(options.trees, train_X, train_y):
        found: dict[str, Any] = {}
        predictions = {name: call for name, call in calls.items() if "shap" not in name}
        explanations = {name: call for name, call in calls.items() if "shap" in name}
        for what, table, these in (("rows", X, predictions), ("shap", some, explanations)):
            timed = {name: partial(call, table) for name, call in these.items()}
            for call in timed.values():
                call()
            if timed:
                title = f"{system}: {what}, {len(table):,} x {X.shape[1]}, {options.trees} trees"
                found[what] = compete(timed, repeats, title, in_milliseconds=True)
        delays = {name: latency(partial(call, row), 200) for name, call in predictions.items()}
        found["one row"] = {
            name: {"microseconds": delay, "ratio": delays["ours"] / delay} for name, delay in delays.items()
        }
        lines += [
            [f"{system}: {name}", f"{delay:.0f}", f"{delays['ours'] / delay:.3f}"]
            for name, delay in delays.items()
        ]
        results[system] = found
    print_table("one row (median of 200 calls)", ["", "µs", "ours / this"], lines)
    record(options, results)


if __name__ == "__main__":
    main()
