"""Pictures of a model."""

from __future__ import annotations

from typing import Any

from weald.dialects.shared.plots import axes_of, draw_bars, label_axes
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.positional import by_position
from weald.dialects.xgboost.refusals import NO_PICTURES_OF_TREES, REFUSALS
from weald.runtime.errors import InputError


@DOOR.function
@by_position
def plot_importance(
    booster: Any,
    *,
    ax: Any = None,
    height: float = 0.2,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str = "Feature importance",
    xlabel: str = "Importance score",
    ylabel: str = "Features",
    fmap: str = "",
    importance_type: str = "weight",
    max_num_features: int | None = None,
    grid: bool = True,
    show_values: bool = True,
    values_format: str = "{v}",
    **kwargs: Any,
) -> Any:
    """Bars of the columns' importances, the most important on top; needs matplotlib. Returns the axes."""
    ax = axes_of("plot_importance", ax)
    if hasattr(booster, "get_booster"):
        booster = booster.get_booster()
    if isinstance(booster, Booster):
        scores = booster.get_score(fmap, importance_type)
    elif isinstance(booster, dict):
        scores = booster
    else:
        raise InputError(
            f"plot_importance takes a Booster, an estimator or a dict, not {type(booster).__name__}."
        )
    ranked = sorted(scores.items(), key=lambda item: item[1])[-(max_num_features or len(scores)) :]
    text_of = (lambda value: values_format.format(v=value)) if show_values else None
    draw_bars(ax, ranked, text_of, height, xlim, ylim, **kwargs)
    label_axes(ax, title, xlabel, ylabel, grid)
    return ax


plot_tree = REFUSALS.function("plot_tree", NO_PICTURES_OF_TREES)
to_graphviz = REFUSALS.function("to_graphviz", NO_PICTURES_OF_TREES)
