"""Naive twins of the ways to draw rows, and of boosting on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import reference


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
