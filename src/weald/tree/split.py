"""The best split of a node from its histogram.

The gain is that of regularised boosting (Chen and Guestrin 2016, equation 7):

    gain = 1/2 * [ S(G_L, H_L) + S(G_R, H_R) - S(G, H) ] - gamma,    S(G, H) = T(G)^2 / (H + lambda)

where T soft-thresholds the gradient by alpha. With ``max_delta_step`` or bounds of a monotone constraint the optimal leaf
value is clipped and S is the value of the objective at the clipped point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import ZERO, inlined, inner_kernel, kernel, parallel_inner_kernel
from weald.tree.categories import put_only_bin, settle_set, sort_categories
from weald.tree.constraints import (
    Bounds,
    ConstraintState,
    bounded_pair,
    bounded_score,
    bounds_of,
    is_bound,
)
from weald.tree.histogram import cell_words, packed_count, packed_gradient, packed_hessian, read_cell
from weald.tree.score import SMALLEST_HESSIAN, node_score
from weald.tree.sparse import mark_promising, read_bin, sparse_prefix_sums
from weald.tree.state import (
    BIN,
    CANDIDATE,
    FEATURE,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    Columns,
    Gradients,
    Rules,
    TreeInput,
)

PARALLEL_FEATURES = 256  # features from which the search is shared among threads
NO_GAIN = -np.inf
MOST_BINS = 256


@inlined
def copy_candidate(source: Any, target: Any) -> None:
    """Copy the integers of a candidate."""
    for place in range(CANDIDATE):
        target[place] = source[place]


class Scratch(NamedTuple):
    """Sums up to and with a bin, the bin, and the score of the split after it; MOST_BINS long each.

    The sums are integers in float64: exact below 2**53, and a comparison of scores needs no conversion.
    """

    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    rows: NDArray[np.int64]
    bins: NDArray[np.int64]
    score: NDArray[np.float64]


@inlined
def new_scratch() -> Any:
    """Memory for the scan of one feature."""
    return Scratch(
        np.empty(MOST_BINS, np.float64),
        np.empty(MOST_BINS, np.float64),
        np.empty(MOST_BINS, np.int64),
        np.empty(MOST_BINS, np.int64),
        np.empty(MOST_BINS, np.float64),
    )


@inlined
def _prefix_sums(histogram: Any, words: Any, first: Any, n_bins: Any, prefix: Scratch) -> Any:
    """Prefix sums at every bin that has rows; their number is returned.

    Empty bins are passed over: a threshold after them divides the rows as the one before.
    """
    size = np.uint64(0)  # unsigned indices spare Numba's test for negative ones
    if words == 1:
        cells = histogram[0]
        total = np.int64(0)
        for b in range(np.uint64(n_bins)):
            word = cells[first + b]
            total += word  # three sums in one
            prefix.rows[size] = total
            prefix.bins[size] = b
            size += np.uint64(word != 0)
        for i in range(size):
            word = prefix.rows[i]
            prefix.gradient[i] = packed_gradient(word)
            prefix.hessian[i] = packed_hessian(word)
            prefix.rows[i] = packed_count(word)
        return np.int64(size)
    g_left, h_left, n_left = np.int64(0), np.int64(0), np.int64(0)
    for b in range(np.uint64(n_bins)):
        g_bin, h_bin, n_bin = read_cell(histogram, words, first + b)
        g_left += g_bin
        h_left += h_bin
        n_left += n_bin
        prefix.gradient[size] = g_left
        prefix.hessian[size] = h_left
        prefix.rows[size] = n_left
        prefix.bins[size] = b
        size += np.uint64(n_bin > 0)
    return np.int64(size)


@inlined
def score_prefixes(
    prefix: Scratch,
    begin: Any,
    end: Any,
    g_added: Any,
    h_added: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> None:
    """Score of the splits begin..end, whose left sides also have ``g_added`` and ``h_added``.

    In units of the integer sums. Where nothing clips the values there is no branch, so it vectorises; both children over
    one denominator, as division is the cost.
    """
    gradient, hessian, score = prefix.gradient, prefix.hessian, prefix.score
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    g_all, h_all = np.float64(totals[0]), np.float64(totals[1])
    if rules.max_delta_step > 0.0 or is_bound(bounds):
        for i in range(begin, end):
            score[i] = clipped_pair(
                gradient[i] + g_added, hessian[i] + h_added, g_all, h_all, gradients, rules, bounds
            )
        return
    for i in range(np.uint64(begin), np.uint64(end)):
        gl, hl = gradient[i] + g_added, hessian[i] + h_added
        gr, hr = g_all - gl, h_all - hl + lam
        hl += lam
        # T(G), written so that it needs no branch.
        gl = max(gl - alpha, 0.0) + min(gl + alpha, 0.0)
        gr = max(gr - alpha, 0.0) + min(gr + alpha, 0.0)
        score[i] = (gl * gl * hr + gr * gr * hl) / (hl * hr)


@inner_kernel
def pair_score(g_left: Any, h_left: Any, g_right: Any, h_right: Any, bounds: Bounds, rules: Rules) -> Any:
    """The children's scores added; -inf where their values are in the wrong order."""
    if is_bound(bounds):
        return bounded_pair(g_left, h_left, g_right, h_right, bounds, rules)
    return node_score(g_left, h_left, rules) + node_score(g_right, h_right, rules)


@inner_kernel
def clipped_pair(
    gl: Any, hl: Any, g_all: Any, h_all: Any, gradients: Gradients, rules: Rules, bounds: Bounds
) -> Any:
    """The children's score with clipped leaf values, in units of the integer sums."""
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    score = pair_score(gl * g_unit, hl * h_unit, (g_all - gl) * g_unit, (h_all - hl) * h_unit, bounds, rules)
    return score * h_unit / (g_unit * g_unit)


@inner_kernel
def parent_score(totals: Any, gradients: Gradients, rules: Rules, bounds: Bounds) -> Any:
    """The score of a node before it is split."""
    gradient, hessian = totals[0] * gradients.gradient_unit, totals[1] * gradients.hessian_unit
    if is_bound(bounds):
        return bounded_score(gradient, hessian, bounds, rules)
    return node_score(gradient, hessian, rules)


@inlined
def _place_of_largest(score: Any, begin: Any, end: Any, bounds: Bounds) -> Any:
    """The first place of the largest score."""
    at = begin
    if is_bound(bounds):
        for i in range(begin, end):
            if score[i] > score[at]:
                at = i
        return at
    # Scores are not negative: their bits compare like integers, whose maximum vectorises.
    bits = score.view(np.int64)
    largest = np.int64(-1)
    for i in range(np.uint64(begin), np.uint64(end)):
        largest = max(largest, bits[i])
    while bits[at] != largest:
        at += 1
    return at


@inlined
def scan_numeric(
    prefix: Scratch,
    begin: Any,
    end: Any,
    missing: Any,
    with_missing: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    best: Any,
    best_score: Any,
) -> Any:
    """Thresholds begin..end from left to right, missing values on the left (``with_missing``) or on the right."""
    g_added, h_added, n_added = (
        missing[0] * with_missing,
        missing[1] * with_missing,
        missing[2] * with_missing,
    )
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    while begin < end and (
        prefix.rows[begin] + n_added < fewest or prefix.hessian[begin] + h_added < smallest
    ):
        begin += 1
    most_count, most_hessian = totals[2] - fewest - n_added, totals[1] - smallest - h_added
    while begin < end and (prefix.rows[end - 1] > most_count or prefix.hessian[end - 1] > most_hessian):
        end -= 1
    if begin == end:
        return best_score
    score_prefixes(prefix, begin, end, g_added, h_added, totals, gradients, rules, bounds)
    at = _place_of_largest(prefix.score, begin, end, bounds)
    if prefix.score[at] <= best_score:
        return best_score
    best[BIN], best[MISSING_LEFT] = prefix.bins[at], with_missing
    best[LEFT_GRADIENT] = np.int64(prefix.gradient[at]) + g_added
    best[LEFT_HESSIAN] = np.int64(prefix.hessian[at]) + h_added
    best[LEFT_COUNT] = prefix.rows[at] + n_added
    return prefix.score[at]


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
    best: Any,
) -> Any:
    """One category (or "missing", the bin after the values) against all the rest."""
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    best_score = NO_GAIN
    for b in range(n_bins + 1):
        g_left, h_left, n_left = read_cell(histogram, words, first + np.uint64(b))
        if (
            n_left < fewest
            or totals[2] - n_left < fewest
            or h_left < smallest
            or totals[1] - h_left < smallest
        ):
            continue
        score = clipped_pair(g_left, h_left, totals[0], totals[1], gradients, rules, bounds)
        if score > best_score:
            best_score = score
            best[BIN], best[MISSING_LEFT] = b, np.int64(b == n_bins)
            best[LEFT_GRADIENT], best[LEFT_HESSIAN], best[LEFT_COUNT] = g_left, h_left, n_left
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
        data.sparse,
        data.default_bins,
        data.n_frequent,
    )


@inner_kernel
def _scan_feature(
    histogram: Any,
    data: Columns,
    feature: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    node: Any,
    prefix: Scratch,
    best: Any,
) -> Any:
    """Best score of one feature; its place goes to ``best``."""
    bounds = bounds_of(state, node, feature)
    first = data.offsets[feature]
    n_bins = data.n_bins[feature]
    words = cell_words(gradients.packed, totals[2])
    best[FEATURE] = feature
    categorical = data.categorical[feature]
    if categorical and n_bins <= rules.max_cat_to_onehot:
        score = _scan_categorical(histogram, words, first, n_bins, totals, gradients, rules, bounds, best)
        if score > NO_GAIN:
            put_only_bin(best[LEFT_BINS:], best[BIN], n_bins)
        return score
    if categorical:
        size = sort_categories(histogram, words, first, n_bins, totals, gradients, rules, prefix)
        front = min(rules.max_cat_threshold, size)
        back = max(size - rules.max_cat_threshold - 1, front)
        missing = read_cell(histogram, words, first + np.uint64(n_bins))
    elif data.sparse:
        size, missing = sparse_prefix_sums(histogram, data, feature, totals, gradients.packed, False, prefix)
        if np.int64(data.default_bins[feature]) != n_bins:
            missing = read_bin(histogram, data, feature, n_bins, totals, gradients.packed)
        front, back = size, size
    else:
        size = _prefix_sums(histogram, words, first, n_bins, prefix)
        missing = read_cell(histogram, words, first + np.uint64(n_bins))
        front, back = size, size
    score = NO_GAIN
    for with_missing in range(2 if missing[2] > 0 else 1):
        begin, end = ZERO, front
        while begin < size:
            score = scan_numeric(
                prefix, begin, end, missing, with_missing, totals, gradients, rules, bounds, best, score
            )
            begin, end = (back, size) if begin == 0 else (size, size)
    if categorical:
        if score > NO_GAIN:
            settle_set(prefix, size, n_bins, data.gathers[feature], missing[2], totals, best)
    elif missing[2] == 0:
        # No missing value has been seen here: send those to come where most rows go.
        best[MISSING_LEFT] = np.int64(2 * best[LEFT_COUNT] >= totals[2])
    return score


@parallel_inner_kernel
def _scan_features(
    histogram: Any,
    data: Columns,
    features: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    node: Any,
    tasks: Any,
    found: Any,
    scores: Any,
) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        prefix = new_scratch()
        for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
            scores[j] = _scan_feature(
                histogram, data, features[j], totals, gradients, rules, state, node, prefix, found[j]
            )


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
    tasks: int,
    best: NDArray[np.int64],
) -> Any:
    """Gain of the best split among ``features``, NO_GAIN where there is none; the split goes to ``best``.

    ``histogram``: (3, cells); ``totals``: the node's integer gradient, hessian and count; ``node``: its number in
    ``state``. Of equal gains the lowest feature and the lowest bin win, whatever the number of tasks.
    """
    best_score = NO_GAIN
    columns = columns_of(data)
    if data.sparse:
        fewest = max(1, rules.min_samples_leaf)
        smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
        marks = np.zeros(len(features), np.bool_)
        mark_promising(histogram, data, features, gradients.packed, fewest, smallest, tasks, marks)
        features = features[marks]
    if tasks > 1 and len(features) >= PARALLEL_FEATURES:
        found = np.empty((len(features), CANDIDATE), np.int64)
        scores = np.empty(len(features), np.float64)
        _scan_features(
            histogram, columns, features, totals, gradients, rules, state, node, tasks, found, scores
        )
        for j in range(len(features)):
            if scores[j] > best_score:
                best_score = scores[j]
                copy_candidate(found[j], best)
    else:
        trial = np.empty(CANDIDATE, np.int64)
        prefix = new_scratch()
        for j in range(len(features)):
            score = _scan_feature(
                histogram, columns, features[j], totals, gradients, rules, state, node, prefix, trial
            )
            if score > best_score:
                best_score = score
                copy_candidate(trial, best)
    if best_score == NO_GAIN:
        return NO_GAIN
    return gain_of_score(best_score, totals, gradients, rules, bounds_of(state, node, best[FEATURE]))


@inlined
def gain_of_score(best_score: Any, totals: Any, gradients: Gradients, rules: Rules, bounds: Bounds) -> Any:
    """The gain of a split whose children have this score; NO_GAIN where it does not pay."""
    parent = parent_score(totals, gradients, rules, bounds)
    children = best_score * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    gain = 0.5 * (children - parent) - rules.gamma
    # Up to this a "gain" is the rounding of the subtraction.
    if gain <= 1e-14 * abs(parent):
        return NO_GAIN
    return gain
