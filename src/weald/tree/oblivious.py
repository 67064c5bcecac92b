"""Oblivious (symmetric) trees: all nodes of a level share one split, as in CatBoost.

The common split maximises the sum of the nodes' gains. A node whose children would be too small gains nothing from it;
it is split all the same, for symmetry, and its too small leaves take the value of an ancestor (see tree.py). Likewise a
node whose children's values would be in the wrong order for a monotone constraint: the best values in the right order are both
the node's own, so that is where the children's bounds meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import ONE, ZERO, inlined, inner_kernel, kernel, parallel_inner_kernel
from weald.tree.categories import fill_ordered, has_bin, put_only_bin, settle_set, sort_bins, sort_key
from weald.tree.constraints import (
    NOT_ALLOWED,
    Bounds,
    ConstraintState,
    allowed_columns,
    bounded_value,
    bounds_of,
    inherit,
    open_root,
    part,
)
from weald.tree.grower import (
    NOBODY,
    ROOT,
    by_size,
    columns_of_node,
    give_histogram,
    place_root,
    split_node,
)
from weald.tree.histogram import cell_words, packed_count, packed_gradient, packed_hessian, read_cell
from weald.tree.score import SMALLEST_HESSIAN
from weald.tree.sparse import mark_promising, read_bin, sparse_prefix_sums
from weald.tree.split import (
    MOST_BINS,
    Scratch,
    clipped_pair,
    copy_candidate,
    new_scratch,
    pair_score,
    parent_score,
    score_prefixes,
)
from weald.tree.state import (
    BIN,
    CANDIDATE,
    FEATURE,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    Gradients,
    Nodes,
    Rules,
    TreeInput,
    Workspace,
)

PARALLEL_BINS = 20_000  # (node, feature, bin) triples from which the search is shared among threads


@kernel
def grow_oblivious(
    data: TreeInput,
    features: NDArray[np.int64],
    gradients: Gradients,
    rules: Rules,
    key: int,
    n_rows: int,
    tasks: int,
    work: Workspace,
    nodes: Nodes,
    state: ConstraintState,
) -> Any:
    """Grow a tree level by level, at least one, from ``work.entries[0, :n_rows]``; the number of nodes is returned."""
    place_root(nodes, n_rows)
    open_root(state)
    first, n_nodes, n_slots = ROOT, ONE, 0
    for depth in range(rules.max_depth):
        for left in range(first, n_nodes, 2):
            sibling = NOBODY
            for node in by_size(nodes, left) if depth > 0 else (ROOT, NOBODY):
                if node != NOBODY:
                    parent = (left - 1) // 2  # levels are full, so nodes are numbered as in a heap
                    n_slots = give_histogram(
                        data, features, gradients, tasks, work, nodes, parent, node, sibling, n_slots
                    )
                    sibling = node
        # All nodes of a level have the same columns on their paths.
        chosen = allowed_columns(state, first, columns_of_node(features, rules, key, depth, first))
        if not _choose_split(data, chosen, gradients, rules, tasks, work, nodes, state, first, n_nodes):
            break
        last = n_nodes
        for node in range(first, last):
            split_node(data, tasks, work, nodes, node, n_nodes)
            pass_on_level_bounds(data, gradients, rules, nodes, state, node, n_nodes)
            n_nodes += 2
        first = last
    return n_nodes


@inlined
def _dense_prefix(histogram: Any, words: Any, first: Any, n_bins: Any, prefix: Scratch) -> None:
    """Prefix sums at every bin, also at empty ones: the bins of several nodes must stand side by side."""
    if words == 1:
        cells = histogram[0]
        total = np.int64(0)
        for b in range(np.uint64(n_bins)):
            total += cells[first + b]
            prefix.rows[b] = total
        for b in range(np.uint64(n_bins)):
            word = prefix.rows[b]
            prefix.gradient[b] = packed_gradient(word)
            prefix.hessian[b] = packed_hessian(word)
            prefix.rows[b] = packed_count(word)
        return
    g_left, h_left, n_left = np.int64(0), np.int64(0), np.int64(0)
    for b in range(np.uint64(n_bins)):
        g_bin, h_bin, n_bin = read_cell(histogram, words, first + b)
        g_left += g_bin
        h_left += h_bin
        n_left += n_bin
        prefix.gradient[b] = g_left
        prefix.hessian[b] = h_left
        prefix.rows[b] = n_left


@inlined
def add_gains(
    prefix: Scratch,
    n_bins: Any,
    added: Any,
    totals: Any,
    own: Any,
    gradients: Any,
    rules: Rules,
    bounds: Bounds,
    sums: Any,
) -> None:
    """Add one node's gain for every threshold to ``sums``; nothing where a child would be too small or out of order."""
    score_prefixes(prefix, 0, n_bins, added[0], added[1], totals, gradients, rules, bounds)
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    most, most_hessian = totals[2] - fewest, np.float64(totals[1]) - smallest
    rows, hessian, score = prefix.rows, prefix.hessian, prefix.score
    for b in range(np.uint64(n_bins)):
        n, h = rows[b] + added[2], hessian[b] + added[1]
        allowed = (
            (n >= fewest) & (n <= most) & (h >= smallest) & (h <= most_hessian) & (score[b] > NOT_ALLOWED)
        )
        sums[b] += score[b] - own if allowed else 0.0


@inlined
def _add_category_gains(
    histogram: Any,
    words: Any,
    first: Any,
    n_bins: Any,
    totals: Any,
    own: Any,
    gradients: Any,
    rules: Any,
    bounds: Any,
    sums: Any,
) -> None:
    """The same for one category against the rest."""
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    for b in range(n_bins + 1):
        g, h, n = read_cell(histogram, words, first + np.uint64(b))
        if n >= fewest and totals[2] - n >= fewest and h >= smallest and totals[1] - h >= smallest:
            sums[b] += clipped_pair(g, h, totals[0], totals[1], gradients, rules, bounds) - own


@inlined
def _sort_level(
    data: Any,
    feature: Any,
    gradients: Any,
    rules: Any,
    work: Any,
    nodes: Any,
    first: Any,
    last: Any,
    prefix: Any,
    sums: Any,
) -> Any:
    """Sort the level's categories by the sums over its nodes into ``prefix.bins``; their number.

    ``sums``: (3, bins), gets gradient, hessian and count of every bin, also of that of missing values.
    """
    n_bins, offset = data.n_bins[feature], data.offsets[feature]
    sums[:] = 0
    for node in range(first, last):
        histogram = work.pool[nodes.slot[node]]
        words = cell_words(gradients.packed, nodes.end[node] - nodes.begin[node])
        for b in range(n_bins + 1):
            g, h, n = read_cell(histogram, words, offset + np.uint64(b))
            sums[0, b] += g
            sums[1, b] += h
            sums[2, b] += n
    size, totals = np.int64(0), (np.sum(sums[0]), np.sum(sums[1]), np.sum(sums[2]))
    for b in range(n_bins):
        own = (sums[0, b], sums[1, b], sums[2, b])
        if own[2] > 0:
            prefix.score[size], prefix.bins[size] = sort_key(own, totals, gradients, rules), b
            size += 1
    sort_bins(prefix.score, prefix.bins, size)
    return size


@inner_kernel
def _score_sets(
    data: Any,
    feature: Any,
    gradients: Any,
    rules: Any,
    work: Any,
    nodes: Any,
    state: Any,
    first: Any,
    last: Any,
    found: Any,
) -> Any:
    """`_score_feature` for two sets of categories: the order is that of the sums over the level."""
    n_bins, offset = data.n_bins[feature], data.offsets[feature]
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    prefix, gains, sums = new_scratch(), np.empty(MOST_BINS, np.float64), np.empty((3, MOST_BINS), np.int64)
    size = _sort_level(data, feature, gradients, rules, work, nodes, first, last, prefix, sums)
    n_missing = sums[2, n_bins]
    found[FEATURE] = feature
    best, total = 0.0, n_missing
    for i in range(size):
        total += sums[2, prefix.bins[i]]
    for with_missing in range(2 if n_missing > 0 else 1):
        gains[:] = 0.0
        for node in range(first, last):
            totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
            bounds = bounds_of(state, node, feature)
            own = parent_score(totals, gradients, rules, bounds) * h_unit / (g_unit * g_unit)
            histogram, words = work.pool[nodes.slot[node]], cell_words(gradients.packed, totals[2])
            g, h, n = read_cell(histogram, words, offset + np.uint64(n_bins))
            added = (g * with_missing, h * with_missing, n * with_missing)
            fill_ordered(histogram, words, offset, size, prefix)
            add_gains(prefix, size, added, totals, own, gradients, rules, bounds, gains)
        left = n_missing * with_missing
        for i in range(size):
            left += sums[2, prefix.bins[i]]
            scanned = min(i + 1, size - i - 1)
            if gains[i] > best and scanned <= rules.max_cat_threshold:
                best = gains[i]
                found[BIN], found[MISSING_LEFT], found[LEFT_COUNT] = prefix.bins[i], with_missing, left
    if best > 0.0:
        level = (ZERO, ZERO, total)
        settle_set(prefix, size, n_bins, data.gathers[feature], n_missing, level, found)
    return best


@inner_kernel
def _score_feature(
    data: Any,
    feature: Any,
    gradients: Any,
    rules: Any,
    work: Any,
    nodes: Any,
    state: Any,
    first: Any,
    last: Any,
    found: Any,
) -> Any:
    """The largest sum of doubled gains over the nodes first..last, in units of the integer sums; its place is ``found``."""
    n_bins, offset, categorical = data.n_bins[feature], data.offsets[feature], data.categorical[feature]
    if categorical and n_bins > rules.max_cat_to_onehot:
        return _score_sets(data, feature, gradients, rules, work, nodes, state, first, last, found)
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    has_missing = False
    for node in range(first, last):
        totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
        _, _, n = read_bin(work.pool[nodes.slot[node]], data, feature, n_bins, totals, gradients.packed)
        has_missing = has_missing or n > 0
    found[FEATURE] = feature
    best = 0.0
    prefix = new_scratch()
    sums = np.empty(MOST_BINS, np.float64)
    for with_missing in range(2 if has_missing and not categorical else 1):
        for b in range(MOST_BINS):
            sums[b] = 0.0
        for node in range(first, last):
            totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
            bounds = bounds_of(state, node, feature)
            own = parent_score(totals, gradients, rules, bounds) * h_unit / (g_unit * g_unit)
            histogram, words = work.pool[nodes.slot[node]], cell_words(gradients.packed, totals[2])
            if categorical:
                _add_category_gains(
                    histogram, words, offset, n_bins, totals, own, gradients, rules, bounds, sums
                )
            else:
                g, h, n = read_bin(histogram, data, feature, n_bins, totals, gradients.packed)
                added = (g * with_missing, h * with_missing, n * with_missing)
                if data.sparse:
                    sparse_prefix_sums(histogram, data, feature, totals, gradients.packed, True, prefix)
                else:
                    _dense_prefix(histogram, words, offset, n_bins, prefix)
                add_gains(prefix, n_bins, added, totals, own, gradients, rules, bounds, sums)
        for b in range(n_bins + 1):
            if sums[b] > best:
                best = sums[b]
                found[BIN] = b
                found[MISSING_LEFT] = with_missing
    if categorical:
        found[MISSING_LEFT] = np.int64(found[BIN] == n_bins)
        put_only_bin(found[LEFT_BINS:], found[BIN], n_bins)
    elif not has_missing:
        found[MISSING_LEFT] = -1  # decided by the counts
    return best


@parallel_inner_kernel
def _score_features(
    data: Any,
    features: Any,
    gradients: Any,
    rules: Any,
    work: Any,
    nodes: Any,
    state: Any,
    first: Any,
    last: Any,
    tasks: Any,
    found: Any,
    gains: Any,
) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
            gains[j] = _score_feature(
                data, features[j], gradients, rules, work, nodes, state, first, last, found[j]
            )


@inlined
def _choose_split(
    data: Any,
    features: Any,
    gradients: Any,
    rules: Any,
    tasks: Any,
    work: Any,
    nodes: Any,
    state: Any,
    first: Any,
    last: Any,
) -> Any:
    """Find the level's split and write it to every node's candidate; False when no split pays."""
    if data.sparse:
        fewest = max(1, rules.min_samples_leaf)
        smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
        marks = np.zeros(len(features), np.bool_)
        for node in range(first, last):
            histogram = work.pool[nodes.slot[node]]
            mark_promising(histogram, data, features, gradients.packed, fewest, smallest, tasks, marks)
        features = features[marks]
    if len(features) == 0:
        return False
    found = np.zeros((len(features), CANDIDATE), np.int64)
    gains = np.zeros(len(features), np.float64)
    if tasks > 1 and (last - first) * len(features) * MOST_BINS >= PARALLEL_BINS:
        _score_features(
            data, features, gradients, rules, work, nodes, state, first, last, tasks, found, gains
        )
    else:
        for j in range(len(features)):
            gains[j] = _score_feature(
                data, features[j], gradients, rules, work, nodes, state, first, last, found[j]
            )
    best = best_of_level(gains, gradients, rules, last - first)
    if best == NOBODY:
        return False
    for node in range(first, last):
        sums = _left_sums(data, gradients, work, nodes, node, found[best])
        write_candidate(gradients, rules, nodes, state, node, found[best], sums)
    send_unseen(nodes, first, last)
    return True


@inlined
def best_of_level(gains: Any, gradients: Any, rules: Any, n_nodes: Any) -> Any:
    """The place of the largest of the columns' gains, the first of equals; NOBODY when it does not pay."""
    best: Any = np.int64(0)
    for j in range(len(gains)):
        if gains[j] > gains[best]:
            best = j
    gain = gains[best] * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    return NOBODY if 0.5 * gain - rules.gamma * n_nodes <= 1e-14 * gain else best


@inlined
def send_unseen(nodes: Any, first: Any, last: Any) -> None:
    """Where a level has no missing value (-1), send those to come where most rows go."""
    if nodes.candidate[first, MISSING_LEFT] != -1:
        return
    total, total_left = 0, 0
    for node in range(first, last):
        total += nodes.end[node] - nodes.begin[node]
        total_left += nodes.candidate[node, LEFT_COUNT]
    for node in range(first, last):
        nodes.candidate[node, MISSING_LEFT] = np.int64(2 * total_left >= total)


@inlined
def _left_sums(data: Any, gradients: Any, work: Any, nodes: Any, node: Any, split: Any) -> Any:
    """Gradient, hessian and count of a node's left child under the level's split."""
    feature, n_bins = split[FEATURE], data.n_bins[split[FEATURE]]
    count = nodes.end[node] - nodes.begin[node]
    totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], count)
    histogram = work.pool[nodes.slot[node]]
    g, h, n = 0, 0, 0
    for b in range(n_bins + 1):
        in_left = b <= split[BIN]
        if data.categorical[feature]:
            in_left = has_bin(split[LEFT_BINS:], b) == 1
        if b == n_bins:
            in_left = split[MISSING_LEFT] == 1
        if in_left:
            g_bin, h_bin, n_bin = read_bin(histogram, data, feature, b, totals, gradients.packed)
            g += g_bin
            h += h_bin
            n += n_bin
    return g, h, n


@inner_kernel
def write_candidate(
    gradients: Any, rules: Any, nodes: Any, state: Any, node: Any, split: Any, sums: Any
) -> None:
    """Make the level's split the node's candidate; ``sums``: those of its left child."""
    g, h, n = sums
    feature, count = split[FEATURE], nodes.end[node] - nodes.begin[node]
    candidate = nodes.candidate[node]
    copy_candidate(split, candidate)
    candidate[LEFT_GRADIENT], candidate[LEFT_HESSIAN], candidate[LEFT_COUNT] = g, h, n
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    g_all, h_all = nodes.gradient_sum[node], nodes.hessian_sum[node]
    gain = 0.0
    fewest = max(1, rules.min_samples_leaf)
    if min(n, count - n) >= fewest and min(h, h_all - h) * h_unit >= max(
        rules.min_child_weight, SMALLEST_HESSIAN
    ):
        bounds = bounds_of(state, node, feature)
        children = pair_score(
            g * g_unit, h * h_unit, (g_all - g) * g_unit, (h_all - h) * h_unit, bounds, rules
        )
        if children > NOT_ALLOWED:
            parent = parent_score((g_all, h_all, count), gradients, rules, bounds)
            gain = 0.5 * (children - parent) - rules.gamma
    nodes.candidate_gain[node] = gain


@inlined
def _is_between(data: Any, nodes: Any, node: Any, column: Any, split_bin: Any) -> Any:
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


@inner_kernel
def pass_on_level_bounds(
    data: Any, gradients: Any, rules: Any, nodes: Any, state: Any, node: Any, left: Any
) -> None:
    """What the level's split means for the constraints of a node's children.

    A child with too few rows counts with the node's own value, as it will take an ancestor's. Where only one child can have
    rows whose value of the column is known, there is nothing to keep in order.
    """
    column = np.int64(nodes.feature[node])
    inherit(state, node, column, left)
    bounds = bounds_of(state, node, column)
    if bounds.sign == 0 or not _is_between(data, nodes, node, column, np.int64(nodes.split_bin[node])):
        return
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    own = bounded_value(nodes.gradient_sum[node] * g_unit, nodes.hessian_sum[node] * h_unit, bounds, rules)
    left_value, right_value = own, own
    fewest = max(1, rules.min_samples_leaf)
    if nodes.end[left] - nodes.begin[left] >= fewest:
        left_value = bounded_value(
            nodes.gradient_sum[left] * g_unit, nodes.hessian_sum[left] * h_unit, bounds, rules
        )
    right = left + 1
    if nodes.end[right] - nodes.begin[right] >= fewest:
        right_value = bounded_value(
            nodes.gradient_sum[right] * g_unit, nodes.hessian_sum[right] * h_unit, bounds, rules
        )
    if np.float64(bounds.sign) * (right_value - left_value) < 0.0:
        left_value, right_value = own, own
    part(state, column, left_value, right_value, left)
