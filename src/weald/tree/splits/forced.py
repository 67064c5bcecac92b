"""Splits that a user asks for at the top of every tree.

They are numbered level by level, the root's first, and carried out in that order before any other, whatever they gain. One that
would leave a side without rows, or values in the wrong order for a monotone constraint, is given up with all below it, and its
node is split like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.binning.mapper import CutMapper
from weald.runtime.arrays import Int
from weald.runtime.errors import InputError
from weald.runtime.far import returns
from weald.runtime.jit import ZERO, inlined, inner_kernel
from weald.runtime.references import whole
from weald.tree.histograms.sparse import read_bin
from weald.tree.search import Search
from weald.tree.splits.categories import put_only_bin
from weald.tree.splits.constraints import NOT_ALLOWED, bounds_of
from weald.tree.splits.gain import children_score, gain_over, parent_score
from weald.tree.splits.score import is_by_set, rules_of_sets
from weald.tree.splits.split import copy_candidate, left_sums
from weald.tree.state import (
    BIN,
    FEATURE,
    LEFT_BINS,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    NOBODY,
    Nodes,
)


@dataclass(frozen=True)
class ForcedSplit:
    """A split by position of the column; ``left`` and ``right``: numbers of the splits of its children, -1 for none."""

    column: int
    threshold: float  # of a category its code in the dictionary
    left: int = -1
    right: int = -1


class ForcedSplits(NamedTuple):
    """The same for the kernels; empty arrays where nothing is forced."""

    feature: NDArray[np.int64]
    split_bin: NDArray[np.int64]  # numeric: the last bin that goes left; categorical: the only one
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    node: NDArray[np.int64]  # OUT: the tree's node that the split is for, NOBODY for none


def forced_splits(splits: Sequence[ForcedSplit], mapper: CutMapper) -> ForcedSplits:
    """The splits in the bins of a mapper: of a number the bin that it falls into is the last on the left.

    A category that shares its bin with others cannot be split off.

    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> mapper = fit_bins(read_table(np.array([[1.0], [2.0], [4.0]])), None)
    >>> forced_splits([ForcedSplit(0, 2.0)], mapper).split_bin.tolist()
    [1]
    """
    bins = [_bin_of(split, mapper) for split in splits]
    numbers = [[split.column for split in splits], bins]
    numbers += [[split.left for split in splits], [split.right for split in splits], [-1] * len(splits)]
    return ForcedSplits(*(np.array(column, np.int64) for column in numbers))


def _bin_of(split: ForcedSplit, mapper: CutMapper) -> int:
    if not mapper.categorical[split.column]:
        return int(np.searchsorted(mapper.cuts[split.column], split.threshold))
    n_bins, n_categories = mapper.n_bins[split.column], mapper.n_categories[split.column]
    if n_categories > n_bins and split.threshold >= n_bins - 1:
        raise InputError(
            f"splits.forced splits off a category of the column at position {split.column} that is too rare to have a bin of "
            "its own."
        )
    return int(split.threshold)


@inlined
def open_forced(forced: ForcedSplits) -> None:
    """The first split is for the root."""
    forced.node[:] = NOBODY
    if len(forced.node) > 0:
        forced.node[0] = ZERO


@inlined
def forced_at(forced: ForcedSplits, nodes: Nodes, node: Int) -> Int:
    """The number of the split that is still to be made of a node; NOBODY: it has none."""
    for number in range(len(forced.node)):
        if forced.node[number] == node and nodes.feature[node] < 0:
            return np.int64(number)
    return NOBODY


@inlined
def has_forced(forced: ForcedSplits, nodes: Nodes, siblings: tuple[Int, Int]) -> bool:
    """Whether a forced split of one of two nodes is still to be made."""
    return forced_at(forced, nodes, siblings[0]) != NOBODY or forced_at(forced, nodes, siblings[1]) != NOBODY


@inlined
def next_forced(forced: ForcedSplits, nodes: Nodes) -> Int:
    """The node whose forced split comes next; NOBODY: there is none."""
    for node in forced.node:
        if node != NOBODY and nodes.feature[node] < 0:
            return node
    return NOBODY


@inlined
def hand_down(forced: ForcedSplits, node: Int, left: int) -> None:
    """After a node is split: its children ``left`` and ``left + 1`` get what is forced below it."""
    for number in range(len(forced.node)):
        if forced.node[number] == node:
            if forced.left[number] != NOBODY:
                forced.node[forced.left[number]] = left
            if forced.right[number] != NOBODY:
                forced.node[forced.right[number]] = left + 1


@returns(types.boolean)
@inner_kernel
def force_split(search: Search, node: int, forced: ForcedSplits) -> bool:
    """Make a node's forced split its candidate, and say whether it has one; ``forced.node`` forgets one that fails."""
    data, gradients, rules = search.data, search.gradients, search.rules
    work, nodes, state = search.work, search.nodes, search.state
    number = forced_at(forced, nodes, node)
    if number == NOBODY:
        return False
    feature, split_bin = forced.feature[number], forced.split_bin[number]
    totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
    n_bins, categorical = data.n_bins[feature], data.categorical[feature]
    _, _, n_missing = read_bin(work.pool[nodes.slot[node]], data, feature, n_bins, totals, gradients.packed)
    split = np.zeros(nodes.candidate.shape[1], np.int64)
    split[FEATURE], split[BIN] = feature, split_bin
    if categorical:
        put_only_bin(split[LEFT_BINS:], split_bin, n_bins)
    bounds = bounds_of(state, node, feature)
    score_rules = rules_of_sets(rules) if is_by_set(data, feature, rules) else whole(rules)
    best = NOT_ALLOWED
    for with_missing in range(2 if n_missing > 0 and not categorical else 1):
        split[MISSING_LEFT] = with_missing
        g, h, n = left_sums(data, gradients, work, nodes, node, split)
        if n == 0 or n == totals[2] or nodes.depth[node] >= rules.max_depth:
            continue
        score = children_score((g, h, n), totals, gradients, score_rules, bounds)
        if score > best:
            best = score
            split[LEFT_GRADIENT], split[LEFT_HESSIAN], split[LEFT_COUNT] = g, h, n
            if n_missing == 0 and not categorical:
                split[MISSING_LEFT] = np.int64(2 * n >= totals[2])  # those to come go where most rows go
            copy_candidate(split, nodes.candidate[node])
    if best == NOT_ALLOWED:
        forced.node[number] = NOBODY
        return False
    parent = parent_score(totals, gradients, rules, bounds)
    nodes.candidate_gain[node] = gain_over(best, parent, rules)
    return True
