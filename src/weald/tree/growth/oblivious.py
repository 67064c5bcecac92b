"""Oblivious (symmetric) trees: all nodes of a level share one split, as in CatBoost.

The common split maximises the sum of the nodes' gains, or the cosine over all leaves (level.py). A node whose children would
be too small gains nothing from it; it is split all the same, for symmetry, and its too small leaves take the value of an
ancestor (see tree.py).
Likewise a node whose children's values would be in the wrong order for a monotone constraint: the best values in the right
order are both the node's own, so that is where the children's bounds meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Bools, Float64s, Int, Int64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ONE, inlined, inner_kernel, kernel
from weald.runtime.references import refer, whole
from weald.tree.growth.grower import (
    ROOT,
    by_size,
    columns_of_node,
    give_histogram,
    place_root,
    settle_root,
    split_node,
    value_of_node,
)
from weald.tree.histograms.bundled import mark_members
from weald.tree.histograms.sparse import mark_promising
from weald.tree.search import Search
from weald.tree.splits.constraints import (
    NOT_ALLOWED,
    ConstraintState,
    allowed_columns,
    bounds_of,
    inherit,
    is_constrained,
    open_root,
    part,
)
from weald.tree.splits.gain import children_score, gain_over, parent_score
from weald.tree.splits.level import score_features
from weald.tree.splits.noise import noise_of
from weald.tree.splits.score import SMALLEST_HESSIAN, is_by_set, rules_of_sets, smallest_hessian
from weald.tree.splits.split import copy_candidate, left_sums
from weald.tree.state import (
    BYTE_BINS,
    FEATURE,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    NOBODY,
    Gradients,
    Nodes,
    Rules,
    TreeInput,
)

if TYPE_CHECKING:
    from weald.tree.exact.state import ExactInput

PARALLEL_BINS = 20_000  # (node, feature, bin) triples from which the search is shared among threads


@kernel
def grow_oblivious(search: Search, features: NDArray[np.int64], n_rows: int, tasks: int) -> int:
    """Grow a tree level by level, at least one, from ``work.entries[0, :n_rows]``; the number of nodes is returned."""
    search = refer(search)
    data, gradients, rules, nodes, state = (
        search.data,
        search.gradients,
        search.rules,
        search.nodes,
        search.state,
    )
    place_root(nodes, n_rows)
    open_root(state)
    first, n_nodes, n_slots = ROOT, ONE, 0
    for depth in range(rules.max_depth):
        for left in range(first, n_nodes, 2):
            sibling = NOBODY
            for node in by_size(nodes, left) if depth > 0 else (ROOT, NOBODY):
                if node != NOBODY:
                    parent = (left - 1) // 2  # levels are full, so nodes are numbered as in a heap
                    n_slots = give_histogram(search, features, tasks, parent, node, sibling, n_slots)
                    sibling = node
        if depth == 0:
            settle_root(gradients, rules, nodes, state)
        # All nodes of a level have the same columns on their paths.
        chosen = allowed_columns(state, first, columns_of_node(features, rules, search.key, depth, first))
        if not choose_split(search, chosen, tasks, first, n_nodes):
            break
        last = n_nodes
        for node in range(first, last):
            split_node(search, tasks, node, n_nodes)
            if is_constrained(state):
                far(pass_on_level_bounds, (data, gradients, rules, nodes, state, node, n_nodes))
            n_nodes += 2
        first = last
    return n_nodes


@inlined
def choose_split(search: Search, features: Int64s, tasks: int, first: int, last: int) -> bool:
    """Find the level's split and write it to every node's candidate; False when no split pays."""
    data, gradients, rules, nodes = search.data, search.gradients, search.rules, search.nodes
    if data.sparse or len(data.sizes) > 0:
        marks = np.zeros(len(features), np.bool_)
        far(_mark_level, (search, features, tasks, first, last, marks))
        features = features[marks]
    if len(features) == 0:
        return False
    found = np.zeros((len(features), nodes.candidate.shape[1]), np.int64)
    gains = np.zeros(len(features), np.float64)
    used = tasks if (last - first) * len(features) * BYTE_BINS >= PARALLEL_BINS else ONE
    score_features(used, search, features, first, last, found, gains)
    best = best_of_level(gains, features, gradients, rules, search.key, first, last - first)
    if best == NOBODY:
        return False
    is_set = is_by_set(data, found[best, FEATURE], rules)
    score_rules = refer(rules_of_sets(rules) if is_set else whole(rules))
    for node in range(first, last):
        sums = left_sums(data, gradients, search.work, nodes, node, found[best])
        write_candidate(gradients, rules, score_rules, nodes, search.state, node, found[best], sums)
    send_unseen(nodes, first, last)
    return True


@returns(types.none)
@inner_kernel
def _mark_level(search: Search, features: Int64s, tasks: int, first: int, last: int, marks: Bools) -> None:
    """Mark the features of a sparse or bundled table that may divide a node of the level."""
    data, rules, nodes, packed = search.data, search.rules, search.nodes, search.gradients.packed
    fewest = max(1, rules.min_samples_leaf)
    smallest = smallest_hessian(rules, search.gradients)
    for node in range(first, last):
        histogram, n_rows = search.work.pool[nodes.slot[node]], nodes.end[node] - nodes.begin[node]
        if data.sparse:
            far(mark_promising, (histogram, data, features, packed, fewest, smallest, tasks, marks))
        else:
            far(mark_members, (histogram, data, features, n_rows, packed, fewest, smallest, marks))


@inlined
def best_of_level(
    gains: Float64s,
    features: Int64s,
    gradients: Gradients,
    rules: Rules,
    key: np.uint64,
    first: int,
    n_nodes: int,
) -> int:
    """The place of the largest of the columns' gains, with noise if there is any; of equals the first, NOBODY when none pays."""
    best: Any = NOBODY
    most = 0.0
    for j in range(len(gains)):
        gain = gains[j] * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
        if 0.5 * gain - rules.gamma * n_nodes <= 1e-14 * gain:
            continue
        noisy = gains[j]
        if rules.noise > 0.0:
            noisy += rules.noise * noise_of(key, first, features[j])
        if best == NOBODY or noisy > most:
            best, most = np.int64(j), noisy
    return best


@inlined
def send_unseen(nodes: Nodes, first: int, last: int) -> None:
    """Where a level has no missing value (-1), send those to come where most rows go."""
    if nodes.candidate[first, MISSING_LEFT] != -1:
        return
    total, total_left = 0, 0
    for node in range(first, last):
        total += nodes.end[node] - nodes.begin[node]
        total_left += nodes.candidate[node, LEFT_COUNT]
    for node in range(first, last):
        nodes.candidate[node, MISSING_LEFT] = np.int64(2 * total_left >= total)


@inner_kernel
def write_candidate(
    gradients: Gradients,
    rules: Rules,
    score_rules: Rules,
    nodes: Nodes,
    state: ConstraintState,
    node: int,
    split: Int64s,
    sums: tuple[Int, Int, Int],
) -> None:
    """Make the level's split the node's candidate; ``sums``: those of its left child; ``score_rules``: the children's."""
    g, h, n = sums
    feature, count = split[FEATURE], nodes.end[node] - nodes.begin[node]
    candidate = nodes.candidate[node]
    copy_candidate(split, candidate)
    candidate[LEFT_GRADIENT], candidate[LEFT_HESSIAN], candidate[LEFT_COUNT] = g, h, n
    g_all, h_all = nodes.gradient_sum[node], nodes.hessian_sum[node]
    gain = 0.0
    fewest = max(1, rules.min_samples_leaf)
    if min(n, count - n) >= fewest and min(h, h_all - h) * gradients.hessian_unit >= max(
        rules.min_child_weight, SMALLEST_HESSIAN
    ):
        bounds, totals = bounds_of(state, node, feature), (g_all, h_all, count)
        children = children_score(sums, totals, gradients, score_rules, bounds)
        if children > NOT_ALLOWED:
            gain = gain_over(children, parent_score(totals, gradients, rules, bounds), rules)
    nodes.candidate_gain[node] = gain


@inlined
def _is_between(data: ExactInput | TreeInput, nodes: Nodes, node: int, column: Int, split_bin: Int) -> bool:
    """Whether the earlier splits of a node's path leave values of the column on both sides of the threshold."""
    lowest, highest = np.int64(-1), data.n_bins[column] - 1
    while node != ROOT:
        parent = (node - 1) // 2
        if nodes.feature[parent] == column:
            bin_above = np.int64(nodes.split_bin[parent])
            if node % 2 == 1:
                highest = min(highest, bin_above)
            else:
                lowest = max(lowest, bin_above)
        node = parent
    return lowest < split_bin < highest


@returns(types.none)
@inner_kernel
def pass_on_level_bounds(
    data: ExactInput | TreeInput,
    gradients: Gradients,
    rules: Rules,
    nodes: Nodes,
    state: ConstraintState,
    node: int,
    left: int,
) -> None:
    """What the level's split means for the constraints of a node's children.

    A child with too few rows counts with the node's own value, as it will take an ancestor's. Where only one child can have
    rows whose value of the column is known, there is nothing to keep in order.
    """
    column = np.int64(nodes.feature[node])
    inherit(state, node, column, left)
    bounds = bounds_of(state, node, column)
    if bounds.sign == 0 and rules.path_smooth == 0.0:
        return
    own = bounds.value
    if rules.path_smooth == 0.0:
        own = value_of_node(gradients, rules, nodes, bounds, node)
    left_value, right_value, right = own, own, left + 1
    fewest = max(1, rules.min_samples_leaf)
    score_rules = rules_of_sets(rules) if is_by_set(data, column, rules) else whole(rules)
    if nodes.end[left] - nodes.begin[left] >= fewest:
        left_value = value_of_node(gradients, score_rules, nodes, bounds, left)
    if nodes.end[right] - nodes.begin[right] >= fewest:
        right_value = value_of_node(gradients, score_rules, nodes, bounds, right)
    is_ordered = bounds.sign != 0 and _is_between(data, nodes, node, column, np.int64(nodes.split_bin[node]))
    if is_ordered and np.float64(bounds.sign) * (right_value - left_value) < 0.0:
        left_value, right_value = own, own
    if rules.path_smooth > 0.0:
        state.values[left], state.values[right] = left_value, right_value
    if is_ordered:
        part(state, column, left_value, right_value, left)
