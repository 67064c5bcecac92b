"""Classification and regression trees on one thread, beside scikit-learn's: CPU time of one tree of a random forest.

Fully grown, on a bootstrap sample (as weights on both sides), features drawn per node; binning is not included. Run it
as ``python -m benchmarks.stage.cart``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from benchmarks.common import higgs_like, parser, print_table, record
from weald.binning import DenseBins, fit_bins
from weald.data import read_table
from weald.tree.cart import CartLabels, CartRules, Draw, bootstrap_counts, grow_cart_trees

CLASSES = 10


def cases(X: NDArray[Any], y: NDArray[Any]) -> dict[str, tuple[CartLabels, CartRules, Any, NDArray[Any]]]:
    """Name -> our labels and rules, scikit-learn's tree and labels."""
    per_node = int(np.sqrt(X.shape[1]))
    score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 4] + 0.3 * X[:, 5]
    several = np.searchsorted(np.quantile(score, np.arange(1, CLASSES) / CLASSES), score)
    two, ten = CartLabels.classification(y, (2,)), CartLabels.classification(several, (CLASSES,))
    numbers = CartLabels.regression(score.astype(np.float64))
    classes, extra = DecisionTreeClassifier, ExtraTreeClassifier
    return {
        "two classes, gini": (
            two,
            CartRules("gini", features_per_node=per_node),
            classes(max_features="sqrt"),
            y,
        ),
        "two classes, entropy": (
            two,
            CartRules("entropy", features_per_node=per_node),
            classes(criterion="entropy", max_features="sqrt"),
            y,
        ),
        "two classes, random thresholds": (
            two,
            CartRules("gini", "random", features_per_node=per_node),
            extra(max_features="sqrt"),
            y,
        ),
        "ten classes, gini": (
            ten,
            CartRules("gini", features_per_node=per_node),
            classes(max_features="sqrt"),
            several,
        ),
        "regression, squared error": (
            numbers,
            CartRules("squared_error", features_per_node=X.shape[1] // 3),
            DecisionTreeRegressor(max_features=1 / 3),
            score,
        ),
    }


def cpu_seconds(action: Callable[[], Any]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def measure(case: Any, X: NDArray[Any], bins: DenseBins, repeats: int) -> tuple[float, float]:
    """Best CPU seconds of our tree and of scikit-learn's, in turn."""
    labels, rules, peer, y = case
    ours, theirs = [], []
    for key in range(repeats):
        keys = np.array([key], np.uint64)
        counts = bootstrap_counts(key, len(y), len(y)).astype(np.float64)
        tree = peer.set_params(random_state=key)
        grow = (bins, labels, None, rules, Draw(bootstrap=True), keys)
        ours.append(cpu_seconds(lambda grow=grow: grow_cart_trees(*grow)))
        theirs.append(cpu_seconds(lambda tree=tree, counts=counts: tree.fit(X, y, counts)))
    return min(ours[1:]), min(theirs[1:])


def main() -> None:
    """Measure every kind of tree."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (100,000; quick: 5,000)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (5; quick: 2)")
    options = arguments.parse_args()
    rows = options.rows or (5_000 if options.quick else 100_000)
    repeats = 1 + (options.repeats or (2 if options.quick else 5))
    X, y = higgs_like(rows)
    dataset = read_table(X)
    bins = fit_bins(dataset, None).transform(dataset, tasks=1)
    results, table = {}, []
    for name, case in cases(X, y).items():
        ours, theirs = measure(case, X, bins, repeats)
        results[name] = {"weald": ours, "sklearn": theirs, "ratio": ours / theirs}
        table.append([name, f"{1e3 * ours:.1f}", f"{1e3 * theirs:.1f}", f"{ours / theirs:.3f}"])
    title = f"one tree of a forest: {rows:,} x {X.shape[1]}, full depth, CPU time (best of {repeats - 1})"
    print_table(title, ["tree", "weald, ms", "scikit-learn, ms", "weald / scikit-learn"], table)
    record(options, {"rows": rows, "columns": X.shape[1], "cases": results})


if __name__ == "__main__":
    main()
