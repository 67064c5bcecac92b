"""Oblivious (symmetric) trees: all nodes of a level share one split, as in CatBoost.

The common split maximises the sum of the nodes' gains. A node whose children would be too small gains nothing from it;
it is split all the same, for symmetry, and its too small leaves take the value of an ancestor (see tree.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import ONE, inlined, inner_kernel, kernel, parallel_inner_kernel
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
from weald.tree.split import (
    BIN,
    FEATURE,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    MOST_BINS,
    SMALLEST_HESSIAN,
    Scratch,
    clipped_pair,
    new_scratch,
    node_score,
    score_prefixes,
)
from weald.tree.state import Gradients, Nodes, Rules, TreeInput, Workspace

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
) -> Any:
    """Grow a tree level by level, at least one, from ``work.entries[0, :n_rows]``; the number of nodes is returned."""
    place_root(nodes, n_rows)
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
        chosen = columns_of_node(features, rules, key, depth, first)
        if not _choose_split(data, chosen, gradients, rules, tasks, work, nodes, first, n_nodes):
            break
        last = n_nodes
        for node in range(first, last):
            split_node(data, tasks, work, nodes, node, n_nodes)
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
def _add_gains(
    prefix: Scratch, n_bins: Any, added: Any, totals: Any, own: Any, gradients: Any, rules: Rules, sums: Any
) -> None:
    """Add one node's gain for every threshold to ``sums``; nothing where a child would be too small."""
    score_prefixes(prefix, 0, n_bins, added[0], added[1], totals, gradients, rules)
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    most, most_hessian = totals[2] - fewest, np.float64(totals[1]) - smallest
    rows, hessian, score = prefix.rows, prefix.hessian, prefix.score
    for b in range(np.uint64(n_bins)):
        n, h = rows[b] + added[2], hessian[b] + added[1]
        allowed = (n >= fewest) & (n <= most) & (h >= smallest) & (h <= most_hessian)
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
    sums: Any,
) -> None:
    """The same for one category against the rest."""
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    for b in range(n_bins + 1):
        g, h, n = read_cell(histogram, words, first + np.uint64(b))
        if n >= fewest and totals[2] - n >= fewest and h >= smallest and totals[1] - h >= smallest:
            sums[b] += clipped_pair(g, h, totals[0], totals[1], gradients, rules) - own


@inner_kernel
def _score_feature(
    data: Any,
    feature: Any,
    gradients: Any,
    rules: Any,
    work: Any,
    nodes: Any,
    first: Any,
    last: Any,
    found: Any,
) -> Any:
    """The largest sum of doubled gains over the nodes first..last, in units of the integer sums; its place is ``found``."""
    n_bins, offset, categorical = data.n_bins[feature], data.offsets[feature], data.categorical[feature]
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    has_missing = False
    for node in range(first, last):
        words = cell_words(gradients.packed, nodes.end[node] - nodes.begin[node])
        _, _, n = read_cell(work.pool[nodes.slot[node]], words, offset + np.uint64(n_bins))
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
            own = node_score(totals[0] * g_unit, totals[1] * h_unit, rules) * h_unit / (g_unit * g_unit)
            histogram, words = work.pool[nodes.slot[node]], cell_words(gradients.packed, totals[2])
            if categorical:
                _add_category_gains(histogram, words, offset, n_bins, totals, own, gradients, rules, sums)
            else:
                g, h, n = read_cell(histogram, words, offset + np.uint64(n_bins))
                added = (g * with_missing, h * with_missing, n * with_missing)
                _dense_prefix(histogram, words, offset, n_bins, prefix)
                _add_gains(prefix, n_bins, added, totals, own, gradients, rules, sums)
        for b in range(n_bins + 1):
            if sums[b] > best:
                best = sums[b]
                found[BIN] = b
                found[MISSING_LEFT] = with_missing
    if categorical:
        found[MISSING_LEFT] = np.int64(found[BIN] == n_bins)
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
    first: Any,
    last: Any,
    tasks: Any,
    found: Any,
    gains: Any,
) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
            gains[j] = _score_feature(data, features[j], gradients, rules, work, nodes, first, last, found[j])


@inlined
def _choose_split(
    data: Any,
    features: Any,
    gradients: Any,
    rules: Any,
    tasks: Any,
    work: Any,
    nodes: Any,
    first: Any,
    last: Any,
) -> Any:
    """Find the level's split and write it to every node's candidate; False when no split pays."""
    found = np.zeros((len(features), 6), np.int64)
    gains = np.zeros(len(features), np.float64)
    if tasks > 1 and (last - first) * len(features) * MOST_BINS >= PARALLEL_BINS:
        _score_features(data, features, gradients, rules, work, nodes, first, last, tasks, found, gains)
    else:
        for j in range(len(features)):
            gains[j] = _score_feature(data, features[j], gradients, rules, work, nodes, first, last, found[j])
    best = 0
    for j in range(len(features)):
        if gains[j] > gains[best]:
            best = j
    gain = gains[best] * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    if 0.5 * gain - rules.gamma * (last - first) <= 1e-14 * gain:
        return False
    total, total_left = 0, 0
    for node in range(first, last):
        total += nodes.end[node] - nodes.begin[node]
        total_left += _fill_candidate(data, gradients, rules, work, nodes, node, found[best])
    if found[best, MISSING_LEFT] == -1:
        for node in range(first, last):
            nodes.candidate[node, MISSING_LEFT] = np.int64(2 * total_left >= total)
    return True


@inlined
def _fill_candidate(
    data: Any, gradients: Any, rules: Any, work: Any, nodes: Any, node: Any, split: Any
) -> Any:
    """The sums of a node's left child under the level's split; the count of its rows is returned."""
    feature, n_bins = split[FEATURE], data.n_bins[split[FEATURE]]
    count = nodes.end[node] - nodes.begin[node]
    words = cell_words(gradients.packed, count)
    histogram = work.pool[nodes.slot[node]]
    g, h, n = 0, 0, 0
    for b in range(n_bins + 1):
        in_left = b == split[BIN] if data.categorical[feature] else b <= split[BIN]
        if b == n_bins:
            in_left = split[MISSING_LEFT] == 1
        if in_left:
            g_bin, h_bin, n_bin = read_cell(histogram, words, data.offsets[feature] + np.uint64(b))
            g += g_bin
            h += h_bin
            n += n_bin
    candidate = nodes.candidate[node]
    for place in range(6):
        candidate[place] = split[place]
    candidate[LEFT_GRADIENT], candidate[LEFT_HESSIAN], candidate[LEFT_COUNT] = g, h, n
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    g_all, h_all = nodes.gradient_sum[node], nodes.hessian_sum[node]
    gain = 0.0
    fewest = max(1, rules.min_samples_leaf)
    if min(n, count - n) >= fewest and min(h, h_all - h) * h_unit >= max(
        rules.min_child_weight, SMALLEST_HESSIAN
    ):
        children = node_score(g * g_unit, h * h_unit, rules) + node_score(
            (g_all - g) * g_unit, (h_all - h) * h_unit, rules
        )
        gain = 0.5 * (children - node_score(g_all * g_unit, h_all * h_unit, rules)) - rules.gamma
    nodes.candidate_gain[node] = gain
    return n
