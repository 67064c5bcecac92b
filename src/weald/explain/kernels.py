"""Kernels that divide a row's score among the columns: exact Shapley values of trees.

Without some of its columns a row goes down both sides of their tests, in the proportion of the training rows. A leaf then
counts by a product with a factor for every column on its path: z, the share of the rows that pass the column's tests there,
where the column is left out, and o, 1 or 0, whether this row passes them, where it is not. The Shapley value of column f in such
a product is

    (o_f - z_f) * integral from 0 to 1 of the product over j != f of (z_j + t (o_j - z_j)) dt,

the mean over the orders in which columns may arrive. The integrand is a polynomial, so Gauss's rule of (m + 1) // 2 points is
exact for m columns; all its terms are positive, and nothing is lost to cancellation. What is divided is what TreeSHAP divides
(Lundberg and others 2018).

A leaf's factors are but two a column and point, so they are reckoned once a leaf, and many rows go through them side by side.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from weald.runtime.arrays import Float64s, Int32s, Int64s, Uint8s
from weald.runtime.jit import kernel
from weald.runtime.tasks import shared_kernel

# Trees of at most so many different tests, such as oblivious ones, are explained once for every pattern of answers.
MOST_TESTS: Final = 10
# Rows that go through a leaf side by side.
WIDTH: Final = 128


class TreeArrays(NamedTuple):
    """The arrays of a forest that are read here; see `weald.forest.forest.Forest`."""

    tree_offsets: Int64s
    feature: Int32s
    threshold: Float64s
    left: Int32s
    missing_left: Uint8s
    category_set: Int32s
    set_offsets: Int64s
    set_codes: Int32s
    value: Float64s
    count: Any  # int64; to a type checker this is a method of tuples
    vectors: Float64s


class Points(NamedTuple):
    """Gauss's rules on the way from 0 to 1: row q has q points and their weights."""

    at: Float64s
    weight: Float64s


class PathWorkspace(NamedTuple):
    """Memory of the tasks; all arrays have a row for each. Sizes are those of the largest tree."""

    parent: Int64s  # (nodes): the parent, -1 of the root
    test: Int64s  # (nodes): which of the different tests a node makes
    goes_left: Uint8s  # (nodes, WIDTH): the rows' answers
    tests: Int64s  # (MOST_TESTS): a node for every different test
    slot_of: Int64s  # (features): a column's place among those of the tree, or -1
    columns: Int64s  # (slots): the columns of the tree
    leaf: Int64s  # (leaves + 1, 3): node, first path entry, first step
    fraction: Float64s  # (entries): z of a path's column
    slot: Int64s  # (entries): that column's slot
    step: Int64s  # (steps, 2): 2 * node + 1 if it must go left, and the path entry that the test belongs to
    passes: Uint8s  # (depth, WIDTH): o of a path's columns
    passed: Float64s  # (depth, WIDTH): the same as numbers
    factor: Float64s  # (points, depth, 2): a column's factor at a point where it fails and where it passes
    gain: Float64s  # (points, depth, 2): o - z over that factor
    product: Float64s  # (WIDTH)
    part: Float64s  # (depth, WIDTH): what the columns of a path get for a leaf of 1
    share: Float64s  # (slots, outputs, WIDTH): what the rows' columns get from the tree
    pattern: Int64s  # (WIDTH): a row's answers to the different tests of a tree, a bit each
    patterns: Float64s  # (2 ** MOST_TESTS, MOST_TESTS, outputs): the same for patterns of answers


@kernel
def left_share(trees: TreeArrays, first: int, node: int) -> float:
    """The share of a node's training rows that went left; a half where there were none."""
    left = trees.count[first + trees.left[node]]
    both = left + trees.count[first + trees.left[node] + 1]
    return left / both if both > 0 else 0.5


@kernel
def _goes_left(trees: TreeArrays, node: int, value: float) -> bool:
    if np.isnan(value):
        return trees.missing_left[node] == 1
    chosen = trees.category_set[node]
    if chosen < 0:
        return value <= trees.threshold[node]
    begin, end = trees.set_offsets[chosen], trees.set_offsets[chosen + 1]
    place = begin + np.searchsorted(trees.set_codes[begin:end], value)
    return place < end and trees.set_codes[place] == value


@kernel
def _same_test(trees: TreeArrays, first: int, second: int) -> bool:
    if (
        trees.feature[first] != trees.feature[second]
        or trees.threshold[first] != trees.threshold[second]
        or trees.missing_left[first] != trees.missing_left[second]
    ):
        return False
    one, other = trees.category_set[first], trees.category_set[second]
    if one < 0 or other < 0 or one == other:
        return one == other
    codes = trees.set_codes[trees.set_offsets[one] : trees.set_offsets[one + 1]]
    return np.array_equal(codes, trees.set_codes[trees.set_offsets[other] : trees.set_offsets[other + 1]])


@kernel
def _name_tests(trees: TreeArrays, first: int, last: int, test: Int64s, tests: Int64s) -> int:
    """Number the different tests of a tree; how many there are, MOST_TESTS + 1 for more than can be kept apart."""
    found = 0
    for node in range(first, last):
        if trees.feature[node] < 0:
            continue
        place = 0
        while place < found and not _same_test(trees, node, tests[place]):
            place += 1
        if place == found:
            if found == MOST_TESTS:
                return MOST_TESTS + 1
            tests[found] = node
            found += 1
        test[node - first] = place
    return found


@kernel
def _lay_paths(trees: TreeArrays, first: int, last: int, task: int, work: PathWorkspace) -> tuple[int, int]:
    """Write the columns of a tree, and the path of every leaf; (columns, leaves)."""
    parent, slot_of, leaf = work.parent[task], work.slot_of[task], work.leaf[task]
    fraction, slot, step = work.fraction[task], work.slot[task], work.step[task]
    parent[0] = -1
    slots, leaves, entries, steps = 0, 0, 0, 0
    for node in range(first, last):
        feature = trees.feature[node]
        if feature >= 0:
            parent[trees.left[node]] = node - first
            parent[trees.left[node] + 1] = node - first
            if slot_of[feature] < 0:
                slot_of[feature] = slots
                work.columns[task, slots] = feature
                slots += 1
            continue
        begin, at = entries, node - first
        leaf[leaves, 0], leaf[leaves, 1], leaf[leaves, 2] = node, entries, steps
        while parent[at] >= 0:
            above = parent[at]
            is_left = at == trees.left[first + above]
            share = left_share(trees, first, first + above)
            own_slot = slot_of[trees.feature[first + above]]
            entry = begin
            while entry < entries and slot[entry] != own_slot:
                entry += 1
            if entry == entries:
                slot[entry], fraction[entry] = own_slot, 1.0
                entries += 1
            fraction[entry] *= share if is_left else 1.0 - share
            step[steps, 0], step[steps, 1] = 2 * above + (1 if is_left else 0), entry - begin
            steps += 1
            at = above
        leaves += 1
    leaf[leaves, 1], leaf[leaves, 2] = entries, steps
    for i in range(slots):
        slot_of[work.columns[task, i]] = -1
    return slots, leaves


@kernel
def _tabulate(fraction: Float64s, points: Points, factor: Float64s, gain: Float64s) -> int:
    """Write the factors of a leaf's columns at every point, and what they gain by them; how many points there are."""
    rule = (len(fraction) + 1) // 2
    for point in range(rule):
        at = points.at[rule, point]
        for j in range(len(fraction)):
            z = fraction[j]
            fails, passes = z * (1.0 - at), z + at * (1.0 - z)
            factor[point, j, 0], factor[point, j, 1] = fails, passes
            # A row that fails where no training row passes reaches the leaf in no order: its product is 0.
            gain[point, j, 0] = -z / fails if z > 0.0 else 0.0
            gain[point, j, 1] = (1.0 - z) / passes
    return rule


@kernel
def _pass_leaf(step: Int64s, goes_left: Uint8s, rows: int, passes: Uint8s, passed: Float64s) -> None:
    """Which of a leaf's columns every row passes; ``step``: those of its path."""
    passes[: len(passed), :rows] = 1
    for s in range(len(step)):
        answers, failing, own = goes_left[step[s, 0] >> 1], np.uint8(1 - (step[s, 0] & 1)), passes[step[s, 1]]
        for row in range(rows):
            own[row] &= answers[row] ^ failing
    for j in range(len(passed)):
        for row in range(rows):
            passed[j, row] = passes[j, row]


@kernel
def _integrate(
    passed: Float64s,
    weight: Float64s,
    factor: Float64s,
    gain: Float64s,
    rows: int,
    product: Float64s,
    part: Float64s,
) -> None:
    """Fill ``part`` (columns, rows): (o - z) times the integral of the other columns' product."""
    count = len(part)
    for j in range(count):
        for row in range(rows):
            part[j, row] = 0.0
    for point in range(len(weight)):
        for row in range(rows):
            product[row] = weight[point]
        for j in range(count):
            fails, passes, own = factor[point, j, 0], factor[point, j, 1], passed[j]
            for row in range(rows):
                product[row] *= fails * (1.0 - own[row]) + passes * own[row]
        for j in range(count):
            fails, passes, own, added = gain[point, j, 0], gain[point, j, 1], passed[j], part[j]
            for row in range(rows):
                added[row] += product[row] * (fails * (1.0 - own[row]) + passes * own[row])


@kernel
def _explain(
    trees: TreeArrays, points: Points, leaves: int, first_leaf: int, rows: int, task: int, work: PathWorkspace
) -> None:
    """Add what every column of a tree gets from the rows' answers to the workspace's share (slots, outputs, rows)."""
    leaf, share = work.leaf[task], work.share[task]
    factor, gain, product = work.factor[task], work.gain[task], work.product[task]
    outputs = share.shape[1]
    for i in range(leaves):
        begin, end = leaf[i, 1], leaf[i + 1, 1]
        count = end - begin
        part, passed = work.part[task, :count], work.passed[task, :count]
        rule = _tabulate(work.fraction[task, begin:end], points, factor, gain)
        _pass_leaf(
            work.step[task, leaf[i, 2] : leaf[i + 1, 2]],
            work.goes_left[task],
            rows,
            work.passes[task],
            passed,
        )
        _integrate(passed, points.weight[rule, :rule], factor, gain, rows, product, part)
        for k in range(outputs):
            is_vector = len(trees.vectors) > 0
            value = trees.vectors[(first_leaf + i) * outputs + k] if is_vector else trees.value[leaf[i, 0]]
            for j in range(count):
                own, added = share[work.slot[task, begin + j], k], part[j]
                for row in range(rows):
                    own[row] += added[row] * value


@kernel
def _explain_patterns(
    trees: TreeArrays,
    points: Points,
    tree: int,
    leaves: int,
    slots: int,
    n_tests: int,
    task: int,
    work: PathWorkspace,
) -> None:
    """Fill the workspace's patterns with what the columns get from every pattern of answers to the tree's few tests."""
    first, nodes = trees.tree_offsets[tree], trees.tree_offsets[tree + 1] - trees.tree_offsets[tree]
    share = work.share[task]
    for begin in range(0, 1 << n_tests, WIDTH):
        rows = min(WIDTH, (1 << n_tests) - begin)
        for i in range(nodes):
            if trees.feature[first + i] >= 0:
                for row in range(rows):
                    work.goes_left[task, i, row] = (begin + row) >> work.test[task, i] & 1
        share[:slots] = 0.0
        _explain(trees, points, leaves, (first + tree) // 2, rows, task, work)
        for row in range(rows):
            for i in range(slots):
                for k in range(share.shape[1]):
                    work.patterns[task, begin + row, i, k] = share[i, k, row]


@kernel
def _answer_node(trees: TreeArrays, table: Float64s, node: int, answers: Uint8s) -> None:
    """Which rows a node sends to its left child."""
    feature = trees.feature[node]
    if trees.category_set[node] >= 0:
        for row in range(len(table)):
            answers[row] = _goes_left(trees, node, table[row, feature])
        return
    threshold, missing_left = trees.threshold[node], trees.missing_left[node] == 1
    for row in range(len(table)):
        value = table[row, feature]
        answers[row] = value <= threshold or (missing_left and np.isnan(value))


@kernel
def _find_patterns(
    trees: TreeArrays, table: Float64s, tests: Int64s, answers: Uint8s, pattern: Int64s
) -> None:
    """The pattern of every row's answers to a tree's few tests; a bit a test."""
    for row in range(len(table)):
        pattern[row] = 0
    for i in range(len(tests)):
        _answer_node(trees, table, tests[i], answers)
        for row in range(len(table)):
            pattern[row] |= np.int64(answers[row]) << i


@kernel
def _add_patterns(
    trees: TreeArrays,
    table: Float64s,
    n_tests: int,
    slots: int,
    output: int,
    task: int,
    work: PathWorkspace,
    out: Float64s,
) -> None:
    """Add what the columns of a tree get from at most WIDTH rows, by their patterns; out: (outputs, rows, columns + 1)."""
    pattern = work.pattern[task]
    _find_patterns(trees, table, work.tests[task, :n_tests], work.goes_left[task, 0], pattern)
    for i in range(slots):
        column = work.columns[task, i]
        for k in range(work.patterns.shape[3]):
            for row in range(len(table)):
                out[output + k, row, column] += work.patterns[task, pattern[row], i, k]


@kernel
def _explain_rows(
    trees: TreeArrays,
    points: Points,
    table: Float64s,
    tree: int,
    leaves: int,
    slots: int,
    task: int,
    work: PathWorkspace,
) -> None:
    """Fill the workspace's share with what the columns of a tree get from at most WIDTH rows."""
    first, nodes = trees.tree_offsets[tree], trees.tree_offsets[tree + 1] - trees.tree_offsets[tree]
    for i in range(nodes):
        if trees.feature[first + i] >= 0:
            _answer_node(trees, table, first + i, work.goes_left[task, i])
    work.share[task, :slots] = 0.0
    _explain(trees, points, leaves, (first + tree) // 2, len(table), task, work)


@shared_kernel
def shap_rows(
    task: int,
    tasks: int,
    trees: TreeArrays,
    points: Points,
    rows: Float64s,
    work: PathWorkspace,
    per_tree: int,
    out: Float64s,
) -> None:
    """Add the Shapley values of all rows, tree after tree.

    rows: float64 (n, columns), NaN where missing; per_tree: outputs that a tree adds to, 1 or all of them.
    out: float64 (outputs, n, columns + 1); the last column is left alone. A row's values do not depend on the others.
    """
    begin, end = len(rows) * task // tasks, len(rows) * (task + 1) // tasks
    for tree in range(len(trees.tree_offsets) - 1):
        first, last = trees.tree_offsets[tree], trees.tree_offsets[tree + 1]
        slots, leaves = _lay_paths(trees, first, last, task, work)
        n_tests = _name_tests(trees, first, last, work.test[task], work.tests[task])
        output = tree % out.shape[0] if per_tree == 1 else 0
        columns = work.columns[task]
        by_pattern = n_tests <= MOST_TESTS and 1 << n_tests <= end - begin
        if by_pattern:
            _explain_patterns(trees, points, tree, leaves, slots, n_tests, task, work)
        for start in range(begin, end, WIDTH):
            stop = min(start + WIDTH, end)
            if by_pattern:
                _add_patterns(trees, rows[start:stop], n_tests, slots, output, task, work, out[:, start:stop])
                continue
            _explain_rows(trees, points, rows[start:stop], tree, leaves, slots, task, work)
            for i in range(slots):
                for k in range(per_tree):
                    for row in range(stop - start):
                        out[output + k, start + row, columns[i]] += work.share[task, i, k, row]


@kernel
def add_expected(trees: TreeArrays, per_tree: int, reach: Float64s, out: Float64s) -> int:
    """Add every tree's mean over the training rows to ``out`` (outputs,); return the steps of the longest tree's paths.

    reach: float64 (nodes of the largest tree, 2), scratch: the share of the rows that reach a node, and its depth.
    """
    longest = 0
    for tree in range(len(trees.tree_offsets) - 1):
        first, last = trees.tree_offsets[tree], trees.tree_offsets[tree + 1]
        leaf, steps = (first + tree) // 2, 0
        reach[0, 0], reach[0, 1] = 1.0, 0.0
        for node in range(first, last):
            own, depth = reach[node - first, 0], reach[node - first, 1]
            if trees.feature[node] >= 0:
                share, left = left_share(trees, first, node), trees.left[node]
                reach[left, 0], reach[left, 1] = own * share, depth + 1.0
                reach[left + 1, 0], reach[left + 1, 1] = own * (1.0 - share), depth + 1.0
                continue
            steps += int(depth)
            for k in range(per_tree):
                if per_tree == 1:
                    out[tree % len(out)] += own * trees.value[node]
                else:
                    out[k] += own * trees.vectors[leaf * per_tree + k]
            leaf += 1
        longest = max(longest, steps)
    return longest
