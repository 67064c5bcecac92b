"""What does a monotone constraint change? Diamonds, of which a heavier one should not be cheaper.

A few hundred stones are learned, with and without ``monotone_constraints={"carat": 1}``, several times over; the other
stones of the table tell the error. The figure follows the predicted price of one stone as its weight grows and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
Table = Mapping[str, NDArray[Any]]
N_TRAIN, N_SAMPLES = 300, 20
COLUMNS = ("carat", "cut", "color", "clarity")
MODELS: dict[str, dict[str, Any]] = {
    "free": {},
    "constrained": {"monotone_constraints": {"carat": 1}},
}


class Result(NamedTuple):
    """A model's errors, one a sample, how often its price falls along the curve, and the first sample's curve."""

    errors: Floats
    falls: Floats
    curve: Floats


class Study(NamedTuple):
    """The weights along the curve, the stones of the first sample, and a result a model."""

    carats: Floats
    carat: Floats
    price: Floats
    results: dict[str, Result]


def main(argv: Sequence[str] | None = None) -> Study:
    """Measure, print and draw."""
    arguments = argument_parser("monotone", __doc__).parse_args(argv)
    study = measure(3 if arguments.quick else N_SAMPLES)
    print(plain_table(*results_table(study)))
    if arguments.page is not None:
        write_into_page(arguments.page, "monotone", markdown_table(*results_table(study)))
    save(draw(study), arguments.out)
    return study


def measure(n_samples: int) -> Study:
    """Fit both models to every sample of stones."""
    diamonds = weald.datasets.load("diamonds")
    table = {name: diamonds.data[name] for name in COLUMNS}
    price = diamonds.target.astype(np.float64)
    carats = np.linspace(0.3, 2.0, 400)
    stone = {name: np.repeat(_most_frequent(table[name]), len(carats)) for name in COLUMNS[1:]}
    curve = {"carat": carats, **stone}
    found: dict[str, list[tuple[float, int, Floats]]] = {name: [] for name in MODELS}
    samples = [np.random.default_rng(number).permutation(len(price)) for number in range(n_samples)]
    for order in samples:
        known, new = order[:N_TRAIN], order[N_TRAIN:]
        for name, constraints in MODELS.items():
            model = weald.BoostedTreesRegressor(n_estimators=100, min_samples_leaf=5, **constraints)
            model.fit(_rows(table, known), price[known])
            error = float(np.sqrt(np.mean((model.predict(_rows(table, new)) - price[new]) ** 2)))
            along = model.predict(curve)
            found[name].append((error, int((np.diff(along) < 0).sum()), along))
    results = {
        name: Result(np.array([e for e, _, _ in runs]), np.array([f for _, f, _ in runs]), runs[0][2])
        for name, runs in found.items()
    }
    first = samples[0][:N_TRAIN]
    return Study(carats, table["carat"][first].astype(np.float64), price[first], results)


def _rows(table: Table, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    return {name: values[rows] for name, values in table.items()}


def _most_frequent(values: NDArray[Any]) -> Any:
    names, counts = np.unique(values, return_counts=True)
    return names[np.argmax(counts)]


def results_table(study: Study) -> tuple[list[str], list[list[str]]]:
    """A row for every model."""
    header = ["model", "error on other stones, $", "± of samples", "falls along the curve"]
    rows = [
        [name, f"{result.errors.mean():.0f}", f"{result.errors.std():.0f}", f"{result.falls.mean():.1f}"]
        for name, result in study.results.items()
    ]
    return header, rows


def draw(study: Study) -> Any:
    """Both curves over the stones that were learned."""
    plots = pyplot()
    figure, panel = plots.subplots(figsize=(9, 4.5))
    panel.scatter(study.carat, study.price, s=8, color=GREY, alpha=0.5, label="stones that were learned")
    for (name, result), color in zip(study.results.items(), (ORANGE, BLUE), strict=True):
        panel.step(study.carats, result.curve, where="post", color=color, label=name)
    panel.set(xlim=(0.3, 2.0), ylim=(0, 18_500), xlabel="carat", ylabel="price, $")
    panel.set_title("Predicted price of one stone, as it grows heavier", loc="left")
    panel.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
