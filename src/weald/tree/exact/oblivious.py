"""Oblivious trees on presorted columns: the sum of the nodes' gains at every distinct value of a column.

Of a node the gain changes only at its own values, so a column's sums are as many steps as the node has values, added up over
the codes in the order of the nodes, as the histogram engine adds them. Items have the value's code beside the row, and
gradients are gathered by row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Float64s, Int, Int64s, Uint64s
from weald.runtime.far import far
from weald.runtime.jit import ONE, inlined, inner_kernel, kernel
from weald.runtime.references import refer
from weald.runtime.tasks import shared_kernel
from weald.tree.exact.grower import PARALLEL_ITEMS, make_segments, prepare_root, split_rows
from weald.tree.exact.scan import CHUNK, Segment
from weald.tree.exact.segments import BEGIN, END, MIDDLE
from weald.tree.exact.state import ExactInput, ExactSearch, ExactWork
from weald.tree.exact.sums import chunk_prefixes, missing_sums, sum_wide
from weald.tree.growth.grower import ROOT, columns_of_node, settle_root
from weald.tree.growth.oblivious import best_of_level, pass_on_level_bounds, send_unseen, write_candidate
from weald.tree.histograms.prefixes import Scratch, new_scratch
from weald.tree.splits.categories import put_only_bin
from weald.tree.splits.constraints import Bounds, allowed_columns, bounds_of, is_constrained, open_root
from weald.tree.splits.gain import clipped_pair, parent_score
from weald.tree.splits.level import add_gains, drawn_range
from weald.tree.splits.score import smallest_hessian
from weald.tree.state import BIN, FEATURE, LEFT_BINS, MISSING_LEFT, NOBODY, Gradients, Nodes, Rules

_CODE = np.uint64(0xFFFFFFFF)


@kernel
def unpack(entries: NDArray[np.uint64], n_rows: int, wide: NDArray[np.uint64]) -> None:
    """Write packed gradients by row, in the form of wide ones: the same integers."""
    for i in range(n_rows):
        word = np.int64(np.int32(entries[i] & _CODE))
        wide[entries[i] >> np.uint64(32)] = np.uint64(((word >> 12) << 32) | (word & 4095))


@kernel
def grow_exact_oblivious(search: ExactSearch, features: NDArray[np.int64], n_rows: int, tasks: int) -> int:
    """Grow a tree level by level from ``work.entries[0, :n_rows]``; gradients are wide. The number of nodes is returned."""
    search = refer(search)
    data, gradients, rules, key = search.data, search.gradients, search.rules, search.key
    work, nodes, state = search.work, search.nodes, search.state
    prepare_root(gradients, n_rows, work, nodes)
    open_root(state)
    settle_root(gradients, rules, nodes, state)
    first, n_nodes = ROOT, ONE
    gains = np.empty(len(features), np.float64)
    found = np.zeros((len(features), nodes.candidate.shape[1]), np.int64)
    for depth in range(rules.max_depth):
        # All nodes of a level have the same columns on their paths.
        chosen = allowed_columns(state, first, columns_of_node(features, rules, key, depth, first))
        if len(chosen) == 0:
            break
        _choose_columns(features, chosen, gains)
        used = tasks if n_rows * len(features) >= PARALLEL_ITEMS else ONE
        _score_columns(used, search, features, first, n_nodes, found, gains)
        best = best_of_level(gains, features, gradients, rules, key, first, n_nodes - first)
        if best == NOBODY:
            break
        last = n_nodes
        for node in range(first, last):
            sums = _left_sums(data, gradients, work, nodes, node, found[best])
            write_candidate(gradients, rules, rules, nodes, state, node, found[best], sums)
        send_unseen(nodes, first, last)
        for node in range(first, last):
            split_rows(tasks, work, nodes, node, n_nodes)
            if is_constrained(state):
                far(pass_on_level_bounds, (data, gradients, rules, nodes, state, node, n_nodes))
            nodes.slot[n_nodes] = nodes.slot[node]
            nodes.slot[n_nodes + 1] = last - first + node - first
            n_nodes += 2
        first = last
    return n_nodes


@inlined
def _choose_columns(features: Int64s, chosen: Int64s, gains: Float64s) -> None:
    """Mark the columns among which the level's split is sought: a gain of 0, and -1 for the others."""
    gains[:] = -1.0
    place = 0
    for feature in chosen:
        while features[place] != feature:
            place += 1
        gains[place] = 0.0


@shared_kernel
def _score_columns(
    task: int,
    tasks: int,
    search: ExactSearch,
    features: NDArray[np.int64],
    first: int,
    last: int,
    found: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> None:
    """The columns task, task + tasks, …: the level's segments are made, and its gains found."""
    data, work, nodes = search.data, search.work, search.nodes
    prefix, steps = new_scratch(CHUNK), np.empty(CHUNK, np.float64)
    sums = np.empty(data.n_bins[features].max() + 1, np.float64)
    for j in range(task, len(features), tasks):
        if first == ROOT:
            make_segments(data, features[j], True, work, nodes, NOBODY, ROOT)
        else:
            for parent in range((first - 1) // 2, first):
                make_segments(data, features[j], True, work, nodes, parent, np.int64(nodes.left[parent]))
        if gains[j] == 0.0:
            gains[j] = _score_column(search, features[j], first, last, prefix, steps, sums, found[j])


@inner_kernel
def _score_column(
    search: ExactSearch,
    feature: int,
    first: int,
    last: int,
    prefix: Scratch,
    steps: Float64s,
    sums: Float64s,
    found: Int64s,
) -> float:
    """The largest sum of doubled gains over the nodes first..last, in units of the integer sums; its place is ``found``."""
    data, gradients, rules = search.data, search.gradients, search.rules
    work, nodes = search.work, search.nodes
    n_bins, categorical = data.n_bins[feature], data.categorical[feature]
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    has_missing = False
    for node in range(first, last):
        segment = work.segments[nodes.slot[node], feature]
        has_missing = has_missing or segment[END] - segment[BEGIN] < nodes.end[node] - nodes.begin[node]
    has_missing = has_missing and data.rest[feature] == n_bins
    found[FEATURE] = feature
    best = 0.0
    for with_missing in range(2 if has_missing and not categorical else 1):
        sums[: n_bins + 1] = 0.0
        for node in range(first, last):
            totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
            bounds = bounds_of(search.state, node, feature)
            own = parent_score(totals, gradients, rules, bounds) * h_unit / (g_unit * g_unit)
            items, places = work.items[nodes.side[node]], work.segments[nodes.slot[node], feature]
            segment = Segment(items, places, totals, np.uint64(0))
            if categorical:
                _add_categories(segment, n_bins, own, gradients, rules, bounds, prefix, sums)
                continue
            rest = (data.rest[feature], n_bins, with_missing)
            _add_steps(segment, rest, own, gradients, rules, bounds, prefix, steps, sums)
        begin, end = drawn_range(n_bins, has_missing, categorical, search.key, first, feature, rules)
        for b in range(begin, end):
            if sums[b] > best:
                best = sums[b]
                found[BIN] = b
                found[MISSING_LEFT] = with_missing
    if categorical:
        found[MISSING_LEFT] = np.int64(found[BIN] == n_bins)
        put_only_bin(found[LEFT_BINS:], found[BIN], n_bins)
    elif not has_missing:
        found[MISSING_LEFT] = -1  # decided by the counts
    return best


@inlined
def _add_steps(
    segment: Segment,
    rest: tuple[Int, Int, Int],
    own: float,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    prefix: Scratch,
    steps: Float64s,
    sums: Float64s,
) -> None:
    """Add one node's gain to every code: it stays from one of the node's values up to the next.

    ``rest``: the code of rows without an item, the number of bins, which is the code of missing values, and whether these
    go left.
    """
    items, totals = segment.items, segment.totals
    begin, middle, end = segment.places[BEGIN], segment.places[MIDDLE], segment.places[END]
    rest_code, n_bins, with_missing = rest
    g, h, n = missing_sums(items, begin, end, totals, gradients)
    is_value = rest_code < n_bins
    added = (g * with_missing, h * with_missing, n * with_missing)
    # Below the node's first value only missing ones are on the left.
    before: tuple[Int, Int] = (np.int64(0), np.int64(0))
    gain = _gain_at(prefix, before, 0, added, totals, own, gradients, rules, bounds, steps)
    code, counted_from = np.uint64(0), begin
    for part in range(2):
        first, last = (begin, middle) if part == 0 else (middle, end)
        if part == 1 and is_value:
            _add_flat(sums, code, np.uint64(rest_code), gain)
            before, code = (before[0] + g, before[1] + h), np.uint64(rest_code)
            counted_from = begin - n
            rows = middle - counted_from
            gain = _gain_at(prefix, before, rows, added, totals, own, gradients, rules, bounds, steps)
        for start in range(first, last, CHUNK):
            size, before = chunk_prefixes(
                items, counted_from, start, min(start + CHUNK, last), last, before, gradients, prefix
            )
            steps[:size] = 0.0
            add_gains(prefix, size, added, totals, own, gradients, rules, bounds, steps)
            for k in range(size):
                upto = items[prefix.bins[k]] & _CODE
                _add_flat(sums, code, upto, gain)
                gain, code = steps[k], upto
    _add_flat(sums, code, np.uint64(n_bins), gain)


@inlined
def _add_flat(sums: Float64s, begin: np.uint64, end: np.uint64, gain: float) -> None:
    for c in range(begin, end):
        sums[c] += gain


@inner_kernel
def _gain_at(
    prefix: Scratch,
    before: tuple[Int, Int],
    rows: int,
    added: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    own: float,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    steps: Float64s,
) -> float:
    """The gain of the split that has these sums, and what is added, on the left."""
    prefix.gradient[0], prefix.hessian[0], prefix.rows[0] = before[0], before[1], rows
    steps[0] = 0.0
    add_gains(prefix, 1, added, totals, own, gradients, rules, bounds, steps)
    return steps[0]


@inlined
def _add_categories(
    segment: Segment,
    n_bins: int,
    own: float,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    prefix: Scratch,
    sums: Float64s,
) -> None:
    """Add one node's gain of every category, and of "missing", against the rest."""
    items, totals = segment.items, segment.totals
    begin, end = segment.places[BEGIN], segment.places[END]
    before: tuple[Int, Int] = (np.int64(0), np.int64(0))
    done = (np.int64(0), np.int64(0), np.int64(0))
    for start in range(begin, end, CHUNK):
        size, before = chunk_prefixes(
            items, begin, start, min(start + CHUNK, end), end, before, gradients, prefix
        )
        for k in range(size):
            upto = (np.int64(prefix.gradient[k]), np.int64(prefix.hessian[k]), prefix.rows[k])
            sums[items[prefix.bins[k]] & _CODE] += _category_gain(
                upto[0] - done[0],
                upto[1] - done[1],
                upto[2] - done[2],
                totals,
                own,
                gradients,
                rules,
                bounds,
            )
            done = upto
    sums[n_bins] += _category_gain(
        totals[0] - done[0], totals[1] - done[1], totals[2] - done[2], totals, own, gradients, rules, bounds
    )


@inlined
def _category_gain(
    g: Int,
    h: Int,
    n: Int,
    totals: tuple[Int, Int, Int],
    own: float,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> float:
    smallest = smallest_hessian(rules, gradients)
    fewest = max(1, rules.min_samples_leaf)
    if n >= fewest and totals[2] - n >= fewest and h >= smallest and totals[1] - h >= smallest:
        return clipped_pair(g, h, n, totals, gradients, rules, bounds) - own
    return 0.0


@inlined
def _left_sums(
    data: ExactInput, gradients: Gradients, work: ExactWork, nodes: Nodes, node: int, split: Int64s
) -> tuple[Int, Int, Int]:
    """Gradient, hessian and count of a node's left child under the level's split; which items go left is remembered."""
    feature = split[FEATURE]
    segment, place = work.segments[nodes.slot[node], feature], work.places[node]
    items, rest = work.items[nodes.side[node]], data.rest[feature]
    place[0] = segment[BEGIN]
    if data.categorical[feature]:
        place[0] = _first_from(items, segment, split[BIN])
    place[1] = _first_from(items, segment, split[BIN] + 1)
    is_value = rest < data.n_bins[feature]
    place[2] = np.int64(rest <= split[BIN] if is_value else split[MISSING_LEFT] == 1)
    g, h = sum_wide(items, place[0], place[1], gradients.wide)
    n = place[1] - place[0]
    if place[2] == 1:
        totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
        g_rest, h_rest, n_rest = missing_sums(items, segment[BEGIN], segment[END], totals, gradients)
        return g + g_rest, h + h_rest, n + n_rest
    return g, h, n


@inlined
def _first_from(items: Uint64s, segment: Int64s, code: int) -> int:
    """The place of a segment's first item with this code or a greater one."""
    low, high = segment[BEGIN], segment[END]
    while low < high:
        middle = (low + high) // 2
        if np.int64(items[middle] & _CODE) < code:
            low = middle + 1
        else:
            high = middle
    return low
