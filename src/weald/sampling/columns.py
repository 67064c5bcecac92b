"""Columns of a tree; the samples by level and by node are drawn where the tree grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.elementwise import log
from weald.runtime.random import choose, stream_key


def draw_columns(
    columns: NDArray[np.int64], share: float, key: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.int64]:
    """A random share of the columns (at least one), ascending; all when ``share`` is 1.

    ``weights``: of every column of the table. One of weight 0 is never drawn; the others by their weights, one after another.

    >>> draw_columns(np.arange(4), 0.5, key=1, weights=np.array([1.0, 0.0, 0.0, 1.0])).tolist() in ([0], [3])
    True
    """
    if weights is not None:
        columns = columns[weights[columns] > 0.0]
    if share >= 1.0 or not len(columns):
        return columns
    if weights is None or len(np.unique(weights[columns])) == 1:
        return choose(columns, share, np.uint64(key))
    count = max(1, int(share * len(columns) + 0.5))
    return np.sort(columns[_by_weight(columns, weights[columns], key)[:count]])


def _by_weight(columns: NDArray[np.int64], weights: NDArray[np.float64], key: int) -> NDArray[np.int64]:
    """The columns' places in the order in which they are drawn without being put back (Efraimidis and Spirakis 2006)."""
    bits = np.array([stream_key(key, column) >> 11 for column in columns.tolist()], np.float64)
    waiting = -log((bits + 0.5) / 2.0**53) / weights
    return np.argsort(waiting, kind="stable")
