"""Histograms and columns of a table of bundles (binning/bundled.py): what the kernels read for one of the features in it.

A histogram is that of the stored columns, so a row is added once a bundle. A feature's cells are neighbours in it, in the
order of its bins, without that of its *default bin*, which is what the node's totals leave when the others are subtracted. All
sums are integers: with no conflicts they are those of the features' own columns, and so are the trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Int, Int64s, Uint8s
from weald.runtime.far import returns
from weald.runtime.jit import ZERO, bare_inner_kernel, inlined, kernel
from weald.tree.histograms.cells import cell_words, packed_count, packed_gradient, packed_hessian, read_cell
from weald.tree.state import TreeInput

if TYPE_CHECKING:
    from weald.tree.histograms.prefixes import Scratch


@inlined
def in_bundle(data: TreeInput, feature: int) -> bool:
    """Whether a feature shares its stored column with others."""
    return len(data.sizes) > 0 and data.sizes[feature] <= data.n_bins[feature]


@inlined
def column_of(data: TreeInput, feature: int) -> int:
    """The stored column that a feature is in."""
    return data.stored[feature] if len(data.stored) > 0 else feature


@returns(types.int64[::1])
@kernel
def stored_columns(data: TreeInput, features: NDArray[np.int64]) -> Int64s:
    """The stored columns of chosen features, ascending."""
    wanted = np.zeros(len(data.stored_offsets) - 1, np.bool_)
    for feature in features:
        wanted[data.stored[feature]] = True
    return np.flatnonzero(wanted)


@inlined
def _member_sums(histogram: Int64s, words: int, first: np.uint64, size: int) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of a feature's cells: of all rows outside of its default bin."""
    if words == 1:
        word = ZERO
        for place in range(np.uint64(size)):
            word += histogram[0, first + place]
        return packed_gradient(word), packed_hessian(word), packed_count(word)
    gradient, hessian, count = ZERO, ZERO, ZERO
    for place in range(np.uint64(size)):
        g, h, n = read_cell(histogram, words, first + place)
        gradient += g
        hessian += h
        count += n
    return gradient, hessian, count


@returns(types.UniTuple(types.int64, 3))
@bare_inner_kernel
def read_member(
    histogram: Int64s, data: TreeInput, feature: int, b: int, totals: tuple[Int, Int, Int], packed: bool
) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of one bin of a feature in a bundle; ``totals``: the node's."""
    words, first, size = cell_words(packed, totals[2]), data.offsets[feature], data.sizes[feature]
    default = np.int64(data.default_bins[feature])
    if b == default:
        gradient, hessian, count = _member_sums(histogram, words, first, size)
        return totals[0] - gradient, totals[1] - hessian, totals[2] - count
    place = b - np.int64(b > default)
    if place >= size:
        return ZERO, ZERO, ZERO  # missing values, of which the table has none
    return read_cell(histogram, words, first + np.uint64(place))


@returns(types.Tuple([types.int64, types.UniTuple(types.int64, 3)]))
@bare_inner_kernel
def member_prefix_sums(
    histogram: Int64s,
    data: TreeInput,
    feature: int,
    totals: tuple[Int, Int, Int],
    packed: bool,
    every_bin: bool,
    prefix: Scratch,
) -> tuple[Int, tuple[Int, Int, Int]]:
    """Prefix sums of a feature at every bin, or at every bin that has rows; their number, and what is missing."""
    words, place = cell_words(packed, totals[2]), data.offsets[feature]
    n_bins, default = data.n_bins[feature], np.int64(data.default_bins[feature])
    gradient, hessian, count = _member_sums(histogram, words, place, data.sizes[feature])
    left_out = (totals[0] - gradient, totals[1] - hessian, totals[2] - count)
    size = np.uint64(0)
    g_left, h_left, n_left = ZERO, ZERO, ZERO
    for b in range(n_bins):
        if b == default:
            own = left_out
        else:
            own = read_cell(histogram, words, place)
            place += np.uint64(1)
        g_left += own[0]
        h_left += own[1]
        n_left += own[2]
        prefix.gradient[size] = g_left
        prefix.hessian[size] = h_left
        prefix.rows[size] = n_left
        prefix.bins[size] = b
        size += np.uint64(every_bin | (own[2] > 0))
    missing = (totals[0] - g_left, totals[1] - h_left, totals[2] - n_left)
    return np.int64(size), missing


@returns(types.none)
@kernel
def mark_members(
    histogram: NDArray[np.int64],
    data: TreeInput,
    features: NDArray[np.int64],
    n_rows: int,
    packed: bool,
    fewest: int,
    smallest: float,
    marks: NDArray[np.bool_],
) -> None:
    """Mark the features that may divide a node of so many rows, besides those marked already: see `mark_promising`."""
    words = cell_words(packed, n_rows)
    for j in range(len(features)):
        feature = features[j]
        if not in_bundle(data, feature):
            marks[j] = True
            continue
        _, hessian, count = _member_sums(histogram, words, data.offsets[feature], data.sizes[feature])
        marks[j] |= (count >= fewest) & (hessian >= smallest)


@returns(types.uint8[::1])
@kernel
def fill_codes_left(data: TreeInput, feature: int, goes_left: Uint8s) -> Uint8s:
    """From what a split does with a feature's bins to what it does with the codes of its bundle."""
    place = data.stored[feature]
    start = data.stored_offsets[place]
    default, first = np.int64(data.default_bins[feature]), np.int64(data.offsets[feature] - start)
    by_code = np.full(np.int64(data.stored_offsets[place + 1] - start), goes_left[default])
    for i in range(data.sizes[feature]):
        by_code[first + i] = goes_left[i + np.int64(i >= default)]
    return by_code
