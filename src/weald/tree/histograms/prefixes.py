"""The best threshold of a numeric column: prefix sums over its bins, and a score for the split after each.

A column of categories, sorted, and a column of presorted values are cut in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Float64s, Int, Int64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ZERO, bare_inner_kernel, inlined
from weald.runtime.random import THRESHOLDS, below, mix, stream
from weald.runtime.references import refer
from weald.tree.histograms.cells import packed_count, packed_gradient, packed_hessian, read_cell
from weald.tree.splits.constraints import Bounds, is_bound
from weald.tree.splits.cosine import cosine, pair_moments
from weald.tree.splits.gain import clipped_pair, free_pair
from weald.tree.splits.score import smallest_hessian
from weald.tree.state import (
    BIN,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    Gradients,
    Rules,
)


class Scratch(NamedTuple):
    """Sums up to and with a bin, the bin, and the score of the split after it.

    The sums are integers in float64: exact below 2**53, and a comparison of scores needs no conversion.
    """

    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    rows: NDArray[np.int64]
    bins: NDArray[np.int64]
    score: NDArray[np.float64]


@inlined
def new_scratch(size: int) -> Scratch:
    """Memory for the scan of a feature with so many bins."""
    return Scratch(
        np.empty(size, np.float64),
        np.empty(size, np.float64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.float64),
    )


@inlined
def prefix_sums(histogram: Int64s, words: int, first: np.uint64, n_bins: int, prefix: Scratch) -> Int:
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
    begin: Int,
    end: Int,
    added: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> None:
    """Score of the splits begin..end, whose left sides also have the gradient, hessian and rows of ``added``.

    In units of the integer sums. Where nothing moves the values there is no branch, so it vectorises.
    """
    if rules.cosine or rules.max_delta_step > 0.0 or is_bound(bounds, rules):
        far(_score_specially, (prefix, begin, end, added, totals, refer(gradients), refer(rules), bounds))
        return
    gradient, hessian, score = prefix.gradient, prefix.hessian, prefix.score
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    g_all, h_all = np.float64(totals[0]), np.float64(totals[1])
    for i in range(np.uint64(begin), np.uint64(end)):
        score[i] = free_pair(gradient[i] + added[0], hessian[i] + added[1], g_all, h_all, lam, alpha)


@returns(types.none)
@bare_inner_kernel
def _score_specially(
    prefix: Scratch,
    begin: int,
    end: int,
    added: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> None:
    """`score_prefixes` by cosines, or with values that are clipped or smoothed."""
    gradient, hessian, score = prefix.gradient, prefix.hessian, prefix.score
    if not rules.cosine:
        for i in range(begin, end):
            g, h, n = gradient[i] + added[0], hessian[i] + added[1], prefix.rows[i] + added[2]
            score[i] = clipped_pair(g, h, n, totals, gradients, rules, bounds)
        return
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    g_all, h_all = np.float64(totals[0]), np.float64(totals[1])
    for i in range(np.uint64(begin), np.uint64(end)):
        product, square = pair_moments(
            gradient[i] + added[0], hessian[i] + added[1], g_all, h_all, lam, alpha
        )
        score[i] = cosine(product, square)


@inlined
def _place_of_largest(score: Float64s, begin: Int, end: Int, rules: Rules, bounds: Bounds) -> Int:
    """The first place of the largest score."""
    at = begin
    if is_bound(bounds, rules):
        for i in range(begin, end):
            if score[i] > score[at]:
                at = i
        return at
    # Scores are not negative: their bits compare like integers, whose maximum vectorises.
    bits = score.view(np.int64)
    largest = np.int64(-1)
    for i in range(np.uint64(begin), np.uint64(end)):
        largest = max(largest, bits[i])
    while at < end - 1 and bits[at] != largest:
        at += 1
    return at


@inlined
def drawn_bits(key: np.uint64, node: Int, feature: int) -> np.uint64:
    """The random bits of a column in a node, or in the level that begins with the node; ``key``: the tree's."""
    return mix(mix(stream(key, THRESHOLDS) + np.uint64(node)) + np.uint64(feature))


@returns(types.int64)
@bare_inner_kernel
def draw_place(
    prefix: Scratch, size: int, n_missing: int, totals: tuple[Int, Int, Int], rules: Rules, bits: np.uint64
) -> int:
    """One of the places 0..size that leave both sides enough rows, missing values on either; ``size``: there is none."""
    fewest = max(1, rules.min_samples_leaf)
    begin, end = ZERO, size
    while begin < end and prefix.rows[begin] + n_missing < fewest:
        begin += 1
    while begin < end and prefix.rows[end - 1] > totals[2] - fewest:
        end -= 1
    return begin + below(bits, end - begin) if begin < end else size


@inlined
def scan_numeric(
    prefix: Scratch,
    cuts: tuple[Int, Int],
    missing: tuple[Int, Int, Int],
    with_missing: int,
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    best: Int64s,
    best_score: float,
) -> float:
    """Thresholds cuts[0]..cuts[1] from left to right, missing values on the left (``with_missing``) or on the right."""
    begin, end = cuts
    added = (missing[0] * with_missing, missing[1] * with_missing, missing[2] * with_missing)
    smallest = smallest_hessian(rules, gradients)
    fewest = max(1, rules.min_samples_leaf)
    while begin < end and (
        prefix.rows[begin] + added[2] < fewest or prefix.hessian[begin] + added[1] < smallest
    ):
        begin += 1
    most_count, most_hessian = totals[2] - fewest - added[2], totals[1] - smallest - added[1]
    while begin < end and (prefix.rows[end - 1] > most_count or prefix.hessian[end - 1] > most_hessian):
        end -= 1
    if begin == end:
        return best_score
    score_prefixes(prefix, begin, end, added, totals, gradients, rules, bounds)
    at = _place_of_largest(prefix.score, begin, end, rules, bounds)
    if prefix.score[at] <= best_score:
        return best_score
    best[BIN], best[MISSING_LEFT] = prefix.bins[at], with_missing
    best[LEFT_GRADIENT] = np.int64(prefix.gradient[at]) + added[0]
    best[LEFT_HESSIAN] = np.int64(prefix.hessian[at]) + added[1]
    best[LEFT_COUNT] = prefix.rows[at] + added[2]
    return prefix.score[at]
