"""Naive twins of the ways to draw rows, and of boosting on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import reference
import reference_losses


def draw_rows_by_group(group: Sequence[int], shares: Sequence[float], key: int) -> list[int]:
    """Every row by itself."""
    rows = [
        row for row, own in enumerate(group) if reference.mix(row ^ key) >> 11 < int(shares[own] * 2.0**53)
    ]
    return rows or [key % len(group)]


def goss(
    gradient: np.ndarray, hessian: np.ndarray, top: float, other: float, key: int
) -> tuple[list[int], np.ndarray]:
    """Ke et al. (2017), Algorithm 2: sort by importance, keep the first, draw from the rest; rows, and the factor of all."""
    n_rows = gradient.shape[1]
    n_large = max(1, int(top * n_rows)) if top > 0 else 0
    n_small = min(n_rows - n_large, max(1, int(other * n_rows)) if other > 0 else 0)
    importance = np.abs(gradient.astype(np.float64) * hessian).sum(axis=0).astype(np.float32)
    order = sorted(range(n_rows), key=lambda row: (-importance[row], row))
    key &= 0xFFFFFFFF
    drawn = sorted(order[n_large:], key=lambda row: (-(reference.row_bits(key, row) >> 1), row))[:n_small]
    factor = np.ones(n_rows, np.float32)
    factor[drawn] = (n_rows - n_large) / max(n_small, 1)
    return sorted(order[:n_large] + drawn), factor


def bayesian(n_rows: int, temperature: float, key: int) -> np.ndarray:
    """(-log u)**temperature, every row by itself."""
    points = [((reference.mix(row ^ key) >> 12) + 0.5) * 2.0**-52 for row in range(n_rows)]
    weights = np.array([-reference_losses.log(point) for point in points])
    if temperature != 1.0:
        powers = np.array([temperature * reference_losses.log(weight) for weight in weights])
        weights = reference_losses.exp(powers)
    return weights.astype(np.float32)


def minimal_variance(gradient: np.ndarray, share: float, reg: float | None, key: int) -> np.ndarray:
    """Ibragimov and Gusev (2019): sort the rows, find mu from sums of the smallest, draw; sums in 62-bit integers."""
    n_rows = gradient.shape[1]
    size = np.sqrt((gradient.astype(np.float64) ** 2).sum(axis=0)).astype(np.float32).astype(np.float64)
    if not size.any():
        size, reg = np.ones(n_rows), 0.0
    if reg is None:
        scale = _scale(size.max(), n_rows)
        reg = (sum(int(one * scale) for one in size) / scale / n_rows) ** 2
    scale = _scale(np.sqrt(size.max() ** 2 + reg), n_rows)
    size = np.sqrt(size * size + reg).astype(np.float32).astype(np.float64)
    ranked, wanted = np.sort(size), share * n_rows
    below, total = 0, 0  # how many sizes are below mu, and their sum
    while below < n_rows:
        chances = n_rows - below + (total / scale / ranked[below] if total > 0 else 0.0)
        if chances <= wanted:
            break
        total += int(ranked[below] * scale)
        below += 1
    mu = total / scale / (wanted - (n_rows - below))
    factor = np.zeros(n_rows)
    for row in range(n_rows):
        point = (reference.mix(row ^ key) >> 11) * 2.0**-53
        if size[row] >= mu:
            factor[row] = 1.0
        elif point * mu < size[row]:
            factor[row] = mu / size[row]
    if not factor.any():
        factor[key % n_rows] = 1.0
    return factor.astype(np.float32)


def _scale(largest: float, n_rows: int) -> float:
    return 2.0 ** (61 - int(np.frexp(largest * n_rows)[1]))
