"""Four colours, two sets: why sorting the categories finds the best of all splits (Fisher 1958; LightGBM, Ke and others 2017).

Fifteen rows have a colour and a label. The program sorts the colours by the mean of what is left to explain, as a node of a
tree does, tries every cut between two neighbours and, to be sure, all seven ways to form two sets. Then it lets Weald
split the same rows. The figure shows the order with the cut that wins, and the gains of all seven.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

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

LABELS: Mapping[str, Sequence[float]] = {
    "red": [3.2, 3.8],
    "blue": [4.0, 4.2, 4.4],
    "green": [2.9, 3.3],
    "yellow": [2.0, 2.1, 2.2, 2.3, 2.5, 2.6, 2.7, 2.8],
}


class Study(NamedTuple):
    """The colours in their order, what each has, the gain of every two sets, and the set that the model sends left."""

    order: list[str]
    residual: dict[str, float]
    gains: dict[tuple[str, ...], float]
    found: frozenset[str]


def main(argv: Sequence[str] | None = None) -> Study:
    """Sort, cut, compare and draw."""
    arguments = argument_parser("category_split", __doc__).parse_args(argv)
    study = work_out()
    print(plain_table(*results_table(study)))
    print(f"\nThe model's sets: {join(study, study.found)} and the others.")
    if arguments.page is not None:
        write_into_page(arguments.page, "category_split", markdown_table(*results_table(study)))
    save(draw(study), arguments.out)
    return study


def work_out() -> Study:
    """The example by hand, and by a model of one split."""
    rows = [(colour, label) for colour, own in LABELS.items() for label in own]
    y = np.array([label for _, label in rows])
    mean = y.mean()
    # Squared loss: the gradient of a row is the prediction less the label, the hessian is 1.
    gradient = {colour: sum(mean - label for label in own) for colour, own in LABELS.items()}
    hessian = {colour: len(own) for colour, own in LABELS.items()}
    residual = {colour: -gradient[colour] / hessian[colour] for colour in LABELS}
    order = sorted(LABELS, key=lambda colour: residual[colour])
    gains = {}
    for size in range(1, len(order)):
        for others in combinations(order[1:], size - 1):
            left = (order[0], *others)
            g, h = sum(gradient[colour] for colour in left), sum(hessian[colour] for colour in left)
            gains[left] = float(0.5 * (g * g / h + g * g / (len(y) - h)))
    model = weald.BoostedTreesRegressor(
        n_estimators=1,
        learning_rate=1.0,
        max_leaves=2,
        min_samples_leaf=1,
        reg_lambda=0.0,
        categories=weald.Partition(max_onehot=1),
    ).fit([[colour] for colour, _ in rows], y)
    low = [colour for colour in order if model.predict([[colour]])[0] < mean]
    return Study(order, {colour: float(value) for colour, value in residual.items()}, gains, frozenset(low))


def is_cut(study: Study, left: Sequence[str]) -> bool:
    """Whether two sets are neighbours in the order: one of the three cuts."""
    return list(left) == study.order[: len(left)]


def join(study: Study, colours: Any) -> str:
    """The colours in their order."""
    return ", ".join(colour for colour in study.order if colour in colours)


def results_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """Header and rows: the seven ways to form two sets, the best first."""
    header = ["one set", "the other", "a cut of the order", "gain"]
    best_first = sorted(study.gains.items(), key=lambda item: -item[1])
    return header, [
        [
            join(study, left),
            join(study, set(study.order) - set(left)),
            "yes" if is_cut(study, left) else "",
            f"{gain:.3f}",
        ]
        for left, gain in best_first
    ]


def draw(study: Study) -> Any:
    """The colours in their order with the best cut, and the gains."""
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(9, 3.6))
    for place, colour in enumerate(study.order):
        mean = sum(map(sum, LABELS.values())) / sum(map(len, LABELS.values()))
        left.scatter([place] * len(LABELS[colour]), np.array(LABELS[colour]) - mean, s=18, color=GREY)
        left.plot([place - 0.3, place + 0.3], [study.residual[colour]] * 2, color=BLUE, linewidth=3)
    left.axvline(len(study.found) - 0.5, color=ORANGE, linestyle="--", linewidth=2)
    left.axhline(0.0, color=GREY, linewidth=0.8)
    left.set_xticks(range(len(study.order)), study.order)
    left.set_ylabel("label less prediction")
    left.set_title("sorted by the mean, and the best cut", loc="left")
    ranked = sorted(study.gains.items(), key=lambda item: item[1])
    colours = [BLUE if is_cut(study, names) else GREY for names, _ in ranked]
    right.barh([join(study, names) for names, _ in ranked], [gain for _, gain in ranked], color=colours)
    right.set_xlabel("gain")
    right.set_title("all seven ways; blue: the cuts", loc="left")
    return figure


if __name__ == "__main__":
    main()
