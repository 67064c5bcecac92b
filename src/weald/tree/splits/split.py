"""The best split of a node from its histogram; what a split gains is in gain.py."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Bools, Int, Int64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ZERO, bare_inner_kernel, inlined, inner_kernel, kernel
from weald.runtime.random import below
from weald.runtime.references import refer
from weald.runtime.tasks import shared_kernel
from weald.tree.histograms.bundled import in_bundle, mark_members, member_prefix_sums
from weald.tree.histograms.cells import cell_words, read_cell
from weald.tree.histograms.pairs import best_pair
from weald.tree.histograms.prefixes import (
    Scratch,
    draw_place,
    drawn_bits,
    new_scratch,
    prefix_sums,
    scan_numeric,
    score_prefixes,
)
from weald.tree.histograms.sparse import mark_promising, read_bin, sparse_prefix_sums
from weald.tree.splits.categories import (
    best_cut,
    drawn_cut,
    has_bin,
    most_scanned,
    put_only_bin,
    scanned_range,
    settle_set,
    sort_categories,
)
from weald.tree.splits.constraints import Bounds, ConstraintState, bounds_of
from weald.tree.splits.gain import NO_GAIN, clipped_pair, gain_of_score, noisy_score
from weald.tree.splits.score import is_by_set, rules_of_sets, smallest_hessian
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
    Workspace,
)

PARALLEL_FEATURES = 256  # features from which the search is shared among threads


@inlined
def copy_candidate(source: Int64s, target: Int64s) -> None:
    """Copy the integers of a candidate."""
    for place in range(len(target)):
        target[place] = source[place]


@inlined
def _scan_one_category(
    node: NodeSums,
    data: TreeInput,
    feature: int,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    drawn: Int,
    best: Int64s,
) -> float:
    """One category (or "missing", the bin after the values) against all the rest; ``drawn``: the only one to try, -1: all."""
    totals, n_bins, first = node.totals, data.n_bins[feature], data.offsets[feature]
    words = cell_words(gradients.packed, totals[2])
    smallest = smallest_hessian(rules, gradients)
    fewest = max(1, rules.min_samples_leaf)
    best_score = NO_GAIN
    for b in range(n_bins + 1):
        if drawn >= 0 and b != drawn:
            continue
        g_left, h_left, n_left = read_cell(node.histogram, words, first + np.uint64(b))
        if (
            n_left < fewest
            or totals[2] - n_left < fewest
            or h_left < smallest
            or totals[1] - h_left < smallest
        ):
            continue
        score = clipped_pair(g_left, h_left, n_left, totals, gradients, rules, bounds)
        if score > best_score:
            best_score = score
            best[BIN], best[MISSING_LEFT] = b, np.int64(b == n_bins)
            best[LEFT_GRADIENT], best[LEFT_HESSIAN], best[LEFT_COUNT] = g_left, h_left, n_left
    return best_score


@inlined
def _draw_category(
    node: NodeSums, data: TreeInput, feature: int, packed: bool, fewest: int, bits: np.uint64
) -> Int:
    """One of the bins, that of missing values among them, that leave both sides enough rows; n_bins + 1: there is none."""
    n_bins, first, n_rows = data.n_bins[feature], data.offsets[feature], node.totals[2]
    words, count = cell_words(packed, n_rows), np.int64(0)
    for b in range(n_bins + 1):
        _, _, n = read_cell(node.histogram, words, first + np.uint64(b))
        count += np.int64(fewest <= n <= n_rows - fewest)
    wanted = below(bits, count) if count > 0 else np.int64(-1)
    for b in range(n_bins + 1):
        _, _, n = read_cell(node.histogram, words, first + np.uint64(b))
        if fewest <= n <= n_rows - fewest:
            if wanted == 0:
                return np.int64(b)
            wanted -= 1
    return n_bins + 1


@inlined
def _forbid_light(prefix: Scratch, begin: Int, end: Int, h_added: Int, h_all: int, smallest: float) -> None:
    """No gain for the cuts begin..end that leave a side too little hessian; the left one has ``h_added``, too."""
    for i in range(begin, end):
        hessian = prefix.hessian[i] + h_added
        if hessian < smallest or h_all - hessian < smallest:
            prefix.score[i] = NO_GAIN


@inlined
def _scan_sets(
    node: NodeSums,
    data: TreeInput,
    feature: int,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    bits: np.uint64,
    prefix: Scratch,
    best: Int64s,
) -> float:
    """Two sets of categories, scanned from both ends, with missing values on either side.

    From the back it is the side that is not scanned which is summed up: the categories before the cut and the rest.
    """
    totals, n_bins, first = node.totals, data.n_bins[feature], data.offsets[feature]
    words, gathers = cell_words(gradients.packed, totals[2]), data.gathers[feature]
    size = sort_categories(node.histogram, words, first, n_bins, gathers, totals, gradients, rules, prefix)
    if size == 0:
        return NO_GAIN
    missing = read_cell(node.histogram, words, first + np.uint64(n_bins))
    g_rest = totals[0] - missing[0] - np.int64(prefix.gradient[size - 1])
    h_rest = totals[1] - missing[1] - np.int64(prefix.hessian[size - 1])
    n_rest = totals[2] - missing[2] - prefix.rows[size - 1]
    smallest = smallest_hessian(rules, gradients)
    most, set_rules = most_scanned(size, rules), refer(rules_of_sets(rules))
    best_score, from_back, drawn = NO_GAIN, ZERO, drawn_cut(size, most, rules, bits)
    for with_missing in range(2 if missing[2] > 0 else 1):
        for backward in range(2):
            added = (
                missing[0] * with_missing + g_rest * backward,
                missing[1] * with_missing + h_rest * backward,
                missing[2] * with_missing + n_rest * backward,
            )
            begin, end = scanned_range(size, most, backward)
            score_prefixes(prefix, begin, end, added, totals, gradients, set_rules, bounds)
            _forbid_light(prefix, begin, end, added[1], totals[1], smallest)
            n_aside = missing[2] if with_missing != backward else ZERO
            at = best_cut(prefix.rows, prefix.score, size, most, n_aside, totals[2], rules, backward, drawn)
            if at < 0 or prefix.score[at] <= best_score:
                continue
            best_score, from_back = prefix.score[at], np.int64(backward)
            best[BIN], best[MISSING_LEFT] = at, with_missing
            best[LEFT_GRADIENT] = np.int64(prefix.gradient[at]) + added[0]
            best[LEFT_HESSIAN] = np.int64(prefix.hessian[at]) + added[1]
            best[LEFT_COUNT] = prefix.rows[at] + added[2]
    if best_score > NO_GAIN:
        settle_set(prefix, size, missing[2], n_rest, from_back, totals, best)
    return best_score


@returns(types.float64)
@bare_inner_kernel
def _scan_categories(
    node: NodeSums,
    data: TreeInput,
    feature: int,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    prefix: Scratch,
    best: Int64s,
) -> float:
    """`scan_feature` for a column of categories."""
    bounds = bounds_of(state, node.number, feature)
    bits = drawn_bits(node.key, node.number, feature) if rules.extra_trees else np.uint64(0)
    if is_by_set(data, feature, rules):
        return _scan_sets(node, data, feature, gradients, rules, bounds, bits, prefix, best)
    drawn: Int = np.int64(-1)
    if rules.extra_trees:
        fewest = max(1, rules.min_samples_leaf)
        drawn = _draw_category(node, data, feature, gradients.packed, fewest, bits)
    score = _scan_one_category(node, data, feature, gradients, rules, bounds, drawn, best)
    if score > NO_GAIN:
        put_only_bin(best[LEFT_BINS:], best[BIN], data.n_bins[feature])
    return score


@inlined
def _sum_up(
    node: NodeSums, data: TreeInput, feature: int, packed: bool, prefix: Scratch
) -> tuple[Int, tuple[Int, Int, Int]]:
    """Prefix sums of a column of numbers at every bin that has rows; their number, and the sums of missing values."""
    histogram, totals, n_bins = node.histogram, node.totals, data.n_bins[feature]
    if data.sparse:
        size, missing = far(sparse_prefix_sums, (histogram, data, feature, totals, packed, False, prefix))
        if np.int64(data.default_bins[feature]) != n_bins:
            missing = read_bin(histogram, data, feature, n_bins, totals, packed)
        return size, missing
    if in_bundle(data, feature):
        return far(member_prefix_sums, (histogram, data, feature, totals, packed, False, prefix))
    words, first = cell_words(packed, totals[2]), data.offsets[feature]
    size = prefix_sums(histogram, words, first, n_bins, prefix)
    return size, read_cell(histogram, words, first + np.uint64(n_bins))


@returns(types.float64)
@bare_inner_kernel
def scan_feature(
    node: NodeSums,
    data: TreeInput,
    feature: int,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    prefix: Scratch,
    best: Int64s,
) -> float:
    """Best score of one feature, or that of one threshold drawn by the key; its place goes to ``best``."""
    best[FEATURE] = feature
    if data.categorical[feature]:
        return far(_scan_categories, (node, data, feature, gradients, rules, state, prefix, best))
    bounds, totals = bounds_of(state, node.number, feature), node.totals
    size, missing = _sum_up(node, data, feature, gradients.packed, prefix)
    cuts = (ZERO, size)
    if rules.extra_trees:
        bits = drawn_bits(node.key, node.number, feature)
        drawn = far(draw_place, (prefix, size, missing[2], totals, rules, bits))
        cuts = (drawn, min(drawn + 1, size))
    score = NO_GAIN
    for with_missing in range(2 if missing[2] > 0 else 1):
        score = scan_numeric(
            prefix, cuts, missing, with_missing, totals, gradients, rules, bounds, best, score
        )
    if missing[2] == 0:
        # No missing value has been seen here: send those to come where most rows go.
        best[MISSING_LEFT] = np.int64(2 * best[LEFT_COUNT] >= totals[2])
    return score


@shared_kernel
def _scan_features(
    task: int,
    tasks: int,
    node: NodeSums,
    data: TreeInput,
    features: NDArray[np.int64],
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    found: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> None:
    prefix = new_scratch(data.most_bins)
    for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
        scores[j] = far(scan_feature, (node, data, features[j], gradients, rules, state, prefix, found[j]))


@returns(types.float64)
@inner_kernel
def _search_in_tasks(
    node: NodeSums,
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    tasks: int,
    best: Int64s,
) -> float:
    """`_search`, shared."""
    found, scores = np.empty((len(features), len(best)), np.int64), np.empty(len(features), np.float64)
    _scan_features(tasks, node, data, features, gradients, rules, state, found, scores)
    best_score, most = NO_GAIN, NO_GAIN  # and what it is compared by
    for j in range(len(features)):
        noisy = noisy_score(
            scores[j], node.totals, gradients, rules, state, node.number, features[j], node.key
        )
        if noisy > most:
            best_score, most = scores[j], noisy
            copy_candidate(found[j], best)
    return best_score


@inlined
def _search(
    node: NodeSums,
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    best: Int64s,
) -> float:
    """The best score of all features; the split goes to ``best``."""
    trial, prefix = np.empty(len(best), np.int64), new_scratch(data.most_bins)
    best_score, most = NO_GAIN, NO_GAIN  # and what it is compared by
    for j in range(len(features)):
        score = far(scan_feature, (node, data, features[j], gradients, rules, state, prefix, trial))
        noisy = noisy_score(score, node.totals, gradients, rules, state, node.number, features[j], node.key)
        if noisy > most:
            best_score, most = score, noisy
            copy_candidate(trial, best)
    return best_score


@inlined
def _keep(features: Int64s, marks: Bools, kept: Int64s) -> int:
    """Copy the marked features to ``kept``; their number."""
    size = ZERO
    for j in range(len(features)):
        if marks[j]:
            kept[size] = features[j]
            size += 1
    return size


@returns(types.Tuple([types.int64, types.float64, types.int64]))
@inner_kernel
def _keep_promising(
    node: NodeSums,
    data: TreeInput,
    features: Int64s,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    tasks: int,
    kept: Int64s,
) -> tuple[Int, float, Int]:
    """Of a sparse or bundled table: the features to scan go to ``kept``, and their number is returned.

    Columns of two bins are not among them where `best_pair` may look at them: the score of the best follows, and the column.
    """
    histogram, totals, packed = node.histogram, node.totals, gradients.packed
    fewest = max(1, rules.min_samples_leaf)
    smallest = smallest_hessian(rules, gradients)
    score, pair = NO_GAIN, NOBODY
    is_free = rules.max_delta_step == 0.0 and rules.path_smooth == 0.0 and len(state.signs) == 0
    if is_free and not rules.extra_trees and not rules.cosine and rules.noise == 0.0:
        rest = np.empty(len(features), np.bool_)
        score, pair = far(best_pair, (histogram, data, features, totals, gradients, rules, smallest, rest))
        features = kept[: _keep(features, rest, kept)]
    marks = np.zeros(len(features), np.bool_)
    if data.sparse:
        far(mark_promising, (histogram, data, features, packed, fewest, smallest, tasks, marks))
    else:
        far(mark_members, (histogram, data, features, totals[2], packed, fewest, smallest, marks))
    return _keep(features, marks, kept), score, pair


@returns(types.float64)
@kernel
def find_best_split(
    node: NodeSums,
    data: TreeInput,
    features: NDArray[np.int64],
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    tasks: int,
    best: NDArray[np.int64],
) -> float:
    """Gain of the best split among ``features``, NO_GAIN where there is none; the split goes to ``best``.

    Of equal gains the lowest feature and the lowest bin win, whatever the number of tasks.
    """
    node, data, gradients = refer(node), refer(data), refer(gradients)
    rules, state = refer(rules), refer(state)
    pair_score, pair = NO_GAIN, NOBODY
    if data.sparse or len(data.sizes) > 0:
        kept = np.empty(len(features), np.int64)
        size, pair_score, pair = far(
            _keep_promising, (node, data, features, gradients, rules, state, tasks, kept)
        )
        features = kept[:size]
    if tasks > 1 and len(features) >= PARALLEL_FEATURES:
        score = far(_search_in_tasks, (node, data, features, gradients, rules, state, tasks, best))
    else:
        score = _search(node, data, features, gradients, rules, state, best)
    if pair != NOBODY and (pair_score > score or (pair_score == score and pair < best[FEATURE])):
        prefix = new_scratch(data.most_bins)
        score = far(scan_feature, (node, data, pair, gradients, rules, state, prefix, best))
    if score == NO_GAIN:
        return NO_GAIN
    bounds = bounds_of(state, node.number, best[FEATURE])
    return gain_of_score(score, node.totals, gradients, rules, bounds)


@inlined
def left_sums(
    data: TreeInput, gradients: Gradients, work: Workspace, nodes: Nodes, node: int, split: Int64s
) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of a node's left child under a split of any column that has a histogram."""
    feature, n_bins = split[FEATURE], data.n_bins[split[FEATURE]]
    count = nodes.end[node] - nodes.begin[node]
    totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], count)
    histogram = work.pool[nodes.slot[node]]
    g: Int
    h: Int
    n: Int
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
