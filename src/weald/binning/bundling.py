"""Exclusive feature bundling (Ke et al. 2017): columns that are rarely away from their default in the same row share a place.

Which columns go together is the colouring of a graph whose edges are conflicts, rows in which both columns are present; it is
done greedily: columns in a fixed order, each into the first bundle that it fits, a new one where there is none. A
bundle may have at most a budget of conflicts, counted in all rows: with a budget of 0 nothing is ever lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from weald.runtime.arrays import Int64s, Uint32s, Uint64s
from weald.runtime.jit import inlined, kernel

#: Which columns are placed first: those with the most entries, or those with the most conflicts.
Order = Literal["count", "degree"]

# A column is tried with so many bundles at most: the last ones made, which are the emptiest.
MOST_TRIES = 100


@kernel
def count_rows(rows: Uint32s, counts: Int64s) -> None:
    """Add to every row's count how often it is among ``rows``; np.bincount would copy these to 64 bits first."""
    for row in rows:
        counts[row] += 1


@dataclass(frozen=True)
class Bundles:
    """Which bundle each column is in, int64 (columns,), numbered by their first columns; and their conflicts, (bundles,)."""

    of_column: Int64s
    conflicts: Int64s

    @property
    def n_bundles(self) -> int:
        """The number of bundles."""
        return len(self.conflicts)


@inlined
def _count_common(used: Uint64s, rows: Uint32s, most: int) -> np.int64:
    """Rows that are marked in a set of bits; counting ends when they are more than ``most``."""
    count = np.int64(0)
    for row in rows:
        count += np.int64((used[row >> 6] >> np.uint64(row & 63)) & np.uint64(1))
        if count > most:
            break
    return count


@kernel
def _pack_greedily(
    order: Int64s,
    starts: Int64s,
    rows: Uint32s,
    sizes: Int64s,
    n_words: int,
    budget: int,
    most_cells: int,
    most_bundles: int,
    bundle: Int64s,
    conflicts: Int64s,
) -> int:
    """Fill ``bundle`` and ``conflicts``, both (columns,); the number of bundles, one more than allowed when it gave up."""
    n_bundles = 0
    cells = np.zeros(len(order), np.int64)
    used = np.zeros((16, n_words), np.uint64)  # a bit a row for every bundle
    for column in order:
        own = rows[starts[column] : starts[column + 1]]
        found = -1
        for place in range(max(0, n_bundles - MOST_TRIES), n_bundles):
            if cells[place] + sizes[column] > most_cells:
                continue
            left = budget - conflicts[place]
            count = _count_common(used[place], own, left)
            if count <= left:
                found = place
                conflicts[place] += count
                break
        if found < 0:
            found = n_bundles
            n_bundles += 1
            if n_bundles > most_bundles:
                return n_bundles
            if n_bundles > len(used):
                more = np.zeros((2 * len(used), n_words), np.uint64)
                more[: len(used)] = used
                used = more
        bundle[column] = found
        cells[found] += sizes[column]
        for row in own:
            used[found, row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return n_bundles


def find_bundles(
    starts: Int64s,
    rows: Uint32s,
    n_rows: int,
    sizes: Int64s,
    budget: int = 0,
    order: Order = "count",
    most_cells: int = 65_535,
    most_bundles: int = 2**31,
) -> Bundles | None:
    """The bundles of columns by where they are present; None where there would be more than ``most_bundles``.

    Parameters
    ----------
    starts : (columns + 1,), where a column's entries begin
    rows : those in which a column is present, away from its default, column after column
    n_rows : of the table
    sizes : histogram cells that each column needs beside that of its default
    budget : conflicts that a bundle may have, K of the paper
    order : columns with the most entries first, or those with the most conflicts with others first
    most_cells : that a bundle may have
    most_bundles : for which bundling is worth it

    >>> import numpy as np
    >>> starts, rows = np.array([0, 2, 4, 5]), np.array([0, 1, 1, 2, 3], np.uint32)
    >>> find_bundles(starts, rows, 4, np.ones(3, np.int64)).of_column.tolist()
    [0, 1, 0]
    """
    first = np.diff(starts) if order == "count" else _degrees(starts, rows, n_rows)
    # Of equals the lower column comes first.
    places = np.argsort(-first, kind="stable").astype(np.int64)
    n_columns, n_words = len(sizes), n_rows // 64 + 1
    bundle, conflicts = np.empty(n_columns, np.int64), np.zeros(n_columns, np.int64)
    n_bundles = _pack_greedily(
        places, starts, rows, sizes, n_words, budget, most_cells, most_bundles, bundle, conflicts
    )
    if n_bundles > most_bundles:
        return None
    return _numbered(bundle, conflicts[:n_bundles])


def fewest_bundles(rows: Uint32s, n_rows: int, budget: int) -> int:
    """A number of bundles that no bundling is below: a row with k columns present has k - b conflicts in b bundles."""
    counts = np.zeros(n_rows, np.int64)
    count_rows(rows, counts)
    present = np.bincount(counts)  # how many rows have 0, 1, 2, ... columns
    more = np.cumsum(present[::-1])[::-1][1:]  # rows with more than 0, 1, 2, ... columns
    conflicts = np.append(np.cumsum(more[::-1])[::-1], 0)  # with 0, 1, 2, ... bundles
    return int(np.argmax(conflicts <= budget * np.arange(len(conflicts))))


def _degrees(starts: Int64s, rows: Uint32s, n_rows: int) -> Int64s:
    """The conflicts of every column with all others: the weighted degree in the conflict graph."""
    counts = np.zeros(n_rows, np.int64)
    count_rows(rows, counts)
    others = counts - 1  # that an entry meets in its row
    sums = np.concatenate(([0], np.cumsum(others[rows])))
    degrees: Int64s = sums[starts[1:]] - sums[starts[:-1]]
    return degrees


def _numbered(bundle: Int64s, conflicts: Int64s) -> Bundles:
    """Bundles numbered in the order of their first columns."""
    _, first = np.unique(bundle, return_index=True)
    order = np.argsort(first, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return Bundles(number[bundle], conflicts[order])
