"""Sums of labels a category, over all rows and over the rows before one in an order of time.

All sums are integers: a label is 0 or 1, or a number in fixed point. So a statistic depends neither on blocks nor on
tasks, and a row's history, its own label and the rows after it add up to the category's total exactly.
Several columns or orders are several calls, which may run on threads of their own.
"""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Int64s, Uint32s
from weald.runtime.jit import kernel


@kernel
def history(
    codes: Uint32s,
    order: Uint32s,
    target: Int64s,
    n_codes: int,
    sums: Int64s,
    counts: Int64s,
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
    codes: Uint32s,
    target: Int64s,
    n_codes: int,
    sums: Int64s,
    counts: Int64s,
) -> None:
    """Write the sum of ``target`` and the count of rows of every code; ``sums``, ``counts``: (codes,)."""
    sums[:n_codes] = 0
    counts[:n_codes] = 0
    for row in range(len(codes)):
        code = codes[row]
        sums[code] += target[row]
        counts[code] += 1
