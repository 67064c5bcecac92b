"""Growing one tree, leaf by leaf: the loop of leaf-wise (LightGBM) and depth-wise (XGBoost) growth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Int, Int64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ONE, ZERO, bare_inner_kernel, inlined, inner_kernel, kernel
from weald.runtime.random import choose, mix
from weald.runtime.references import refer, whole
from weald.tree.growth.frontier import pop, push
from weald.tree.histograms.bundled import column_of, fill_codes_left, in_bundle, stored_columns
from weald.tree.histograms.cells import cell_words, read_cell
from weald.tree.histograms.histogram import build_histogram, subtract_histogram
from weald.tree.histograms.sparse import (
    build_sparse_histogram,
    clear_column,
    fill_column,
    subtract_sparse_histogram,
    sum_entries,
)
from weald.tree.rows.partition import fill_goes_left, partition
from weald.tree.search import Search
from weald.tree.splits.constraints import (
    Bounds,
    ConstraintState,
    allowed_columns,
    bounded_value,
    bounds_of,
    inherit,
    is_constrained,
    open_root,
    part,
)
from weald.tree.splits.forced import (
    ForcedSplits,
    force_split,
    hand_down,
    has_forced,
    next_forced,
    open_forced,
)
from weald.tree.splits.gain import NO_GAIN
from weald.tree.splits.score import is_by_set, leaf_value, rules_of_sets
from weald.tree.splits.split import find_best_split
from weald.tree.state import (
    BIN,
    FEATURE,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    NOBODY,
    Gradients,
    Nodes,
    NodeSums,
    Rules,
    TreeInput,
)

if TYPE_CHECKING:
    from weald.tree.exact.state import ExactInput

ROOT = ZERO


@kernel
def grow_tree(
    search: Search, features: NDArray[np.int64], n_rows: int, tasks: int, forced: ForcedSplits
) -> int:
    """Grow a tree from ``work.entries[0, :n_rows]``; the number of nodes is returned, the tree is in ``nodes``."""
    search, forced = refer(search), refer(forced)
    nodes, rules = search.nodes, search.rules
    place_root(nodes, n_rows)
    open_root(search.state)
    open_forced(forced)
    heap_size, n_nodes, n_leaves, n_slots = ZERO, ONE, 1, 0
    parent, fresh = NOBODY, (ROOT, NOBODY)  # who has no histogram yet: the root, later two siblings
    while True:
        sibling = NOBODY
        for node in fresh:
            if node != NOBODY:
                n_slots = give_histogram(search, features, tasks, parent, node, sibling, n_slots)
                if node == ROOT:
                    settle_root(search.gradients, rules, nodes, search.state)
                is_forced = len(forced.node) > 0 and far(force_split, (search, node, forced))
                if not is_forced:
                    heap_size = _consider(search, features, tasks, node, heap_size)
                sibling = node
        parent = next_forced(forced, nodes)
        if n_leaves == rules.max_leaves or (parent == NOBODY and heap_size == 0):
            return n_nodes
        if parent == NOBODY:
            parent = pop(search.work.heap, heap_size, nodes.candidate_gain, rules.growth)
            heap_size -= 1
        split_node(search, tasks, parent, n_nodes)
        if is_constrained(search.state):
            far(pass_on_bounds, (search.data, search.gradients, rules, nodes, search.state, parent, n_nodes))
        hand_down(forced, parent, n_nodes)
        fresh = by_size(nodes, n_nodes)
        n_nodes += 2
        n_leaves += 1
        if n_leaves == rules.max_leaves or not (
            may_split(nodes, rules, fresh[1]) or has_forced(forced, nodes, fresh)
        ):
            fresh = (NOBODY, NOBODY)  # nobody will ask for the children's histograms


@inlined
def place_root(nodes: Nodes, n_rows: int) -> None:
    """Make node 0 of all entries."""
    _place(nodes, ROOT, 0, 0, n_rows, 0)


@inlined
def give_histogram(
    search: Search, features: Int64s, tasks: int, parent: Int, node: Int, sibling: Int, n_slots: int
) -> int:
    """Make the node's histogram: the parent's less that of a smaller ``sibling``, or counted from its rows.

    It is counted into a new slot, or into the last one, which is shared, once the others are taken. The number of
    taken slots is returned.
    """
    data, packed, pool, nodes = search.data, search.gradients.packed, search.work.pool, search.nodes
    shared = len(pool) - 1
    begin, end = nodes.begin[node], nodes.end[node]
    if sibling != NOBODY and nodes.slot[parent] < shared:
        nodes.slot[node] = nodes.slot[parent]
        all_cells, child = pool[nodes.slot[parent]], pool[nodes.slot[sibling]]
        all_rows = nodes.end[parent] - nodes.begin[parent]
        child_rows = nodes.end[sibling] - nodes.begin[sibling]
        if data.sparse:
            far(subtract_sparse_histogram, (data, packed, tasks, all_cells, child))
        else:
            far(subtract_histogram, (packed, all_rows, child_rows, tasks, all_cells, child))
        return n_slots
    nodes.slot[node] = min(n_slots, shared)
    if data.sparse:
        far(_build_sparse, (search, features, node, tasks))
        return min(n_slots + 1, shared)
    gradients, work, out = search.gradients, search.work, pool[nodes.slot[node]]
    entries = work.entries[nodes.side[node]]
    in_order = node == ROOT and end == data.columns.shape[1]  # nothing was left out by sampling
    places = far(stored_columns, (data, features)) if len(data.stored) > 0 else features
    far(build_histogram, (data, places, gradients, entries, in_order, begin, end, tasks, work, out))
    if node == ROOT:
        sum_root(data, features, gradients, nodes, out)
    return min(n_slots + 1, shared)


@returns(types.none)
@inner_kernel
def _build_sparse(search: Search, features: Int64s, node: int, tasks: int) -> None:
    """Count the histogram of a node of a sparse table, and the root's sums."""
    gradients, work, nodes = search.gradients, search.work, search.nodes
    begin, end = nodes.begin[node], nodes.end[node]
    entries, out = work.entries[nodes.side[node]], work.pool[nodes.slot[node]]
    far(build_sparse_histogram, (search.data, features, gradients, entries, begin, end, tasks, work, out))
    if node == ROOT:
        nodes.gradient_sum[ROOT], nodes.hessian_sum[ROOT] = far(sum_entries, (gradients, entries, end))


@inlined
def sum_root(
    data: TreeInput, features: Int64s, gradients: Gradients, nodes: Nodes, histogram: Int64s
) -> None:
    """Sum the root's gradients and hessians over the cells of one column of its histogram."""
    words = cell_words(gradients.packed, nodes.end[ROOT])
    nodes.gradient_sum[ROOT] = 0
    nodes.hessian_sum[ROOT] = 0
    first, size = data.offsets[features[0]], data.n_bins[features[0]] + 1
    if len(data.stored) > 0:
        place = data.stored[features[0]]
        first = data.stored_offsets[place]
        size = np.int64(data.stored_offsets[place + 1] - first)
    for b in range(size):
        g, h, _ = read_cell(histogram, words, first + np.uint64(b))
        nodes.gradient_sum[ROOT] += g
        nodes.hessian_sum[ROOT] += h


@inlined
def _place(nodes: Nodes, node: int, depth: int, begin: int, end: int, side: int) -> None:
    nodes.feature[node] = -1
    nodes.left[node] = 0
    nodes.gain[node] = 0.0
    nodes.depth[node] = depth
    nodes.begin[node] = begin
    nodes.end[node] = end
    nodes.side[node] = side
    nodes.slot[node] = -1
    nodes.candidate_gain[node] = NO_GAIN


@inlined
def split_node(search: Search, tasks: int, node: Int, left: int) -> None:
    """Carry out the node's candidate split: children ``left`` and ``left + 1`` get its rows and its sums."""
    data, work, nodes = search.data, search.work, search.nodes
    candidate = nodes.candidate[node]
    feature = candidate[FEATURE]
    goes_left = np.zeros(data.most_bins, np.uint8)
    fill_goes_left(
        data.n_bins[feature],
        data.categorical[feature],
        candidate[BIN],
        candidate[LEFT_BINS:],
        candidate[MISSING_LEFT],
        goes_left,
    )
    begin, end, side = nodes.begin[node], nodes.end[node], nodes.side[node]
    n_left = candidate[LEFT_COUNT]
    source, column = work.entries[side], work.column
    if data.sparse:
        far(fill_column, (data, feature, source, begin, end, column, goes_left))
    else:
        column = data.columns[column_of(data, feature)]
        if in_bundle(data, feature):
            goes_left = far(fill_codes_left, (data, feature, goes_left))
    far(
        partition,
        (column, goes_left, source, begin, end, n_left, tasks, work.chunk_counts, work.entries[1 - side]),
    )
    if data.sparse:
        far(clear_column, (data, feature, source, begin, end, column))
    place_children(nodes, node, left)


@inlined
def place_children(nodes: Nodes, node: Int, left: int) -> None:
    """Write down the node's candidate as its split, and make the children ``left`` and ``left + 1`` of its rows and sums."""
    candidate = nodes.candidate[node]
    nodes.feature[node] = candidate[FEATURE]
    nodes.split_bin[node] = candidate[BIN]
    for word in range(nodes.left_bins.shape[1]):
        nodes.left_bins[node, word] = candidate[LEFT_BINS + word]
    nodes.missing_left[node] = candidate[MISSING_LEFT]
    nodes.left[node] = left
    nodes.gain[node] = nodes.candidate_gain[node]
    begin, end, side = nodes.begin[node], nodes.end[node], nodes.side[node]
    n_left = candidate[LEFT_COUNT]
    depth = nodes.depth[node] + 1
    _place(nodes, left, depth, begin, begin + n_left, 1 - side)
    _place(nodes, left + 1, depth, begin + n_left, end, 1 - side)
    nodes.gradient_sum[left] = candidate[LEFT_GRADIENT]
    nodes.hessian_sum[left] = candidate[LEFT_HESSIAN]
    nodes.gradient_sum[left + 1] = nodes.gradient_sum[node] - candidate[LEFT_GRADIENT]
    nodes.hessian_sum[left + 1] = nodes.hessian_sum[node] - candidate[LEFT_HESSIAN]


@inlined
def settle_root(gradients: Gradients, rules: Rules, nodes: Nodes, state: ConstraintState) -> None:
    """Where values are smoothed: the root's, once its sums are known, is its own."""
    if rules.path_smooth > 0.0:
        gradient = nodes.gradient_sum[ROOT] * gradients.gradient_unit
        hessian = nodes.hessian_sum[ROOT] * gradients.hessian_unit
        state.values[ROOT] = leaf_value(gradient, hessian, rules)


@inlined
def value_of_node(gradients: Gradients, rules: Rules, nodes: Nodes, bounds: Bounds, node: int) -> float:
    """The value of a node's sums, smoothed and clipped by the bounds."""
    gradient = nodes.gradient_sum[node] * gradients.gradient_unit
    hessian = nodes.hessian_sum[node] * gradients.hessian_unit
    return bounded_value(gradient, hessian, nodes.end[node] - nodes.begin[node], bounds, rules)


@returns(types.none)
@bare_inner_kernel
def pass_on_bounds(
    data: ExactInput | TreeInput,
    gradients: Gradients,
    rules: Rules,
    nodes: Nodes,
    state: ConstraintState,
    node: int,
    left: int,
) -> None:
    """What a split means for the children's constraints."""
    column = np.int64(nodes.feature[node])
    inherit(state, node, column, left)
    bounds = bounds_of(state, node, column)
    if bounds.sign == 0 and rules.path_smooth == 0.0:
        return
    score_rules = rules_of_sets(rules) if is_by_set(data, column, rules) else whole(rules)
    left_value = value_of_node(gradients, score_rules, nodes, bounds, left)
    right_value = value_of_node(gradients, score_rules, nodes, bounds, left + 1)
    if rules.path_smooth > 0.0:
        state.values[left], state.values[left + 1] = left_value, right_value
    if bounds.sign != 0:
        part(state, column, left_value, right_value, left)


@inlined
def by_size(nodes: Nodes, left: Int) -> tuple[Int, Int]:
    """The children ``left`` and ``left + 1``, the one with fewer rows first."""
    if nodes.end[left] - nodes.begin[left] > nodes.end[left + 1] - nodes.begin[left + 1]:
        return left + 1, left
    return left, left + 1


@inlined
def may_split(nodes: Nodes, rules: Rules, node: Int) -> bool:
    """Whether a node is neither too deep nor too small to be split."""
    count = nodes.end[node] - nodes.begin[node]
    fewest = max(2 * max(1, rules.min_samples_leaf), rules.min_samples_split)
    return nodes.depth[node] < rules.max_depth and count >= fewest


@inlined
def columns_of_node(features: Int64s, rules: Rules, key: np.uint64, depth: int, node: Int) -> Int64s:
    """The tree's columns, sampled by level and then by node."""
    if rules.level_share < 1.0:
        features = far(choose, (features, rules.level_share, mix(key + np.uint64(2 * depth))))
    if rules.node_share < 1.0:
        features = far(choose, (features, rules.node_share, mix(key + np.uint64(2 * node + 1))))
    return features


@inlined
def _consider(search: Search, features: Int64s, tasks: int, node: Int, heap_size: int) -> int:
    """Find the node's best split and, if there is one, open the node: push it onto the heap."""
    if not search_node(search, features, tasks, node):
        return heap_size
    return push(search.work.heap, heap_size, node, search.nodes.candidate_gain, search.rules.growth)


@inlined
def search_node(search: Search, features: Int64s, tasks: int, node: Int) -> bool:
    """Find the node's best split from its histogram; whether there is one, which is then its candidate."""
    rules, nodes, state = search.rules, search.nodes, search.state
    if not may_split(nodes, rules, node):
        return False
    totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
    sums = refer(NodeSums(search.work.pool[nodes.slot[node]], totals, node, search.key))
    drawn = columns_of_node(features, rules, search.key, nodes.depth[node], node)
    chosen, best = allowed_columns(state, node, drawn), nodes.candidate[node]
    gain = far(find_best_split, (sums, search.data, chosen, search.gradients, rules, state, tasks, best))
    if gain == NO_GAIN or gain < rules.min_gain:
        return False
    nodes.candidate_gain[node] = gain
    return True
