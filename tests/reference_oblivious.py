"""A naive twin of ``weald.tree.oblivious``: a level's split is the best of all, tried one by one.

The gains of a level's nodes are added in the order of the nodes, as the kernel adds them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import reference
from reference import Node, Split, Sums
from weald.tree.state import Gradients, Rules, TreeInput

DECIDED_BY_COUNTS = -1


def make_node(gradients: Gradients, entries: NDArray[np.uint64], begin: int, depth: int) -> Node:
    """A leaf of these rows."""
    _, gradient, hessian = reference.decode_entries(gradients, entries)
    return Node(entries, begin, depth, Sums(sum(gradient.tolist()), sum(hessian.tolist()), len(entries)))


def left_sums(data: TreeInput, feature: int, bins: list[Sums], split_bin: int, missing_left: int) -> Sums:
    """What of a node's bins goes to the left."""
    n_bins, categorical = int(data.n_bins[feature]), bool(data.categorical[feature])
    missing_left = max(missing_left, 0)  # not decided: there is nothing to be missing
    chosen = [
        bins[b]
        for b in range(n_bins + 1)
        if reference.goes_left(n_bins, categorical, split_bin, missing_left, b)
    ]
    return reference.total_of(chosen)


def doubled_gain(left: Sums, total: Sums, gradients: Gradients, rules: Rules) -> float:
    """Twice a node's gain without gamma; nothing where a child would be too small."""
    if not reference.is_allowed(left, total, gradients, rules):
        return 0.0
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit

    def score(gradient: int, hessian: int) -> float:
        return reference.node_score(gradient * g_unit, hessian * h_unit, rules)

    right = (total.gradient - left.gradient, total.hessian - left.hessian)
    return score(left.gradient, left.hessian) + score(*right) - score(total.gradient, total.hessian)


def searched_gain(left: Sums, total: Sums, categorical: bool, gradients: Gradients, rules: Rules) -> float:
    """The same in units of the integer sums, as the search compares it."""
    if not reference.is_allowed(left, total, gradients, rules):
        return 0.0
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    own = reference.node_score(total.gradient * g_unit, total.hessian * h_unit, rules)
    plain = not categorical and rules.max_delta_step <= 0.0
    score = reference.quotient_score if plain else reference.pair_score
    return score(left, total, gradients, rules) - own * h_unit / (g_unit * g_unit)


def level_candidates(data: TreeInput, feature: int, level: list[list[Sums]]) -> list[tuple[int, int]]:
    """(bin, missing direction) of a feature in the order of trial; the first of equals wins."""
    n_bins = int(data.n_bins[feature])
    if data.categorical[feature]:
        return [(b, int(b == n_bins)) for b in range(n_bins + 1)]
    if not any(bins[-1].count for bins in level):
        return [(b, DECIDED_BY_COUNTS) for b in range(n_bins)]
    return [(b, side) for side in (0, 1) for b in range(n_bins)]


def level_split(
    data: TreeInput,
    features: Sequence[int],
    sums: list[NDArray[np.int64]],
    totals: list[Sums],
    gradients: Gradients,
    rules: Rules,
) -> tuple[int, int, int] | None:
    """The level's feature, bin and missing direction, or None when no split pays."""
    best, chosen = 0.0, (features[0], 0, 0)
    for feature in features:
        level = [reference.feature_sums(data, feature, node) for node in sums]
        for split_bin, missing_left in level_candidates(data, feature, level):
            gain = 0.0
            for bins, total in zip(level, totals, strict=True):
                left = left_sums(data, feature, bins, split_bin, missing_left)
                gain += searched_gain(left, total, bool(data.categorical[feature]), gradients, rules)
            if gain > best:
                best, chosen = gain, (feature, split_bin, missing_left)
    best = best * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    pays = 0.5 * best - rules.gamma * len(totals) > 1e-14 * best
    return chosen if pays else None


def node_splits(
    data: TreeInput,
    chosen: tuple[int, int, int],
    sums: list[NDArray[np.int64]],
    totals: list[Sums],
    gradients: Gradients,
    rules: Rules,
) -> list[Split]:
    """The level's split as every node carries it out, with the node's own gain."""
    feature, split_bin, missing_left = chosen
    lefts = []
    for node in sums:
        bins = reference.feature_sums(data, feature, node)
        lefts.append(left_sums(data, feature, bins, split_bin, missing_left))
    if missing_left == DECIDED_BY_COUNTS:
        n_left, n_rows = sum(left.count for left in lefts), sum(total.count for total in totals)
        missing_left = int(2 * n_left >= n_rows)
    splits = []
    for left, total in zip(lefts, totals, strict=True):
        gain = 0.0
        if reference.is_allowed(left, total, gradients, rules):
            gain = 0.5 * doubled_gain(left, total, gradients, rules) - rules.gamma
        splits.append(Split(gain, feature, split_bin, missing_left, left))
    return splits


def grow_oblivious(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    rules: Rules,
    key: int,
    entries: NDArray[np.uint64],
) -> list[Node]:
    """Grow a symmetric tree that counts every node's histogram from its rows."""
    nodes = [make_node(gradients, entries, 0, 0)]
    first = 0
    for depth in range(rules.max_depth):
        level = nodes[first:]
        sums = [reference.histogram(data, features, gradients, node.entries) for node in level]
        totals = [node.sums for node in level]
        columns = reference.columns_of_node(features, rules, key, depth, first)
        chosen = level_split(data, columns, sums, totals, gradients, rules)
        if chosen is None:
            break
        first = len(nodes)
        splits = node_splits(data, chosen, sums, totals, gradients, rules)
        for node, split in zip(level, splits, strict=True):
            node.split, node.left = split, len(nodes)
            left, right = reference.split_rows(data, node)
            nodes.append(make_node(gradients, left, node.begin, depth + 1))
            nodes.append(make_node(gradients, right, node.begin + len(left), depth + 1))
    return nodes
