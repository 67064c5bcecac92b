"""What the groups of a device work on: pieces of the entries of some nodes, and tiles of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
Uint32s = NDArray[np.uint32]

COUNTED_ROWS = 8_192  # of a piece that is counted: 32-bit sums of packed gradients have room for 2**19
MOVED_ROWS = 2_048  # of a piece that is moved


def pieces_of(numbers: Int64s, segments: Int64s, most: int) -> tuple[Uint32s, Int64s]:
    """Segments cut into pieces of at most so many rows: (number, begin, end) of each, and the segment that it is of.

    ``segments``: (segments, 2), begin and end; ``numbers``: what the pieces of each are to be known by.

    >>> pieces_of(np.array([7, 9]), np.array([[0, 5], [8, 10]]), most=3)[0].tolist()
    [[7, 0, 3], [7, 3, 5], [9, 8, 10]]
    """
    begins, ends = segments[:, 0], segments[:, 1]
    counts = -(-(ends - begins) // most)
    owner = np.repeat(np.arange(len(numbers)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = begins[owner] + within * most
    pieces = np.stack([numbers[owner], first, np.minimum(first + most, ends[owner])], axis=1)
    return pieces.astype(np.uint32), owner


def targets_of(segments: Int64s, pieces: Uint32s, owner: Int64s, lefts: Uint32s) -> tuple[Uint32s, Int64s]:
    """Where the left and the right rows of every piece go, and where the right part of every segment begins.

    ``lefts``: how many rows of a piece go left; pieces are in the order of their segments.
    """
    begins, counts = segments[:, 0], lefts.astype(np.int64)
    middles = begins + np.bincount(owner, counts, len(segments)).astype(np.int64)
    before = np.cumsum(counts) - counts
    before -= before[np.searchsorted(owner, owner)]  # of the same segment
    right = middles[owner] + pieces[:, 1] - begins[owner] - before
    return np.stack([begins[owner] + before, right], axis=1).astype(np.uint32), middles


@dataclass(frozen=True)
class Tiles:
    """Columns in tiles whose cells local memory has room for, and columns that it has no room for."""

    columns: Uint32s  # (columns, 4): place among the bins, cells, first cell in a histogram, and in the tile
    firsts: Uint32s  # of each tile, with the end
    n_cells: int  # of the largest tile
    large: list[tuple[int, int]]  # (place, first cell in a histogram)

    @property
    def count(self) -> int:
        """How many tiles there are."""
        return len(self.firsts) - 1


def tiles_of(places: Int64s, sizes: Int64s, offsets: NDArray[Any], most: int) -> Tiles:
    """Tiles of columns, in their order, of at most so many cells each.

    ``places``, ``sizes``, ``offsets``: of every column its place among the bins, its cells, and its first in a histogram.
    """
    rows: list[tuple[int, int, int, int]] = []
    firsts, large = [0], []
    own = largest = 0
    for place, size, offset in zip(places.tolist(), sizes.tolist(), offsets.tolist(), strict=True):
        if size > most:
            large.append((place, offset))
            continue
        if own + size > most:
            firsts.append(len(rows))
            own = 0
        rows.append((place, size, offset, own))
        own += size
        largest = max(largest, own)
    if rows:
        firsts.append(len(rows))
    return Tiles(np.array(rows, np.uint32).reshape(-1, 4), np.array(firsts, np.uint32), largest, large)
