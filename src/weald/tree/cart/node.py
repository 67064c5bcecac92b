"""One node: its sums, and the best split among the features that are drawn for it."""

from __future__ import annotations

import numpy as np
from numba import types

from weald.runtime.arrays import Int, Int32s, Int64s, Uint64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ZERO, bare_inner_kernel, inlined
from weald.runtime.random import NODE_COLUMNS, THRESHOLDS, below, mix, stream
from weald.tree.cart.absolute import absolute_score, walk_rows
from weald.tree.cart.categories import settle_cut, settle_drawn, sort_items
from weald.tree.cart.drawn import MISSING, draw_bins, fill_groups
from weald.tree.cart.items import STRIDE, fill_cells, items_from_cells, items_from_rows, sort_rows
from weald.tree.cart.search import NO_SCORE, children_score, settle_threshold, walk_items
from weald.tree.cart.state import (
    ABSOLUTE,
    BIN,
    CANDIDATE,
    FEATURE,
    FOLLOWING,
    GINI,
    HALF,
    LEFT_BINS,
    LEFT_ROWS,
    LOW,
    MISSING_LEFT,
    NO_BIN,
    NUMBERS,
    ONE_CLASS_OUTPUT,
    CartPlan,
    CartTable,
    Medians,
    Node,
    NodeRows,
    Scratch,
)
from weald.tree.splits.categories import put_only_bin


@bare_inner_kernel
def sum_node(
    plan: CartPlan, entries: Uint64s, begin: int, end: int, codes: Int32s, amounts: Int64s, totals: Int64s
) -> tuple[int, int, bool]:
    """The node's sums into ``totals``; its weight, its sum of squares, and whether all its labels are equal."""
    n_outputs, n_slots, code_bits = plan.n_outputs, plan.n_slots, plan.code_bits
    for slot in range(n_slots):
        totals[slot] = 0
    weight, square, pure = ZERO, ZERO, True
    first_row, first_weight = np.int64(entries[begin] >> HALF), np.int64(entries[begin] & LOW)
    mask = (np.int64(1) << code_bits) - 1
    for i in range(np.uint64(begin), np.uint64(end)):
        row, low = np.int64(entries[i] >> HALF), np.int64(entries[i] & LOW)
        weight += low >> code_bits
        if plan.kind == ONE_CLASS_OUTPUT:
            totals[np.uint64(low & mask)] += low >> code_bits
        elif plan.kind == NUMBERS:
            for slot in range(n_slots):
                totals[slot] += amounts[row * n_slots + slot]
            for slot in range(1, n_slots if pure else 1):
                label = amounts[row * n_slots + slot] // low
                pure = pure and label == amounts[first_row * n_slots + slot] // first_weight
        else:
            for output in range(n_outputs):
                totals[codes[row * n_outputs + output]] += low
    if plan.kind != NUMBERS:
        n_classes = 0
        for slot in range(n_slots):
            square += totals[slot] * totals[slot]
            n_classes += 1 if totals[slot] > 0 else 0
        pure = n_classes == n_outputs
    return weight, square, pure


@inlined
def score_before(plan: CartPlan, node: Node, scratch: Scratch, medians: Medians) -> float:
    """The score of a node that is not split: of a split with nothing on the left."""
    totals, left = scratch.totals, scratch.left
    if plan.criterion == GINI:
        return np.float64(node.square) / np.float64(node.weight)
    for slot in range(plan.n_slots):
        left[slot] = 0
    if plan.criterion == ABSOLUTE:
        n_rows = node.end - node.begin
        no_weight = np.int64(0)
        return far(absolute_score, (plan.n_outputs, n_rows, node.weight, no_weight, totals, left, medians))
    return children_score(plan.criterion, plan.n_outputs, node.weight, np.int64(0), totals, left)


@inlined
def _scan_feature(
    plan: CartPlan,
    node: Node,
    table: CartTable,
    feature: int,
    place: int,
    counts: bool,
    rows: NodeRows,
    scratch: Scratch,
    medians: Medians,
    best: Int64s,
) -> float:
    """Score of the node's best split on a feature, or of the one that is drawn; its place goes to ``best``.

    The feature is the one at ``place`` of those that are looked at together. Where ``counts``, the node's rows are in its
    cells; otherwise they are sorted here. Of equal scores the one with missing values on the right, then the lowest bin wins.
    """
    keys, begin, end = scratch.keys, node.begin, node.end
    n_bins, categorical = table.n_bins[feature], table.categorical[feature]
    if plan.random_thresholds and counts:
        n_bins = np.int64(MISSING)
    if counts:
        first_cell = place * STRIDE * plan.n_slots
        n_items: Int = items_from_cells(
            n_bins, plan.n_slots, first_cell, scratch.cells, keys, scratch.amounts
        )
    else:
        sort_rows(table.rows, len(table.n_bins), feature, rows.entries, begin, end, scratch.starts, keys)
        n_items = items_from_rows(
            plan, rows.entries, begin, end, rows.codes, rows.amounts, keys, scratch.amounts
        )
    n_values = n_items
    if keys[0] >> 32 == keys[n_items - 1] >> 32:
        return NO_SCORE
    if not categorical:
        while keys[n_values - 1] >> 32 == n_bins:
            n_values -= 1
    drawn = scratch.drawn[place]
    if plan.criterion == ABSOLUTE:
        sizes = (n_values, n_items)
        score = far(
            walk_rows,
            (plan, node, categorical, n_bins, sizes, drawn, rows.amounts, medians, scratch, best),
        )
    else:
        if categorical and not plan.random_thresholds:
            n_items = far(sort_items, (plan, node, n_items, scratch))
            n_values = n_items
        score = walk_items(plan, node, n_values, n_items, scratch, best)
    best[FEATURE] = feature
    if categorical:
        if score > NO_SCORE:
            far(_settle_categories, (plan, node, table, feature, place, scratch, best))
        return score
    if n_values == n_items:
        # No missing value has been seen here: send those to come where most rows go.
        best[MISSING_LEFT] = np.int64(2 * best[LEFT_ROWS] >= end - begin)
    if plan.random_thresholds and best[FOLLOWING] != NO_BIN:
        best[BIN], best[FOLLOWING] = drawn, drawn + 1
    return score


@returns(types.none)
@bare_inner_kernel
def _settle_categories(
    plan: CartPlan, node: Node, table: CartTable, feature: int, place: int, scratch: Scratch, best: Int64s
) -> None:
    """From what a scan of categories has found to the set of bins that goes left."""
    n_bins, gathers = table.n_bins[feature], table.gathers[feature]
    if plan.criterion == ABSOLUTE:
        put_only_bin(best[LEFT_BINS:], best[BIN], n_bins)
    elif plan.random_thresholds:
        settle_drawn(n_bins, gathers, node, scratch.drawn_sets[place], best)
    else:
        settle_cut(n_bins, gathers, node, scratch.category_order, best)


@inlined
def _draw_features(
    plan: CartPlan, node_key: np.uint64, visited: int, size: int, columns: Int64s, swaps: Int64s
) -> None:
    """Draw the next features into ``columns[visited : visited + size]``; `_put_back` undoes it."""
    if plan.features_per_node < plan.columns_per_tree:
        for place in range(visited, visited + size):
            other = place + below(mix(node_key + np.uint64(place)), plan.columns_per_tree - place)
            swaps[place] = other
            columns[place], columns[other] = columns[other], columns[place]


@inlined
def _put_back(plan: CartPlan, visited: int, columns: Int64s, swaps: Int64s) -> None:
    if plan.features_per_node < plan.columns_per_tree:
        for i in range(visited):
            place = visited - 1 - i
            other = swaps[place]
            columns[place], columns[other] = columns[other], columns[place]


@inlined
def _count_features(
    plan: CartPlan,
    node: Node,
    table: CartTable,
    features: Int64s,
    counts: bool,
    threshold_key: np.uint64,
    rows: NodeRows,
    scratch: Scratch,
) -> None:
    """What is done for several features in one pass over the rows: histograms, and drawing the splits of a random tree."""
    entries, codes, amounts, cells = rows.entries, rows.codes, rows.amounts, scratch.cells
    if plan.random_thresholds:
        far(draw_bins, (plan, node, table, features, threshold_key, entries, scratch))
        if counts:
            far(fill_groups, (plan, node, table, features, rows, scratch))
    elif counts:
        bins, width, begin, end = table.rows, len(table.n_bins), node.begin, node.end
        fill_cells(plan, bins, width, features, entries, begin, end, codes, amounts, cells)


@inlined
def find_split(
    plan: CartPlan,
    node: Node,
    table: CartTable,
    key: np.uint64,
    rows: NodeRows,
    scratch: Scratch,
    medians: Medians,
    best: Int64s,
) -> float:
    """Score of the node's best split among the drawn features; the split goes to ``best``.

    Features are drawn without replacement until ``features_per_node`` were looked at and one of them can be split. Of
    equal scores the feature drawn first wins.
    """
    columns, swaps, trial = scratch.columns, scratch.swaps, scratch.trial
    counts = node.end - node.begin > plan.sort_rows or plan.random_thresholds
    counts = counts and plan.criterion != ABSOLUTE
    node_key = mix(stream(key, NODE_COLUMNS) + np.uint64(node.number))
    threshold_key = mix(stream(key, THRESHOLDS) + np.uint64(node.number))
    best_score, visited = NO_SCORE, 0
    while visited < plan.columns_per_tree and (visited < plan.features_per_node or best_score == NO_SCORE):
        size = min(plan.at_once, max(1, plan.features_per_node - visited))
        _draw_features(plan, node_key, visited, size, columns, swaps)
        features = columns[visited : visited + size]
        _count_features(plan, node, table, features, counts, threshold_key, rows, scratch)
        for j in range(size):
            score = _scan_feature(plan, node, table, features[j], j, counts, rows, scratch, medians, trial)
            if score > best_score:
                best_score = score
                for place in range(CANDIDATE if table.categorical[features[j]] else LEFT_BINS):
                    best[place] = trial[place]
        visited += size
    _put_back(plan, visited, columns, swaps)
    if best_score > NO_SCORE:
        settle_threshold(table, best)
    return best_score
