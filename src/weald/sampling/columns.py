"""Columns of a tree; the samples by level and by node are drawn where the tree grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.random import choose


def draw_columns(columns: NDArray[np.int64], share: float, key: int) -> NDArray[np.int64]:
    """A random share of the columns (at least one), ascending; all when ``share`` is 1."""
    if share >= 1.0:
        return columns
    return choose(columns, share, np.uint64(key))
