"""Weights that are not negative and sum to one, learned by least squares.

With weights of sum one, the combination's error is the combination of the members' errors: sum_m w_m h_m - y =
sum_m w_m (h_m - y). So the best weights minimise w' E w, where E holds the mean products of the members' errors:
they are the point of the errors' convex hull that is nearest to zero. Wolfe's algorithm (1976) finds it in finitely many
steps, exactly up to rounding, also where members are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Relative to the largest diagonal entry: what counts as no gain, and as no weight.
_NO_GAIN = 1e-12
_NO_WEIGHT = 1e-12


def fit_weights(outputs: Floats, target: Floats, row_weight: Floats | None = None) -> Floats:
    """The members' weights whose average is nearest to the target in squares.

    Parameters
    ----------
    outputs : (members, rows, values): what the members say; ``values`` is 1 for a regression, the classes otherwise
    target : (rows, values)
    row_weight : (rows,), not negative

    >>> outputs = np.array([[[0.0], [2.0]], [[4.0], [2.0]]])
    >>> fit_weights(outputs, np.array([[1.0], [2.0]])).round(9).tolist()
    [0.75, 0.25]
    """
    errors = outputs - target
    largest = np.abs(errors).max()
    if largest > 0.0:
        errors /= largest  # so that squares neither overflow nor vanish
    weight = np.ones(errors.shape[1]) if row_weight is None else row_weight
    # einsum adds in one order; a product by BLAS could differ with its number of threads.
    return nearest_to_zero(np.einsum("iru,jru,r->ij", errors, errors, weight / weight.sum()))


def nearest_to_zero(products: Floats) -> Floats:
    """The w >= 0 of sum 1 with the smallest w' E w, for a symmetric positive semi-definite E.

    >>> nearest_to_zero(np.array([[1.0, 0.0], [0.0, 3.0]])).round(9).tolist()
    [0.75, 0.25]
    """
    scale = products.diagonal().max()
    if scale == 0.0:
        return np.full(len(products), 1.0 / len(products))
    scaled = products / scale
    chosen = [int(scaled.diagonal().argmin())]
    weights = np.zeros(len(products))
    weights[chosen] = 1.0
    # Every round has a smaller value than the one before; the bound is for rounding alone.
    for _ in range(100 * len(products)):
        slope = scaled @ weights
        best = int(slope.argmin())
        if best in chosen or slope[best] >= weights @ slope - _NO_GAIN:
            break
        chosen.append(best)
        weights, chosen = _settled(scaled, weights, chosen)
    shares: Floats = weights / weights.sum()
    return shares


def _settled(products: Floats, weights: Floats, chosen: list[int]) -> tuple[Floats, list[int]]:
    """Go to the best weights of the chosen members, and drop on the way those whose weight comes to zero."""
    while True:
        best = _best_of_sum_one(products[np.ix_(chosen, chosen)])
        if (best > _NO_WEIGHT).all():
            weights = np.zeros_like(weights)
            weights[chosen] = best
            return weights, chosen
        now = weights[chosen]
        shrinking = best <= _NO_WEIGHT
        drop = now[shrinking] - best[shrinking]
        step = min(1.0, float((now[shrinking] / np.where(drop > 0.0, drop, 1.0)).min()))
        moved = now + step * (best - now)
        first = np.flatnonzero(shrinking)[(moved[shrinking]).argmin()]
        moved[first] = 0.0
        weights = np.zeros_like(weights)
        weights[chosen] = np.maximum(moved, 0.0)
        chosen = [member for member, weight in zip(chosen, moved, strict=True) if weight > _NO_WEIGHT]


def _best_of_sum_one(products: Floats) -> Floats:
    """The weights of sum 1, of any sign, with the smallest value: the multiplier's equations."""
    count = len(products)
    system = np.ones((count + 1, count + 1))
    system[:count, :count] = products
    system[count, count] = 0.0
    right = np.zeros(count + 1)
    right[count] = 1.0
    solution: Any = np.linalg.lstsq(system, right, rcond=None)[0][:count]
    return np.asarray(solution, np.float64)
