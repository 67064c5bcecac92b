"""The arrays that the kernels of CART share, as named tuples, with the reason for every type.

A tree is grown from *entries*: one 64-bit word a row, the row's number in the high half. The low half is the row's
weight, an integer, and in a classification with one output also its class: ``weight << code_bits | class``. A row
that was drawn three times has three times the weight; it is never copied.

The weights of a tree's rows sum to less than 2**31. So one addition of ``weight << 32 | 1`` sums weights and counts
rows, and the sum of squared class weights, which the gini impurity needs, is exact in 64 bits. Labels of a regression
are fixed-point numbers whose weighted absolute sum is less than 2**62. Every impurity is computed from these exact
sums alone.

Sums have *slots*: those of a classification are the classes of all outputs; of a regression, ``weight << 32 | rows``
and then a slot for every output.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.tree.state import BIN_WORDS

GINI, ENTROPY, SQUARED, POISSON, ABSOLUTE = 0, 1, 2, 3, 4
ONE_CLASS_OUTPUT, CLASS_OUTPUTS, NUMBERS = 0, 1, 2  # kinds of labels

HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
ROWS_MASK = np.int64(0xFFFFFFFF)  # of a weight << 32 | rows word

# A candidate split is ten integers: these are their places. FOLLOWING is the node's next bin after BIN. The last four are the
# bins on the left of a categorical split, a bit a bin.
FEATURE, BIN, MISSING_LEFT, LEFT_ROWS, LEFT_WEIGHT, FOLLOWING, LEFT_BINS = 0, 1, 2, 3, 4, 5, 6
CANDIDATE = LEFT_BINS + BIN_WORDS
NO_BIN = 256  # no bin follows; a threshold behind it sends all values to the left


class CartPlan(NamedTuple):
    """All numbers that steer a tree. No array is among them: passing one to a kernel has a cost."""

    criterion: int
    kind: int  # of the labels
    n_outputs: int
    n_slots: int
    first_classes: int  # classes of the first output
    code_bits: int
    random_thresholds: bool
    max_depth: int
    max_leaves: int  # 0: no limit, and depth first instead of best first
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float  # share of the tree's weight
    min_impurity_decrease: float
    features_per_node: int
    columns_per_tree: int
    bootstrap: bool
    n_draws: int
    n_rows: int
    most_leaves: int
    sort_rows: int  # nodes with so many rows or fewer are sorted
    at_once: int  # features whose histograms are filled in one pass


class CartTable(NamedTuple):
    """The bins, row after row, and what they stand for."""

    rows: NDArray[np.uint8]
    n_bins: NDArray[np.int64]  # bins for values; the bin after them holds missing values
    categorical: NDArray[np.bool_]
    gathers: NDArray[np.bool_]  # the last bin of a categorical feature holds several, rare categories
    cuts: NDArray[np.float64]  # (features, 256): cuts[f, b] is between the bins b and b + 1
    middles: NDArray[np.float64]  # (features, 256): a value in the middle of the bin


class Labels(NamedTuple):
    """What is to be predicted; of ``codes`` and ``values`` one is empty."""

    codes: NDArray[np.int32]  # (rows * outputs): slots of the classes
    values: NDArray[np.float64]  # (rows * outputs)
    centres: NDArray[np.float64]  # (outputs): subtracted from the values before they become integers
    by_value: NDArray[np.int64]  # (outputs, rows): rows by ascending value, for medians; else (0, 0)
    weight: NDArray[np.float64]  # (rows), or empty: every row weighs 1


class Trees(NamedTuple):
    """Grown trees, one after another."""

    feature: NDArray[np.int32]  # -1: a leaf
    split_bin: NDArray[np.int32]  # numeric: the last bin that goes left
    left_bins: NDArray[
        np.int64
    ]  # (nodes, 4), categorical: the bins that go left, a bit a bin; without categories (0, 4)
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]  # within the tree; the right child is the next
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    value: NDArray[np.float64]
    vectors: NDArray[np.float64]  # (leaves * numbers a leaf), or (0)


class CartRows(NamedTuple):
    """A tree's rows."""

    counts: NDArray[np.int32]  # (rows): how often a row was drawn
    amounts: NDArray[np.int64]  # (rows * slots): what a row of a regression adds to the sums; else (1)
    # (2, 1 or 1 + outputs, rows): a node's rows move to the other side when it is split; behind the rows in their own
    # order those in the order of each output's labels, where medians are needed
    entries: NDArray[np.uint64]
    shuffled: NDArray[np.int64]  # (rows), to draw without replacement; else (1)


class Scratch(NamedTuple):
    """Memory for the search on one feature."""

    cells: NDArray[np.int64]  # (features at once * STRIDE * slots): zero between uses
    totals: NDArray[np.int64]  # (slots): sums of the node
    left: NDArray[np.int64]  # (slots): sums of the left child
    keys: NDArray[np.int64]  # of items: bin << 32 | slot
    amounts: NDArray[np.int64]  # of items
    starts: NDArray[np.int64]  # (257): of a counting sort
    trial: NDArray[np.int64]  # (CANDIDATE): a candidate
    lowest: NDArray[np.int64]  # (features at once): smallest bins
    drawn: NDArray[np.int64]  # (features at once): splits of a random tree
    drawn_sets: NDArray[np.int64]  # (features at once, 8): drawn categories, and all of the node's
    columns: NDArray[np.int64]  # the tree's columns; drawing for a node swaps them for a while
    swaps: NDArray[np.int64]
    sums: NDArray[np.float64]  # (slots): of a leaf; a direction in which categories differ
    category_sums: NDArray[
        np.int64
    ]  # (257 * slots): the following are of length 1 where there are no categories
    category_weights: NDArray[np.float64]  # (257)
    category_keys: NDArray[np.float64]  # (257): what categories are sorted by
    category_bins: NDArray[np.int64]  # (257)
    category_order: NDArray[np.int64]  # (258): bins in that order, and -1


class Open(NamedTuple):
    """What is known of a tree's nodes only while it grows, and which are still to be looked at or split."""

    depth: NDArray[np.int64]
    begin: NDArray[np.int64]  # the node's rows are entries[depth % 2, ..., begin : begin + count]
    candidate: NDArray[np.int64]  # (nodes, CANDIDATE)
    waiting: NDArray[np.int64]
    heap: NDArray[np.int64]


class Medians(NamedTuple):
    """Memory for the absolute error; of length 1 where it is not asked for. A row's outputs and a rank's are neighbours."""

    rank: NDArray[np.int64]  # (rows * outputs): of the row's label among those of the node
    label: NDArray[np.int64]  # (ranks * outputs): in fixed point
    weight_below: NDArray[np.int64]  # (ranks + 1 * outputs): of all ranks below
    sum_below: NDArray[np.int64]  # weighted labels of all ranks below
    weight_tree: NDArray[np.int64]  # (ranks + 1 * outputs): the left child's Fenwick tree, from place 1 on
    sum_tree: NDArray[np.int64]


class NodeRows(NamedTuple):
    """Where the rows of a node are, and what they add to its sums."""

    entries: NDArray[np.uint64]
    codes: NDArray[np.int32]
    amounts: NDArray[np.int64]


class Tree(NamedTuple):
    """What is known of a tree when its rows are drawn."""

    key: np.uint64
    unit: float  # of a score
    weight: float  # of all its rows


class Node(NamedTuple):
    """The node whose split is searched."""

    number: int
    begin: int
    end: int
    weight: int
    square: int  # sum of the squared class weights
    least_weight: float  # of a child
