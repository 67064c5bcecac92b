"""The compiled search, among some columns only: those that a member of a team looks at, or that members have elected."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Bools, Float64s, Int64s
from weald.runtime.far import far
from weald.runtime.jit import ONE, kernel
from weald.runtime.references import refer
from weald.tree.growth.grower import columns_of_node, may_split
from weald.tree.growth.oblivious import choose_split
from weald.tree.histograms.cells import cell_words, pack_cell, read_cell
from weald.tree.histograms.prefixes import new_scratch
from weald.tree.search import Search
from weald.tree.splits.constraints import allowed_columns
from weald.tree.splits.gain import NO_GAIN, noisy_score
from weald.tree.splits.level import score_features
from weald.tree.splits.noise import noise_of
from weald.tree.splits.split import find_best_split, scan_feature
from weald.tree.state import FEATURE, NodeSums


@kernel
def search_share(
    search: Search, features: Int64s, chosen: Bools, wanted: Int64s, tasks: int, scores: Float64s
) -> None:
    """Find the best splits of some nodes among the ``chosen`` columns: their candidates, with gains however small.

    ``features``: the tree's columns, of which some may be drawn. ``scores``: what candidates of several members are compared by,
    (nodes,); NO_GAIN where there is none.
    """
    search = refer(search)
    data, gradients, rules, nodes = search.data, search.gradients, search.rules, search.nodes
    state, prefix = search.state, new_scratch(search.data.most_bins)
    trial = np.empty(nodes.candidate.shape[1], np.int64)
    for i in range(len(wanted)):
        node = wanted[i]
        scores[i] = NO_GAIN
        if not may_split(nodes, rules, node):
            continue
        totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
        sums = refer(NodeSums(search.work.pool[nodes.slot[node]], totals, node, search.key))
        drawn = columns_of_node(features, rules, search.key, nodes.depth[node], node)
        own = allowed_columns(state, node, drawn)
        own = own[chosen[own]]
        best = nodes.candidate[node]
        gain = far(find_best_split, (sums, data, own, gradients, rules, state, tasks, best))
        nodes.candidate_gain[node] = gain
        if gain > NO_GAIN:
            feature = best[FEATURE]
            score = far(scan_feature, (sums, data, feature, gradients, rules, state, prefix, trial))
            scores[i] = noisy_score(score, totals, gradients, rules, state, node, feature, search.key)


@kernel
def search_level_share(
    search: Search, features: Int64s, chosen: Bools, first: int, last: int, tasks: int
) -> float:
    """Find the common split of the nodes first..last among the ``chosen`` columns; what it is compared by, NO_GAIN for none."""
    search = refer(search)
    nodes, rules, state = search.nodes, search.rules, search.state
    drawn = columns_of_node(features, rules, search.key, nodes.depth[first], first)
    own = allowed_columns(state, first, drawn)
    own = own[chosen[own]]
    if not choose_split(search, own, tasks, first, last):
        return NO_GAIN
    one = nodes.candidate[first, FEATURE : FEATURE + 1].copy()
    found, gains = np.zeros((1, nodes.candidate.shape[1]), np.int64), np.zeros(1, np.float64)
    score_features(ONE, search, one, first, last, found, gains)
    if rules.noise > 0.0:
        gains[0] += rules.noise * noise_of(search.key, first, one[0])
    return gains[0]


@kernel
def gains_by_column(search: Search, features: Int64s, wanted: Int64s, gains: Float64s) -> None:
    """The gain of every column's best split of some nodes, (nodes, columns of the table); NO_GAIN where there is none."""
    search = refer(search)
    data, gradients, rules, nodes = search.data, search.gradients, search.rules, search.nodes
    state = search.state
    best, one = np.empty(nodes.candidate.shape[1], np.int64), np.empty(1, np.int64)
    for i in range(len(wanted)):
        node = wanted[i]
        gains[i, :] = NO_GAIN
        if not may_split(nodes, rules, node):
            continue
        totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
        sums = refer(NodeSums(search.work.pool[nodes.slot[node]], totals, node, search.key))
        drawn = columns_of_node(features, rules, search.key, nodes.depth[node], node)
        for feature in allowed_columns(state, node, drawn):
            one[0] = feature
            gains[i, feature] = far(find_best_split, (sums, data, one, gradients, rules, state, ONE, best))


@kernel
def read_columns(search: Search, node: int, columns: Int64s, sums: Int64s) -> None:
    """Take the cells of some columns out of a node's histogram: to ``sums``, (3, cells of these columns)."""
    nodes, data = search.nodes, search.data
    histogram, at = search.work.pool[nodes.slot[node]], 0
    words = cell_words(search.gradients.packed, nodes.end[node] - nodes.begin[node])
    for feature in columns:
        for b in range(data.n_bins[feature] + 1):
            g, h, n = read_cell(histogram, words, data.offsets[feature] + np.uint64(b))
            sums[0, at], sums[1, at], sums[2, at] = g, h, n
            at += 1


@kernel
def write_columns(search: Search, node: int, columns: Int64s, sums: Int64s) -> None:
    """Write such cells to a node's histogram."""
    nodes, data = search.nodes, search.data
    histogram, at = search.work.pool[nodes.slot[node]], 0
    words = cell_words(search.gradients.packed, nodes.end[node] - nodes.begin[node])
    for feature in columns:
        first = np.int64(data.offsets[feature])
        for cell in range(first, first + data.n_bins[feature] + 1):
            pack_cell(histogram, words, cell, sums[0, at], sums[1, at], sums[2, at])
            at += 1
