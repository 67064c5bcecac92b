"""The best split of a node from its histogram; what a split gains is in gain.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.far import far, returns
from weald.runtime.jit import ZERO, bare_inner_kernel, inlined, kernel
from weald.runtime.random import below
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
from weald.tree.splits.score import SMALLEST_HESSIAN, is_by_set, rules_of_sets
from weald.tree.state import (
    BIN,
    FEATURE,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    NOBODY,
    Columns,
    Gradients,
    Rules,
    TreeInput,
)

PARALLEL_FEATURES = 256  # features from which the search is shared among threads


@inlined
def copy_candidate(source: Any, target: Any) -> None:
    """Copy the integers of a candidate."""
    for place in range(len(target)):
        target[place] = source[place]


@inlined
def _scan_categorical(
    histogram: Any,
    words: Any,
    first: Any,
    n_bins: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    begin: Any,
    end: Any,
    best: Any,
) -> Any:
    """One category of the bins begin..end (or "missing", the bin after the values) against all the rest."""
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    best_score = NO_GAIN
    for b in range(begin, end):
        g_left, h_left, n_left = read_cell(histogram, words, first + np.uint64(b))
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
    histogram: Any, words: Any, first: Any, n_bins: Any, totals: Any, rules: Rules, bits: Any
) -> Any:
    """One of the bins, that of missing values among them, that leave both sides enough rows; n_bins + 1: there is none."""
    fewest, count = max(1, rules.min_samples_leaf), np.int64(0)
    for b in range(n_bins + 1):
        _, _, n = read_cell(histogram, words, first + np.uint64(b))
        count += np.int64(fewest <= n <= totals[2] - fewest)
    wanted = below(bits, count) if count > 0 else np.int64(-1)
    for b in range(n_bins + 1):
        _, _, n = read_cell(histogram, words, first + np.uint64(b))
        if fewest <= n <= totals[2] - fewest:
            if wanted == 0:
                return np.int64(b)
            wanted -= 1
    return n_bins + 1


@inlined
def _forbid_light(prefix: Scratch, begin: Any, end: Any, h_added: Any, h_all: Any, smallest: Any) -> None:
    """No gain for the cuts begin..end that leave a side too little hessian; the left one has ``h_added``, too."""
    for i in range(begin, end):
        hessian = prefix.hessian[i] + h_added
        if hessian < smallest or h_all - hessian < smallest:
            prefix.score[i] = NO_GAIN


@inlined
def _scan_sets(
    histogram: Any,
    words: Any,
    first: Any,
    n_bins: Any,
    gathers: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    bits: Any,
    prefix: Scratch,
    best: Any,
) -> Any:
    """Two sets of categories, scanned from both ends, with missing values on either side.

    From the back it is the side that is not scanned which is summed up: the categories before the cut and the rest.
    """
    size = sort_categories(histogram, words, first, n_bins, gathers, totals, gradients, rules, prefix)
    if size == 0:
        return NO_GAIN
    missing = read_cell(histogram, words, first + np.uint64(n_bins))
    g_rest = totals[0] - missing[0] - np.int64(prefix.gradient[size - 1])
    h_rest = totals[1] - missing[1] - np.int64(prefix.hessian[size - 1])
    n_rest = totals[2] - missing[2] - prefix.rows[size - 1]
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    most, set_rules = most_scanned(size, rules), rules_of_sets(rules)
    best_score, from_back, drawn = NO_GAIN, ZERO, drawn_cut(size, most, rules, bits)
    for with_missing in range(2 if missing[2] > 0 else 1):
        for backward in range(2):
            g_added = missing[0] * with_missing + g_rest * backward
            h_added = missing[1] * with_missing + h_rest * backward
            n_added = missing[2] * with_missing + n_rest * backward
            begin, end = scanned_range(size, most, backward)
            score_prefixes(
                prefix, begin, end, g_added, h_added, n_added, totals, gradients, set_rules, bounds
            )
            _forbid_light(prefix, begin, end, h_added, totals[1], smallest)
            n_aside = missing[2] if with_missing != backward else ZERO
            at = best_cut(prefix.rows, prefix.score, size, most, n_aside, totals[2], rules, backward, drawn)
            if at < 0 or prefix.score[at] <= best_score:
                continue
            best_score, from_back = prefix.score[at], np.int64(backward)
            best[BIN], best[MISSING_LEFT] = at, with_missing
            best[LEFT_GRADIENT] = np.int64(prefix.gradient[at]) + g_added
            best[LEFT_HESSIAN] = np.int64(prefix.hessian[at]) + h_added
            best[LEFT_COUNT] = prefix.rows[at] + n_added
    if best_score > NO_GAIN:
        settle_set(prefix, size, missing[2], n_rest, from_back, totals, best)
    return best_score


@inlined
def columns_of(data: TreeInput) -> Any:
    """What the search reads of the input."""
    return Columns(
        data.offsets,
        data.n_bins,
        data.categorical,
        data.gathers,
        data.n_cells,
        data.most_bins,
        data.sparse,
        data.default_bins,
        data.n_frequent,
        data.sizes,
    )


@returns(types.float64)
@bare_inner_kernel
def _scan_feature(
    histogram: Any,
    data: Columns,
    feature: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    node: Any,
    key: Any,
    prefix: Scratch,
    best: Any,
) -> Any:
    """Best score of one feature, or that of one threshold drawn by the key; its place goes to ``best``."""
    bounds = bounds_of(state, node, feature)
    first = data.offsets[feature]
    n_bins = data.n_bins[feature]
    words = cell_words(gradients.packed, totals[2])
    best[FEATURE] = feature
    bits = drawn_bits(key, node, feature) if rules.extra_trees else np.uint64(0)
    if is_by_set(data, feature, rules):
        gathers = data.gathers[feature]
        return _scan_sets(
            histogram, words, first, n_bins, gathers, totals, gradients, rules, bounds, bits, prefix, best
        )
    if data.categorical[feature]:
        begin, end = ZERO, n_bins + 1
        if rules.extra_trees:
            begin = _draw_category(histogram, words, first, n_bins, totals, rules, bits)
            end = min(begin + 1, end)
        score = _scan_categorical(
            histogram, words, first, n_bins, totals, gradients, rules, bounds, begin, end, best
        )
        if score > NO_GAIN:
            put_only_bin(best[LEFT_BINS:], best[BIN], n_bins)
        return score
    if data.sparse:
        size, missing = sparse_prefix_sums(histogram, data, feature, totals, gradients.packed, False, prefix)
        if np.int64(data.default_bins[feature]) != n_bins:
            missing = read_bin(histogram, data, feature, n_bins, totals, gradients.packed)
    elif in_bundle(data, feature):
        size, missing = member_prefix_sums(histogram, data, feature, totals, gradients.packed, False, prefix)
    else:
        size = prefix_sums(histogram, words, first, n_bins, prefix)
        missing = read_cell(histogram, words, first + np.uint64(n_bins))
    begin, end = ZERO, size
    if rules.extra_trees:
        begin = draw_place(prefix, size, missing[2], totals, rules, bits)
        end = min(begin + 1, size)
    score = NO_GAIN
    for with_missing in range(2 if missing[2] > 0 else 1):
        score = scan_numeric(
            prefix, begin, end, missing, with_missing, totals, gradients, rules, bounds, best, score
        )
    if missing[2] == 0:
        # No missing value has been seen here: send those to come where most rows go.
        best[MISSING_LEFT] = np.int64(2 * best[LEFT_COUNT] >= totals[2])
    return score


@shared_kernel
def _scan_features(
    task: Any,
    tasks: Any,
    histogram: Any,
    data: Columns,
    features: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    node: Any,
    key: Any,
    found: Any,
    scores: Any,
) -> None:
    prefix = new_scratch(data.most_bins)
    for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
        scores[j] = far(
            _scan_feature,
            (histogram, data, features[j], totals, gradients, rules, state, node, key, prefix, found[j]),
        )


@returns(types.float64)
@kernel
def find_best_split(
    histogram: NDArray[np.int64],
    data: TreeInput,
    features: NDArray[np.int64],
    totals: tuple[int, int, int],
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    node: int,
    key: int,
    tasks: int,
    best: NDArray[np.int64],
) -> Any:
    """Gain of the best split among ``features``, NO_GAIN where there is none; the split goes to ``best``.

    ``histogram``: (3, cells); ``totals``: the node's integer gradient, hessian and count; ``node``: its number in
    ``state``; ``key``: the tree's, by which thresholds and noise are drawn. Of equal gains the lowest feature and the lowest bin
    win, whatever the number of tasks.
    """
    best_score, most = NO_GAIN, NO_GAIN  # and what it is compared by
    columns = columns_of(data)
    fewest = max(1, rules.min_samples_leaf)
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    pair_score, pair = NO_GAIN, NOBODY
    if data.sparse or len(data.sizes) > 0:
        is_free = rules.max_delta_step == 0.0 and rules.path_smooth == 0.0 and len(state.signs) == 0
        is_plain = not rules.extra_trees and not rules.cosine and rules.noise == 0.0
        if is_free and is_plain:
            rest = np.empty(len(features), np.bool_)
            pair_score, pair = far(
                best_pair, (histogram, columns, features, totals, gradients, rules, smallest, rest)
            )
            features = features[rest]
        marks = np.zeros(len(features), np.bool_)
        if data.sparse:
            far(mark_promising, (histogram, data, features, gradients.packed, fewest, smallest, tasks, marks))
        else:
            far(
                mark_members,
                (histogram, columns, features, totals[2], gradients.packed, fewest, smallest, marks),
            )
        features = features[marks]
    if tasks > 1 and len(features) >= PARALLEL_FEATURES:
        found = np.empty((len(features), len(best)), np.int64)
        scores = np.empty(len(features), np.float64)
        _scan_features(
            tasks, histogram, columns, features, totals, gradients, rules, state, node, key, found, scores
        )
        for j in range(len(features)):
            noisy = noisy_score(scores[j], totals, gradients, rules, state, node, features[j], key)
            if noisy > most:
                best_score, most = scores[j], noisy
                copy_candidate(found[j], best)
    else:
        trial = np.empty(len(best), np.int64)
        prefix = new_scratch(data.most_bins)
        for j in range(len(features)):
            score = far(
                _scan_feature,
                (histogram, columns, features[j], totals, gradients, rules, state, node, key, prefix, trial),
            )
            noisy = noisy_score(score, totals, gradients, rules, state, node, features[j], key)
            if noisy > most:
                best_score, most = score, noisy
                copy_candidate(trial, best)
    if pair_score > best_score or (pair != NOBODY and pair_score == best_score and pair < best[FEATURE]):
        prefix = new_scratch(data.most_bins)
        best_score = far(
            _scan_feature,
            (histogram, columns, pair, totals, gradients, rules, state, node, key, prefix, best),
        )
    if best_score == NO_GAIN:
        return NO_GAIN
    return gain_of_score(best_score, totals, gradients, rules, bounds_of(state, node, best[FEATURE]))


@inlined
def left_sums(data: Any, gradients: Any, work: Any, nodes: Any, node: Any, split: Any) -> Any:
    """Gradient, hessian and count of a node's left child under a split of any column that has a histogram."""
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
