"""Sums of labels a category, over all rows and over the rows before one in an order of time.

All sums are integers: a label is 0 or 1, or a number in fixed point. So a statistic depends neither on blocks nor on
tasks, and a row's history, its own label and the rows after it add up to the category's total exactly.
Several columns or orders are several calls, which may run on threads of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.jit import kernel


@kernel
def history(
    codes: NDArray[np.uint32],
    order: NDArray[np.uint32],
    target: NDArray[np.int64],
    n_codes: int,
    sums: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Write for every row the sum of ``target`` and the count of the rows before it in ``order`` with its code.

    ``codes``, ``target``, ``sums``, ``counts``: (rows,); ``order``: row numbers, the oldest first, each at most once. Rows
    that are not in ``order`` neither give nor get anything.
    """
    so_far = np.zeros((n_codes, 2), np.int64)  # side by side: the two numbers of a code are in one cache line
    for place in range(len(order)):
        row = order[place]
        code = codes[row]
        sums[row] = so_far[code, 0]
        counts[row] = so_far[code, 1]
        so_far[code, 0] += target[row]
        so_far[code, 1] += 1


@kernel
def totals(
    codes: NDArray[np.uint32],
    target: NDArray[np.int64],
    n_codes: int,
    sums: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Write the sum of ``target`` and the count of rows of every code; ``sums``, ``counts``: (codes,)."""
    sums[:n_codes] = 0
    counts[:n_codes] = 0
    for row in range(len(codes)):
        code = codes[row]
        sums[code] += target[row]
        counts[code] += 1
