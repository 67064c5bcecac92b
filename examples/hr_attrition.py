"""Who leaves? A decision tree against a random forest and boosted trees on a company's staff, and the columns that matter.

The table is the "HR analytics" set of 14,999 simulated employees that many courses use (``HR_comma_sep.csv``). It states no
licence, so it does not come with Weald: name your copy with ``--data``, or the folder of a ``hr_attrition.parquet`` by the
environment variable WEALD_DATA. Without either, the program simulates a staff of its own with the same columns, and says so.

A fifth of the published rows are exact copies of others. A copy among the training rows tells the answer of its twin among
the test rows, so copies are dropped first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate, train_test_split

import weald
from examples.common import (
    BLUE,
    ORANGE,
    argument_parser,
    markdown_table,
    plain_table,
    pyplot,
    save,
    write_into_page,
)
from weald.data.files import read_file

Floats = NDArray[np.float64]
TARGET = "left"
SALARIES = ("low", "medium", "high")
METRICS = {"roc_auc": "AUC", "accuracy": "accuracy"}


@dataclass(frozen=True)
class Staff:
    """Employees as numbers; ``departments`` is the place of the one categorical column, salaries are in order."""

    origin: str
    names: list[str]
    table: Floats
    left: NDArray[np.int64]
    departments: int


class Importance(NamedTuple):
    """What a column means to the forest: mean and spread, over the trees and over the shuffles."""

    name: str
    impurity: float
    impurity_spread: float
    permutation: float
    permutation_spread: float


class Study(NamedTuple):
    """Scores by model and metric, (folds,), and importances, the largest fall of the AUC first."""

    staff: Staff
    scores: dict[str, dict[str, Floats]]
    importances: list[Importance]


def main(argv: Sequence[str] | None = None) -> Study:
    """Compare the models, ask the forest what matters, print and draw."""
    parser = argument_parser("hr_attrition", __doc__)
    parser.add_argument("--data", type=Path, help="the published table, a CSV or Parquet file")
    arguments = parser.parse_args(argv)
    staff = find_staff(arguments.data, quick=arguments.quick)
    n_estimators = 30 if arguments.quick else 200
    scores = compare(staff, models(staff, n_estimators), repeats=1 if arguments.quick else 2)
    importances = ask_the_forest(staff, n_estimators, repeats=3 if arguments.quick else 10)
    study = Study(staff, scores, importances)
    size = f"{staff.origin}: {len(staff.left):,} people, {staff.left.mean():.1%} left."
    print(size, plain_table(*score_table(study)), plain_table(*importance_table(study)), sep="\n\n")
    if arguments.page is not None:
        tables = [size, markdown_table(*score_table(study)), markdown_table(*importance_table(study))]
        write_into_page(arguments.page, "hr_attrition", "\n\n".join(tables))
    save(draw(study), arguments.out)
    return study


def find_staff(path: Path | None, quick: bool) -> Staff:
    """The published table where there is one, else a simulated staff."""
    if path is None and "WEALD_DATA" in os.environ:
        path = Path(os.environ["WEALD_DATA"]) / "hr_attrition.parquet"
    if path is not None:
        return as_staff("HR analytics, without copies", read_file(path))
    return as_staff("A staff simulated by this program", simulate(3000 if quick else 12000))


def as_staff(origin: str, columns: Mapping[str, NDArray[Any]]) -> Staff:
    """Columns as a matrix without copies of rows."""
    columns = {"Department" if name == "sales" else name: values for name, values in columns.items()}
    names = [name for name in columns if name != TARGET]
    coded = {
        **columns,
        "salary": [SALARIES.index(level) for level in columns["salary"]],
        "Department": np.unique(columns["Department"].astype(str), return_inverse=True)[1],
    }
    rows = np.column_stack([np.asarray(coded[name], np.float64) for name in [*names, TARGET]])
    rows = rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]
    return Staff(origin, names, rows[:, :-1], rows[:, -1].astype(np.int64), names.index("Department"))


def simulate(n_rows: int) -> dict[str, NDArray[Any]]:
    """A staff in which the unhappy with little to do, the overworked and the good with five years are likely to leave."""
    random = np.random.default_rng(0)
    satisfaction = random.beta(2.5, 1.6, n_rows).round(2)
    evaluation = random.uniform(0.36, 1.0, n_rows).round(2)
    projects = random.binomial(5, 0.4, n_rows) + 2
    hours = random.normal(130 + 18 * projects, 25).round()
    years = 2 + random.binomial(8, 0.2, n_rows)
    salary = random.choice(3, n_rows, p=[0.48, 0.43, 0.09])
    idle = (satisfaction < 0.5) & (projects <= 3) & (evaluation < 0.6)
    overworked = (projects >= 5) & (hours > 230) & (satisfaction < 0.7)
    outgrown = (years >= 4) & (evaluation > 0.8) & (satisfaction > 0.6)
    chance = np.where(idle | overworked | outgrown, 0.9 - 0.2 * salary, 0.03)
    return {
        "satisfaction_level": satisfaction,
        "last_evaluation": evaluation,
        "number_project": projects,
        "average_montly_hours": hours,
        "time_spend_company": years,
        "Work_accident": random.random(n_rows) < 0.15,
        "promotion_last_5years": random.random(n_rows) < 0.02,
        "Department": random.choice(["sales", "technical", "support", "IT", "hr"], n_rows),
        "salary": np.array(SALARIES)[salary],
        TARGET: random.random(n_rows) < chance,
    }


def models(staff: Staff, n_estimators: int) -> dict[str, Any]:
    """The contestants, with a department as a category."""
    categories: dict[str, Any] = {"categorical_features": [staff.departments], "random_state": 0}
    return {
        "decision tree": weald.DecisionTreeClassifier(**categories),
        "random forest": weald.RandomForestClassifier(n_estimators, **categories),
        "boosted trees": weald.BoostedTreesClassifier(n_estimators=n_estimators, **categories),
    }


def compare(staff: Staff, contestants: Mapping[str, Any], repeats: int) -> dict[str, dict[str, Floats]]:
    """Scores in the same five folds, some times over."""
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    scores = {}
    for name, model in contestants.items():
        measured = cross_validate(model, staff.table, staff.left, cv=folds, scoring=list(METRICS))
        scores[name] = {metric: measured[f"test_{metric}"] for metric in METRICS}
    return scores


def ask_the_forest(staff: Staff, n_estimators: int, repeats: int) -> list[Importance]:
    """Importances of a forest on three quarters of the rows; columns are shuffled in the fourth."""
    train, test, left, left_test = train_test_split(
        staff.table, staff.left, stratify=staff.left, random_state=0
    )
    forest = models(staff, n_estimators)["random forest"].fit(train, left)
    shuffled = forest.permutation_importances(
        test, left_test, n_repeats=repeats, random_state=0, scoring="roc_auc"
    )
    importances = map(
        Importance,
        staff.names,
        forest.feature_importances_,
        forest.feature_importances_std_,
        shuffled.importances_mean,
        shuffled.importances_std,
    )
    return sorted(importances, key=lambda importance: -importance.permutation)


def score_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """Mean and spread of the folds, and how much better than the tree, fold by fold."""
    header = ["model", *METRICS.values(), "AUC above the tree's"]
    tree = study.scores["decision tree"]["roc_auc"]
    rows = []
    for name, scores in study.scores.items():
        gain = scores["roc_auc"] - tree
        cells = [f"{scores[metric].mean():.4f} ± {scores[metric].std():.4f}" for metric in METRICS]
        rows.append([name, *cells, f"{gain.mean():+.4f} ± {gain.std():.4f}" if gain.any() else ""])
    return header, rows


def importance_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """The columns, the most important first."""
    header = ["column", "share in the impurity's decrease", "fall of the AUC when shuffled"]
    rows = [
        [
            item.name,
            f"{item.impurity:.3f} ± {item.impurity_spread:.3f}",
            f"{item.permutation:.4f} ± {item.permutation_spread:.4f}",
        ]
        for item in study.importances
    ]
    return header, rows


def draw(study: Study) -> Any:
    """Scores to the left, importances in the middle and to the right."""
    figure, (scores, impurity, permutation) = pyplot().subplots(
        1, 3, figsize=(12, 4.2), width_ratios=(1, 1.1, 1.1)
    )
    _draw_scores(scores, study)
    names = [item.name for item in reversed(study.importances)]
    means, spreads = (
        np.array([item[1:] for item in reversed(study.importances)]).T.reshape(2, 2, -1).swapaxes(0, 1)
    )
    titles = (
        "Random forest: share in the\nimpurity's decrease (± over trees)",
        "Random forest: fall of the AUC when\nshuffled (± over shuffles)",
    )
    for panel, mean, spread, title in zip((impurity, permutation), means, spreads, titles, strict=True):
        panel.barh(names, mean, xerr=spread, color=BLUE, ecolor="#333333", capsize=2.5)
        panel.set_title(title)
        panel.set_xlim(left=0)
    permutation.set_yticklabels([])
    figure.suptitle(f"{study.staff.origin}: who leaves?", fontsize=13)
    return figure


def _draw_scores(panel: Any, study: Study) -> None:
    """Every fold's AUC and accuracy as a point, the mean as a line."""
    random = np.random.default_rng(0)
    for shift, (metric, label), colour, marker in zip(
        (-0.17, 0.17), METRICS.items(), (BLUE, ORANGE), ("o", "s"), strict=True
    ):
        for place, scores in enumerate(study.scores.values()):
            across = place + shift + random.uniform(-0.08, 0.08, len(scores[metric]))
            panel.scatter(
                across,
                scores[metric],
                s=18,
                color=colour,
                marker=marker,
                alpha=0.75,
                label=label if place == 0 else None,
            )
            panel.hlines(
                scores[metric].mean(),
                place + shift - 0.13,
                place + shift + 0.13,
                color="#222222",
                linewidth=2,
            )
    panel.set_xticks(range(len(study.scores)), [name.replace(" ", "\n") for name in study.scores])
    panel.set_title("In cross-validation: a point is a fold,\na line the mean")
    panel.legend(loc="lower right", frameon=False, handletextpad=0.1)


if __name__ == "__main__":
    main()
