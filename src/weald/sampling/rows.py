"""Rows of a tree: every row is drawn by itself, from a hash of the round's key and its number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import kernel, parallel_kernel
from weald.runtime.random import mix

ALL_ROWS: NDArray[np.uint32] = np.empty(0, np.uint32)  # what an empty selection means
PARALLEL_ROWS = 60_000


@kernel
def _draw_share(bound: Any, key: Any, begin: Any, end: Any, drawn: Any) -> None:
    for row in range(begin, end):
        drawn[row] = (mix(np.uint64(row) ^ key) >> np.uint64(11)) < bound


@parallel_kernel
def _draw_tasks(bound: Any, key: Any, tasks: Any, drawn: Any) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        _draw_share(bound, key, len(drawn) * task // tasks, len(drawn) * (task + 1) // tasks, drawn)


def draw_rows(n_rows: int, share: float, key: int, tasks: int) -> NDArray[np.uint32]:
    """The drawn rows, ascending; empty for all rows. At least one row is drawn."""
    if share >= 1.0:
        return ALL_ROWS
    drawn = np.empty(n_rows, np.bool_)
    bound = np.uint64(int(share * 2.0**53))
    if tasks == 1 or n_rows < PARALLEL_ROWS:
        _draw_share(bound, np.uint64(key), 0, n_rows, drawn)
    else:
        _draw_tasks(bound, np.uint64(key), tasks, drawn)
    rows = np.flatnonzero(drawn).astype(np.uint32)
    return rows if len(rows) else np.array([key % n_rows], np.uint32)
