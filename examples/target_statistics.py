"""How does a target statistic leak the label? Two columns that say nothing, four kinds of statistics.

The label is 0 or 1 by the toss of a coin. In the first table every row has a category of its own, in the second all rows have
the same one. The best single threshold of the training rows' statistics should be right in half of the cases, on training rows
as on new ones. The figure shows where the statistics of one table lie.
"""

from __future__ import annotations

from collections.abc import Sequence
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
Labels = NDArray[np.int64]
KINDS = ("greedy", "leave_one_out", "holdout", "ordered")
TABLES = {"unique": "a category a row", "constant": "one category"}
N_ROWS, N_SAMPLES, N_DRAWN = 400, 40, 40


class Encoded(NamedTuple):
    """Statistics and labels of the rows that may train a model, and of new rows."""

    training: Floats
    labels: Labels
    new: Floats
    new_labels: Labels


class Study(NamedTuple):
    """For every (table, kind): one small table to draw, and the accuracies on training and new rows, a row a sample."""

    drawn: dict[tuple[str, str], Encoded]
    accuracies: dict[tuple[str, str], Floats]


def main(argv: Sequence[str] | None = None) -> Study:
    """Measure, print and draw."""
    arguments = argument_parser("target_statistics", __doc__).parse_args(argv)
    study = measure(5 if arguments.quick else N_SAMPLES)
    print(plain_table(*results_table(study)))
    if arguments.page is not None:
        write_into_page(arguments.page, "target_statistics", markdown_table(*results_table(study)))
    save(draw(study), arguments.out)
    return study


def measure(n_samples: int) -> Study:
    """Encode every table by every kind, and split it once."""
    study = Study({}, {})
    for table in TABLES:
        for kind in KINDS:
            study.drawn[table, kind] = encode(table, kind, N_DRAWN, seed=17)
            study.accuracies[table, kind] = np.array(
                [accuracies(encode(table, kind, N_ROWS, seed)) for seed in range(n_samples)]
            )
    return study


def encode(table: str, kind: str, n_rows: int, seed: int) -> Encoded:
    """As many training rows as new ones, with labels that nothing can tell."""
    labels, new_labels = np.random.default_rng(seed).integers(2, size=(2, n_rows))
    names = np.arange(2 * n_rows) if table == "unique" else np.zeros(2 * n_rows)
    encoder = weald.TargetStatisticsEncoder(kind, prior=0.5, categorical_features=[0], random_state=seed)
    training = encoder.fit_transform(names[:n_rows, None], labels)[:, 0]
    new = encoder.transform(names[n_rows:, None])[:, 0]
    rows = encoder.training_rows_
    return Encoded(training[rows], labels[rows], new, new_labels)


def accuracies(encoded: Encoded) -> tuple[float, float]:
    """Of the threshold that is best on the training rows: there, and on new rows."""
    thresholds = np.unique(encoded.training)[:, None]
    hits = ((encoded.training >= thresholds) == encoded.labels).mean(axis=1)
    best = int(np.argmax(np.maximum(hits, 1 - hits)))
    says_one = encoded.new >= thresholds[best]
    if hits[best] < 0.5:
        says_one = ~says_one
    return float(max(hits[best], 1 - hits[best])), float((says_one == encoded.new_labels).mean())


def results_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """A row for every kind; shares of labels that one threshold gets right."""
    header = ["kind"] + [f"{name}: {part} rows" for name in TABLES.values() for part in ("training", "new")]
    rows = []
    for kind in KINDS:
        means = np.concatenate([study.accuracies[table, kind].mean(axis=0) for table in TABLES])
        rows.append([kind, *(f"{mean:.2f}" for mean in means)])
    return header, rows


def draw(study: Study) -> Any:
    """A panel for every table and kind: training rows by label, new rows below."""
    plots = pyplot()
    figure, panels = plots.subplots(len(TABLES), len(KINDS), figsize=(11, 4.8), sharex=True, sharey=True)
    rng = np.random.default_rng(0)
    for row, (table, title) in enumerate(TABLES.items()):
        for place, kind in enumerate(KINDS):
            encoded, panel = study.drawn[table, kind], panels[row, place]
            for height, values, labels in (
                (1.0, encoded.training, encoded.labels),
                (0.0, encoded.new, encoded.new_labels),
            ):
                for label, color in ((0, BLUE), (1, ORANGE)):
                    chosen = values[labels == label]
                    heights = height + rng.uniform(-0.28, 0.28, len(chosen))
                    panel.scatter(
                        chosen, heights, s=14, color=color, alpha=0.7, linewidths=0, label=f"label {label}"
                    )
            panel.axhline(0.5, color=GREY, linewidth=0.6)
            panel.set(xlim=(0.15, 0.85), ylim=(-0.5, 1.5), yticks=(0, 1), yticklabels=("new", "training"))
            panel.set_title(f"{kind}, {title}", loc="left", fontsize=9)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles[:2], names[:2], loc="outside lower right", ncols=2, frameon=False)
    figure.supxlabel("target statistic of a column that says nothing (P = 0.5, a = 1)", fontsize=10)
    return figure


if __name__ == "__main__":
    main()
