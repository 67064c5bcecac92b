"""Pruning after growth, as depth-wise trees do it: growth does not ask the price of a leaf, pruning does.

While such a tree grows, a split needs only a positive gain. Then, from the bottom up, a split whose children are leaves
and whose gain is less than gamma is taken back, again and again. So a split that does not pay by itself stays when a
split below it does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Int64s
from weald.runtime.jit import kernel


@kernel
def take_back(
    feature: NDArray[np.int32], left: NDArray[np.int32], gain: NDArray[np.float64], gamma: float
) -> Int64s:
    """Make leaves (-1 in ``feature``) of the splits that are taken back; their numbers are returned, children first.

    Children must have greater numbers than their parent. ``left`` still leads to what was below.
    """
    taken = np.empty(len(feature), np.int64)
    size = 0
    for step in range(len(feature)):
        node = len(feature) - 1 - step
        if feature[node] < 0 or gain[node] >= gamma:
            continue
        if feature[left[node]] < 0 and feature[left[node] + 1] < 0:
            feature[node] = -1
            taken[size] = node
            size += 1
    return taken[:size]


@kernel
def _return_rows(
    taken: NDArray[np.int64],
    side: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    entries: NDArray[np.uint64],
) -> None:
    """Copy the rows of new leaves back to their own side: their children, leaves too, have them on the other."""
    for node in taken:
        for i in range(begin[node], end[node]):
            entries[side[node], i] = entries[1 - side[node], i]


@kernel
def _find_reachable(
    feature: NDArray[np.int32], left: NDArray[np.int32], reachable: NDArray[np.bool_]
) -> None:
    reachable[0] = True
    for node in range(len(feature)):
        if reachable[node] and feature[node] >= 0:
            reachable[left[node]] = True
            reachable[left[node] + 1] = True


def without_lost_nodes(nodes: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The nodes that can be reached from the root, in their old order and with new numbers."""
    reachable = np.zeros(len(nodes["feature"]), np.bool_)
    _find_reachable(nodes["feature"], nodes["left"], reachable)
    number = np.cumsum(reachable, dtype=np.int32) - np.int32(1)
    kept = {name: values[reachable] for name, values in nodes.items()}
    inner = kept["feature"] >= 0
    kept["left"] = np.where(inner, number[kept["left"]], np.int32(0))
    kept["gain"] = np.where(inner, kept["gain"], 0.0)
    return kept


def prune(
    nodes: dict[str, NDArray[Any]], gamma: float, entries: NDArray[np.uint64], kept: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """The tree without the splits that do not pay ``gamma``; its leaves' rows are in ``entries``, as in a tree that grows.

    ``kept``: nodes, -1 for none, whose splits stay whatever they gain.
    """
    gain = nodes["gain"].copy()
    gain[kept[kept >= 0]] = np.inf
    taken = take_back(nodes["feature"], nodes["left"], gain, gamma)
    if len(taken) == 0:
        return nodes
    _return_rows(taken, nodes["side"], nodes["begin"], nodes["end"], entries)
    return without_lost_nodes(nodes)
