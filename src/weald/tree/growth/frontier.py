"""Which leaf is split next: a heap of nodes. Leaf-wise growth takes the largest gain, depth-wise the oldest node.

Nodes are numbered in the order they are made, so the oldest node is always on the shallowest open level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Bool, Float64s, Int
from weald.runtime.jit import inlined, kernel
from weald.tree.state import LEAFWISE


@inlined
def _comes_first(a: Int, b: int, gain: Float64s, growth: int) -> Bool:
    if growth == LEAFWISE and gain[a] != gain[b]:
        return gain[a] > gain[b]
    return a < b


@kernel
def push(heap: NDArray[np.int64], size: int, node: Int, gain: NDArray[np.float64], growth: int) -> int:
    """Add a node; the new size is returned."""
    place = size
    while place > 0:
        parent = (place - 1) // 2
        if not _comes_first(node, heap[parent], gain, growth):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = node
    return size + 1


@kernel
def pop(heap: NDArray[np.int64], size: int, gain: NDArray[np.float64], growth: int) -> int:
    """Take the first node out of a heap of ``size`` nodes."""
    first = heap[0]
    size -= 1
    node = heap[size]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _comes_first(heap[child + 1], heap[child], gain, growth):
            child += 1
        if not _comes_first(heap[child], node, gain, growth):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = node
    return first
