"""The numbers of leaves as CatBoost has them.

The number of a leaf of a symmetric tree says on which side it is of every split: the first split is the lowest bit. Leaves
of other trees are counted in the order of their nodes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import TreeView

Int64s = NDArray[np.int64]


def leaves_of(tree: TreeView) -> Int64s:
    """The number of every leaf, by its node; of other nodes nothing that means anything."""
    n_nodes = len(tree.feature)
    depth, bits = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    for node in np.flatnonzero(tree.feature >= 0):
        left = tree.left[node]
        depth[left : left + 2] = depth[node] + 1
        bits[left], bits[left + 1] = bits[node], bits[node] | 1 << depth[node]
    leaf = tree.feature < 0
    deepest = int(depth[leaf].max())
    symmetric = int(leaf.sum()) == 1 << deepest and bool((depth[leaf] == deepest).all())
    numbers: Int64s = bits if symmetric else np.cumsum(leaf) - 1
    return numbers


def leaf_nodes(tree: TreeView) -> Int64s:
    """The nodes of the leaves, in the order of their numbers."""
    nodes = np.flatnonzero(tree.feature < 0)
    return nodes[np.argsort(leaves_of(tree)[nodes])]
