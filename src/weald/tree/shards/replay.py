"""Which nodes a tree splits, by the gains that are known: best-first choice, replayed.

Nodes are opened ahead of the choice, many in one pass over the shards, and each has the number of its opening. Replaying the
choice tells which of them the tree takes, and in which order; a node's final number follows from that order, as in the compiled
grower: the children of the t-th split are 2t + 1 and 2t + 2.

A node whose children are not known yet counts as if these had no split. When they become known, they can only push others back,
which keep their order. So a node that is not among the first ``most`` splits now will never be: it may stay closed.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from weald.tree.splits.gain import NO_GAIN
from weald.tree.state import LEAFWISE


def replay(gain: NDArray[np.float64], left: NDArray[np.int32], growth: int, most: int) -> list[int]:
    """The first ``most`` nodes that are split, in their order.

    ``gain``: of every node's candidate, NO_GAIN for none; ``left``: its left child, 0 while it has none. Leaf-wise growth takes
    the largest gain, of equals the node with the lowest final number; depth-wise the lowest number.

    >>> gains, left = np.array([5.0, 1.0, 3.0, NO_GAIN, 2.0]), np.array([1, 0, 3, 0, 0])
    >>> replay(gains, left, LEAFWISE, most=9)
    [0, 2, 4, 1]
    """
    order: list[int] = []
    heap: list[tuple[float, int, int]] = []
    _push(heap, gain, growth, 0, 0)
    while heap and len(order) < most:
        node = heappop(heap)[2]
        number = 2 * len(order) + 1
        order.append(node)
        if left[node] > 0:
            _push(heap, gain, growth, number, int(left[node]))
            _push(heap, gain, growth, number + 1, int(left[node]) + 1)
    return order


def _push(
    heap: list[tuple[float, int, int]], gain: NDArray[np.float64], growth: int, number: int, node: int
) -> None:
    if gain[node] > NO_GAIN:
        heappush(heap, (-float(gain[node]) if growth == LEAFWISE else 0.0, number, node))
