"""New leaf values for finished trees, from other rows: the splits stay as they are.

Round by round, as boosting went: the loss's gradients at the scores so far, their sums over the rows that each leaf now has,
Newton's step or the loss's own. A leaf's value becomes decay * old + (1 - decay) * new, and the next round sees the scores
with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest, TreeView
from weald.losses import Loss
from weald.training.boosting.descent import Position
from weald.tree.grown import MOST_SMALL_LEAVES
from weald.tree.rows.leaf import LeafNumbers, add_leaf_values, leaf_sums
from weald.tree.rules import TreeRules
from weald.tree.splits.values import fill_small_leaves, newton, node_totals, smooth_path

Float64s = NDArray[np.float64]

NODES_AT_ONCE = 2**24  # rows times trees whose nodes are looked up together


@dataclass(frozen=True)
class RefitRows:
    """The rows that leaves are fitted to."""

    y: Float64s
    weight: Float64s | None
    origin: Float64s  # scores before the first tree, (outputs, rows)
    nodes_of: Callable[[Forest], NDArray[np.int32]]  # the node of every row in every tree, (rows, trees)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)


@dataclass(frozen=True)
class RefitRules:
    """How a leaf's value is found, and how much of the old one it keeps."""

    tree: TreeRules
    shares: Float64s  # (trees,): what the steps of every tree are multiplied by
    decay_rate: float
    column_penalty: Float64s  # (columns,): added to lambda in the children of a split on the column
    own_leaves: bool = True  # a loss that has leaf values of its own gives them; otherwise leaves take Newton's step
    keeps_unreached: bool = True  # a leaf that no row reaches keeps its value; otherwise its new value is 0


def shares_of(forest: Forest, learning_rate: float) -> Float64s:
    """What the steps of every tree were multiplied by, (trees,)."""
    shares = np.full(forest.n_trees, learning_rate / forest.parallel_trees)
    return shares * forest.tree_weights if forest.tree_weights.size else shares


def refit_leaves(forest: Forest, rows: RefitRows, loss: Loss, rules: RefitRules, tasks: int) -> Forest:
    """The same trees with values refitted to the rows."""
    values = forest.value.copy()
    at = Position.of(rows, loss, rows.origin.copy())
    at.use(tasks)
    for first, nodes in _rounds(forest, rows):
        at.differentiate()
        grown: list[tuple[int, LeafNumbers, Float64s]] = []
        for place in range(forest.trees_per_round):
            tree, output = forest.tree(first + place), place % forest.n_outputs
            small = tree.n_nodes < MOST_SMALL_LEAVES
            node_of_row: LeafNumbers = nodes[:, place].astype(np.dtype(np.uint8 if small else np.int32))
            own = _blended(tree, node_of_row, at, output, rules, float(rules.shares[first + place]), tasks)
            begin, end = forest.tree_offsets[first + place : first + place + 2]
            values[begin:end] = own
            grown.append((output, node_of_row, own))
        if not forest.averaged:  # whose rounds do not see each other
            for output, node_of_row, own in grown:
                add_leaf_values(node_of_row, own, tasks, at.scores[output])
    return replace(forest, value=values)


def _blended(
    tree: TreeView,
    node_of_row: LeafNumbers,
    at: Position,
    output: int,
    rules: RefitRules,
    share: float,
    tasks: int,
) -> Float64s:
    """The nodes' values, shrunk: a share of the old and a share of those by the rows."""
    nodes = _nodes(tree, node_of_row)
    fitted = _node_values(tree, nodes, node_of_row, at, output, rules, tasks) * share
    fitted = np.where(nodes["end"] > 0, fitted, tree.value if rules.keeps_unreached else 0.0)
    if rules.tree.constraints.monotone:
        _keep_order(tree, rules.tree.constraints.signs, fitted)
    blended = rules.decay_rate * tree.value + (1.0 - rules.decay_rate) * fitted
    # A value that stays as it is does so to the last bit.
    return np.where(fitted == tree.value, tree.value, blended)


def _rounds(forest: Forest, rows: RefitRows) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """The first tree of every round, and the nodes (rows, trees) that the rows reach in the round's trees."""
    size = forest.trees_per_round
    step = size * max(1, NODES_AT_ONCE // max(1, rows.n_rows * size))
    for begin in range(0, forest.n_trees, step):
        nodes = rows.nodes_of(forest.trees(begin, min(begin + step, forest.n_trees)))
        for first in range(0, nodes.shape[1], size):
            yield begin + first, nodes[:, first : first + size]


def _node_values(
    tree: TreeView,
    nodes: dict[str, NDArray[Any]],
    node_of_row: LeafNumbers,
    at: Position,
    output: int,
    rules: RefitRules,
    tasks: int,
) -> Float64s:
    """What every node would add by the gradients of its rows, before shrinkage; anything where it has no rows."""
    leaves, limits = np.flatnonzero(tree.feature < 0), rules.tree
    gradient, hessian = at.gradient[output], at.hessian[output]
    largest = (float(np.abs(gradient).max()), float(hessian.max()))
    sums = leaf_sums(node_of_row, tree.n_nodes, gradient, hessian, largest, tasks)[leaves]
    totals, penalty = node_totals(nodes, leaves, sums), _penalty(tree, rules)
    values = newton(totals[:, 0], totals[:, 1], penalty, limits)
    by_loss = at.loss.refits_leaves and rules.own_leaves
    if by_loss:
        _refit(tree, node_of_row, at, output, limits.path_smooth > 0.0, values)
    if limits.path_smooth > 0.0:
        fewest = max(1, limits.min_samples_leaf) if limits.growth == "oblivious" else 1
        return smooth_path(nodes, values, limits.path_smooth, fewest)
    if limits.growth == "oblivious" and not by_loss:
        of_leaves = values[leaves]
        fill_small_leaves(nodes, leaves, sums, penalty, limits, of_leaves)
        values[leaves] = of_leaves
    return values


def _nodes(tree: TreeView, node_of_row: LeafNumbers) -> dict[str, NDArray[Any]]:
    """The tree as `tree.splits.values` reads it: every node's depth and, from ``begin`` to ``end``, the number of its rows."""
    depth = np.zeros(tree.n_nodes, np.int32)
    count = np.bincount(node_of_row, minlength=tree.n_nodes)
    inner = np.flatnonzero(tree.feature >= 0)
    for node in inner:
        depth[tree.left[node] : tree.left[node] + 2] = depth[node] + 1
    for node in inner[::-1]:
        count[node] = count[tree.left[node]] + count[tree.left[node] + 1]
    return {
        "feature": tree.feature,
        "left": tree.left,
        "depth": depth,
        "begin": np.zeros_like(count),
        "end": count,
    }


def _penalty(tree: TreeView, rules: RefitRules) -> Float64s:
    """Lambda of every node, with what a split of its parent adds to it."""
    penalty = np.full(tree.n_nodes, float(rules.tree.reg_lambda))
    inner = np.flatnonzero(tree.feature >= 0)
    for child in (tree.left[inner], tree.left[inner] + 1):
        penalty[child] += rules.column_penalty[tree.feature[inner]]
    return penalty


def _refit(
    tree: TreeView, node_of_row: LeafNumbers, at: Position, output: int, inner_too: bool, values: Float64s
) -> None:
    """Give the leaves the loss's own values; the inner nodes too where a leaf is averaged with them."""
    order = np.argsort(node_of_row, kind="stable").astype(np.uint32)
    rows = np.split(order, np.cumsum(np.bincount(node_of_row, minlength=tree.n_nodes))[:-1])
    inner = np.flatnonzero(tree.feature >= 0)
    for node in inner[::-1] if inner_too else ():
        rows[node] = np.concatenate((rows[tree.left[node]], rows[tree.left[node] + 1]))
    chosen = np.arange(tree.n_nodes) if inner_too else np.flatnonzero(tree.feature < 0)
    own, of_chosen = [rows[node] for node in chosen], values[chosen]
    offsets = np.concatenate(([0], np.cumsum([len(part) for part in own]))).astype(np.int64)
    loss, train = at.loss.of_output(output), at.train
    loss.refit_leaves(at.scores[output], train.y, train.weight, np.concatenate(own), offsets, of_chosen)
    values[chosen] = of_chosen


def _keep_order(tree: TreeView, signs: tuple[int, ...], values: Float64s) -> None:
    """Clip values so that they follow the monotone constraints: as while a tree grows, see tree/splits/constraints.py."""
    lower, upper = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
    for node in np.flatnonzero(tree.feature >= 0):
        children = slice(tree.left[node], tree.left[node] + 2)
        lower[children], upper[children] = lower[node], upper[node]
        values[children] = np.clip(values[children], lower[node], upper[node])
        sign = signs[tree.feature[node]]
        if sign != 0:
            middle = 0.5 * (values[children].sum())
            lesser, greater = (0, 1) if sign > 0 else (1, 0)
            upper[children][lesser] = middle
            lower[children][greater] = middle
    np.clip(values, lower, upper, out=values)
