"""Rows of a tree: every row is drawn by itself, from a hash of the round's key and its number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weald.runtime.arrays import Bools, Uint8s, Uint32s, Uint64s
from weald.runtime.random import mix
from weald.runtime.tasks import part, shared_kernel
from weald.runtime.team import RowShare

ALL_ROWS: Uint32s = np.empty(0, np.uint32)  # what an empty selection means
NO_ROWS: Uint32s = np.empty(0, np.uint32)  # this very array: none of the rows that are here
NO_GROUPS: Uint8s = np.empty(0, np.uint8)  # all rows are of group 0
PARALLEL_ROWS = 60_000


@shared_kernel
def _mark_drawn(
    task: int, tasks: int, bounds: Uint64s, group: Uint8s, key: np.uint64, first: np.uint64, drawn: Bools
) -> None:
    bound = bounds[0]
    begin, end = part(len(drawn), task, tasks)
    for row in range(begin, end):
        if len(group):
            bound = bounds[group[row]]
        drawn[row] = (mix((row + first) ^ key) >> np.uint64(11)) < bound


def draw_rows(
    n_rows: int, share: float, key: int, tasks: int, whole: RowShare | None = None
) -> Uint32s:
    """The drawn rows, ascending; empty for all rows. At least one row is drawn.

    ``whole``: the table that the rows are a part of; if none of them is drawn, but others are, they are `NO_ROWS`.
    """
    return _draw(n_rows, (share,), NO_GROUPS, key, tasks, whole)


def draw_rows_by_group(
    group: Uint8s, shares: Sequence[float], key: int, tasks: int, whole: RowShare | None = None
) -> Uint32s:
    """The same with a share for every group of rows; ``group``: the number of each row's.

    >>> rows = draw_rows_by_group(np.array([0, 1] * 500, np.uint8), (0.1, 1.0), key=7, tasks=1)
    >>> bool(np.isin(np.arange(1, 1000, 2), rows).all()), 530 < len(rows) < 570
    (True, True)
    """
    return _draw(len(group), shares, group, key, tasks, whole)


def _draw(
    n_rows: int, shares: Sequence[float], group: Uint8s, key: int, tasks: int, whole: RowShare | None
) -> Uint32s:
    if min(shares) >= 1.0:
        return ALL_ROWS
    first, n_total, team = whole or RowShare.whole(n_rows)
    drawn = np.empty(n_rows, np.bool_)
    bounds = np.array([int(share * 2.0**53) for share in shares], np.uint64)
    used = tasks if n_rows >= PARALLEL_ROWS else 1
    _mark_drawn(used, bounds, group, np.uint64(key), np.uint64(first), drawn)
    rows = np.flatnonzero(drawn).astype(np.uint32)
    if team.add(np.array([len(rows)]))[0] == 0:
        only = key % n_total - first
        rows = np.array([only] if 0 <= only < n_rows else [], np.uint32)
    return rows if len(rows) else NO_ROWS
