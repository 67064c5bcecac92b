"""The leaves of many trees that a set of rows reached, a byte each, and sums of their values over chosen trees.

A row's sum is taken in the order of the trees, as prediction takes it, so it is the prediction to the last bit, whatever
trees were left out, put back or rescaled before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Float64s, Int64s, Ints
from weald.runtime.jit import inlined
from weald.runtime.tasks import shared_kernel

PARALLEL_SUMS = 60_000  # rows times trees from which a sum is shared among threads
# Rows whose sums stay in a first-level cache while all trees are added to them.
_BLOCK = 1024
_TOGETHER = 4  # trees that are added in one loop over the rows
# Trees whose leaves lie in one piece of memory.
_PIECE = 32


@inlined
def _add_four(
    leaves: Ints,
    lines: Int64s,
    offsets: Int64s,
    values: Float64s,
    place: int,
    first: int,
    last: int,
    score: Float64s,
) -> None:
    """Four trees in one loop over the rows: one load and store of a score instead of four."""
    a, b, c, d = (
        leaves[lines[place]],
        leaves[lines[place + 1]],
        leaves[lines[place + 2]],
        leaves[lines[place + 3]],
    )
    at_a, at_b = np.uint64(offsets[place]), np.uint64(offsets[place + 1])
    at_c, at_d = np.uint64(offsets[place + 2]), np.uint64(offsets[place + 3])
    for i in range(np.uint64(first), np.uint64(last)):
        total = score[i] + values[at_a + np.uint64(a[i])]
        total += values[at_b + np.uint64(b[i])]
        total += values[at_c + np.uint64(c[i])]
        score[i] = total + values[at_d + np.uint64(d[i])]


@shared_kernel
def _sum(
    task: int, tasks: int, leaves: Ints, lines: Int64s, offsets: Int64s, values: Float64s, score: Float64s
) -> None:
    begin, end = len(score) * task // tasks, len(score) * (task + 1) // tasks
    for first in range(begin, end, _BLOCK):
        last = min(first + _BLOCK, end)
        place = 0
        while place + _TOGETHER <= len(lines):
            _add_four(leaves, lines, offsets, values, place, first, last, score)
            place += _TOGETHER
        for rest in range(place, len(lines)):
            line = leaves[lines[rest]]
            offset = np.uint64(offsets[rest])
            for i in range(np.uint64(first), np.uint64(last)):
                score[i] += values[offset + np.uint64(line[i])]


def add_trees(
    leaves: NDArray[np.unsignedinteger[Any]],
    lines: NDArray[np.int64],
    values: Sequence[NDArray[np.float64]],
    tasks: int,
    score: NDArray[np.float64],
) -> None:
    """Add to every row's score the values of its leaves in some trees, tree after tree.

    ``leaves``: the leaf of every row, (trees, rows). ``lines``: the trees to add. ``values``: of the leaves of these.
    """
    if not len(lines):
        return
    offsets = np.cumsum([0, *(len(own) for own in values[:-1])])
    flat = np.concatenate(values)
    used = tasks if len(score) * len(lines) >= PARALLEL_SUMS else 1
    _sum(used, leaves, lines, offsets, flat, score)


class RememberedLeaves:
    """The leaf that every row of a set reaches in every tree of one output: a byte a row and tree, more in large trees."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._pieces: list[NDArray[np.unsignedinteger[Any]]] = []
        self._sizes: list[int] = []  # trees in each piece
        self.nbytes = 0

    def bytes_of(self, n_leaves: int) -> int:
        """What one more tree takes."""
        return self._n_rows * np.min_scalar_type(n_leaves - 1).itemsize

    def append(self, leaf_of_row: NDArray[Any], n_leaves: int) -> None:
        """Remember a tree by the leaf of every row, a whole number in any type."""
        dtype = np.min_scalar_type(n_leaves - 1)
        if not self._pieces or self._sizes[-1] == _PIECE or self._pieces[-1].dtype != dtype:
            self._pieces.append(np.empty((_PIECE, self._n_rows), dtype))
            self._sizes.append(0)
        self._pieces[-1][self._sizes[-1]] = leaf_of_row
        self._sizes[-1] += 1
        self.nbytes += self.bytes_of(n_leaves)

    def add_to(
        self,
        score: NDArray[np.float64],
        values: Sequence[NDArray[np.float64]],
        wanted: NDArray[np.bool_],
        tasks: int,
    ) -> None:
        """Add the trees that are ``wanted`` to the rows' score; ``values`` of the leaves and ``wanted`` have an entry a tree."""
        first = 0
        for piece, size in zip(self._pieces, self._sizes, strict=True):
            lines = np.flatnonzero(wanted[first : first + size])
            chosen = [values[first + line] for line in lines.tolist()]
            add_trees(piece, lines, chosen, tasks, score)
            first += size
