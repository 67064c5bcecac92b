"""How far are the gradients of training rows from those of new rows? Plain and ordered boosting on labels that nothing can tell.

The label is 0 or 1 by the toss of a coin, so that no model can do better than a probability of one half: on new rows the mean
size of the gradient |p - y| is 1/2 or more in every round. Of training rows plain boosting takes gradients by trees that have
seen the row's own label; ordered boosting by leaf values that have not. Trees whose splits are drawn at random show that alone;
trees whose splits are chosen have seen all labels when they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import weald
from examples.common import (
    BLUE,
    GREY,
    ORANGE,
    argument_parser,
    markdown_table,
    plain_table,
    pyplot,
    save,
    write_into_page,
)

Floats = NDArray[np.float64]
BOOSTERS = ("plain", "ordered")
TREES: dict[str, dict[str, Any]] = {
    "drawn splits": {"splits": weald.Splits(extra_trees=True), "colsample_bylevel": 0.1},
    "chosen splits": {},
}
N_ROWS, N_COLUMNS, N_ROUNDS, N_SAMPLES = 1000, 10, 100, 8


class Study(NamedTuple):
    """For every (trees, booster) the mean size of the gradients, (samples, rounds): of training rows, and of new ones."""

    training: dict[tuple[str, str], Floats]
    new: dict[tuple[str, str], Floats]


class Gradients:
    """A callback that keeps the mean size of the gradients that every round's trees are grown on."""

    def __init__(self) -> None:
        self.sizes: list[float] = []

    def __call__(self, state: Any) -> None:
        self.sizes.append(float(np.abs(state.at.gradient[0]).mean()))


def main(argv: Sequence[str] | None = None) -> Study:
    """Measure, print and draw."""
    arguments = argument_parser("prediction_shift", __doc__).parse_args(argv)
    study = measure(2 if arguments.quick else N_SAMPLES)
    print(plain_table(*results_table(study)))
    if arguments.page is not None:
        write_into_page(arguments.page, "prediction_shift", markdown_table(*results_table(study)))
    save(draw(study), arguments.out)
    return study


def measure(n_samples: int) -> Study:
    """Train both boosters on the same tables."""
    study = Study({}, {})
    for trees, booster in product(TREES, BOOSTERS):
        curves = np.array([train(trees, booster, seed) for seed in range(n_samples)])
        study.training[trees, booster], study.new[trees, booster] = curves[:, 0], curves[:, 1]
    return study


def train(trees: str, booster: str, seed: int) -> tuple[Floats, Floats]:
    """The sizes of the gradients round by round, on training rows and, before each round, on new ones."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((2 * N_ROWS, N_COLUMNS)), rng.integers(2, size=2 * N_ROWS)
    model = weald.BoostedTreesClassifier(
        booster=booster,
        growth="oblivious",
        max_depth=4,
        n_estimators=N_ROUNDS,
        min_samples_leaf=1,
        random_state=seed,
        eval_metric=gradient_size,
        **TREES[trees],
    )
    gradients = Gradients()
    known, new = slice(0, N_ROWS), slice(N_ROWS, None)
    model.fit(X[known], y[known], eval_set=[(X[new], y[new])], callbacks=[gradients])
    first = float(np.abs(y[known].mean() - y[new]).mean())
    return np.array(gradients.sizes), np.array([first, *model.history_["valid_0"]["gradient_size"][:-1]])


def gradient_size(y: Floats, probability: Floats, weight: Floats | None) -> float:
    """The mean size of the logistic loss's gradients."""
    return float(np.abs(probability - y).mean())


gradient_size.greater_is_better = False  # type: ignore[attr-defined]


def results_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """A row for every kind of trees and booster; the gradients of the last round."""
    rows = []
    for trees, booster in product(TREES, BOOSTERS):
        own = (part[trees, booster][:, -1].mean() for part in (study.training, study.new))
        rows.append([trees, booster, *(f"{size:.3f}" for size in own)])
    return ["trees", "booster", "training rows", "new rows"], rows


def draw(study: Study) -> Any:
    """A panel for every kind of trees and booster."""
    plots = pyplot()
    figure, panels = plots.subplots(2, 2, figsize=(10, 6), sharex=True, sharey=True)
    for panel, (trees, booster) in zip(panels.flat, product(TREES, BOOSTERS), strict=True):
        panel.axhline(0.5, color=GREY, linewidth=0.8)
        for part, color, name in ((study.training, ORANGE, "training rows"), (study.new, BLUE, "new rows")):
            curves = part[trees, booster]
            rounds, lowest, highest = np.arange(curves.shape[1]), curves.min(axis=0), curves.max(axis=0)
            panel.fill_between(rounds, lowest, highest, color=color, alpha=0.2, linewidth=0)
            panel.plot(rounds, curves.mean(axis=0), color=color, label=name)
        panel.set_title(f"{booster} boosting, {trees}", loc="left", fontsize=10)
    for panel in panels[1]:
        panel.set_xlabel("round")
    for panel in panels[:, 0]:
        panel.set_ylabel("mean size of the gradients")
    panels[0, 0].legend(frameon=False, loc="lower left")
    return figure


if __name__ == "__main__":
    main()
