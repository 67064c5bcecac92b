"""How many candidate thresholds does a tree need? As figure 3 of Chen and Guestrin (2016), on the Adult census data.

The approximate split finder looks only at thresholds that a summary of the rows proposes: with eps, about 1 / eps buckets a
column. Global proposals are made once a tree, and its deep nodes must do with what the root was offered. Local proposals are
made again for the rows of every node, so that few are enough. The program draws the area under the ROC curve on rows that took
no part, round by round, for the exact finder, for both kinds of proposals with few candidates and for global ones with many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import weald
from examples.common import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    argument_parser,
    markdown_table,
    plain_table,
    pyplot,
    save,
    write_into_page,
)

ROUNDS, QUICK_ROUNDS = 100, 30
QUICK_ROWS = 4_000
FEW, MANY = 0.3, 0.05  # eps: 4 and 20 buckets a column

#: what is compared: parameters, colour and line
FINDERS: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "exact": ({"split_finder": "exact"}, GREY, "-"),
    f"local, eps = {FEW}": (
        {"split_finder": weald.Approximate(eps=FEW, proposals="local")},
        BLUE,
        "-",
    ),
    f"global, eps = {MANY}": ({"split_finder": weald.Approximate(eps=MANY)}, GREEN, "--"),
    f"global, eps = {FEW}": ({"split_finder": weald.Approximate(eps=FEW)}, ORANGE, ":"),
}


def main(argv: Sequence[str] | None = None) -> dict[str, list[float]]:
    """Train, print and draw; the area under the curve of every finder, round by round."""
    arguments = argument_parser("proposals", __doc__).parse_args(argv)
    train, test = halves(QUICK_ROWS if arguments.quick else None)
    rounds = QUICK_ROUNDS if arguments.quick else ROUNDS
    results = {name: curve(parameters, train, test, rounds) for name, (parameters, _, _) in FINDERS.items()}
    print(f"{len(train[1]):,} rows to train on, {len(test[1]):,} others\n")
    print(plain_table(*results_table(results)))
    if arguments.page is not None:
        write_into_page(arguments.page, "proposals", markdown_table(*results_table(results)))
    save(draw(results), arguments.out)
    return results


def halves(rows: int | None) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Two tables with labels, of at most so many rows each."""
    data = weald.datasets.load("adult")
    order = np.random.default_rng(0).permutation(data.n_rows)
    half = min(rows or data.n_rows, data.n_rows // 2)
    parts = order[:half], order[half : 2 * half]
    first, second = (
        ({name: values[part] for name, values in data.data.items()}, data.target[part]) for part in parts
    )
    return first, second


def curve(
    parameters: Mapping[str, Any], train: tuple[Any, Any], test: tuple[Any, Any], rounds: int
) -> list[float]:
    """The area under the ROC curve after every round."""
    model = weald.BoostedTreesClassifier(
        n_estimators=rounds,
        learning_rate=0.1,
        growth="depthwise",
        max_depth=6,
        max_leaves=None,
        min_samples_leaf=1,
        min_child_weight=1.0,
        reg_lambda=1.0,
        eval_metric="auc",
        **parameters,
    ).fit(*train, eval_set=[test])
    return list(model.history_["valid_0"]["auc"])


def results_table(results: Mapping[str, Sequence[float]]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: the area after some of the rounds."""
    rounds = len(next(iter(results.values())))
    shown = [count for count in (1, 10, 30, 100) if count <= rounds]
    header = ["AUC after", *(f"{count} rounds" if count > 1 else "1 round" for count in shown)]
    return header, [
        [name, *(f"{areas[count - 1]:.4f}" for count in shown)] for name, areas in results.items()
    ]


def draw(results: Mapping[str, Sequence[float]]) -> Any:
    """A line for every finder."""
    figure, axes = pyplot().subplots(figsize=(8, 4.5))
    for name, areas in results.items():
        _, colour, line = FINDERS[name]
        axes.plot(np.arange(1, len(areas) + 1), areas, line, color=colour, label=name, linewidth=2)
    axes.set_xlabel("round")
    axes.set_ylabel("area under the ROC curve, other rows")
    axes.set_title("Adult census data, trees of depth 6", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="lower right")
    return figure


if __name__ == "__main__":
    main()
