"""Columns of two bins of which a histogram keeps one, in a bundle or of a sparse table: one cell, one threshold, one score.

One-hot columns are of this kind, and words that a text has or has not. There may be thousands of them, and a scan that is made
for hundreds of bins would take several times as long.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Int, Int64s
from weald.runtime.far import returns
from weald.runtime.jit import ZERO, inlined, kernel
from weald.tree.histograms.cells import cell_words, packed_count, packed_gradient, packed_hessian, read_cell
from weald.tree.histograms.sparse import plane_size
from weald.tree.splits.gain import NO_GAIN, free_pair
from weald.tree.state import NOBODY, Gradients, Rules, TreeInput


@inlined
def _sparse_cell(words: Int64s, plane: int, place: Int) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of a kept cell of a sparse table, see sparse.py."""
    if place >= plane:
        word = words[place + 2 * plane]
        return packed_gradient(word), packed_hessian(word), packed_count(word)
    return words[place], words[place + plane], words[place + 2 * plane]


@inlined
def _kept_cell(
    histogram: Int64s, data: TreeInput, feature: int, totals: tuple[Int, Int, Int], packed: bool
) -> tuple[bool, Int, Int, Int]:
    """Whether a feature is of this kind at a node, and gradient, hessian and count of the cell that is kept.

    Nothing is called, as to pass the arrays to a function would take longer than the rest.
    """
    default, first = np.int64(data.default_bins[feature]), np.int64(data.offsets[feature])
    if data.n_bins[feature] != 2 or default > 1:
        return False, ZERO, ZERO, ZERO
    if not data.sparse:
        g, h, n = read_cell(histogram, cell_words(packed, totals[2]), data.offsets[feature])
        return data.sizes[feature] == 1, g, h, n
    plane = plane_size(data, packed)
    _, _, n_missing = _sparse_cell(histogram[0], plane, first + 2)
    g, h, n = _sparse_cell(histogram[0], plane, first + 1 - default)
    return n_missing == 0, g, h, n


@returns(types.Tuple([types.float64, types.int64]))
@kernel
def best_pair(
    histogram: NDArray[np.int64],
    data: TreeInput,
    features: NDArray[np.int64],
    totals: tuple[int, int, int],
    gradients: Gradients,
    rules: Rules,
    smallest: float,
    rest: NDArray[np.bool_],
) -> tuple[float, Int]:
    """The score of the best split on a feature of this kind, and the feature; ``rest``: marks those of other kinds.

    The score is that which a scan would give it, where nothing moves the values.
    """
    fewest = max(1, rules.min_samples_leaf)
    lam, alpha = rules.reg_lambda / gradients.hessian_unit, rules.reg_alpha / gradients.gradient_unit
    g_all, h_all = np.float64(totals[0]), np.float64(totals[1])
    most_count, most_hessian = totals[2] - fewest, totals[1] - smallest
    best_score, best = NO_GAIN, NOBODY
    for j in range(len(features)):
        feature = features[j]
        is_pair, g, h, n = _kept_cell(histogram, data, feature, totals, gradients.packed)
        rest[j] = not is_pair
        if not is_pair or n < fewest or n > most_count:
            continue
        if data.default_bins[feature] == 0:
            g, h = totals[0] - g, totals[1] - h
        gl, hl = np.float64(g), np.float64(h)
        if hl < smallest or hl > most_hessian:
            continue
        score = free_pair(gl, hl, g_all, h_all, lam, alpha)
        if score > best_score:
            best_score, best = score, feature
    return best_score, best
