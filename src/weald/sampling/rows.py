"""Rows of a tree: every row is drawn by itself, from a hash of the round's key and its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import kernel, parallel_kernel
from weald.runtime.random import mix

ALL_ROWS: NDArray[np.uint32] = np.empty(0, np.uint32)  # what an empty selection means
NO_GROUPS: NDArray[np.uint8] = np.empty(0, np.uint8)  # all rows are of group 0
PARALLEL_ROWS = 60_000


@kernel
def _draw_share(bounds: Any, group: Any, key: Any, begin: Any, end: Any, drawn: Any) -> None:
    bound = bounds[0]
    for row in range(begin, end):
        if len(group):
            bound = bounds[group[row]]
        drawn[row] = (mix(np.uint64(row) ^ key) >> np.uint64(11)) < bound


@parallel_kernel
def _draw_tasks(bounds: Any, group: Any, key: Any, tasks: Any, drawn: Any) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        _draw_share(bounds, group, key, len(drawn) * task // tasks, len(drawn) * (task + 1) // tasks, drawn)


def draw_rows(n_rows: int, share: float, key: int, tasks: int) -> NDArray[np.uint32]:
    """The drawn rows, ascending; empty for all rows. At least one row is drawn."""
    return _draw(n_rows, (share,), NO_GROUPS, key, tasks)


def draw_rows_by_group(
    group: NDArray[np.uint8], shares: Sequence[float], key: int, tasks: int
) -> NDArray[np.uint32]:
    """The same with a share for every group of rows; ``group``: the number of each row's.

    >>> rows = draw_rows_by_group(np.array([0, 1] * 500, np.uint8), (0.1, 1.0), key=7, tasks=1)
    >>> bool(np.isin(np.arange(1, 1000, 2), rows).all()), 530 < len(rows) < 570
    (True, True)
    """
    return _draw(len(group), shares, group, key, tasks)


def _draw(
    n_rows: int, shares: Sequence[float], group: NDArray[np.uint8], key: int, tasks: int
) -> NDArray[np.uint32]:
    if min(shares) >= 1.0:
        return ALL_ROWS
    drawn = np.empty(n_rows, np.bool_)
    bounds = np.array([int(share * 2.0**53) for share in shares], np.uint64)
    if tasks == 1 or n_rows < PARALLEL_ROWS:
        _draw_share(bounds, group, np.uint64(key), 0, n_rows, drawn)
    else:
        _draw_tasks(bounds, group, np.uint64(key), tasks, drawn)
    rows = np.flatnonzero(drawn).astype(np.uint32)
    return rows if len(rows) else np.array([key % n_rows], np.uint32)
