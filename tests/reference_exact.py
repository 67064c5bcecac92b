"""Naive twins of the exact split finder's kernels: Python's own sorting, a row at a time.

The twin of a whole tree is that of the histogram engine (`reference.grow_tree`, `reference_oblivious`), which counts rows in as
many bins as it is given: here a bin for every distinct value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.tree.state import TreeInput

MARK = 1 << 31


def codes_of(values: Sequence[float]) -> tuple[list[int], int]:
    """The place of every value among the distinct ones, and their number, which is the code of NaN."""
    distinct = sorted({value for value in values if value == value})
    return [distinct.index(value) if value == value else len(distinct) for value in values], len(distinct)


def column_block(codes: Sequence[int], n_bins: int) -> list[int]:
    """Row numbers of present values, ascending by value and row, a mark at the first of every value."""
    order = sorted((code, row) for row, code in enumerate(codes) if code < n_bins)
    firsts = [place == 0 or order[place - 1][0] != code for place, (code, _) in enumerate(order)]
    return [row | (MARK if first else 0) for (_, row), first in zip(order, firsts, strict=True)]


def segment(codes: Sequence[int], rows: Sequence[int], low: Sequence[int], n_bins: int) -> list[int]:
    """The items of a node's present values: a mark, the row, and what stands beside it."""
    order = sorted((codes[row], row) for row in rows if codes[row] < n_bins)
    items = []
    for place, (code, row) in enumerate(order):
        mark = 1 if place == 0 or order[place - 1][0] != code else 0
        items.append((mark << 63) | (row << 32) | low[row])
    return items


def tree_input(codes: NDArray[Any], n_bins: Sequence[int], categorical: Sequence[int] = ()) -> TreeInput:
    """Codes (rows, features) as the twins of the histogram engine take bins: any number, one after another."""
    kinds = np.zeros(len(n_bins), np.bool_)
    kinds[list(categorical)] = True
    offsets = np.concatenate(([0], np.cumsum(np.array(n_bins) + 1)[:-1]))
    return TreeInput(
        np.ascontiguousarray(codes).reshape(-1),
        np.ascontiguousarray(codes.T),
        offsets.astype(np.uint64),
        np.array(n_bins, np.int64),
        kinds,
        np.zeros(len(n_bins), np.bool_),
        False,
    )
