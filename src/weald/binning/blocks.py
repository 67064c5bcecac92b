"""Columns that are sorted once: the layout that exact split finding works on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MARK = 1 << 31  # at the first row of a distinct value


class ColumnBlocks(NamedTuple):
    """The present values of every column, ascending: ``rows[offsets[f] : offsets[f + 1]]`` are those of column f.

    rows: uint32, the number of the value's row; the top bit is set where a distinct value begins.
    offsets: int64 (d + 1,).
    middles: int64 (d,), the place of the first value above the column's rest; where missing values are the rest, its first.
    rest: int64 (d,), the code of the rows that are not in the block: that of missing values, or of a sparse column's zeros.
    """

    rows: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    rest: NDArray[np.int64]
