"""Growing one tree from shards: the loop, in plain Python, above the compiled search.

The compiled growers pass over the rows of one node at a time. Here a pass over the shards counts all nodes that may still be
chosen, and the choice is replayed from what is known (replay.py): a leaf-wise tree costs about as many passes as it is deep, and
some nodes are opened in vain. The tree is that of the compiled grower to the byte.

Some draws are made by a node's final number: columns by node, thresholds of extra trees, noise. Leaf-wise that number is known
only when all splits before are, so such a tree is grown one split, and one pass, at a time: right, but slower. Depth-wise and
oblivious growth know the numbers of a whole level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.tree.growth.prune import take_back, without_lost_nodes
from weald.tree.histograms.quantise import Rounding, choose_rounding, largest_values, meaning_of, needs_sizes
from weald.tree.rows.leaf import fixed_scales
from weald.tree.rules import TreeRules
from weald.tree.shards.growing import ROOT, GrowingTree
from weald.tree.shards.replay import replay
from weald.tree.shards.shard import Extremes, Shard, Shards
from weald.tree.splits.noise import unit_of_squares
from weald.tree.state import LEAFWISE, Gradients, Rules


class Keys(NamedTuple):
    """What a tree's draws are made by."""

    rounding: int
    columns: int  # by level and node, thresholds and noise


class Grown(NamedTuple):
    """A tree whose rows are in shards."""

    nodes: dict[str, NDArray[Any]]  # as of `GrowingTree.finished`, pruned
    places: NDArray[
        np.int64
    ]  # the numbers, in `GrowingTree`, of the leaves before pruning, in the order of their rows' places
    gradients: Gradients
    n_sampled: int


def grow_from(
    shards: Shards,
    tree: GrowingTree,
    rules: TreeRules,
    limits: Rules,
    precision: str,
    columns: NDArray[np.int64],
    keys: Keys,
    noise: float,
) -> Grown:
    """Grow a tree from the gradients that the shards have, in the memory of ``tree``; ``limits``: the rules for all rows."""
    rounding, found = agree_on_rounding(shards, precision, keys.rounding)
    gradients = meaning_of(rounding, np.empty(1, np.uint64))
    shards.tell(lambda shard: shard.begin(rounding, columns))
    if rules.weighs:
        limits = rules.for_weight(limits, _total_hessian(shards, gradients, found.n_rows))
    if noise > 0.0:
        limits = limits._replace(noise=noise * _noise_unit(shards, gradients, rules.cosine))
    tree.begin(shards, columns, gradients, limits, keys.columns, found.n_sampled)
    order = grow_by_level(tree) if rules.growth == "oblivious" else grow_by_gain(tree)
    nodes = tree.finished(order)
    leaves = np.flatnonzero(nodes["feature"] < 0)
    places = nodes["opened"][leaves[np.argsort(nodes["begin"][leaves], kind="stable")]]
    if rules.prunes and len(take_back(nodes["feature"], nodes["left"], nodes["gain"], rules.gamma)):
        nodes = without_lost_nodes(nodes)
    return Grown(nodes, places, gradients, found.n_sampled)


def agree_on_rounding(shards: Shards, precision: str, key: int) -> tuple[Rounding, Extremes]:
    """How the gradients of all shards are rounded, and what these say of their rows together."""
    found = shards.extremes()
    sizes = (0, 0)
    if needs_sizes(precision, found.n_rows):
        sizes = _two(shards, lambda shard: shard.sizes(found.largest))
    return choose_rounding(precision, found.n_rows, found.largest, sizes, key), found


def _two(shards: Shards, question: Callable[[Shard], tuple[int, int]]) -> tuple[int, int]:
    """Two sums over all shards."""
    first, second = shards.add_up(lambda shard: np.array(question(shard), np.int64)).tolist()
    return first, second


def _total_hessian(shards: Shards, gradients: Gradients, n_rows: int) -> float:
    """Of the sampled rows: the sum of a tree of one leaf."""
    shards.tell(lambda shard: shard.settle(np.zeros(1, np.int64), 1))
    scales = fixed_scales(largest_values(gradients), n_rows)
    return int(shards.add_up(lambda shard: shard.leaf_sums(scales))[0, 1]) / scales[1]


def _noise_unit(shards: Shards, gradients: Gradients, cosine: bool) -> float:
    largest = largest_values(gradients)
    squares, hessians = _two(shards, lambda shard: shard.squares(largest))
    return unit_of_squares(squares, hessians, gradients, cosine)


def grow_by_gain(tree: GrowingTree) -> list[int]:
    """Grow leaf- or depth-wise; the nodes that the tree splits, in their order, are returned."""
    rules = tree.rules
    most_splits, at_once = rules.max_leaves - 1, 1 if _draws_by_node(rules) else None
    tree.find_split()
    while True:
        order = replay(tree.nodes.candidate_gain, tree.nodes.left, rules.growth, most_splits)
        # The children of the last split that there is room for will never be split.
        closed = [node for node in order[: most_splits - 1] if not tree.has_children(node)][:at_once]
        if not closed:
            break
        tree.divide(closed)
        tree.open_children(closed)
    tree.divide([node for node in order if not tree.has_children(node)])
    return order


def _draws_by_node(rules: Rules) -> bool:
    draws = rules.node_share < 1.0 or rules.extra_trees or rules.noise > 0.0
    return draws and rules.growth == LEAFWISE


def grow_by_level(tree: GrowingTree) -> list[int]:
    """Grow an oblivious tree; the nodes that it splits, all levels but the last, are returned."""
    level = [ROOT]
    for depth in range(tree.rules.max_depth):
        if not tree.find_level_split(level[0]):
            break
        tree.divide(level, by_level=True)
        if depth + 1 < tree.rules.max_depth:
            tree.count_level(level)
        level = list(range(level[-1] + 1, tree.n_nodes))
    return list(tree.divided)
