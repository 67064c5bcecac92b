"""Candidates of a node's own: quantiles of its values, weighted by the hessians, in place of every value (local proposals).

Chen and Guestrin (2016), Algorithm 2 with the local proposal. A segment is sorted, so its values and their weights come from
one pass; they are summarised as for global proposals, and only the places that the summary proposes are scored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.binning.sketch import build_pruned, propose_cuts
from weald.runtime.arrays import Int, Int64s, Uint64s
from weald.runtime.jit import ZERO, inlined, inner_kernel
from weald.tree.exact.segments import row_of
from weald.tree.exact.state import MARK
from weald.tree.histograms.cells import packed_hessian, spread_packed
from weald.tree.state import Gradients


class CandidateScratch(NamedTuple):
    """Memory of one task; where every value is a candidate it is not used, and as short as can be."""

    values: NDArray[np.int64]  # (items,): the place of the last item of every distinct value
    weights: NDArray[np.int64]  # (items,)
    summary: NDArray[np.int64]  # (entries, 4)
    places: NDArray[np.int64]  # (buckets,): the last places of the proposed left sides


@inlined
def _hessian(item: np.uint64, gradients: Gradients) -> Int:
    if gradients.packed:
        return packed_hessian(spread_packed(item))
    return np.int64(gradients.wide[row_of(item)] & np.uint64(0xFFFFFFFF))


@inlined
def _weigh_values(
    items: Uint64s,
    begin: int,
    end: int,
    shift: Int,
    gradients: Gradients,
    count: Int | np.uint64,
    values: Int64s,
    weights: Int64s,
) -> Int:
    """Append the distinct values of a stretch by their last places, plus ``shift``, with their weights; their number.

    A row weighs at least 1, as for global proposals: values that weigh nothing could not be told apart.
    """
    count = np.uint64(count)
    for i in range(np.uint64(begin), np.uint64(end)):
        item = items[i]
        if item >= MARK or i == np.uint64(begin):
            weights[count] = 0
            count += np.uint64(1)
        weights[count - np.uint64(1)] += max(_hessian(item, gradients), np.int64(1))
        values[count - np.uint64(1)] = np.int64(i) + shift
    return np.int64(count)


@inner_kernel
def propose_places(
    items: Uint64s,
    begin: int,
    middle: int,
    end: int,
    rest: tuple[Int, Int],
    gradients: Gradients,
    buckets: int,
    scratch: CandidateScratch,
) -> int:
    """Fill ``scratch.places`` with the last places of left sides, the last of all among them; their number is returned.

    ``rest``: hessian and number of the rows without an item where these have a value of their own, before the item
    ``middle``, else zeros. That value has the place ``middle`` then, and the items from there on are a place behind their own.
    """
    values, weights = scratch.values, scratch.weights
    count = _weigh_values(items, begin, middle, ZERO, gradients, ZERO, values, weights)
    shift = np.int64(rest[1] > 0)
    if shift > 0:
        values[count], weights[count] = middle, max(rest[0], rest[1])
        count += 1
    count = _weigh_values(items, middle, end, shift, gradients, count, values, weights)
    most = np.int64(len(scratch.summary))
    entries = build_pruned(values[:count], weights[:count], most, scratch.summary)
    found = propose_cuts(scratch.summary[:entries], buckets, scratch.places)
    # With all values on the left, missing values on the right are a split too.
    scratch.places[found] = end - 1 + shift
    return found + 1
