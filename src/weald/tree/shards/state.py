"""The named tuples that the kernels of shards take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.tree.splits.constraints import ConstraintState
from weald.tree.state import Gradients, Nodes, Rules, TreeInput, Workspace


class Splits(NamedTuple):
    """Nodes that are split, with the numbers of their left children; the right child is the left one's neighbour."""

    node: NDArray[np.int64]
    left: NDArray[np.int64]
    feature: NDArray[np.int64]
    split_bin: NDArray[np.int64]  # numeric: the last bin that goes left
    left_bins: NDArray[np.int64]  # (splits, words), categorical: the bins that go left, a bit a bin
    missing_left: NDArray[np.int64]


class Search(NamedTuple):
    """What the search for splits reads, beside the numbers of nodes: the rows are not here but in the shards."""

    data: TreeInput  # where columns lie in a histogram; without rows
    gradients: Gradients  # what the integers mean; without rows
    rules: Rules
    key: np.uint64  # of draws of columns, thresholds and noise
    work: Workspace  # of which only the pool of histograms is used
    nodes: Nodes
    state: ConstraintState
