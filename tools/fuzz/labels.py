"""Labels and weights: valid for their task, and as odd as such can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.fuzz.draws import Draws

Numbers = NDArray[np.float64]

#: labels of a regression by name: (draws, n_rows) -> float64
VALUES: dict[str, Callable[[Draws, int], Numbers]] = {
    "normal": lambda draws, n: draws.generator.standard_normal(n),
    "counts": lambda draws, n: draws.generator.integers(0, 6, n).astype(np.float64),
    "positive": lambda draws, n: draws.generator.gamma(2.0, size=n) + 1e-3,
    "constant": lambda draws, n: np.full(n, draws.one([0.0, 1.0, -3.0, 1e-300, 1e30])),
    "large": lambda draws, n: draws.generator.standard_normal(n) * 1e18,
    "huge": lambda draws, n: draws.generator.standard_normal(n) * draws.one([1e38, 1e150, 1e300, 1e307]),
    "tiny": lambda draws, n: draws.generator.standard_normal(n) * draws.one([1e-20, 1e-45, 1e-150, 1e-310]),
    "outlier": lambda draws, n: np.where(np.arange(n) == 0, 1e25, draws.generator.standard_normal(n)),
    "offset": lambda draws, n: 1e9 + draws.generator.standard_normal(n),
    "shares": lambda draws, n: draws.generator.random(n),
}


def draw_values(draws: Draws, n_rows: int, suited: str | None = None) -> tuple[Numbers, str]:
    """Labels of a regression, and their name; ``suited``: the kind that the loss is made for, taken most of the time."""
    kind = suited if suited in VALUES and draws.chance(0.8) else draws.one(list(VALUES), [6, 3, 3] + [1] * 7)
    return VALUES[kind](draws, n_rows), kind


def draw_classes(draws: Draws, n_rows: int, n_classes: int | None = None) -> tuple[Any, str]:
    """Labels of a classification, and their name; with ``n_classes`` the numbers from 0."""
    count = draws.one([2, 3, 5], [6, 3, 1]) if n_classes is None else n_classes
    codes = draws.generator.integers(0, count, n_rows)
    kind = draws.one(["even", "rare", "single", "every"], [8, 2, 0.4, 0.6])
    if kind == "rare":
        codes = np.where(np.arange(n_rows) < count, np.arange(n_rows), 0)
    elif kind == "single":
        codes = np.zeros(n_rows, np.int64)
    elif kind == "every" and n_classes is None:
        codes = np.arange(n_rows) % 40
    elif n_rows >= count:
        codes[:count] = np.arange(count)
    if n_classes is not None:
        return codes, kind
    spelling = draws.one(["numbers", "floats", "texts", "objects", "booleans", "far"], [5, 1, 2, 1, 1, 1])
    if spelling == "floats":
        return codes.astype(np.float64), kind
    if spelling == "texts":
        return np.array([f"class {code}" for code in codes]), kind
    if spelling == "objects":
        return np.array([f"{code}" for code in codes], dtype=object), kind
    if spelling == "booleans":
        return codes > 0, kind
    return (codes * 10**12 - 5, kind) if spelling == "far" else (codes, kind)


def draw_weights(draws: Draws, n_rows: int) -> tuple[Numbers | None, str]:
    """Weights of the rows, or None, and their name."""
    kind = draws.one(
        ["none", "random", "some zero", "ones", "one row", "tiny", "huge", "wide"], [10, 3, 3, 1, 1, 1, 1, 1]
    )
    random = draws.generator.random(n_rows)
    if kind == "none":
        return None, kind
    if kind == "some zero":
        return np.where(random < 0.5, 0.0, random), kind
    if kind == "ones":
        return np.ones(n_rows), kind
    if kind == "one row":
        return (np.arange(n_rows) == draws.whole(0, n_rows - 1)).astype(np.float64), kind
    if kind == "wide":
        return 10.0 ** (40 * random - 20), kind
    factor = {"random": 1.0, "tiny": draws.one([1e-30, 1e-60, 1e-300]), "huge": draws.one([1e30, 1e200])}[
        kind
    ]
    return random * factor, kind
