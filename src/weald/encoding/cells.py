"""Target statistics and counters as small integers: the *cells* that models, files and bins know.

A statistic lies between 0 and 1. Its cell is the number of 1,024ths below it, a whole number that float32 holds exactly, so
that all a model asks of a category is one small number in a table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.runtime.arrays import Int, Int64s, Uint8s, Uint16s
from weald.runtime.jit import inlined, kernel
from weald.runtime.mathlib import log

CELLS = 1024
_LAST: Any = np.int64(CELLS - 1)


@inlined
def target_cell(total: int, count: int, prior: float, weight: float) -> np.uint16:
    """The cell of (sum + a P) / (count + a), a ``weight`` and P ``prior``."""
    value = (np.float64(total) + weight * prior) / (np.float64(count) + weight)
    return np.uint16(min(np.int64(value * CELLS), _LAST))


@kernel
def target_cells(
    sums: Int64s,
    counts: Int64s,
    prior: float,
    weight: float,
    cells: Uint16s,
) -> None:
    """The cells of sums and counts, one each."""
    for i in range(len(cells)):
        cells[i] = target_cell(sums[i], counts[i], prior, weight)


@kernel
def counter_cells(counts: Int64s, n_rows: int, cells: Uint16s) -> None:
    """The cells of log(1 + count) / log(1 + rows): how frequent a category is, whatever its labels."""
    scale = CELLS / log(1.0 + np.float64(n_rows))
    for i in range(len(cells)):
        cells[i] = np.uint16(min(np.int64(log(1.0 + np.float64(counts[i])) * scale), _LAST))


@kernel
def cell_bins(counts: Int64s, most: int, bins: Uint8s) -> Int:
    """Put cells into at most ``most`` bins of like counts; the number of bins is returned.

    ``counts``: (cells,), rows in every cell; ``bins``: (cells,), gets the bin of each. A cell that alone holds its share gets a
    bin of its own.
    """
    left = np.int64(0)
    for cell in range(len(counts)):
        left += counts[cell]
    n_bins, inside = np.int64(1), np.int64(0)
    for cell in range(len(counts)):
        own = counts[cell]
        share = left // (
            most - n_bins + 1
        )  # of the rows from this bin on, for each of the bins that may come
        if inside > 0 and own > 0 and n_bins < most and inside + own // 2 >= share:
            left -= inside
            inside = np.int64(0)
            n_bins += 1
        bins[cell] = n_bins - 1
        inside += own
    return n_bins


@kernel
def count_cells(cells: Uint16s, counts: Int64s) -> None:
    """Count the rows of every cell; ``counts``: (cells,), zeros."""
    for i in range(len(cells)):
        counts[cells[i]] += 1
