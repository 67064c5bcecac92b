"""A naive twin of ``weald.tree.growth.oblivious``: a level's split is the best of all, tried one by one.

The gains of a level's nodes are added in the order of the nodes, as the kernel adds them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import reference
import reference_scores
from reference import FREE, UNCONSTRAINED, Node, Split, Sums, make_node, make_root, value_within
from reference_constraints import Fence, allowed, children_fences, in_order, sign_of
from weald.tree.splits.constraints import Constraints
from weald.tree.state import Gradients, Rules, TreeInput

DECIDED_BY_COUNTS = -1


class Chosen(NamedTuple):
    """A level's split."""

    feature: int
    bin: int
    left_bins: frozenset[int]
    missing_left: int
    backward: bool = False  # of a set


def left_sums(data: TreeInput, split: Chosen, bins: list[Sums]) -> Sums:
    """What of a node's bins goes to the left."""
    n_bins, categorical = int(data.n_bins[split.feature]), bool(data.categorical[split.feature])
    missing_left = max(split.missing_left, 0)  # not decided: there is nothing to be missing
    chosen = [
        bins[b]
        for b in range(n_bins + 1)
        if reference.goes_left(n_bins, categorical, split.bin, split.left_bins, missing_left, b)
    ]
    return reference.total_of(chosen)


def doubled_gain(
    left: Sums,
    total: Sums,
    gradients: Gradients,
    rules: Rules,
    own_rules: Rules,
    sign: int = 0,
    fence: Fence = FREE,
) -> float:
    """Twice a node's gain without gamma; nothing where a child would be too small or out of order.

    ``own_rules``: those that the children are scored by.
    """
    if not reference.is_allowed(left, total, gradients, rules):
        return 0.0
    children = reference.children_score(left, total, gradients, own_rules, sign, fence)
    if children == -math.inf:
        return 0.0
    return children - reference.parent_score(total, gradients, rules, sign, fence)


def searched_gain(
    left: Sums,
    total: Sums,
    onehot: bool,
    gradients: Gradients,
    rules: Rules,
    own_rules: Rules,
    sign: int = 0,
    fence: Fence = FREE,
) -> float:
    """The same in units of the integer sums, as the search compares it."""
    if not reference.is_allowed(left, total, gradients, rules):
        return 0.0
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    own = reference.parent_score(total, gradients, rules, sign, fence) * h_unit / (g_unit * g_unit)
    score = reference.searched_score(left, total, onehot, gradients, own_rules, sign, fence)
    return score - own if score > -math.inf else 0.0


def summed(level: list[list[Sums]]) -> list[Sums]:
    """The bins of all nodes of a level, added up."""
    return [reference.total_of(bins) for bins in zip(*level, strict=True)]


def level_candidates(
    data: TreeInput, feature: int, level: list[list[Sums]], gradients: Gradients, rules: Rules, bits: int
) -> list[Chosen]:
    """The splits of a feature in the order of trial; the first of equals wins. ``bits``: by which one is drawn."""
    n_bins, nothing = int(data.n_bins[feature]), frozenset[int]()
    if reference.is_onehot(data, feature, rules):
        every = range(n_bins + 1)
        return [Chosen(feature, b, frozenset([b]) - {n_bins}, int(b == n_bins)) for b in every]
    if data.categorical[feature]:
        sets = reference.category_sets(data, feature, summed(level), gradients, rules, bits)
        return [Chosen(feature, 0, *tried) for tried in sets]
    if not any(bins[-1].count for bins in level):
        return [Chosen(feature, b, nothing, DECIDED_BY_COUNTS) for b in range(n_bins)]
    return [Chosen(feature, b, nothing, side) for side in (0, 1) for b in range(n_bins)]


def drawn_candidates(
    data: TreeInput, candidates: list[Chosen], level: list[list[Sums]], rules: Rules, bits: int
) -> list[Chosen]:
    """One of the splits, with missing values on either side; after the last value only what is missing is on the right."""
    if not candidates:
        return []
    feature = candidates[0].feature
    has_missing = any(bins[-1].count for bins in level)
    n_bins = int(data.n_bins[feature])
    if reference.is_onehot(data, feature, rules):
        possible = [(candidate,) for candidate in candidates[: n_bins + int(has_missing)]]
    else:
        half = len(candidates) // 2 if has_missing else len(candidates)
        sides = (candidates[:half], candidates[half:]) if has_missing else (candidates,)
        possible = list(zip(*sides, strict=True))[: None if has_missing else -1]
    return list(possible[(bits >> 32) * len(possible) // 2**32]) if possible else []


def level_split(
    data: TreeInput,
    features: Sequence[int],
    sums: list[NDArray[np.int64]],
    totals: list[Sums],
    gradients: Gradients,
    rules: Rules,
    constraints: Constraints,
    fences: list[Fence],
    draw: tuple[int, int],
) -> Chosen | None:
    """The level's split, or None when no split pays."""
    best, chosen = -math.inf, Chosen(-1, 0, frozenset(), 0)
    for feature in features:
        sign = sign_of(constraints, feature)
        level = [reference.feature_sums(data, feature, node) for node in sums]
        onehot = reference.is_onehot(data, feature, rules)
        own_rules = reference.rules_of_feature(data, feature, rules)
        bits = reference.drawn_bits(*draw, feature)
        candidates = level_candidates(data, feature, level, gradients, rules, bits)
        if rules.extra_trees and not reference.is_by_set(data, feature, rules):
            candidates = drawn_candidates(data, candidates, level, rules, bits)
        own_best, own_chosen = 0.0, None
        for candidate in candidates:
            lefts = [left_sums(data, candidate, bins) for bins in level]
            gain = 0.0
            if rules.cosine:
                gain = reference_scores.level_gain(lefts, totals, gradients, rules, own_rules)
            else:
                for left, total, fence in zip(lefts, totals, fences, strict=True):
                    gain += searched_gain(left, total, onehot, gradients, rules, own_rules, sign, fence)
            if gain > own_best:
                own_best, own_chosen = gain, candidate
        real = own_best * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
        if own_chosen is None or 0.5 * real - rules.gamma * len(totals) <= 1e-14 * real:
            continue
        if rules.noise > 0.0:
            own_best += rules.noise * reference_scores.noise_of(*draw, feature)
        if own_best > best:
            best, chosen = own_best, own_chosen
    if chosen.feature >= 0 and reference.is_by_set(data, chosen.feature, rules):
        level = [reference.feature_sums(data, chosen.feature, node) for node in sums]
        tried = reference.CategorySet(*chosen[2:])
        left_bins, missing_left = reference.settled_set(
            data, chosen.feature, summed(level), tried, gradients, rules
        )
        chosen = chosen._replace(left_bins=left_bins, missing_left=missing_left)
    return chosen if chosen.feature >= 0 else None


def node_splits(
    data: TreeInput,
    chosen: Chosen,
    sums: list[NDArray[np.int64]],
    totals: list[Sums],
    gradients: Gradients,
    rules: Rules,
    constraints: Constraints,
    fences: list[Fence],
) -> list[Split]:
    """The level's split as every node carries it out, with the node's own gain."""
    feature, split_bin, left_bins, missing_left, _ = chosen
    lefts = []
    for node in sums:
        bins = reference.feature_sums(data, feature, node)
        lefts.append(left_sums(data, chosen, bins))
    if missing_left == DECIDED_BY_COUNTS:
        n_left, n_rows = sum(left.count for left in lefts), sum(total.count for total in totals)
        missing_left = int(2 * n_left >= n_rows)
    splits = []
    sign, own_rules = sign_of(constraints, feature), reference.rules_of_feature(data, feature, rules)
    for left, total, fence in zip(lefts, totals, fences, strict=True):
        gain = 0.0
        if reference.is_allowed(left, total, gradients, rules):
            ordered = reference.children_score(left, total, gradients, own_rules, sign, fence) > -math.inf
            doubled = doubled_gain(left, total, gradients, rules, own_rules, sign, fence)
            if ordered:
                gain = doubled if rules.cosine else 0.5 * doubled - rules.gamma
        splits.append(Split(gain, feature, split_bin, missing_left, left, left_bins))
    return splits


def values_on_both_sides(data: TreeInput, nodes: list[Node], number: int) -> bool:
    """Whether the splits above a node leave bins of the column on both sides of its threshold."""
    split = nodes[number].split
    assert split is not None
    possible = set(range(int(data.n_bins[split.feature])))
    child = number
    while child > 0:
        parent = next(place for place, node in enumerate(nodes) if child in (node.left, node.left + 1))
        above = nodes[parent].split
        if above is not None and above.feature == split.feature:
            left = {b for b in possible if b <= above.bin}
            possible = left if child == nodes[parent].left else possible - left
        child = parent
    return len({b <= split.bin for b in possible}) == 2


def child_fences(
    data: TreeInput,
    nodes: list[Node],
    number: int,
    gradients: Gradients,
    rules: Rules,
    constraints: Constraints,
) -> tuple[Fence, Fence]:
    """What a node's children must keep; a child that is too small counts with the node's value."""
    node = nodes[number]
    assert node.split is not None
    sign = sign_of(constraints, node.split.feature)
    if sign != 0 and not values_on_both_sides(data, nodes, number):
        sign = 0
    own = (
        node.fence.value if rules.path_smooth > 0.0 else value_within(node.sums, node.fence, gradients, rules)
    )
    own_rules = reference.rules_of_feature(data, node.split.feature, rules)
    left = node.split.left
    right = Sums(*(whole - part for whole, part in zip(node.sums, left, strict=True)))
    values = [
        value_within(side, node.fence, gradients, own_rules)
        if side.count >= max(1, rules.min_samples_leaf)
        else own
        for side in (left, right)
    ]
    if not in_order(sign, *values):
        values = [own, own]
    return children_fences(node.fence, sign, node.split.feature, *values)


def grow_oblivious(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    rules: Rules,
    key: int,
    entries: NDArray[np.uint64],
    constraints: Constraints = UNCONSTRAINED,
) -> list[Node]:
    """Grow a symmetric tree that counts every node's histogram from its rows."""
    nodes = [make_root(gradients, entries, rules)]
    first = 0
    for depth in range(rules.max_depth):
        level = nodes[first:]
        sums = [reference.histogram(data, features, gradients, node.entries) for node in level]
        totals, fences = [node.sums for node in level], [node.fence for node in level]
        columns = reference.columns_of_node(features, rules, key, depth, first)
        columns = allowed(columns, level[0].fence, constraints.groups)
        draw = (key, first)
        chosen = level_split(data, columns, sums, totals, gradients, rules, constraints, fences, draw)
        if chosen is None:
            break
        splits = node_splits(data, chosen, sums, totals, gradients, rules, constraints, fences)
        for number, split in enumerate(splits, start=first):
            node = nodes[number]
            node.split, node.left = split, len(nodes)
            left, right = reference.split_rows(data, node)
            below, above = child_fences(data, nodes, number, gradients, rules, constraints)
            nodes.append(make_node(gradients, left, node.begin, depth + 1, below))
            nodes.append(make_node(gradients, right, node.begin + len(left), depth + 1, above))
        first += len(level)
    return nodes
