"""AdaBoost: 200 stumps on 100,000 rows x 20 columns, against scikit-learn's, two threads, everything warm.

Run it as ``python -m benchmarks.versus.adaboost``. The section ``prediction`` times the decision function of the same models.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.common import THREADS, auc, chosen_sections, compete, higgs_like, parser, record

COLUMNS = 20
ROWS = 100_000
TEST_ROWS = 20_000


def contestants(stumps: int) -> dict[str, Any]:
    """The same boosting of the same kind of tree: one split, gini."""
    from sklearn import ensemble

    import weald

    return {
        "weald": weald.AdaBoostClassifier(n_estimators=stumps, n_jobs=THREADS),
        "sklearn": ensemble.AdaBoostClassifier(n_estimators=stumps, random_state=0),
    }


def training(models: dict[str, Any], train: Any, test: Any, title: str, repeats: int) -> dict[str, Any]:
    """Time of ``fit``."""
    return compete(
        {name: partial(model.fit, *train) for name, model in models.items()},
        repeats,
        f"{title}: training",
        lambda model: {"test AUC": auc(model, *test), "test accuracy": float(model.score(*test))},
    )


def prediction(models: dict[str, Any], train: Any, test: Any, title: str, repeats: int) -> dict[str, Any]:
    """Time of the decision function of the test rows."""
    for model in models.values():
        model.fit(*train)
    return compete(
        {name: partial(model.decision_function, test[0]) for name, model in models.items()},
        repeats,
        f"{title}: prediction of {len(test[0]):,} rows",
        in_milliseconds=True,
    )


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (100,000; quick: 5,000)")
    arguments.add_argument("--stumps", type=int, help="stumps (200; quick: 20)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help="of training,prediction; both by default")
    options = arguments.parse_args()
    rows = options.rows or (5_000 if options.quick else ROWS)
    stumps = options.stumps or (20 if options.quick else 200)
    repeats = options.repeats or (1 if options.quick else 3)
    X, y = higgs_like(rows + TEST_ROWS, COLUMNS)
    train, test = (X[:rows], y[:rows]), (X[rows:], y[rows:])
    models = contestants(stumps)
    models["weald"].fit(X[:1000], y[:1000])  # kernels are compiled or loaded
    title = f"{rows:,} x {COLUMNS}, {stumps} stumps"
    sections = {"training": training, "prediction": prediction}
    results = {
        name: sections[name](models, train, test, title, repeats)
        for name in chosen_sections(options.sections, list(sections))
    }
    record(options, results)


if __name__ == "__main__":
    main()
