"""The arrays that the tree kernels share, as named tuples, with the reason for every type.

A tree is grown from *entries*: one 64-bit word a row, the row's number in the high half and its packed gradient in
the low half, so that partitioning a node moves one word a row and a histogram reads one word a row in order.

Packed gradients (13-bit signed gradient, 12-bit hessian) are spread over a 64-bit histogram cell as

    gradient << 38  |  hessian << 13  |  1

so that one addition sums gradient, hessian and count. A block of at most 8,191 rows cannot overflow a field:
8,191 < 2**13, 8,191 * 4,095 < 2**25, 8,191 * 4,096 < 2**25 (and a sign).

Wide gradients (31 bits and a sign, 25-bit hessian) use two cells, ``gradient`` and ``hessian << 20 | 1``, in blocks of
at most 524,287 rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Int

PACKED_BLOCK = 8191
PACKED_GRADIENT_LIMIT = 4094.0  # one less than fits: stochastic rounding may add one
PACKED_HESSIAN_LIMIT = 4094.0
WIDE_BLOCK = 524287
WIDE_GRADIENT_LIMIT = float(2**31 - 2)
WIDE_HESSIAN_LIMIT = float(2**25 - 2)

# Cells a feature in a uniform histogram: 256 bins, padded so that the stride (2,112 bytes) is no multiple of 2,048;
# otherwise the same bin of several features falls on one cache set (4K aliasing, up to six times slower).
STRIDE = 264

LEAFWISE, DEPTHWISE = 0, 1

NOBODY: Int = np.int64(-1)  # in place of a node's number

BYTE_BINS = 256  # that a code of a byte can tell apart, the bin of missing values among them

# A candidate split is an array of integers: these are their places. From LEFT_BINS on they are the bins on the left of a
# categorical split, a bit a bin: BIN_WORDS words of them, more where a column has more categories than a byte can tell apart.
FEATURE, BIN, MISSING_LEFT, LEFT_GRADIENT, LEFT_HESSIAN, LEFT_COUNT, LEFT_BINS = 0, 1, 2, 3, 4, 5, 6
BIN_WORDS = 4


_NO_PLACES: NDArray[np.int64] = np.empty(0, np.int64)
_NO_NUMBERS: NDArray[np.uint32] = np.empty(0, np.uint32)
_NO_BINS: NDArray[np.uint8] = np.empty(0, np.uint8)
_NO_OFFSETS: NDArray[np.uint64] = np.empty(0, np.uint64)

#: Bins as a table stores them: bytes, or uint16 throughout where one of its columns has more than a byte can tell apart. The
#: kernels are compiled for each of the two when it is first used.
Codes = NDArray[np.uint8] | NDArray[np.uint16]


class TreeInput(NamedTuple):
    """The bins, twice, and where features lie in a histogram: what does not change from tree to tree.

    Flat, as Numba's parallel loops take no tuple inside a tuple.
    """

    rows: Codes  # row after row: histograms of scattered rows
    columns: Codes  # (features, rows): partitioning, and histograms of all rows
    offsets: NDArray[
        np.uint64
    ]  # first cell of every feature; unsigned, or Numba adds a test for negative indices
    n_bins: NDArray[np.int64]  # bins for values; the bin after them holds missing values
    categorical: NDArray[np.bool_]
    gathers: NDArray[np.bool_]  # the last bin of a categorical feature holds several, rare categories
    uniform: bool  # offsets are 0, STRIDE, 2 * STRIDE, ...
    n_cells: int = 0  # of a histogram
    most_bins: int = (
        BYTE_BINS  # a power of two that no column's bins, with that of missing values, are more than
    )
    # A sparse table (tree/histograms/sparse.py) has no rows and columns as above, but its kept cells, twice:
    sparse: bool = False
    entry_starts: NDArray[np.int64] = _NO_PLACES  # column after column: where a column's cells begin,
    entry_rows: NDArray[np.uint32] = _NO_NUMBERS  # their rows, ascending,
    entry_bins: Codes = _NO_BINS  # and their bins: partitioning, and histograms of many rows
    default_bins: Codes = _NO_BINS  # the bin of a column's other cells
    row_starts: NDArray[np.int64] = _NO_PLACES  # row after row: where a row's cells begin,
    row_cells: NDArray[np.uint32] = _NO_NUMBERS  # and their numbers, ascending: histograms of few rows
    n_frequent: int = 0  # cells of the columns that have three words a cell also when packed; they come first
    n_dividing: int = 0  # columns that may divide the rows; the others have no cells
    # A table of bundles (tree/histograms) has rows and columns of their codes, and for every feature also its default bin:
    sizes: NDArray[np.int64] = _NO_PLACES  # its codes; n_bins + 1 where it is stored as it is
    stored: NDArray[np.int64] = _NO_PLACES  # the stored column that it is in
    stored_offsets: NDArray[np.uint64] = _NO_OFFSETS  # (stored columns + 1,): their first cells, and the end


class NodeSums(NamedTuple):
    """A node as the search for its split sees it."""

    histogram: NDArray[np.int64]  # (3, cells), sparse (1, words)
    totals: tuple[int, int, int]  # its integer gradient, hessian and count
    number: Int  # among the tree's nodes
    key: np.uint64  # the tree's, by which thresholds and noise are drawn


class Gradients(NamedTuple):
    """What the integers of one round's gradients mean."""

    packed: bool  # otherwise wide
    wide: NDArray[np.uint64]  # gradient << 32 | hessian a row, indexed by row; length 1 when packed
    gradient_unit: float  # value of one step of the integer gradient
    hessian_unit: float


class Rules(NamedTuple):
    """What limits a tree and how a split is scored."""

    growth: int
    max_leaves: int
    max_depth: int
    min_samples_leaf: int
    min_child_weight: float
    reg_lambda: float
    reg_alpha: float
    gamma: float
    max_delta_step: float
    level_share: float  # of the tree's columns
    node_share: float  # of the level's columns
    min_samples_split: int  # rows that a node must have to be split; leaf- and depth-wise growth
    min_gain: float  # that a split must have; leaf- and depth-wise growth
    max_cat_to_onehot: int  # bins up to which one category is split from the rest; above, a set of categories
    max_cat_threshold: int  # most categories on the scanned side of a split into two sets
    cat_smooth: float = 0.0  # hessian added where categories are sorted, and rows that a category needs to be
    cat_l2: float = 0.0  # added to lambda for the children of a split into two sets
    min_samples_category: int = 1  # rows between two cuts that are tried, and on the side that is not scanned
    path_smooth: float = 0.0  # rows of its parent's value that a node's own is averaged with; 0: none
    extra_trees: bool = False  # a node looks at one threshold a column, drawn at random
    cosine: bool = False  # a split is scored by a cosine (cosine.py), not by its gain
    noise: float = (
        0.0  # standard deviation of what is added to a column's score, in units of the integer sums
    )


class Nodes(NamedTuple):
    """A tree while it grows; node 0 is the root, siblings are neighbours."""

    feature: NDArray[np.int32]  # -1: a leaf (so far)
    split_bin: NDArray[np.int32]  # numeric: the last bin that goes left
    left_bins: NDArray[np.int64]  # (nodes, words), categorical: the bins that go left, a bit a bin
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]
    gain: NDArray[np.float64]
    depth: NDArray[np.int32]
    begin: NDArray[np.int64]  # the node's rows are entries[side, begin:end]
    end: NDArray[np.int64]
    side: NDArray[np.int64]
    slot: NDArray[np.int64]  # of its histogram in the pool, -1: none
    gradient_sum: NDArray[np.int64]
    hessian_sum: NDArray[np.int64]
    candidate: NDArray[np.int64]  # (nodes, LEFT_BINS + words): the best split found
    candidate_gain: NDArray[np.float64]


class Workspace(NamedTuple):
    """Memory that is reused from tree to tree."""

    entries: NDArray[
        np.uint64
    ]  # (2, rows): a node's rows are moved from one side to the other when it is split
    pool: NDArray[
        np.int64
    ]  # (slots, 3, cells), sparse (slots, 1, words): histograms; the last slot is shared by nodes that find no other free
    buffers: NDArray[np.int64]  # (tasks, 2, cells): sums of the current block; zero between uses
    totals: NDArray[np.int64]  # (tasks, 3, cells)
    heap: NDArray[np.int64]
    chunk_counts: NDArray[np.int64]
    # Of a sparse table, (rows,), zero between uses:
    added: NDArray[np.int64] = _NO_PLACES  # what a row adds to a cell
    column: Codes = _NO_BINS  # the column that a node is split by
