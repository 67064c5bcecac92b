"""Where eight classifiers draw their borders: iris, by sepal and petal length.

The colour of a place mixes the three species' colours by the model's probabilities; lines are where its answer changes.
Trees, alone or boosted, draw rectangles; a vote averages the borders of its members; a stack learns whom to trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

import weald
from examples.common import (
    BLUE,
    GREEN,
    ORANGE,
    argument_parser,
    markdown_table,
    plain_table,
    pyplot,
    save,
    write_into_page,
)

Floats = NDArray[np.float64]
COLOURS = (BLUE, ORANGE, GREEN)
MARKERS = ("o", "s", "^")


class Result(NamedTuple):
    """A classifier, fitted to all rows, and its accuracies in the folds of a cross-validation."""

    name: str
    model: Any
    accuracies: Floats


def main(argv: Sequence[str] | None = None) -> list[Result]:
    """Cross-validate and draw; the results, in the order of the panels."""
    arguments = argument_parser("decision_regions", __doc__).parse_args(argv)
    iris = load_iris()
    table, species = iris.data[:, [0, 2]], iris.target
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1 if arguments.quick else 4, random_state=0)
    results = [
        Result(name, clone(model).fit(table, species), cross_val_score(model, table, species, cv=folds))
        for name, model in classifiers(n_estimators=15 if arguments.quick else 100).items()
    ]
    rows = [
        [result.name, f"{result.accuracies.mean():.3f}", f"{result.accuracies.std():.3f}"]
        for result in results
    ]
    header = ["classifier", "accuracy", "± of folds"]
    print(plain_table(header, rows))
    if arguments.page is not None:
        write_into_page(arguments.page, "decision_regions", markdown_table(header, rows))
    figure = draw(results, table, species, iris.target_names, steps=80 if arguments.quick else 300)
    save(figure, arguments.out)
    return results


def classifiers(n_estimators: int) -> dict[str, Any]:
    """Six classifiers, and two that combine the six."""
    members = {
        "Logistic regression": LogisticRegression(),
        "Decision tree": weald.DecisionTreeClassifier(),
        "Support vector machine": CalibratedClassifierCV(SVC(), ensemble=False),
        "Random forest": weald.RandomForestClassifier(n_estimators, random_state=0),
        "AdaBoost": weald.AdaBoostClassifier(
            weald.DecisionTreeClassifier(max_depth=2), n_estimators=n_estimators, learning_rate=0.5
        ),
        "Boosted trees": weald.BoostedTreesClassifier(n_estimators=n_estimators, min_samples_leaf=5),
    }
    named = list(members.items())
    return {
        **members,
        "Soft voting": weald.VotingClassifier(named, voting="soft"),
        "Stacking": weald.StackingClassifier(named, LogisticRegression(), stack_method="predict_proba"),
    }


def draw(
    results: Sequence[Result], table: Floats, species: NDArray[np.int64], names: Sequence[str], steps: int
) -> Any:
    """A panel for every classifier."""
    plots = pyplot()
    figure, panels = plots.subplots(2, 4, figsize=(12, 6.6), sharex=True, sharey=True)
    low, high = table.min(axis=0) - 0.4, table.max(axis=0) + 0.4
    across, up = np.linspace(low[0], high[0], steps), np.linspace(low[1], high[1], steps)
    places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    for result, panel in zip(results, panels.flat, strict=True):
        probabilities = result.model.predict_proba(places)
        _fill(panel, probabilities.reshape(steps, steps, 3), across, up)
        _scatter(panel, table, species, names)
        panel.set_title(
            f"{result.name}\n{result.accuracies.mean():.1%} ± {result.accuracies.std():.1%}".replace(
                "%", " %"
            )
        )
    for panel in panels[1]:
        panel.set_xlabel("sepal length (cm)")
    for panel in panels[:, 0]:
        panel.set_ylabel("petal length (cm)")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, handletextpad=0.2)
    figure.suptitle("Iris by two lengths: decision regions, and accuracy in cross-validation", fontsize=13)
    return figure


def _fill(panel: Any, probabilities: Floats, across: Floats, up: Floats) -> None:
    """Colours by probability, paler than the points, and the borders between the answers."""
    colours = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in COLOURS])
    mixture = 1 - 0.55 * (1 - probabilities @ colours)
    extent = (across[0], across[-1], up[0], up[-1])
    panel.imshow(mixture, extent=extent, origin="lower", aspect="auto", interpolation="nearest")
    answer = probabilities.argmax(axis=-1)
    for border in (0.5, 1.5):
        if answer.min() < border < answer.max():
            panel.contour(across, up, answer, levels=[border], colors="#333333", linewidths=0.8)


def _scatter(panel: Any, table: Floats, species: NDArray[np.int64], names: Sequence[str]) -> None:
    for label, name in enumerate(names):
        rows = species == label
        panel.scatter(
            *table[rows].T,
            s=16,
            marker=MARKERS[label],
            color=COLOURS[label],
            edgecolor="#222222",
            linewidth=0.5,
            label=f"Iris {name}",
        )


if __name__ == "__main__":
    main()
