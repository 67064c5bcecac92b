"""Splits of a categorical feature into two sets of categories.

At a node the categories are sorted by -G / (H + lambda), the leaf value that each would have alone, and cut like numbers. At
lambda = 0 the best cut is the best of all ways to form two sets (Fisher 1958): the gain is convex in the sums (G, H) of the
left side, so it is largest at a corner of the polygon of all these sums, and the corners are those of the cuts. Missing
values are tried on either side of every cut.

The cuts are tried from both ends. Going inwards from an end, the categories passed so far are the *scanned* side: at most
``max_cat_threshold`` and at most half of them. Two cuts that are tried have ``min_samples_category`` rows between them,
and the other side has as many, too.

A rare category fits the noise of the training rows, so its own value must not decide its place. It is not sorted at all, but
stays with the *rest*: the side that is not scanned, whichever end the scan begins at. A category is rare

* where ``cat_smooth`` is 0: if it has too few rows, or too little hessian, to be a leaf;
* where ``cat_smooth`` is positive (LightGBM; Ke and others 2017): if it has fewer rows than that. A row counts by its hessian
  over the node's mean hessian, as in LightGBM; of the squared loss that is 1. In the order ``cat_smooth`` takes lambda's place.

A bin that gathers rare categories is of the rest, too.

Where there is a rest, the scanned side becomes the left child, else the side with fewer rows. So whatever the node has not
seen, a category or a missing value, goes right, with the rest or with most of the rows. And the sets of a model, which name
the categories on the left, never name those of a gathering bin, of which there may be thousands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.runtime.arrays import Bool, Float64s, Int, Int64s
from weald.runtime.jit import ZERO, inlined, inner_kernel
from weald.runtime.random import below
from weald.tree.histograms.cells import read_cell
from weald.tree.state import (
    BIN,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    Gradients,
    Rules,
)

if TYPE_CHECKING:
    from weald.tree.histograms.prefixes import Scratch

LEAST_WEIGHT = 1e-16  # keeps the quotient finite where a category has no hessian and lambda is zero


@inlined
def has_bin(words: Int64s, b: Int) -> int:
    """1 if the set has the bin, else 0; ``words``: int64, a bit a bin."""
    return (words[np.uint64(b) >> np.uint64(6)] >> (np.int64(b) & 63)) & 1


@inlined
def put_bin(words: Int64s, b: int) -> None:
    """Add a bin to a set."""
    words[np.uint64(b) >> np.uint64(6)] |= np.int64(1) << (np.int64(b) & 63)


@inlined
def put_no_bin(words: Int64s) -> None:
    """Empty a set."""
    for word in range(len(words)):
        words[word] = 0


@inlined
def put_only_bin(words: Int64s, b: int, n_bins: int) -> None:
    """Make it the set of one bin; the bin of missing values, ``n_bins``, is in no set."""
    put_no_bin(words)
    if b < n_bins:
        put_bin(words, b)


@inlined
def sort_bins(keys: Float64s, bins: Int64s, size: Int) -> None:
    """Sort by key, of equal keys by bin: Shell's sort with the gaps of Ciura (2001), each next one 2.25 times as wide."""
    for gap in (40412, 17961, 7983, 3548, 1577, 701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, size):
            key, b, place = keys[i], bins[i], i
            while place >= gap and (
                keys[place - gap] > key or (keys[place - gap] == key and bins[place - gap] > b)
            ):
                keys[place], bins[place] = keys[place - gap], bins[place - gap]
                place -= gap
            keys[place], bins[place] = key, b


@inlined
def most_scanned(size: Int, rules: Rules) -> Int:
    """The largest number of sorted categories on the scanned side."""
    return min(rules.max_cat_threshold, (size + 1) // 2)


@inner_kernel
def sort_ends(prefix: Scratch, size: Int, most: Int) -> None:
    """Sort ``prefix.bins`` by their keys ``prefix.score`` as far as a scan goes: the first ``most`` and the last ``most``.

    The bins ascend before; those between the ends are in any order after. Of thousands of categories a scan reads a few dozen,
    and to find these in one pass, by insertion, takes a tenth of the time of sorting all.
    """
    keys, bins = prefix.score, prefix.bins
    if size <= 4 * most:
        sort_bins(keys, bins, size)
        return
    low_keys, low_bins = prefix.gradient, prefix.rows
    high_keys, high_bins = prefix.hessian, prefix.rows[most:]
    for i in range(size):
        key, b = keys[i], bins[i]
        if i < most or key < low_keys[most - 1]:  # of equal keys the bin that came first is the lower one
            place = min(i, most - 1)
            while place > 0 and low_keys[place - 1] > key:
                low_keys[place], low_bins[place] = low_keys[place - 1], low_bins[place - 1]
                place -= 1
            low_keys[place], low_bins[place] = key, b
        if i < most:
            place = i
            while place > 0 and high_keys[place - 1] > key:
                high_keys[place], high_bins[place] = high_keys[place - 1], high_bins[place - 1]
                place -= 1
            high_keys[place], high_bins[place] = key, b
        elif key >= high_keys[0]:
            place = ZERO
            while place < most - 1 and high_keys[place + 1] <= key:
                high_keys[place], high_bins[place] = high_keys[place + 1], high_bins[place + 1]
                place += 1
            high_keys[place], high_bins[place] = key, b
    n_between = ZERO
    for i in range(size):
        above = keys[i] > low_keys[most - 1] or (
            keys[i] == low_keys[most - 1] and bins[i] > low_bins[most - 1]
        )
        below_high = keys[i] < high_keys[0] or (keys[i] == high_keys[0] and bins[i] < high_bins[0])
        if above and below_high:
            bins[n_between] = bins[i]
            n_between += 1
    for i in range(n_between - 1, -1, -1):
        bins[most + i] = bins[i]
    for i in range(most):
        bins[i], bins[size - most + i] = low_bins[i], high_bins[i]


@inlined
def is_sorted(
    b: int,
    own: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    n_bins: int,
    gathers: bool,
    gradients: Gradients,
    rules: Rules,
) -> Bool:
    """Whether a bin of these sums is one of those that are sorted; otherwise it is of the rest, or empty."""
    if own[2] == 0 or (gathers and b == n_bins - 1):
        return False
    if rules.cat_smooth > 0.0:
        return np.float64(own[1]) * totals[2] >= rules.cat_smooth * totals[1]
    return own[1] >= rules.min_child_weight / gradients.hessian_unit and own[2] >= rules.min_samples_leaf


@inlined
def sort_key(own: tuple[Int, Int, Int], gradients: Gradients, rules: Rules) -> float:
    """What categories are sorted by; ``own``: integer gradient, hessian and count of the category."""
    smoothing = rules.cat_smooth if rules.cat_smooth > 0.0 else rules.reg_lambda
    return -np.float64(own[0]) / max(np.float64(own[1]) + smoothing / gradients.hessian_unit, LEAST_WEIGHT)


@inner_kernel
def sort_categories(
    histogram: Int64s,
    words: int,
    first: np.uint64,
    n_bins: int,
    gathers: bool,
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    prefix: Scratch,
) -> Int:
    """Prefix sums over the node's categories in their order; ``prefix.bins`` are their bins. Their number is returned."""
    keys, bins = prefix.score, prefix.bins
    size = np.int64(0)
    for b in range(n_bins):
        own = read_cell(histogram, words, first + np.uint64(b))
        if is_sorted(b, own, totals, n_bins, gathers, gradients, rules):
            keys[size], bins[size] = sort_key(own, gradients, rules), b
            size += 1
    sort_ends(prefix, size, most_scanned(size, rules))
    fill_ordered(histogram, words, first, size, prefix)
    return size


@inlined
def fill_ordered(histogram: Int64s, words: int, first: np.uint64, size: Int, prefix: Scratch) -> None:
    """Prefix sums over the bins ``prefix.bins[:size]``, in that order."""
    g_left, h_left, n_left = np.int64(0), np.int64(0), np.int64(0)
    for i in range(size):
        g, h, n = read_cell(histogram, words, first + np.uint64(prefix.bins[i]))
        g_left += g
        h_left += h
        n_left += n
        prefix.gradient[i], prefix.hessian[i], prefix.rows[i] = g_left, h_left, n_left


@inlined
def scanned_range(size: Int, most: Int, backward: int) -> tuple[Int, Int]:
    """The first cut of a scan and the one behind the last; cut i is that after the i-th category in order."""
    if backward:
        return max(size - 1 - most, 0), size
    return np.int64(0), most


@inlined
def drawn_cut(size: Int, most: Int, rules: Rules, bits: np.uint64) -> Int:
    """The only cut that is tried where one is drawn: of those that a scan from either end comes to. -1: all are tried."""
    if not rules.extra_trees:
        return np.int64(-1)
    behind = max(size - 1 - most, most)
    cut = below(bits, most + size - behind)
    return cut + behind - most if cut >= most else cut


@inlined
def best_cut(
    rows: Int64s,
    scores: Float64s,
    size: Int,
    most: Int,
    n_aside: Int,
    n_rows: int,
    rules: Rules,
    backward: int,
    drawn: Int,
) -> int:
    """The cut of the largest score among those that a scan tries, of equals the lowest; -1 when there is none.

    ``rows``: the sorted categories' counts, added up in their order; ``n_aside``: missing values on the scanned side; ``n_rows``:
    of the node; ``drawn``: the only cut to try, -1 for all. A scan from the back begins with no category: missing values against
    all others.
    """
    fewest, least = max(1, rules.min_samples_leaf), rules.min_samples_category
    at: Any = np.int64(-1)
    n_before = np.int64(0)
    for number in range(0 if backward else 1, most + 1):
        cut = size - 1 - number if backward else number - 1
        if cut < 0:
            break
        if drawn >= 0 and cut != drawn:
            continue
        n_scanned = n_aside + (rows[size - 1] - rows[cut] if backward else rows[cut])
        if n_scanned < fewest:
            continue
        if n_rows - n_scanned < max(fewest, least):
            break
        if n_scanned - n_before < least:
            continue
        n_before = n_scanned
        if at < 0 or scores[cut] > scores[at] or (backward and scores[cut] == scores[at]):
            at = cut
    return at


@inlined
def settle_set(
    prefix: Scratch,
    size: Int,
    n_missing: Int,
    n_rest: int,
    backward: int,
    totals: tuple[Int, Int, Int],
    best: Int64s,
) -> None:
    """From the cut ``best[BIN]`` to the set of bins that goes left, with its sums.

    ``n_rest``: rows of categories that are not sorted; ``backward``: the end at which the scan began.
    """
    cut = best[BIN] + 1
    turn = backward == 1 if n_rest > 0 else 2 * best[LEFT_COUNT] > totals[2]
    left_bins = best[LEFT_BINS:]
    put_no_bin(left_bins)
    for i in range(cut if turn else 0, size if turn else cut):
        put_bin(left_bins, prefix.bins[i])
    if turn:
        best[LEFT_GRADIENT] = totals[0] - best[LEFT_GRADIENT]
        best[LEFT_HESSIAN] = totals[1] - best[LEFT_HESSIAN]
        best[LEFT_COUNT] = totals[2] - best[LEFT_COUNT]
        best[MISSING_LEFT] = np.int64(n_missing > 0 and best[MISSING_LEFT] == 0)
    best[BIN] = 0
