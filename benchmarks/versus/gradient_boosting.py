"""Friedman's gradient boosting against scikit-learn's: 100,000 x 20, 100 trees of depth 3, every loss.

scikit-learn's looks at every value of every column in every node; Weald's at 255 bins, on two threads. Run it as
``python -m benchmarks.versus.gradient_boosting``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.common import auc, chosen_sections, compete, console, higgs_like, parser, record

COLUMNS = 20
TEST_ROWS = 20_000
WARM_ROWS = 70_000  # enough rows for every kernel to take its parallel way
SECTIONS = {"log_loss": "Classifier", "squared_error": "Regressor", "absolute_error": "Regressor"}


def contestants(kind: str, loss: str, trees: int) -> dict[str, Any]:
    """Weald on two threads and on one, and scikit-learn."""
    import sklearn.ensemble

    import weald

    name, shared = f"GradientBoosting{kind}", {"loss": loss, "n_estimators": trees}
    return {
        "weald": getattr(weald, name)(n_jobs=2, **shared),
        "weald, 1 thread": getattr(weald, name)(n_jobs=1, **shared),
        "scikit-learn": getattr(sklearn.ensemble, name)(random_state=0, **shared),
    }


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="training rows (100,000; quick: 10,000)")
    arguments.add_argument("--trees", type=int, help="trees (100; quick: 10)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    options = arguments.parse_args()
    rows = options.rows or (10_000 if options.quick else 100_000)
    trees = options.trees or (10 if options.quick else 100)
    X, y = higgs_like(rows + TEST_ROWS, COLUMNS)
    warm_X, warm_y = higgs_like(WARM_ROWS, COLUMNS)
    results: dict[str, Any] = {"rows": rows, "columns": COLUMNS, "trees": trees}
    for section in chosen_sections(options.sections, list(SECTIONS)):
        kind = SECTIONS[section]
        for jobs in ("weald", "weald, 1 thread"):
            contestants(kind, section, 2)[jobs].fit(warm_X, warm_y).predict(warm_X)
        quality = partial(_quality, kind, X[rows:], y[rows:])
        outcome = compete(
            {
                name: partial(model.fit, X[:rows], y[:rows])
                for name, model in contestants(kind, section, trees).items()
            },
            options.repeats or 1,
            f"{section}: {rows:,} x {COLUMNS}, {trees} trees",
            quality,
        )
        factor = outcome["scikit-learn"]["seconds"] / outcome["weald"]["seconds"]
        console.print(f"scikit-learn / weald: {factor:.1f}\n")
        results[section] = {"systems": outcome, "times_faster": factor}
    record(options, results)


def _quality(kind: str, X: Any, y: Any, model: Any) -> dict[str, float]:
    if kind == "Classifier":
        return {"test AUC": auc(model, X, y)}
    return {"test R2": float(model.score(X, y))}


if __name__ == "__main__":
    main()
