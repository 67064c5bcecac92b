"""Naive twins of the steps of leaves: sums a row at a time, a leaf at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import reference_losses

Derivatives = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def logistic_sums(
    score: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None,
    leaf_of_row: np.ndarray,
    values: np.ndarray,
    heaviest: float,
) -> np.ndarray:
    """Gradients and hessians of the naive loss at the moved scores, added up leaf by leaf as integers."""
    moved = score + np.append(values, 0.0)[leaf_of_row]
    gradient, hessian = reference_losses.gradients("logistic", moved[None], y, weight)
    scales = [2.0 ** (61 - int(np.frexp(bound * len(y))[1])) for bound in (heaviest, 0.25 * heaviest)]
    sums = np.zeros((len(values), 2))
    for leaf in range(len(values)):
        own = leaf_of_row == leaf
        for column, part in enumerate((gradient[0], hessian[0])):
            sums[leaf, column] = sum(int(float(one) * scales[column]) for one in part[own]) / scales[column]
    return sums


def value_of_leaf(derivatives: Derivatives, iterations: int, reg_lambda: float) -> float:
    """One leaf by itself: a step from where the last led to, or half of it again where it led too far.

    ``derivatives``: of the loss of the leaf's rows, and what it is divided by, at a value.
    """
    base, step, slope = 0.0, 0.0, 0.0
    for iteration in range(iterations):
        here = base + step
        gradient, below = (float(np.sum(part, dtype=np.float64)) for part in derivatives(np.array(here)))
        if iteration > 0 and gradient * slope < 0.0 and abs(gradient) >= abs(slope):
            step *= 0.5
            continue
        base, slope = here, gradient
        step = -gradient / (below + reg_lambda)
    return base + step
