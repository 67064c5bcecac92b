"""The best split of a node from its histogram.

The gain is that of regularised boosting (Chen and Guestrin 2016, equation 7):

    gain = 1/2 * [ S(G_L, H_L) + S(G_R, H_R) - S(G, H) ] - gamma,    S(G, H) = T(G)^2 / (H + lambda)

where T soft-thresholds the gradient by alpha. With ``max_delta_step`` the optimal leaf value is clipped and S is
the value of the objective at the clipped point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import inlined, inner_kernel, kernel, parallel_inner_kernel
from weald.tree.histogram import cell_words, packed_count, packed_gradient, packed_hessian, read_cell
from weald.tree.state import Gradients, Rules, TreeInput

# A candidate split is six integers: these are their places.
FEATURE, BIN, MISSING_LEFT, LEFT_GRADIENT, LEFT_HESSIAN, LEFT_COUNT = 0, 1, 2, 3, 4, 5

PARALLEL_FEATURES = 256  # features from which the search is shared among threads
SMALLEST_HESSIAN = 1e-16  # keeps the quotient finite when lambda and min_child_weight are zero
NO_GAIN = -np.inf
MOST_BINS = 256


@inlined
def _copy_candidate(source: Any, target: Any) -> None:
    for place in range(6):
        target[place] = source[place]


@inlined
def soft_threshold(gradient: Any, alpha: Any) -> Any:
    """T(G): the gradient moved towards zero by alpha."""
    if gradient > alpha:
        return gradient - alpha
    if gradient < -alpha:
        return gradient + alpha
    return 0.0


@inlined
def leaf_value(gradient: Any, hessian: Any, rules: Rules) -> Any:
    """-T(G) / (H + lambda), clipped to max_delta_step when that is positive."""
    value = -soft_threshold(gradient, rules.reg_alpha) / max(hessian + rules.reg_lambda, SMALLEST_HESSIAN)
    if rules.max_delta_step > 0.0:
        value = min(max(value, -rules.max_delta_step), rules.max_delta_step)
    return value


@inlined
def node_score(gradient: Any, hessian: Any, rules: Rules) -> Any:
    """S(G, H): twice the reduction of the objective by the node's best leaf value."""
    value = leaf_value(gradient, hessian, rules)
    score = -(
        2.0 * gradient * value
        + (hessian + rules.reg_lambda) * value * value
        + 2.0 * rules.reg_alpha * abs(value)
    )
    return score if score > 0.0 else 0.0  # neither a rounding below zero nor a negative zero


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
) -> None:
    """Score of the splits begin..end, whose left sides also have ``g_added`` and ``h_added``.

    In units of the integer sums; no branch, so it vectorises; both children over one denominator, as division is the
    cost.
    """
    gradient, hessian, score = prefix.gradient, prefix.hessian, prefix.score
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    g_all, h_all = np.float64(totals[0]), np.float64(totals[1])
    if rules.max_delta_step > 0.0:
        for i in range(begin, end):
            score[i] = clipped_pair(
                gradient[i] + g_added, hessian[i] + h_added, g_all, h_all, gradients, rules
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
def clipped_pair(gl: Any, hl: Any, g_all: Any, h_all: Any, gradients: Gradients, rules: Rules) -> Any:
    """The children's score with clipped leaf values, in units of the integer sums."""
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    left = node_score(gl * g_unit, hl * h_unit, rules)
    right = node_score((g_all - gl) * g_unit, (h_all - hl) * h_unit, rules)
    return (left + right) * h_unit / (g_unit * g_unit)


@inlined
def _largest(score: Any, begin: Any, end: Any) -> Any:
    """The largest of non-negative scores: their bits compare like integers, whose maximum vectorises."""
    bits = score.view(np.int64)
    largest = np.int64(-1)
    for i in range(np.uint64(begin), np.uint64(end)):
        largest = max(largest, bits[i])
    return largest


@inlined
def _scan_numeric(
    prefix: Scratch,
    size: Any,
    missing: Any,
    with_missing: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    best: Any,
    best_score: Any,
) -> Any:
    """Thresholds from left to right, missing values on the left (``with_missing``) or on the right."""
    g_added, h_added, n_added = (
        missing[0] * with_missing,
        missing[1] * with_missing,
        missing[2] * with_missing,
    )
    smallest = max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit
    fewest = max(1, rules.min_samples_leaf)
    begin, end = 0, size
    while begin < end and (
        prefix.rows[begin] + n_added < fewest or prefix.hessian[begin] + h_added < smallest
    ):
        begin += 1
    most_count, most_hessian = totals[2] - fewest - n_added, totals[1] - smallest - h_added
    while begin < end and (prefix.rows[end - 1] > most_count or prefix.hessian[end - 1] > most_hessian):
        end -= 1
    if begin == end:
        return best_score
    score_prefixes(prefix, begin, end, g_added, h_added, totals, gradients, rules)
    largest = _largest(prefix.score, begin, end)
    at = begin
    while prefix.score.view(np.int64)[at] != largest:
        at += 1
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
        score = clipped_pair(g_left, h_left, totals[0], totals[1], gradients, rules)
        if score > best_score:
            best_score = score
            best[BIN], best[MISSING_LEFT] = b, np.int64(b == n_bins)
            best[LEFT_GRADIENT], best[LEFT_HESSIAN], best[LEFT_COUNT] = g_left, h_left, n_left
    return best_score


@inner_kernel
def _scan_feature(
    histogram: Any,
    data: TreeInput,
    feature: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    prefix: Scratch,
    best: Any,
) -> Any:
    """Best score of one feature; its place goes to ``best``."""
    first = data.offsets[feature]
    n_bins = data.n_bins[feature]
    words = cell_words(gradients.packed, totals[2])
    best[FEATURE] = feature
    if data.categorical[feature]:
        return _scan_categorical(histogram, words, first, n_bins, totals, gradients, rules, best)
    size = _prefix_sums(histogram, words, first, n_bins, prefix)
    missing = read_cell(histogram, words, first + np.uint64(n_bins))
    score = NO_GAIN
    for with_missing in range(2 if missing[2] > 0 else 1):
        score = _scan_numeric(prefix, size, missing, with_missing, totals, gradients, rules, best, score)
    if missing[2] == 0:
        # No missing value has been seen here: send those to come where most rows go.
        best[MISSING_LEFT] = np.int64(2 * best[LEFT_COUNT] >= totals[2])
    return score


@parallel_inner_kernel
def _scan_features(
    histogram: Any,
    data: TreeInput,
    features: Any,
    totals: Any,
    gradients: Gradients,
    rules: Rules,
    tasks: Any,
    found: Any,
    scores: Any,
) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        prefix = new_scratch()
        for j in range(len(features) * task // tasks, len(features) * (task + 1) // tasks):
            scores[j] = _scan_feature(
                histogram, data, features[j], totals, gradients, rules, prefix, found[j]
            )


@kernel
def find_best_split(
    histogram: NDArray[np.int64],
    data: TreeInput,
    features: NDArray[np.int64],
    totals: tuple[int, int, int],
    gradients: Gradients,
    rules: Rules,
    tasks: int,
    best: NDArray[np.int64],
) -> Any:
    """Gain of the best split among ``features``, NO_GAIN where there is none; the split goes to ``best``.

    ``histogram``: (3, cells); ``totals``: the node's integer gradient, hessian and count. Of equal gains the lowest
    feature and the lowest bin win, whatever the number of tasks.
    """
    best_score = NO_GAIN
    if tasks > 1 and len(features) >= PARALLEL_FEATURES:
        found = np.empty((len(features), 6), np.int64)
        scores = np.empty(len(features), np.float64)
        _scan_features(histogram, data, features, totals, gradients, rules, tasks, found, scores)
        for j in range(len(features)):
            if scores[j] > best_score:
                best_score = scores[j]
                _copy_candidate(found[j], best)
    else:
        trial = np.empty(6, np.int64)
        prefix = new_scratch()
        for j in range(len(features)):
            score = _scan_feature(histogram, data, features[j], totals, gradients, rules, prefix, trial)
            if score > best_score:
                best_score = score
                _copy_candidate(trial, best)
    if best_score == NO_GAIN:
        return NO_GAIN
    parent = node_score(totals[0] * gradients.gradient_unit, totals[1] * gradients.hessian_unit, rules)
    children = best_score * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    gain = 0.5 * (children - parent) - rules.gamma
    # Up to this a "gain" is the rounding of the subtraction.
    if gain <= 1e-14 * abs(parent):
        return NO_GAIN
    return gain
