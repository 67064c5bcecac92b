"""What does an ensemble reduce, bias or variance? An experiment with a known truth.

Friedman's first function, of five columns among ten, plus noise of variance 1, is sampled again and again; every model is
fitted to every sample and predicts the same new rows. At a row, with f the truth and p the predictions from the samples, the
expected squared error is

    noise + (mean(p) - f)² + variance(p)

and the program prints the three, averaged over the new rows: noise, which nobody can reduce, bias² and variance. The mean of
a limited number of samples still varies; that part, variance / samples, is taken out of the bias².
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR

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
NOISE = 1.0
N_COLUMNS, N_TRAIN, N_TEST = 10, 200, 1000
N_SAMPLES = 50


class Parts(NamedTuple):
    """A model's expected squared error is noise + bias² + variance."""

    bias: float
    variance: float

    @property
    def error(self) -> float:
        """The sum, noise included."""
        return NOISE + self.bias + self.variance


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, Parts]]:
    """Measure, print and draw; the parts of every model, by group."""
    arguments = argument_parser("bias_variance", __doc__).parse_args(argv)
    n_samples = 8 if arguments.quick else N_SAMPLES
    results = {
        group: {name: measure(model, n_samples) for name, model in models.items()}
        for group, models in contestants(quick=arguments.quick).items()
    }
    print(f"{n_samples} samples of {N_TRAIN} rows, {N_TEST:,} new rows\n")
    print(plain_table(*results_table(results)))
    if arguments.page is not None:
        write_into_page(arguments.page, "bias_variance", markdown_table(*results_table(results)))
    save(draw(results), arguments.out)
    return results


def truth(table: Floats) -> Floats:
    """Friedman (1991): an interaction, a parabola and two lines; the other five columns say nothing."""
    first, second, third, fourth, fifth = table.T[:5]
    return 10 * np.sin(np.pi * first * second) + 20 * (third - 0.5) ** 2 + 10 * fourth + 5 * fifth


def sample(number: int) -> tuple[Floats, Floats]:
    """The training rows and noisy labels of a sample."""
    random = np.random.default_rng([1, number])
    table = random.random((N_TRAIN, N_COLUMNS))
    return table, truth(table) + random.normal(scale=np.sqrt(NOISE), size=N_TRAIN)


def measure(model: Any, n_samples: int) -> Parts:
    """Bias² and variance of a model, averaged over new rows."""
    new = np.random.default_rng(0).random((N_TEST, N_COLUMNS))
    predictions = np.array(
        [_seeded(model, number).fit(*sample(number)).predict(new) for number in range(n_samples)]
    )
    variance = predictions.var(axis=0, ddof=1).mean()
    squares = (predictions.mean(axis=0) - truth(new)) ** 2
    return Parts(float(squares.mean() - variance / n_samples), float(variance))


def _seeded(model: Any, number: int) -> Any:
    """A copy that draws differently for every sample."""
    fresh = clone(model)
    return fresh.set_params(random_state=number) if "random_state" in fresh.get_params() else fresh


def contestants(quick: bool) -> Mapping[str, Mapping[str, Any]]:
    """The models, by what they are an example of."""
    many, rounds = (25, (1, 10, 50)) if quick else (100, (1, 10, 100, 1000))
    deep = weald.DecisionTreeRegressor()
    unlike = {
        "linear regression": LinearRegression(),
        "nearest neighbours": KNeighborsRegressor(10),
        "support vectors": SVR(C=10),
        f"boosted trees, {many} rounds": boosted(3, many),
    }
    named = [(name.split(",")[0].replace(" ", "_"), model) for name, model in unlike.items()]
    return {
        "Parallel, of deep trees": {
            "one deep tree": deep,
            f"bagging, {many} trees": weald.BaggingRegressor(deep, many),
            f"random forest, {many} trees": weald.RandomForestRegressor(many, max_features=1 / 3),
            f"extra trees, {many} trees": weald.ExtraTreesRegressor(many),
        },
        "One after another, of stumps": {
            "one stump": weald.DecisionTreeRegressor(max_depth=1),
            **{f"boosted stumps, {_rounds(count)}": boosted(1, count) for count in rounds[1:]},
        },
        "One after another, of trees of depth 3": {
            "one tree of depth 3": weald.DecisionTreeRegressor(max_depth=3),
            **{f"AdaBoost, {_rounds(count)}": adaboost(count) for count in rounds[1:3]},
            **{f"boosted trees, {_rounds(count)}": boosted(3, count) for count in rounds[1:]},
        },
        "Unlike members": {
            **{name: model for name, model in unlike.items() if "boosted" not in name},
            "average of these and boosted trees": weald.VotingRegressor(named),
            "stacking of the same": weald.StackingRegressor(named, LinearRegression(positive=True)),
        },
    }


def _rounds(count: int) -> str:
    return f"{count:,} rounds"


def boosted(depth: int, rounds: int) -> weald.BoostedTreesRegressor:
    """Gradient boosting of squares as the textbooks have it, without penalties."""
    return weald.BoostedTreesRegressor(
        n_estimators=rounds, max_depth=depth, growth="depthwise", min_samples_leaf=1, reg_lambda=0.0
    )


def adaboost(rounds: int) -> weald.AdaBoostRegressor:
    """AdaBoost.R2 of trees of depth 3."""
    return weald.AdaBoostRegressor(weald.DecisionTreeRegressor(max_depth=3), n_estimators=rounds)


def results_table(results: Mapping[str, Mapping[str, Parts]]) -> tuple[list[str], list[list[str]]]:
    """A row for every model."""
    header = ["model", "bias²", "variance", "noise", "expected squared error"]
    rows = []
    for models in results.values():
        for name, parts in models.items():
            numbers = (parts.bias, parts.variance, NOISE, parts.error)
            rows.append([name, *(f"{number:.2f}" for number in numbers)])
    return header, rows


def draw(results: Mapping[str, Mapping[str, Parts]]) -> Any:
    """A bar of three parts for every model, in groups."""
    plots = pyplot()
    sizes = [len(models) for models in results.values()]
    figure, panels = plots.subplots(
        len(sizes), 1, figsize=(9, 0.34 * sum(sizes) + 2.4), sharex=True, height_ratios=sizes
    )
    for panel, (group, models) in zip(panels, results.items(), strict=True):
        names = list(models)[::-1]
        bias = np.array([models[name].bias for name in names])
        variance = np.array([models[name].variance for name in names])
        noise = np.full(len(names), NOISE)
        panel.barh(names, noise, color="#DDDDDD", edgecolor=GREY, label="noise")
        panel.barh(names, bias, left=noise, color=BLUE, label="bias²")
        panel.barh(
            names, variance, left=noise + bias, color=ORANGE, hatch="//", edgecolor="white", label="variance"
        )
        for place, total in enumerate(noise + bias + variance):
            panel.text(total + 0.15, place, f"{total:.1f}", va="center", fontsize=9)
        panel.set_title(group, loc="left")
        panel.margins(x=0.08)
    panels[-1].set_xlabel("expected squared error")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=3, frameon=False)
    return figure


if __name__ == "__main__":
    main()
