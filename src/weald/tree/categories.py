"""Splits of a categorical feature into two sets of categories.

At a node the categories are sorted by -G / (H + lambda), the leaf value that each would have alone, and cut like numbers. At
lambda = 0 the best cut is the best of all ways to form two sets (Fisher 1958): the gain is convex in the sums (G, H) of the
left side, so it is largest at a corner of the polygon of all these sums, and the corners are those of the cuts. Missing
values are tried on either side of every cut.

A category with too few rows or too little hessian to be a leaf has no value of its own: it is sorted by the value of the node.
Sorted by their own, the many rare categories of a column would fit the noise of the training rows.

The side with fewer rows becomes the left child. So whatever the node has not seen, a category or a missing value, goes right,
with most of its rows. Where a feature has more categories than bins, the bin that gathers the rare ones goes right in any
case: the sets of a model name the categories on the left, and there may be thousands of rare ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.runtime.jit import inlined, inner_kernel
from weald.tree.histogram import read_cell
from weald.tree.state import (
    BIN,
    BIN_WORDS,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
)

LEAST_WEIGHT = 1e-16  # keeps the quotient finite where a category has no hessian and lambda is zero


@inlined
def has_bin(words: Any, b: Any) -> Any:
    """1 if the set has the bin, else 0; ``words``: int64 (4,), a bit a bin."""
    return (words[np.uint64(b) >> np.uint64(6)] >> (np.int64(b) & 63)) & 1


@inlined
def put_bin(words: Any, b: Any) -> None:
    """Add a bin to a set."""
    words[np.uint64(b) >> np.uint64(6)] |= np.int64(1) << (np.int64(b) & 63)


@inlined
def put_no_bin(words: Any) -> None:
    """Empty a set."""
    for word in range(BIN_WORDS):
        words[word] = 0


@inlined
def put_only_bin(words: Any, b: Any, n_bins: Any) -> None:
    """Make it the set of one bin; the bin of missing values, ``n_bins``, is in no set."""
    put_no_bin(words)
    if b < n_bins:
        put_bin(words, b)


@inlined
def sort_bins(keys: Any, bins: Any, size: Any) -> None:
    """Sort by key, of equal keys by bin: Shell's sort with the gaps of Ciura (2001)."""
    for gap in (132, 57, 23, 10, 4, 1):
        for i in range(gap, size):
            key, b, place = keys[i], bins[i], i
            while place >= gap and (
                keys[place - gap] > key or (keys[place - gap] == key and bins[place - gap] > b)
            ):
                keys[place], bins[place] = keys[place - gap], bins[place - gap]
                place -= gap
            keys[place], bins[place] = key, b


@inlined
def sort_key(own: Any, totals: Any, gradients: Any, rules: Any) -> Any:
    """What categories are sorted by; ``own`` and ``totals``: integer gradient, hessian and count of category and node."""
    light = own[1] < rules.min_child_weight / gradients.hessian_unit or own[2] < rules.min_samples_leaf
    gradient, hessian = (totals[0], totals[1]) if light else (own[0], own[1])
    smoothing = rules.reg_lambda / gradients.hessian_unit
    return -np.float64(gradient) / max(np.float64(hessian) + smoothing, LEAST_WEIGHT)


@inner_kernel
def sort_categories(
    histogram: Any, words: Any, first: Any, n_bins: Any, totals: Any, gradients: Any, rules: Any, prefix: Any
) -> Any:
    """Prefix sums over the node's categories in their order; ``prefix.bins`` are their bins. Their number is returned."""
    keys, bins = prefix.score, prefix.bins
    size = np.int64(0)
    for b in range(n_bins):
        g, h, n = read_cell(histogram, words, first + np.uint64(b))
        if n > 0:
            keys[size], bins[size] = sort_key((g, h, n), totals, gradients, rules), b
            size += 1
    sort_bins(keys, bins, size)
    fill_ordered(histogram, words, first, size, prefix)
    return size


@inlined
def fill_ordered(histogram: Any, words: Any, first: Any, size: Any, prefix: Any) -> None:
    """Prefix sums over the bins ``prefix.bins[:size]``, in that order."""
    g_left, h_left, n_left = np.int64(0), np.int64(0), np.int64(0)
    for i in range(size):
        g, h, n = read_cell(histogram, words, first + np.uint64(prefix.bins[i]))
        g_left += g
        h_left += h
        n_left += n
        prefix.gradient[i], prefix.hessian[i], prefix.rows[i] = g_left, h_left, n_left


@inlined
def settle_set(
    prefix: Any, size: Any, n_bins: Any, gathers: Any, n_missing: Any, totals: Any, best: Any
) -> None:
    """From the cut after the bin ``best[BIN]`` to the set of bins that goes left, with its sums."""
    cut, rare = np.int64(1), size
    while prefix.bins[cut - 1] != best[BIN]:
        cut += 1
    for i in range(size):
        if gathers and prefix.bins[i] == n_bins - 1:
            rare = i
    turn = rare < cut if rare < size else 2 * best[LEFT_COUNT] > totals[2]
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
