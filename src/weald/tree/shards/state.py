"""The named tuples that the kernels of shards take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Splits(NamedTuple):
    """Nodes that are split, with the numbers of their left children; the right child is the left one's neighbour."""

    node: NDArray[np.int64]
    left: NDArray[np.int64]
    feature: NDArray[np.int64]
    split_bin: NDArray[np.int64]  # numeric: the last bin that goes left
    left_bins: NDArray[np.int64]  # (splits, words), categorical: the bins that go left, a bit a bin
    missing_left: NDArray[np.int64]
