"""What a shard does with the rows of one of its blocks: divide nodes among their children, count nodes, tell rows their leaves.

A block has a word for every sampled row, the *entries* of `weald.tree.state`. Those of a node stand together, in the order of the
rows: its *segment*. A node's children have the two parts of its segment, so rows of nodes that are finished are never touched
again, and those of a node that was opened in vain are still its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import BinCodes, Int, Int64s, Ints, Uint64s
from weald.runtime.jit import ZERO, bare_inner_kernel, inlined, inner_kernel, kernel
from weald.tree.histograms.cells import LOW, WIDE_SHIFT, spread_packed
from weald.tree.histograms.histogram import unpack_cells
from weald.tree.rows.partition import fill_goes_left
from weald.tree.shards.state import Splits
from weald.tree.state import PACKED_BLOCK, WIDE_BLOCK, Gradients

_HALF = np.uint64(32)


class Layout(NamedTuple):
    """The columns that a tree may be split by, and where they are."""

    columns: NDArray[np.int64]  # their numbers in the table
    place: NDArray[np.int64]  # of every column of the table, in the bins of a block; -1: not read
    offsets: NDArray[np.uint64]  # of every column of the table: its first cell in a histogram
    n_bins: NDArray[np.int64]  # of every column of the table
    categorical: NDArray[np.bool_]


class Counts(NamedTuple):
    """Sums of some nodes by cell, in the making: of one thread, over the blocks that it comes by."""

    cells: NDArray[np.int64]  # (nodes, words, cells): sums of at most one block of rows, as they are accumulated
    rows: NDArray[np.int64]  # (nodes,): how many rows these are
    sums: NDArray[np.int64]  # (nodes, 3, cells): what was before


@kernel
def divide_nodes_of_block(
    codes: BinCodes, layout: Layout, splits: Splits, segments: Int64s, entries: Uint64s, spare: Uint64s
) -> None:
    """Give the children of nodes that are split the two parts of their segments; ``segments``: (nodes, 2), begin and end.

    ``codes``: bins, (columns that are read, rows). ``spare``: as long as the entries. The order of the rows stays.
    """
    goes_left = np.empty(np.max(layout.n_bins) + 1, np.uint8)
    for number in range(len(splits.node)):
        node, child, feature = splits.node[number], splits.left[number], splits.feature[number]
        fill_goes_left(
            layout.n_bins[feature],
            layout.categorical[feature],
            splits.split_bin[number],
            splits.left_bins[number],
            splits.missing_left[number],
            goes_left,
        )
        begin, end = segments[node, 0], segments[node, 1]
        middle = _divide(codes[layout.place[feature]], goes_left, begin, end, entries, spare)
        segments[child, 0], segments[child, 1] = begin, middle
        segments[child + 1, 0], segments[child + 1, 1] = middle, end


@bare_inner_kernel
def _divide(
    column: BinCodes, goes_left: BinCodes, begin: int, end: int, entries: Uint64s, spare: Uint64s
) -> Int:
    """Where the right part of a segment begins; both stores are made for every row, so that there is no branch."""
    left, right = np.uint64(begin), np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        entry = entries[i]
        go = np.uint64(goes_left[column[entry >> _HALF]])
        entries[left] = entry
        spare[right] = entry
        left += go
        right += np.uint64(1) - go
    for i in range(right):
        entries[left + np.uint64(i)] = spare[i]
    return np.int64(left)


@bare_inner_kernel
def _add_packed(
    codes: BinCodes, layout: Layout, entries: Uint64s, begin: int, end: int, cells: Int64s
) -> None:
    """Add rows to packed cells, four columns a pass: their cells and their bins stay in the nearest caches."""
    features, place, offsets = layout.columns, layout.place, layout.offsets
    fours = len(features) - len(features) % 4
    for first in range(0, fours, 4):
        a, b, c, d = features[first], features[first + 1], features[first + 2], features[first + 3]
        column_a, column_b = codes[place[a]], codes[place[b]]
        column_c, column_d = codes[place[c]], codes[place[d]]
        cells_a, cells_b = cells[offsets[a] :], cells[offsets[b] :]
        cells_c, cells_d = cells[offsets[c] :], cells[offsets[d] :]
        for i in range(np.uint64(begin), np.uint64(end)):
            entry = entries[i]
            row, word = entry >> _HALF, spread_packed(entry)
            cells_a[column_a[row]] += word
            cells_b[column_b[row]] += word
            cells_c[column_c[row]] += word
            cells_d[column_d[row]] += word
    for last in range(fours, len(features)):
        feature = features[last]
        column, own = codes[place[feature]], cells[offsets[feature] :]
        for i in range(np.uint64(begin), np.uint64(end)):
            entry = entries[i]
            own[column[entry >> _HALF]] += spread_packed(entry)


@bare_inner_kernel
def _add_wide(
    codes: BinCodes,
    layout: Layout,
    wide: Uint64s,
    entries: Uint64s,
    begin: int,
    end: int,
    cells: Int64s,
) -> None:
    """Add rows to wide cells: gradient, and hessian << 20 | 1."""
    for feature in layout.columns:
        column, offset = codes[layout.place[feature]], layout.offsets[feature]
        gradient, hessian = cells[0, offset:], cells[1, offset:]
        for i in range(np.uint64(begin), np.uint64(end)):
            row = entries[i] >> _HALF
            word, code = wide[row], column[row]
            gradient[code] += np.int64(word) >> 32
            hessian[code] += (np.int64(word & LOW) << WIDE_SHIFT) + 1


@inlined
def _move_sums(packed: bool, counts: Counts, place: Int) -> None:
    """Take a node's sums out of its cells, which are left zero."""
    unpack_cells(packed, counts.cells[place], -1, ZERO, counts.sums.shape[2], counts.sums[place])
    counts.rows[place] = 0


@inner_kernel
def _count_node(
    codes: BinCodes,
    layout: Layout,
    gradients: Gradients,
    entries: Uint64s,
    begin: int,
    end: int,
    place: Int,
    counts: Counts,
) -> None:
    most = PACKED_BLOCK if gradients.packed else WIDE_BLOCK
    while begin < end:
        if counts.rows[place] == most:
            _move_sums(gradients.packed, counts, place)
        stop = min(end, begin + most - counts.rows[place])
        if gradients.packed:
            _add_packed(codes, layout, entries, begin, stop, counts.cells[place, 0])
        else:
            _add_wide(codes, layout, gradients.wide, entries, begin, stop, counts.cells[place])
        counts.rows[place] += stop - begin
        begin = stop


@kernel
def count_nodes_of_block(
    codes: BinCodes,
    layout: Layout,
    gradients: Gradients,
    nodes: Int64s,
    segments: Int64s,
    entries: Uint64s,
    counts: Counts,
) -> None:
    """Add the rows of some nodes to their sums; ``gradients``: with the wide ones of the block's rows."""
    for place in range(len(nodes)):
        node = nodes[place]
        _count_node(
            codes, layout, gradients, entries, segments[node, 0], segments[node, 1], np.int64(place), counts
        )


@kernel
def finish_counts(packed: bool, counts: Counts) -> None:
    """Bring all sums to ``counts.sums``."""
    for place in range(len(counts.rows)):
        _move_sums(packed, counts, np.int64(place))


@kernel
def tell_leaves(
    entries: Uint64s, segments: Int64s, nodes: Int64s, leaves: Int64s, leaf_of_row: Ints
) -> None:
    """Write for every row of some nodes the leaf that its node is."""
    for place in range(len(nodes)):
        leaf, begin, end = leaves[place], segments[nodes[place], 0], segments[nodes[place], 1]
        for i in range(np.uint64(begin), np.uint64(end)):
            leaf_of_row[entries[i] >> _HALF] = leaf


@kernel
def rows_of_node(entries: Uint64s, begin: int, end: int, first: int, rows: Ints) -> None:
    """The numbers of a segment's rows; ``first``: that of the block's first row."""
    for i in range(end - begin):
        rows[i] = np.int64(entries[np.uint64(begin + i)] >> _HALF) + first
