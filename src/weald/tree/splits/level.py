"""What a split of a whole level gains, column by column, for oblivious trees.

It is the sum over the level's nodes. A cosine is of all leaves of the level together: over the nodes its moments are summed.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Float64s, Int, Int64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ZERO, inlined, inner_kernel
from weald.runtime.random import below
from weald.runtime.references import refer
from weald.runtime.tasks import shared_kernel
from weald.tree.histograms.bundled import in_bundle, member_prefix_sums
from weald.tree.histograms.cells import cell_words, packed_count, packed_gradient, packed_hessian, read_cell
from weald.tree.histograms.prefixes import Scratch, drawn_bits, new_scratch, score_prefixes
from weald.tree.histograms.sparse import read_bin, sparse_prefix_sums
from weald.tree.search import Search
from weald.tree.splits.categories import (
    best_cut,
    drawn_cut,
    fill_ordered,
    is_sorted,
    most_scanned,
    put_only_bin,
    settle_set,
    sort_ends,
    sort_key,
)
from weald.tree.splits.constraints import NOT_ALLOWED, Bounds, bounds_of
from weald.tree.splits.cosine import add_category_moments, add_moments, fill_cosine_gains, own_moments
from weald.tree.splits.gain import clipped_pair, parent_score
from weald.tree.splits.score import is_by_set, rules_of_sets, smallest_hessian
from weald.tree.state import BIN, FEATURE, LEFT_BINS, LEFT_COUNT, MISSING_LEFT, Gradients, Rules


@inlined
def _dense_prefix(histogram: Int64s, words: int, first: np.uint64, n_bins: int, prefix: Scratch) -> None:
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
    n_bins: Int,
    added: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    own: float,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    sums: Float64s,
) -> None:
    """Add one node's gain for every threshold to ``sums``; nothing where a child would be too small or out of order."""
    score_prefixes(prefix, 0, n_bins, added, totals, gradients, rules, bounds)
    smallest = smallest_hessian(rules, gradients)
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
def drawn_range(
    n_bins: int, has_missing: bool, categorical: bool, key: np.uint64, first: int, feature: int, rules: Rules
) -> tuple[Int, Int]:
    """The bins begin..end after which a level may be split, or which may be split from the rest: all, or one that is drawn."""
    if not rules.extra_trees:
        return ZERO, n_bins + 1
    # After the last value a level is split only from what is missing.
    count = n_bins + np.int64(has_missing) - np.int64(not categorical)
    if count == 0:
        return ZERO, ZERO
    drawn = below(drawn_bits(key, first, feature), count)
    return drawn, drawn + 1


@inlined
def _add_category_gains(
    histogram: Int64s,
    words: int,
    first: np.uint64,
    n_bins: int,
    totals: tuple[Int, Int, Int],
    own: float,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    sums: Float64s,
) -> None:
    """The same for one category against the rest."""
    smallest = smallest_hessian(rules, gradients)
    fewest = max(1, rules.min_samples_leaf)
    for b in range(n_bins + 1):
        g, h, n = read_cell(histogram, words, first + np.uint64(b))
        if n >= fewest and totals[2] - n >= fewest and h >= smallest and totals[1] - h >= smallest:
            sums[b] += clipped_pair(g, h, n, totals, gradients, rules, bounds) - own


@inlined
def _sort_level(search: Search, feature: int, first: int, last: int, prefix: Scratch, sums: Int64s) -> Int:
    """Sort the level's categories by the sums over its nodes into ``prefix.bins``; their number.

    ``sums``: (3, bins), gets gradient, hessian and count of every bin, also of that of missing values.
    """
    data, gradients, rules, nodes = search.data, search.gradients, search.rules, search.nodes
    n_bins, offset = data.n_bins[feature], data.offsets[feature]
    sums[:] = 0
    for node in range(first, last):
        histogram = search.work.pool[nodes.slot[node]]
        words = cell_words(gradients.packed, nodes.end[node] - nodes.begin[node])
        for b in range(n_bins + 1):
            g, h, n = read_cell(histogram, words, offset + np.uint64(b))
            sums[0, b] += g
            sums[1, b] += h
            sums[2, b] += n
    size, totals = np.int64(0), (np.sum(sums[0]), np.sum(sums[1]), np.sum(sums[2]))
    for b in range(n_bins):
        own = (sums[0, b], sums[1, b], sums[2, b])
        if is_sorted(b, own, totals, n_bins, data.gathers[feature], gradients, rules):
            prefix.score[size], prefix.bins[size] = sort_key(own, gradients, rules), b
            size += 1
    sort_ends(prefix, size, most_scanned(size, rules))
    return size


@inlined
def _add_set_gains(
    search: Search,
    feature: int,
    node: int,
    set_rules: Rules,
    with_missing: int,
    backward: int,
    size: Int,
    prefix: Scratch,
    gains: Float64s,
    moments: Float64s,
) -> None:
    """`add_gains`, or moments, of one node for two sets of categories in the level's order, see ``_scan_sets`` of split.py."""
    data, gradients, rules, nodes = search.data, search.gradients, search.rules, search.nodes
    totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
    bounds, offset = bounds_of(search.state, node, feature), data.offsets[feature]
    histogram, words = search.work.pool[nodes.slot[node]], cell_words(gradients.packed, totals[2])
    g, h, n = read_cell(histogram, words, offset + np.uint64(data.n_bins[feature]))
    fill_ordered(histogram, words, offset, size, prefix)
    added = (
        g * with_missing + (totals[0] - g - np.int64(prefix.gradient[size - 1])) * backward,
        h * with_missing + (totals[1] - h - np.int64(prefix.hessian[size - 1])) * backward,
        n * with_missing + (totals[2] - n - prefix.rows[size - 1]) * backward,
    )
    if rules.cosine:
        pair = own_moments(totals, gradients, rules)
        add_moments(prefix, size, added, totals, pair, gradients, set_rules, moments)
        return
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    own = parent_score(totals, gradients, rules, bounds) * h_unit / (g_unit * g_unit)
    add_gains(prefix, size, added, totals, own, gradients, set_rules, bounds, gains)


@returns(types.float64)
@inner_kernel
def _score_sets(search: Search, feature: int, first: int, last: int, found: Int64s) -> float:
    """`score_feature` for two sets of categories: the order is that of the sums over the level."""
    rules, n_bins = search.rules, search.data.n_bins[feature]
    prefix, gains = new_scratch(n_bins), np.empty(n_bins, np.float64)
    moments = np.empty((2, n_bins + 1 if rules.cosine else 0), np.float64)
    sums = np.empty((3, n_bins + 1), np.int64)
    size = _sort_level(search, feature, first, last, prefix, sums)
    found[FEATURE] = feature
    if size == 0:
        return 0.0
    rows, n_rows, n_missing = np.cumsum(sums[2][prefix.bins[:size]]), np.sum(sums[2]), sums[2, n_bins]
    n_rest = n_rows - n_missing - rows[size - 1]
    most, set_rules = most_scanned(size, rules), refer(rules_of_sets(rules))
    best, from_back, bits = 0.0, ZERO, drawn_bits(search.key, first, feature)
    drawn = drawn_cut(size, most, rules, bits)
    for with_missing in range(2 if n_missing > 0 else 1):
        for backward in range(2):
            if backward == 0 or n_rest > 0:  # without a rest the gains are the same from both ends
                gains[:] = 0.0
                moments[:] = 0.0
                for node in range(first, last):
                    _add_set_gains(
                        search, feature, node, set_rules, with_missing, backward, size, prefix, gains, moments
                    )
                if rules.cosine:
                    fill_cosine_gains(moments, gains[:size])
            n_aside = n_missing if with_missing != backward else ZERO
            at = best_cut(rows, gains, size, most, n_aside, n_rows, rules, backward, drawn)
            if at < 0 or gains[at] <= best:
                continue
            best, from_back = gains[at], np.int64(backward)
            found[BIN], found[MISSING_LEFT] = at, with_missing
            found[LEFT_COUNT] = rows[at] + n_missing * with_missing + n_rest * backward
    if best > 0.0:
        settle_set(prefix, size, n_missing, n_rest, from_back, (ZERO, ZERO, n_rows), found)
    return best


@inlined
def _has_missing(search: Search, feature: int, first: int, last: int) -> bool:
    """Whether a node of the level has missing values of the feature."""
    data, nodes, packed = search.data, search.nodes, search.gradients.packed
    for node in range(first, last):
        totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
        histogram = search.work.pool[nodes.slot[node]]
        _, _, n = read_bin(histogram, data, feature, data.n_bins[feature], totals, packed)
        if n > 0:
            return True
    return False


@returns(types.none)
@inner_kernel
def _add_categories(
    search: Search,
    feature: int,
    node: int,
    totals: tuple[Int, Int, Int],
    own: float,
    sums: Float64s,
    moments: Float64s,
) -> None:
    """Add one node's gain, or moments, for every category against the rest."""
    data, gradients, rules = search.data, search.gradients, search.rules
    n_bins, offset = data.n_bins[feature], data.offsets[feature]
    histogram = search.work.pool[search.nodes.slot[node]]
    words = cell_words(gradients.packed, totals[2])
    if rules.cosine:
        pair = own_moments(totals, gradients, rules)
        add_category_moments(histogram, words, offset, n_bins, totals, pair, gradients, rules, moments)
        return
    bounds = bounds_of(search.state, node, feature)
    _add_category_gains(histogram, words, offset, n_bins, totals, own, gradients, rules, bounds, sums)


@inlined
def _add_node(
    search: Search,
    feature: int,
    node: int,
    with_missing: int,
    prefix: Scratch,
    sums: Float64s,
    moments: Float64s,
) -> None:
    """Add one node's gain, or moments, for every place at which the level may be split."""
    data, gradients, rules, nodes = search.data, search.gradients, search.rules, search.nodes
    n_bins, packed = data.n_bins[feature], gradients.packed
    totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
    bounds, histogram = bounds_of(search.state, node, feature), search.work.pool[nodes.slot[node]]
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    own = parent_score(totals, gradients, rules, bounds) * h_unit / (g_unit * g_unit)
    if data.categorical[feature]:
        far(_add_categories, (search, feature, node, totals, own, sums, moments))
        return
    g, h, n = read_bin(histogram, data, feature, n_bins, totals, packed)
    added = (g * with_missing, h * with_missing, n * with_missing)
    if data.sparse:
        far(sparse_prefix_sums, (histogram, data, feature, totals, packed, True, prefix))
    elif in_bundle(data, feature):
        far(member_prefix_sums, (histogram, data, feature, totals, packed, True, prefix))
    else:
        _dense_prefix(histogram, cell_words(packed, totals[2]), data.offsets[feature], n_bins, prefix)
    if rules.cosine:
        pair = own_moments(totals, gradients, rules)
        add_moments(prefix, n_bins, added, totals, pair, gradients, rules, moments)
    else:
        add_gains(prefix, n_bins, added, totals, own, gradients, rules, bounds, sums)


@inner_kernel
def score_feature(search: Search, feature: int, first: int, last: int, found: Int64s) -> float:
    """The largest sum of doubled gains over the nodes first..last, in units of the integer sums; its place is ``found``.

    Of cosines it is the gain itself.
    """
    data, rules = search.data, search.rules
    n_bins, categorical = data.n_bins[feature], data.categorical[feature]
    if is_by_set(data, feature, rules):
        return far(_score_sets, (search, feature, first, last, found))
    has_missing = _has_missing(search, feature, first, last)
    found[FEATURE] = feature
    best = 0.0
    prefix = new_scratch(n_bins)
    sums = np.empty(n_bins + 1, np.float64)
    moments = np.empty((2, n_bins + 2 if rules.cosine else 0), np.float64)
    for with_missing in range(2 if has_missing and not categorical else 1):
        for b in range(n_bins + 1):
            sums[b] = 0.0
        moments[:] = 0.0
        for node in range(first, last):
            _add_node(search, feature, node, with_missing, prefix, sums, moments)
        if rules.cosine:
            fill_cosine_gains(moments, sums)
        begin, end = drawn_range(n_bins, has_missing, categorical, search.key, first, feature, rules)
        for b in range(begin, end):
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


@shared_kernel
def score_features(
    task: int,
    tasks: int,
    search: Search,
    features: NDArray[np.int64],
    first: int,
    last: int,
    found: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> None:
    for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
        gains[j] = score_feature(search, features[j], first, last, found[j])
