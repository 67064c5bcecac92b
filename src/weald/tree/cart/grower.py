"""Growing trees: depth first, or best first when the number of leaves is limited."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Int, Int64s, Uint64s
from weald.runtime.far import far
from weald.runtime.jit import ZERO, bare_inner_kernel, bare_kernel, inlined
from weald.runtime.prefetch import prefetch
from weald.runtime.random import TREE_COLUMNS, below, mix, stream
from weald.runtime.references import refer
from weald.tree.cart.absolute import rank_rows
from weald.tree.cart.items import AHEAD
from weald.tree.cart.leaves import fill_leaves
from weald.tree.cart.node import find_split, score_before, sum_node
from weald.tree.cart.sample import open_tree
from weald.tree.cart.search import NO_SCORE
from weald.tree.cart.state import (
    ABSOLUTE,
    BIN,
    FEATURE,
    HALF,
    LEFT_BINS,
    LEFT_ROWS,
    LOW,
    MISSING_LEFT,
    SQUARED,
    CartPlan,
    CartRows,
    CartTable,
    Labels,
    Medians,
    Node,
    NodeRows,
    Open,
    Scratch,
    Tree,
    Trees,
)
from weald.tree.growth.frontier import pop, push
from weald.tree.splits.categories import has_bin
from weald.tree.state import BIN_WORDS, LEAFWISE

EPSILON = 2.220446049250313e-16


@bare_inner_kernel
def _move_rows(
    table: CartTable, split: Int64s, begin: Int, end: int, source: Uint64s, target: Uint64s
) -> None:
    """Rows of a split node to its children's places on the other side, in their old order."""
    feature, last, missing_left = split[FEATURE], split[BIN], split[MISSING_LEFT]
    categorical, left_bins = table.categorical[feature], split[LEFT_BINS:]
    bins, missing, width = table.rows, table.n_bins[feature], np.uint64(len(table.n_bins))
    to_left, to_right = begin, begin + split[LEFT_ROWS]
    final, column = np.uint64(end - 1), np.uint64(feature)
    for i in range(np.uint64(begin), np.uint64(end)):
        prefetch(bins, np.int64((source[min(i + np.uint64(AHEAD), final)] >> HALF) * width + column))
        entry = source[i]
        value = np.int64(bins[(entry >> HALF) * width + column])
        go = has_bin(left_bins, value) if categorical else np.int64(value <= last)
        go = missing_left if value == missing else go
        target[np.uint64(to_left if go else to_right)] = entry
        to_left += go
        to_right += 1 - go


@bare_inner_kernel
def _draw_tree_columns(count: int, key: np.uint64, columns: Int64s, swaps: Int64s) -> None:
    """The tree's columns, ascending, into the first places of ``columns``."""
    width = len(columns)
    for column in range(width):
        columns[column] = column
    if count == width:
        return
    columns_key = stream(key, TREE_COLUMNS)
    for place in range(count):
        other = place + below(mix(columns_key + np.uint64(place)), width - place)
        columns[place], columns[other] = columns[other], columns[place]
    for place in range(width):
        swaps[columns[place]] = place
    size = 0
    for column in range(width):
        if swaps[column] < count:
            columns[size] = column
            size += 1


@inlined
def _tree_weight(plan: CartPlan, entries: Uint64s, n_rows: int) -> float:
    weight = 0.0
    for i in range(n_rows):
        weight += np.float64(np.int64(entries[i] & LOW) >> plan.code_bits)
    return weight


@inlined
def _consider(
    plan: CartPlan,
    table: CartTable,
    labels: Labels,
    tree: Tree,
    number: int,
    n_rows: int,
    rows: CartRows,
    scratch: Scratch,
    medians: Medians,
    nodes: Open,
) -> float:
    """Decrease of impurity by the node's best split, which becomes its candidate; NO_SCORE where it is not to be split."""
    depth, begin, end = nodes.depth[number], nodes.begin[number], nodes.begin[number] + n_rows
    if depth >= plan.max_depth or n_rows < max(plan.min_samples_split, 2 * plan.min_samples_leaf):
        return NO_SCORE
    entries = rows.entries[depth % 2, 0]
    weight, square, pure = sum_node(plan, entries, begin, end, labels.codes, rows.amounts, scratch.totals)
    least_weight = plan.min_weight_leaf * tree.weight
    if pure or weight < 2.0 * least_weight:
        return NO_SCORE
    if plan.criterion == ABSOLUTE:
        far(rank_rows, (plan.n_outputs, depth % 2, begin, end, rows, medians))
    node = Node(number, begin, end, weight, square, least_weight)
    before = score_before(plan, node, scratch, medians)
    candidate = nodes.candidate[number]
    own = NodeRows(entries, labels.codes, rows.amounts)
    score = find_split(plan, node, table, tree.key, own, scratch, medians, candidate)
    decrease = max(score - before, 0.0) * tree.unit / (plan.n_outputs * tree.weight)
    if score == NO_SCORE or decrease + EPSILON < plan.min_impurity_decrease:
        return NO_SCORE
    return decrease


@inlined
def _split(
    table: CartTable,
    number: int,
    count: int,
    first: int,
    n_nodes: int,
    rows: CartRows,
    nodes: Open,
    trees: Trees,
) -> None:
    """Carry out the node's candidate: its rows move to the new nodes ``n_nodes`` and ``n_nodes + 1``."""
    split, side = nodes.candidate[number], nodes.depth[number] % 2
    begin, n_left = nodes.begin[number], split[LEFT_ROWS]
    for order in range(rows.entries.shape[1]):
        _move_rows(
            table, split, begin, begin + count, rows.entries[side, order], rows.entries[1 - side, order]
        )
    trees.feature[first + number], trees.left[first + number] = split[FEATURE], n_nodes
    trees.split_bin[first + number], trees.missing_left[first + number] = split[BIN], split[MISSING_LEFT]
    if table.categorical[split[FEATURE]]:
        for word in range(BIN_WORDS):
            trees.left_bins[first + number, word] = split[LEFT_BINS + word]
    for child in range(2):
        place = n_nodes + child
        nodes.depth[place] = nodes.depth[number] + 1
        nodes.begin[place] = begin + child * n_left
        trees.feature[first + place], trees.gain[first + place] = -1, 0.0
        trees.n_rows[first + place] = count - n_left if child else n_left


@inlined
def _grow_tree(
    plan: CartPlan,
    table: CartTable,
    labels: Labels,
    key: np.uint64,
    first: int,
    rows: CartRows,
    scratch: Scratch,
    medians: Medians,
    nodes: Open,
    trees: Trees,
) -> int:
    """Grow one tree into ``trees`` from the place ``first`` on; the number of its nodes."""
    _draw_tree_columns(plan.columns_per_tree, key, scratch.columns, scratch.swaps)
    drawn, unit = open_tree(plan, key, labels, rows)
    unit = unit * unit if plan.criterion == SQUARED else unit
    tree = Tree(key, unit, _tree_weight(plan, rows.entries[0, 0], drawn))
    waiting, heap, gain, count = nodes.waiting, nodes.heap, trees.gain[first:], trees.n_rows[first:]
    nodes.depth[0], nodes.begin[0], waiting[0] = 0, 0, 0
    trees.feature[first], gain[0], count[0] = -1, 0.0, drawn
    n_nodes, n_waiting, heap_size = 1, 1, 0
    while True:
        if n_waiting > 0:
            n_waiting -= 1
            number = waiting[n_waiting]
            decrease = _consider(
                plan, table, labels, tree, number, count[number], rows, scratch, medians, nodes
            )
            if decrease == NO_SCORE:
                continue
            gain[number] = decrease
            if plan.max_leaves > 0:
                heap_size = push(heap, heap_size, number, gain, LEAFWISE)
                continue
        elif heap_size > 0 and n_nodes < 2 * plan.max_leaves - 1:
            number = pop(heap, heap_size, gain, LEAFWISE)
            heap_size -= 1
        else:
            break
        _split(table, number, count[number], first, n_nodes, rows, nodes, trees)
        waiting[n_waiting], waiting[n_waiting + 1] = n_nodes + 1, n_nodes
        n_waiting += 2
        n_nodes += 2
    for i in range(heap_size):
        gain[heap[i]] = 0.0  # never split
    return n_nodes


@bare_kernel
def grow_trees(
    plan: CartPlan,
    table: CartTable,
    labels: Labels,
    keys: Uint64s,
    rows: CartRows,
    scratch: Scratch,
    medians: Medians,
    nodes: Open,
    sizes: Int64s,
    trees: Trees,
) -> None:
    """Grow a tree for every key into ``trees``; ``sizes`` (trees, 2): nodes and leaves of each.

    Node 0 is the root, siblings are neighbours. A tree follows from its key, the data and the plan.
    """
    plan, table, labels, rows = refer(plan), refer(table), refer(labels), refer(rows)
    scratch, medians, nodes, trees = refer(scratch), refer(medians), refer(nodes), refer(trees)
    first, leaves_before = ZERO, ZERO
    for tree in range(len(keys)):
        n_nodes = np.int64(
            _grow_tree(plan, table, labels, keys[tree], first, rows, scratch, medians, nodes, trees)
        )
        n_leaves = fill_leaves(
            plan, labels, rows, nodes.depth, nodes.begin, first, n_nodes, leaves_before, scratch.sums, trees
        )
        sizes[tree, 0], sizes[tree, 1] = n_nodes, n_leaves
        first += n_nodes
        leaves_before += n_leaves
