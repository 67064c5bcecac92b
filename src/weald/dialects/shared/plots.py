"""What the pictures of other systems' interfaces share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra


def axes_of(what: str, ax: Any, figsize: Any = None, dpi: Any = None) -> Any:
    """The axes to draw on; ``what`` needs matplotlib."""
    plt = load_extra("matplotlib.pyplot", what)
    if ax is not None:
        return ax
    return plt.subplots(1, 1, figsize=figsize, dpi=dpi)[1]


def draw_bars(
    ax: Any,
    ranked: Sequence[tuple[str, float]],
    text_of: Callable[[float], str] | None,
    height: float,
    xlim: Any,
    ylim: Any,
    **options: Any,
) -> None:
    """A bar for every (name, value), the last on top, with its value as text beside it."""
    if not ranked:
        raise InputError("the model has no split, so no column has an importance to be drawn.")
    values, places = [value for _, value in ranked], range(len(ranked))
    ax.barh(places, values, align="center", height=height, **options)
    if text_of is not None:
        for place, value in zip(places, values, strict=True):
            ax.text(value + 1, place, text_of(value), va="center")
    ax.set_yticks(places)
    ax.set_yticklabels([name for name, _ in ranked])
    ax.set_xlim(xlim or (0, max(values) * 1.1))
    ax.set_ylim(ylim or (-1, len(values)))


def limit_axes(ax: Any, xlim: Any, ylim: Any) -> None:
    """The part of the plane that a picture shows, where one is given."""
    if xlim is not None:
        ax.set_xlim(xlim)
    if ylim is not None:
        ax.set_ylim(ylim)


def label_axes(ax: Any, title: str | None, xlabel: str | None, ylabel: str | None, grid: bool) -> None:
    """Texts around a picture, those that are not None."""
    for text, write in ((title, ax.set_title), (xlabel, ax.set_xlabel), (ylabel, ax.set_ylabel)):
        if text is not None:
            write(text)
    ax.grid(grid)
