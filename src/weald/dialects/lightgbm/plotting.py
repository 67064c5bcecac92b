"""Pictures of a model and its training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weald.dialects.lightgbm.basic import DOOR
from weald.dialects.lightgbm.booster import Booster
from weald.dialects.lightgbm.refusals import NO_PICTURES_OF_TREES, REFUSALS
from weald.dialects.lightgbm.sklearn import LGBMModel
from weald.dialects.shared.plots import axes_of, draw_bars, label_axes, limit_axes
from weald.runtime.errors import InputError


def _booster_of(booster: Any, what: str) -> Booster:
    found = booster.booster_ if isinstance(booster, LGBMModel) else booster
    if not isinstance(found, Booster):
        raise TypeError(f"{what} takes a Booster or an estimator, not {type(booster).__name__}.")
    return found


@DOOR.function
def plot_importance(
    booster: Any,
    ax: Any = None,
    height: float = 0.2,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str | None = "Feature importance",
    xlabel: str | None = "Feature importance",
    ylabel: str | None = "Features",
    importance_type: str = "auto",
    max_num_features: int | None = None,
    ignore_zero: bool = True,
    figsize: tuple[float, float] | None = None,
    dpi: int | None = None,
    grid: bool = True,
    precision: int | None = 3,
    **kwargs: Any,
) -> Any:
    """Bars of the columns' importances, the most important on top; needs matplotlib. Returns the axes.

    In ``xlabel`` @importance_type@ stands for the kind of importance.
    """
    kind = importance_type
    if kind == "auto":
        kind = booster.importance_type if isinstance(booster, LGBMModel) else "split"
    model = _booster_of(booster, "plot_importance")
    values = zip(model.feature_name(), model.feature_importance(kind).tolist(), strict=True)
    ranked = sorted((pair for pair in values if pair[1] > 0 or not ignore_zero), key=lambda pair: pair[1])
    ranked = ranked[-(max_num_features or len(ranked)) :]
    ax = axes_of("plot_importance", ax, figsize, dpi)

    def text_of(value: float) -> str:
        return f"{value:.{precision}f}" if kind == "gain" and precision is not None else str(value)

    draw_bars(ax, ranked, text_of, height, xlim, ylim, **kwargs)
    label_axes(ax, title, _filled("@importance_type@", kind, xlabel), ylabel, grid)
    return ax


@DOOR.function
def plot_metric(
    booster: Any,
    metric: str | None = None,
    dataset_names: Sequence[str] | None = None,
    ax: Any = None,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str | None = "Metric during training",
    xlabel: str | None = "Iterations",
    ylabel: str | None = "@metric@",
    figsize: tuple[float, float] | None = None,
    dpi: int | None = None,
    grid: bool = True,
) -> Any:
    """A curve of a metric over the rounds for every set; takes an estimator, or the dict of `record_evaluation`."""
    found = booster.evals_result_ if isinstance(booster, LGBMModel) else booster
    if not isinstance(found, dict):
        raise TypeError("plot_metric takes an estimator, or the dict of record_evaluation.")
    names = list(found) if dataset_names is None else list(dataset_names)
    if not names or any(name not in found for name in names):
        raise InputError(
            f"plot_metric needs sets that were evaluated; these were: {', '.join(found) or 'none'}."
        )
    known = found[names[0]]
    chosen = next(iter(known)) if metric is None else metric
    if any(chosen not in found[name] for name in names):
        raise InputError(f"metric={chosen!r} was not evaluated; there are {', '.join(known)}.")
    ax = axes_of("plot_metric", ax, figsize, dpi)
    for name in names:
        values = found[name][chosen]
        ax.plot(range(len(values)), values, label=name)
    ax.legend(loc="best")
    limit_axes(ax, xlim, ylim)
    label_axes(ax, title, xlabel, _filled("@metric@", chosen, ylabel), grid)
    return ax


@DOOR.function
def plot_split_value_histogram(
    booster: Any,
    feature: int | str,
    bins: int | None = None,
    ax: Any = None,
    width_coef: float = 0.8,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str | None = "Split value histogram for feature with @index/name@ @feature@",
    xlabel: str | None = "Feature split value",
    ylabel: str | None = "Count",
    figsize: tuple[float, float] | None = None,
    dpi: int | None = None,
    grid: bool = True,
    **kwargs: Any,
) -> Any:
    """Bars of how often the thresholds of a numeric column fall into each bin."""
    counts, ends = _booster_of(booster, "plot_split_value_histogram").get_split_value_histogram(feature, bins)
    if not counts.any():
        raise InputError(f"feature {feature!r} was not split, so there is no histogram of its thresholds.")
    ax = axes_of("plot_split_value_histogram", ax, figsize, dpi)
    middles, width = (ends[:-1] + ends[1:]) / 2.0, width_coef * (ends[1] - ends[0])
    ax.bar(middles, counts, width=width, align="center", **kwargs)
    limit_axes(ax, xlim, ylim)
    if title is not None:
        title = title.replace("@feature@", str(feature))
        title = title.replace("@index/name@", "name" if isinstance(feature, str) else "index")
    label_axes(ax, title, xlabel, ylabel, grid)
    return ax


def _filled(mark: str, value: str, text: str | None) -> str | None:
    return None if text is None else text.replace(mark, value)


plot_tree = REFUSALS.function("plot_tree", NO_PICTURES_OF_TREES)
create_tree_digraph = REFUSALS.function("create_tree_digraph", NO_PICTURES_OF_TREES)
