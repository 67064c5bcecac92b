"""Pictures of a model."""

from __future__ import annotations

from typing import Any

from weald.runtime.errors import InputError, NotSupportedError
from weald.xgboost.booster import Booster

_NO_TREES = "draws trees with Graphviz and is not supported by weald.xgboost; use Booster.get_dump(dump_format='dot')."


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
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot_importance needs matplotlib: pip install matplotlib.") from None
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
    if not scores:
        raise InputError("the model has no split, so no column has an importance to be drawn.")
    ranked = sorted(scores.items(), key=lambda item: item[1])[-(max_num_features or len(scores)) :]
    if ax is None:
        _, ax = plt.subplots(1, 1)
    labels, values = [name for name, _ in ranked], [value for _, value in ranked]
    places = range(len(ranked))
    ax.barh(places, values, align="center", height=height, **kwargs)
    if show_values:
        for place, value in zip(places, values, strict=True):
            ax.text(value + 1, place, values_format.format(v=value), va="center")
    ax.set_yticks(places)
    ax.set_yticklabels(labels)
    ax.set_xlim(xlim or (0, max(values) * 1.1))
    ax.set_ylim(ylim or (-1, len(values)))
    for text, write in ((title, ax.set_title), (xlabel, ax.set_xlabel), (ylabel, ax.set_ylabel)):
        if text is not None:
            write(text)
    ax.grid(grid)
    return ax


def plot_tree(booster: Any, **options: Any) -> Any:
    """Refused: see `Booster.get_dump`."""
    raise NotSupportedError(f"plot_tree {_NO_TREES}")


def to_graphviz(booster: Any, **options: Any) -> Any:
    """Refused: see `Booster.get_dump`."""
    raise NotSupportedError(f"to_graphviz {_NO_TREES}")
