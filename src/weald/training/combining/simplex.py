"""Weights that are not negative and sum to one, learned by least squares.

With weights of sum one, the combination's error is the combination of the members' errors: sum_m w_m h_m - y =
sum_m w_m (h_m - y). So the best weights minimise w' E w, where E holds the mean products of the members' errors:
they are the point of the errors' convex hull that is nearest to zero. Wolfe's algorithm (1976) finds it in finitely many
steps, exactly up to rounding, also where members are alike.

Sums and products are NumPy's own, element by element: BLAS and LAPACK add in another order on another CPU, and the weights,
which are part of the model, would differ in their last bits.
"""

from __future__ import annotations

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
    return nearest_to_zero(_mean_products(errors, weight / weight.sum()))


def _mean_products(errors: Floats, share: Floats) -> Floats:
    """The members' products with each other, a mean over the rows."""
    products = np.empty((len(errors), len(errors)))
    for i, own in enumerate(errors):
        for j, other in enumerate(errors[: i + 1]):
            products[i, j] = products[j, i] = ((own * other).sum(axis=1) * share).sum()
    return products


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
        slope = (scaled * weights).sum(axis=1)
        best = int(slope.argmin())
        if best in chosen or slope[best] >= (weights * slope).sum() - _NO_GAIN:
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
    system = np.ones((count + 1, count + 2))  # the last column is the right side
    system[:count, :count] = products
    system[count, count] = 0.0
    system[:count, count + 1] = 0.0
    return _solution(system)[:count]


def _solution(system: Floats) -> Floats:
    """The unknowns of a linear system, by Gauss and Jordan with row pivots; one that the others determine is 0."""
    count = len(system)
    left = list(range(count))
    solution_row = {}
    for column in range(count):
        row = max(left, key=lambda row: abs(float(system[row, column])))
        if abs(system[row, column]) < _NO_WEIGHT:
            continue
        left.remove(row)
        solution_row[column] = row
        system[row] /= system[row, column]
        factors = system[:, column].copy()
        factors[row] = 0.0
        system -= np.multiply.outer(factors, system[row])
    return np.array([system[solution_row[column], -1] if column in solution_row else 0.0 for column in range(count)])
