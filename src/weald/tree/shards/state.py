"""The named tuples that the kernels of shards take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weald.runtime.arrays import Int64s
from weald.tree.splits.constraints import ConstraintState
from weald.tree.state import Gradients, Nodes, Rules, TreeInput, Workspace


class Splits(NamedTuple):
    """Nodes that are split, with the numbers of their left children; the right child is the left one's neighbour."""

    node: Int64s
    left: Int64s
    feature: Int64s
    split_bin: Int64s  # numeric: the last bin that goes left
    left_bins: Int64s  # (splits, words), categorical: the bins that go left, a bit a bin
    missing_left: Int64s


class Search(NamedTuple):
    """What the search for splits reads, beside the numbers of nodes: the rows are not here but in the shards."""

    data: TreeInput  # where columns lie in a histogram; without rows
    gradients: Gradients  # what the integers mean; without rows
    rules: Rules
    key: np.uint64  # of draws of columns, thresholds and noise
    work: Workspace  # of which only the pool of histograms is used
    nodes: Nodes
    state: ConstraintState
