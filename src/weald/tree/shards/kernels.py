"""What a shard of rows in memory does with its rows: sort them by node, count nodes, move rows to children."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import BinCodes, Bools, Int32s, Int64s, Uint64s
from weald.runtime.jit import kernel
from weald.tree.histograms.cells import cell_words, read_cell
from weald.tree.histograms.histogram import build_histogram
from weald.tree.rows.partition import fill_goes_left
from weald.tree.shards.state import Splits
from weald.tree.state import Gradients, TreeInput, Workspace

_HALF = np.uint64(32)


@kernel
def group_entries(
    entries: Uint64s,
    node_of_row: Int32s,
    place_of_node: Int32s,
    starts: Int64s,
    grouped: Uint64s,
) -> None:
    """Copy the entries of some nodes to ``grouped``, node after node, each in the old order.

    ``place_of_node``: which of the nodes it is, -1 for none. ``starts``: (nodes + 1,), gets where each begins, and the end.
    """
    starts[:] = 0
    for entry in entries:
        place = place_of_node[node_of_row[entry >> _HALF]]
        if place >= 0:
            starts[place + 1] += 1
    for place in range(len(starts) - 1):
        starts[place + 1] += starts[place]
    ends = starts[:-1].copy()
    for entry in entries:
        place = place_of_node[node_of_row[entry >> _HALF]]
        if place >= 0:
            grouped[ends[place]] = entry
            ends[place] += 1


@kernel
def count_nodes(
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    grouped: Uint64s,
    starts: Int64s,
    tasks: int,
    work: Workspace,
    out: Int64s,
) -> None:
    """Histograms of the groups of entries, (nodes, cells, 3), by way of ``work.pool[0]``."""
    histogram = work.pool[0]
    for place in range(out.shape[0]):
        begin, end = starts[place], starts[place + 1]
        in_order = end - begin == data.columns.shape[1]  # all rows, which keep their order
        build_histogram(data, features, gradients, grouped, in_order, begin, end, tasks, work, histogram)
        words = cell_words(gradients.packed, end - begin)
        for cell in range(out.shape[1]):
            g, h, n = read_cell(histogram, words, cell)
            out[place, cell, 0], out[place, cell, 1], out[place, cell, 2] = g, h, n


@kernel
def move_rows(
    columns: BinCodes,
    n_bins: Int64s,
    categorical: Bools,
    splits: Splits,
    place_of_node: Int32s,
    node_of_row: Int32s,
) -> None:
    """Move every row of a node that is split to one of its children; ``place_of_node``: which split, -1 for none.

    ``columns``: bins, (columns, rows).
    """
    goes_left = np.zeros((len(splits.node), np.max(n_bins) + 1), np.uint8)
    for place in range(len(splits.node)):
        feature = splits.feature[place]
        fill_goes_left(
            n_bins[feature],
            categorical[feature],
            splits.split_bin[place],
            splits.left_bins[place],
            splits.missing_left[place],
            goes_left[place],
        )
    for row in range(len(node_of_row)):
        place = place_of_node[node_of_row[row]]
        if place >= 0:
            goes = goes_left[place, columns[splits.feature[place], row]]
            node_of_row[row] = splits.left[place] + 1 - goes
