"""Leaf-wise or depth-wise? What the same number of leaves buys, and what it costs on few rows.

The left panel grows single trees on prices of diamonds: of two trees with equally many leaves the one that always splits the leaf
with the most to gain fits the training rows better. The right panel boosts such trees on a few hundred wines, several times
over, and asks the other wines for the error: deep leaves of a few rows fit their noise, unless ``max_depth`` holds the tree back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
N_STONES, N_WINES, N_SAMPLES, N_ROUNDS = 5_000, 300, 20, 80
LEAVES = (2, 4, 8, 16, 32, 64, 128)
GROWTHS = ("leafwise", "depthwise")
MODELS: dict[str, dict[str, Any]] = {
    "leaf-wise": {"growth": "leafwise"},
    "depth-wise": {"growth": "depthwise"},
    "leaf-wise, max_depth=3": {"growth": "leafwise", "max_depth": 3},
}


class Curves(NamedTuple):
    """Errors after every round, the mean over the samples, on rows that were learned and on others."""

    known: Floats
    new: Floats


class Study(NamedTuple):
    """The training error of single trees, (growths, numbers of leaves), and curves a boosted model."""

    trees: Floats
    boosted: dict[str, Curves]


def main(argv: Sequence[str] | None = None) -> Study:
    """Measure, print and draw."""
    arguments = argument_parser("growth", __doc__).parse_args(argv)
    n_samples = 3 if arguments.quick else N_SAMPLES
    study = Study(single_trees(), {name: boosted(limits, n_samples) for name, limits in MODELS.items()})
    tables = tree_table(study), boosting_table(study)
    print("\n\n".join(plain_table(*table) for table in tables))
    if arguments.page is not None:
        text = "\n\n".join(markdown_table(*table) for table in tables)
        write_into_page(arguments.page, "growth", text)
    save(draw(study), arguments.out)
    return study


def single_trees() -> Floats:
    """The training error of one tree of every number of leaves, in dollars."""
    diamonds = weald.datasets.load("diamonds")
    rows = np.random.default_rng(0).permutation(diamonds.n_rows)[:N_STONES]
    table = {name: values[rows] for name, values in diamonds.data.items()}
    price = diamonds.target[rows].astype(np.float64)
    errors = []
    for growth in GROWTHS:
        for leaves in LEAVES:
            tree = weald.BoostedTreesRegressor(
                n_estimators=1, learning_rate=1.0, reg_lambda=0.0, growth=growth, max_leaves=leaves
            )
            errors.append(_error(tree.fit(table, price).predict(table), price))
    return np.array(errors).reshape(len(GROWTHS), len(LEAVES))


def boosted(limits: dict[str, Any], n_samples: int) -> Curves:
    """Errors of boosting on small samples of the wines, in points of quality."""
    wines = weald.datasets.load("wine_quality")
    table = np.column_stack([values for values in wines.data.values() if values.dtype != object])
    quality = wines.target.astype(np.float64)
    known, new = [], []
    for number in range(n_samples):
        order = np.random.default_rng(number).permutation(len(quality))
        learned, others = order[:N_WINES], order[N_WINES : N_WINES + 2_000]
        model = weald.BoostedTreesRegressor(
            n_estimators=N_ROUNDS, max_leaves=31, min_samples_leaf=3, reg_lambda=0.0, **limits
        )
        sets = [(table[learned], quality[learned]), (table[others], quality[others])]
        model.fit(*sets[0], eval_set=sets, eval_names=["known", "new"])
        known.append(model.history_["known"]["rmse"])
        new.append(model.history_["new"]["rmse"])
    return Curves(np.mean(known, axis=0), np.mean(new, axis=0))


def _error(predicted: Floats, actual: Floats) -> float:
    return float(np.sqrt(np.mean((predicted - actual) ** 2)))


def tree_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """A row for every growth."""
    header = ["one tree, training error, $", *(f"{leaves} leaves" for leaves in LEAVES)]
    names = list(MODELS)[: len(GROWTHS)]
    return header, [
        [name, *(f"{error:.0f}" for error in errors)] for name, errors in zip(names, study.trees, strict=True)
    ]


def boosting_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """A row for every boosted model."""
    header = [f"{N_WINES} wines, {N_ROUNDS} rounds", "known wines", "new wines", "best round", "error there"]
    rows = []
    for name, curves in study.boosted.items():
        best = int(np.argmin(curves.new))
        rows.append(
            [
                name,
                f"{curves.known[-1]:.3f}",
                f"{curves.new[-1]:.3f}",
                str(best + 1),
                f"{curves.new[best]:.3f}",
            ]
        )
    return header, rows


def draw(study: Study) -> Any:
    """Training error against leaves, and errors on other rows against rounds."""
    plots = pyplot()
    figure, (left, right) = plots.subplots(1, 2, figsize=(11, 4.2))
    for errors, name, color in zip(study.trees, MODELS, (ORANGE, BLUE), strict=False):
        left.plot(LEAVES, errors, color=color, marker="o", markersize=4, label=name)
    left.set_xscale("log", base=2)
    left.set_xticks(LEAVES, [str(leaves) for leaves in LEAVES])
    left.set(xlabel="leaves", ylabel="error on the training rows, $")
    left.set_title("One tree on 5,000 diamonds", loc="left")
    left.legend(frameon=False)
    rounds = np.arange(1, N_ROUNDS + 1)
    for (name, curves), color in zip(study.boosted.items(), (ORANGE, BLUE, GREEN), strict=True):
        right.plot(rounds, curves.new, color=color, label=name)
        best = int(np.argmin(curves.new))
        right.plot(best + 1, curves.new[best], color=color, marker="o", markersize=5)
    right.set(xlabel="round", ylabel="error on other wines, points of quality")
    right.set_title(f"Boosting on {N_WINES} wines, trees of at most 31 leaves", loc="left")
    right.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
