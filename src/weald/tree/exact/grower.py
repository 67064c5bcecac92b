"""Growing one tree on presorted columns, leaf by leaf: leaf-wise and depth-wise growth.

A column's turn is one piece of work: its segment is divided, and the children are scanned while their items are still in
the cache. Columns are shared among tasks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Float64s, Int, Int64s
from weald.runtime.far import far
from weald.runtime.jit import ONE, ZERO, inlined, inner_kernel, kernel
from weald.runtime.references import refer
from weald.runtime.tasks import shared_kernel
from weald.tree.exact.candidates import CandidateScratch
from weald.tree.exact.drawn import AFTER_REST, NOWHERE
from weald.tree.exact.scan import CHUNK, ScanMemory, Segment, scan_segment
from weald.tree.exact.segments import (
    BEGIN,
    END,
    MIDDLE,
    code_of,
    count_left,
    divide_segment,
    fill_goes_left,
    fill_segment,
    row_of,
)
from weald.tree.exact.state import NOT_SAMPLED, ExactInput, ExactSearch, ExactWork
from weald.tree.exact.sums import sum_items
from weald.tree.growth.frontier import pop, push
from weald.tree.growth.grower import (
    ROOT,
    columns_of_node,
    may_split,
    pass_on_bounds,
    place_children,
    place_root,
    settle_root,
)
from weald.tree.histograms.prefixes import drawn_bits, new_scratch
from weald.tree.rows.partition import partition
from weald.tree.splits.categories import put_no_bin, put_only_bin
from weald.tree.splits.constraints import (
    ConstraintState,
    allowed_columns,
    bounds_of,
    is_constrained,
    open_root,
)
from weald.tree.splits.gain import NO_GAIN, gain_of_score, noisy_score
from weald.tree.splits.split import copy_candidate
from weald.tree.state import (
    BIN,
    BYTE_BINS,
    FEATURE,
    LEFT_BINS,
    LEFT_COUNT,
    MISSING_LEFT,
    NOBODY,
    Gradients,
    Nodes,
    Rules,
)

PARALLEL_ITEMS = 40_000  # items of a node from which two threads win over one


@kernel
def grow_exact(search: ExactSearch, features: NDArray[np.int64], n_rows: int, tasks: int) -> int:
    """Grow a tree from ``work.entries[0, :n_rows]``; the number of nodes is returned, the tree is in ``nodes``."""
    search = refer(search)
    gradients, rules, work, nodes, state = (
        search.gradients,
        search.rules,
        search.work,
        search.nodes,
        search.state,
    )
    prepare_root(gradients, n_rows, work, nodes)
    open_root(state)
    settle_root(gradients, rules, nodes, state)
    heap_size, n_nodes, n_leaves = ZERO, 1, 1
    parent, first = NOBODY, ROOT  # whose segments are to be made: the root's, later two siblings'
    found = np.empty((2, len(features), nodes.candidate.shape[1]), np.int64)
    scores = np.empty((2, len(features)), np.float64)
    while True:
        for k in range(1 if first == ROOT else 2):
            _choose_columns(features, rules, search.key, nodes, state, first + k, scores[k])
        _advance(search, features, tasks, parent, first, found, scores)
        for k in range(1 if first == ROOT else 2):
            heap_size = _consider(search, features, first + k, found[k], scores[k], heap_size)
        while True:
            if heap_size == 0 or n_leaves == rules.max_leaves:
                return n_nodes
            parent = pop(work.heap, heap_size, nodes.candidate_gain, rules.growth)
            heap_size -= 1
            first = n_nodes
            split_rows(tasks, work, nodes, parent, first)
            if is_constrained(state):
                far(pass_on_bounds, (search.data, gradients, rules, nodes, state, parent, first))
            n_nodes += 2
            n_leaves += 1
            nodes.slot[first] = nodes.slot[parent]
            nodes.slot[first + 1] = n_leaves - 1
            if may_split(nodes, rules, first) or may_split(nodes, rules, first + 1):
                break  # otherwise nobody will ask for the children's segments


@inlined
def prepare_root(gradients: Gradients, n_rows: int, work: ExactWork, nodes: Nodes) -> None:
    """Make node 0 of all entries, with its sums, and say which rows it has."""
    place_root(nodes, n_rows)
    nodes.slot[ROOT] = 0
    entries, words = work.entries[0], work.words
    if n_rows < len(words):
        words[:] = NOT_SAMPLED
    for i in range(np.uint64(n_rows)):
        words[entries[i] >> np.uint64(32)] = np.uint32(entries[i] & np.uint64(0xFFFFFFFF))
    gradient, hessian = sum_items(entries, ZERO, n_rows, gradients)
    nodes.gradient_sum[ROOT], nodes.hessian_sum[ROOT] = gradient, hessian


@inlined
def _choose_columns(
    features: Int64s,
    rules: Rules,
    key: np.uint64,
    nodes: Nodes,
    state: ConstraintState,
    node: int,
    scores: Float64s,
) -> None:
    """Mark the columns among which the node's split is sought: a score of 0, NO_GAIN for the others."""
    scores[:] = NO_GAIN
    if not may_split(nodes, rules, node):
        return
    chosen = allowed_columns(state, node, columns_of_node(features, rules, key, nodes.depth[node], node))
    place = 0
    for feature in chosen:
        while features[place] != feature:
            place += 1
        scores[place] = 0.0


@inner_kernel
def make_segments(
    data: ExactInput, feature: int, coded: bool, work: ExactWork, nodes: Nodes, parent: Int, first: Int
) -> None:
    """One column's segment of the root, or those of the children ``first`` and ``first + 1`` of a node."""
    if parent == NOBODY:
        segment = work.segments[nodes.slot[first], feature]
        fill_segment(data, feature, coded, work.words, work.items[0], segment)
        return
    left, right = (
        work.segments[nodes.slot[parent], feature],
        work.segments[nodes.slot[first + 1], feature],
    )
    begin, middle, end, side = left[BEGIN], left[MIDDLE], left[END], nodes.side[parent]
    n_left = nodes.end[first] - nodes.begin[first]
    if end - begin < nodes.end[parent] - nodes.begin[parent]:
        n_left = count_left(work.items[side], begin, end, work.goes_left)
    below_left: Int = np.int64(0)
    if middle > begin:
        below_left = count_left(work.items[side], begin, middle, work.goes_left)
    divide_segment(work.items[side], begin, end, n_left, work.goes_left, work.items[1 - side])
    # The left child has the parent's slot.
    left[MIDDLE], left[END] = begin + below_left, begin + n_left
    right[BEGIN], right[MIDDLE], right[END] = begin + n_left, middle + n_left - below_left, end


@shared_kernel
def _advance_columns(
    task: int,
    tasks: int,
    search: ExactSearch,
    features: NDArray[np.int64],
    parent: Int,
    first: Int,
    found: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> None:
    """The columns task, task + tasks, …: segments are made, and scanned where a node seeks its split."""
    data, gradients, work, nodes = search.data, search.gradients, search.work, search.nodes
    candidates = CandidateScratch(
        work.values[task], work.weights[task], work.summaries[task], np.empty(BYTE_BINS, np.int64)
    )
    trials, both = np.empty((2, nodes.candidate.shape[1]), np.int64), np.empty(2, np.float64)
    memory = ScanMemory(new_scratch(CHUNK), candidates, trials, both)
    for j in range(task, len(features), tasks):
        feature = features[j]
        make_segments(data, feature, not gradients.packed, work, nodes, parent, first)
        for k in range(1 if parent == NOBODY else 2):
            if scores[k, j] == NO_GAIN:
                continue
            node = first + k
            totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
            items, places = work.items[nodes.side[node]], work.segments[nodes.slot[node], feature]
            segment = Segment(items, places, totals, drawn_bits(search.key, node, feature))
            bounds = bounds_of(search.state, node, feature)
            scores[k, j] = scan_segment(
                segment, data, feature, gradients, search.rules, bounds, memory, found[k, j]
            )


@inlined
def _advance(
    search: ExactSearch,
    features: Int64s,
    tasks: int,
    parent: Int,
    first: int,
    found: Int64s,
    scores: Float64s,
) -> None:
    nodes = search.nodes
    n_rows = nodes.end[max(parent, ROOT)] - nodes.begin[max(parent, ROOT)]
    used = tasks if n_rows * len(features) >= PARALLEL_ITEMS else ONE
    _advance_columns(used, search, features, parent, first, found, scores)


@inlined
def _consider(
    search: ExactSearch, features: Int64s, node: int, found: Int64s, scores: Float64s, heap_size: int
) -> int:
    """Take the best of the columns' splits, the first of equals, and, if it pays, open the node: push it onto the heap."""
    gradients, rules, nodes, state = search.gradients, search.rules, search.nodes, search.state
    totals = (nodes.gradient_sum[node], nodes.hessian_sum[node], nodes.end[node] - nodes.begin[node])
    best, most = NOBODY, NO_GAIN
    for j in range(len(scores)):
        noisy = noisy_score(scores[j], totals, gradients, rules, state, node, features[j], search.key)
        if noisy > most:
            best, most = np.int64(j), noisy
    if best == NOBODY:
        return heap_size
    bounds = bounds_of(state, node, features[best])
    gain = gain_of_score(scores[best], totals, gradients, rules, bounds)
    if gain == NO_GAIN or gain < rules.min_gain:
        return heap_size
    nodes.candidate_gain[node] = gain
    copy_candidate(found[best], nodes.candidate[node])
    _find_code(search.data, search.work, nodes, node)
    return push(search.work.heap, heap_size, node, nodes.candidate_gain, rules.growth)


@inlined
def _find_code(data: ExactInput, work: ExactWork, nodes: Nodes, node: int) -> None:
    """Turn the place of a candidate's last left item into its code, and remember which items go left."""
    candidate, place = nodes.candidate[node], work.places[node]
    feature, last = candidate[FEATURE], candidate[BIN]
    segment, rest = work.segments[nodes.slot[node], feature], data.rest[feature]
    place[0], place[1], place[2] = segment[BEGIN], last + 1, candidate[MISSING_LEFT]
    if last == NOWHERE:
        candidate[BIN] = data.n_bins[feature]
        put_no_bin(candidate[LEFT_BINS:])
        place[1] = place[0]
        return
    if last == AFTER_REST:
        candidate[BIN] = rest
        place[1], place[2] = segment[MIDDLE], 1
        return
    candidate[BIN] = code_of(data, feature, row_of(work.items[nodes.side[node]][last]))
    if data.categorical[feature]:
        put_only_bin(candidate[LEFT_BINS:], candidate[BIN], data.n_bins[feature])
        place[0] = last + 1 - candidate[LEFT_COUNT]
    if rest < data.n_bins[feature]:
        place[2] = np.int64(rest < candidate[BIN])


@inlined
def split_rows(tasks: int, work: ExactWork, nodes: Nodes, node: Int, left: int) -> None:
    """Carry out the node's candidate split for its rows: children ``left`` and ``left + 1`` get them and their sums."""
    candidate = nodes.candidate[node]
    begin, end, side = nodes.begin[node], nodes.end[node], nodes.side[node]
    segment = work.segments[nodes.slot[node], candidate[FEATURE]]
    fill_goes_left(work, side, (begin, end), segment, work.places[node])
    as_it_is = np.array([0, 1], np.uint8)
    source, target, n_left = work.entries[side], work.entries[1 - side], candidate[LEFT_COUNT]
    given = (work.goes_left, as_it_is, source, begin, end, n_left, tasks, work.chunk_counts, target)
    far(partition, given)
    place_children(nodes, node, left)
