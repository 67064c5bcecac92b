"""The arrays that the kernels of the exact split finder share, with the reason for every type.

A segment is made of 64-bit *items*: a mark where a distinct value begins (bit 63), the row's number (bits 32 to 62) and, in
the low half, either the row's packed gradient, so that a scan reads nothing but the segment in order, or the value's code.
Packed gradients are gathered into the items once a tree; wide ones do not fit and are gathered in every scan.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.tree.splits.constraints import ConstraintState
from weald.tree.state import Gradients, Nodes, Rules

MARK = np.uint64(1 << 63)
ROW_SHIFT = np.uint64(32)
ROW_MASK = np.uint64(0x7FFFFFFF)

# No packed gradient looks like this: their top bits repeat the sign.
NOT_SAMPLED = np.uint32(0x80000000)


class ExactInput(NamedTuple):
    """The table: codes by row, and columns sorted by them; what does not change from tree to tree."""

    codes: NDArray[np.uint32]  # (features, rows); of a sparse table (0, 0), and instead
    entry_starts: NDArray[np.int64]  # where a column's cells begin,
    entry_rows: NDArray[np.uint32]  # their rows, ascending,
    entry_codes: NDArray[np.uint32]  # and their codes
    sorted_rows: NDArray[np.uint32]  # as in binning's ColumnBlocks
    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    rest: NDArray[np.int64]  # the code of a column's rows that have no item
    n_bins: NDArray[np.int64]  # the code after these is that of missing values
    categorical: NDArray[np.bool_]
    buckets: int  # into which the candidates of a node cut a numeric column; 0: every value is a candidate


class ExactWork(NamedTuple):
    """Memory that is reused from tree to tree."""

    entries: NDArray[np.uint64]  # (2, rows): rows of the nodes, as in the histogram engine
    items: NDArray[
        np.uint64
    ]  # (2, present values): segments are moved from one side to the other with the rows
    segments: NDArray[
        np.int64
    ]  # (slots, features, 3): where a node's segments begin, where they pass the rest's code, and where they end
    places: NDArray[
        np.int64
    ]  # (nodes, 3): where the items of the split column that go left begin and end; whether the rest goes left
    words: NDArray[np.uint32]  # (rows,): the packed gradient, NOT_SAMPLED for rows that the tree does not see
    goes_left: NDArray[np.uint8]  # (rows,): of the node that is being split
    heap: NDArray[np.int64]
    chunk_counts: NDArray[np.int64]
    values: NDArray[np.int64]  # (tasks, rows): this and the next two are what candidates are chosen from
    weights: NDArray[np.int64]  # (tasks, rows)
    summaries: NDArray[np.int64]  # (tasks, entries, 4)


class ExactSearch(NamedTuple):
    """A tree while it grows: what it is grown from, by which rules, and what is known of its nodes."""

    data: ExactInput
    gradients: Gradients
    rules: Rules
    key: np.uint64  # of draws of columns, thresholds and noise
    work: ExactWork
    nodes: Nodes
    state: ConstraintState
