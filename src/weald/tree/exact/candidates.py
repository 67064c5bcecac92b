"""Candidates of a node's own: quantiles of its values, weighted by the hessians, in place of every value (local proposals).

Chen and Guestrin (2016), Algorithm 2 with the local proposal. A segment is sorted, so its values and their weights come from
one pass; they are summarised as for global proposals, and only the places that the summary proposes are scored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.binning.sketch import build_pruned, propose_cuts
from weald.runtime.jit import inlined, inner_kernel
from weald.tree.exact.segments import row_of
from weald.tree.exact.state import MARK
from weald.tree.histogram import packed_hessian, spread_packed
from weald.tree.state import Gradients


class CandidateScratch(NamedTuple):
    """Memory of one task; where every value is a candidate it is not used, and as short as can be."""

    values: NDArray[np.int64]  # (items,): the place of the last item of every distinct value
    weights: NDArray[np.int64]  # (items,)
    summary: NDArray[np.int64]  # (entries, 4)
    places: NDArray[np.int64]  # (buckets,): the last items of the proposed left sides


@inlined
def _hessian(item: Any, gradients: Gradients) -> Any:
    if gradients.packed:
        return packed_hessian(spread_packed(item))
    return np.int64(gradients.wide[row_of(item)] & np.uint64(0xFFFFFFFF))


@inlined
def _weigh_values(items: Any, begin: Any, end: Any, gradients: Gradients, values: Any, weights: Any) -> Any:
    """The distinct values of a segment by their last places, with their weights; their number is returned.

    A row weighs at least 1, as for global proposals: values that weigh nothing could not be told apart.
    """
    count = np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        item = items[i]
        if item >= MARK or i == np.uint64(begin):
            weights[count] = 0
            count += np.uint64(1)
        weights[count - np.uint64(1)] += max(_hessian(item, gradients), np.int64(1))
        values[count - np.uint64(1)] = i
    return np.int64(count)


@inner_kernel
def propose_places(
    items: Any, begin: Any, end: Any, gradients: Gradients, buckets: Any, scratch: CandidateScratch
) -> Any:
    """Fill ``scratch.places`` with the last items of left sides, the last of all among them; their number is returned."""
    count = _weigh_values(items, begin, end, gradients, scratch.values, scratch.weights)
    most = np.int64(len(scratch.summary))
    entries = build_pruned(scratch.values[:count], scratch.weights[:count], most, scratch.summary)
    found = propose_cuts(scratch.summary[:entries], buckets, scratch.places)
    # With all values on the left, missing values on the right are a split too.
    scratch.places[found] = end - 1
    return found + 1
