"""What leaves predict: class shares, means or medians of their rows, from the labels and weights as they were given."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Float64s, Int, Int32s, Int64s, Uint64s
from weald.runtime.jit import bare_inner_kernel, inlined
from weald.tree.cart.state import ABSOLUTE, HALF, LOW, NUMBERS, CartPlan, CartRows, Labels, Trees


@inlined
def _row_weight(labels: Labels, counts: Int32s, row: Int) -> float:
    weight = np.float64(counts[row])
    if len(labels.weight) > 0:
        weight *= labels.weight[row]
    return weight


@inlined
def _add_classes(plan: CartPlan, labels: Labels, weight: float, row: Int, sums: Float64s) -> None:
    for output in range(plan.n_outputs):
        sums[labels.codes[row * plan.n_outputs + output]] += weight


@inlined
def _add_distances(
    plan: CartPlan, labels: Labels, weight: float, row: Int, first_row: Int, sums: Float64s
) -> None:
    n_outputs = plan.n_outputs
    for output in range(n_outputs):
        distance = labels.values[row * n_outputs + output] - labels.values[first_row * n_outputs + output]
        sums[output] += weight * distance


@inlined
def _median(plan: CartPlan, labels: Labels, output: int, entries: Uint64s, begin: int, end: int) -> float:
    """Weighted median of rows in the order of their labels: the mean of two where exactly half of the weight is below."""
    total, reached, i = np.int64(0), np.int64(0), begin
    for j in range(begin, end):
        total += np.int64(entries[j] & LOW)
    while 2 * (reached + np.int64(entries[i] & LOW)) < total:
        reached += np.int64(entries[i] & LOW)
        i += 1
    reached += np.int64(entries[i] & LOW)
    value = labels.values[np.int64(entries[i] >> HALF) * plan.n_outputs + output]
    if 2 * reached == total:
        following = labels.values[np.int64(entries[i + 1] >> HALF) * plan.n_outputs + output]
        value = 0.5 * value + 0.5 * following
    return value


@bare_inner_kernel
def fill_leaves(
    plan: CartPlan,
    labels: Labels,
    rows: CartRows,
    depths: Int64s,
    begins: Int64s,
    first: int,
    n_nodes: Int,
    leaves_before: int,
    sums: Float64s,
    trees: Trees,
) -> int:
    """Values of the leaves of the tree at ``first`` and weights of all its nodes; the number of leaves.

    A mean is the first row's label plus the mean distance from it: exact where all labels are equal.
    """
    n_leaves = 0
    numbers = plan.n_outputs if plan.kind == NUMBERS else plan.n_slots
    for node in range(n_nodes):
        trees.value[first + node] = 0.0
        if trees.feature[first + node] >= 0:
            continue
        trees.left[first + node], trees.split_bin[first + node], trees.missing_left[first + node] = 0, 0, 0
        side, begin, end = depths[node] % 2, begins[node], begins[node] + trees.n_rows[first + node]
        first_row = np.int64(rows.entries[side, 0, begin] >> HALF)
        total = 0.0
        for slot in range(numbers):
            sums[slot] = 0.0
        for i in range(begin, end):
            row = np.int64(rows.entries[side, 0, i] >> HALF)
            weight = _row_weight(labels, rows.counts, row)
            total += weight
            if plan.kind == NUMBERS:
                _add_distances(plan, labels, weight, row, first_row, sums)
            else:
                _add_classes(plan, labels, weight, row, sums)
        for slot in range(numbers):
            sums[slot] /= total
            if plan.criterion == ABSOLUTE:
                sums[slot] = _median(plan, labels, slot, rows.entries[side, 1 + slot], begin, end)
            elif plan.kind == NUMBERS:
                sums[slot] += labels.values[first_row * numbers + slot]
            if len(trees.vectors) > 0:
                trees.vectors[(leaves_before + n_leaves) * numbers + slot] = sums[slot]
        if len(trees.vectors) == 0:
            trees.value[first + node] = sums[numbers - 1]
        trees.cover[first + node] = total
        n_leaves += 1
    for i in range(n_nodes):
        parent = first + n_nodes - 1 - i
        if trees.feature[parent] >= 0:
            left = first + trees.left[parent]
            trees.cover[parent] = trees.cover[left] + trees.cover[left + 1]
    return n_leaves
