"""Growing one tree from shards: the loop, in plain Python, above the compiled search.

The compiled growers pass over the rows of one node at a time. Here a pass over the shards counts all nodes that may still be
chosen, and the choice is replayed from what is known (replay.py): a leaf-wise tree costs about as many passes as it is deep, and
some nodes are opened in vain. The tree is that of the compiled grower to the byte.

Some draws are made by a node's final number: columns by node, thresholds of extra trees, noise. Leaf-wise that number is known
only when all splits before are, so such a tree is grown one split, and one pass, at a time: right, but slower. Depth-wise and
oblivious growth know the numbers of a whole level.
"""

from __future__ import annotations

from collections.abc import Sequence

from weald.tree.histograms.quantise import Rounding, choose_rounding, needs_sizes
from weald.tree.shards.growing import ROOT, GrowingTree
from weald.tree.shards.replay import replay
from weald.tree.shards.shard import Extremes, Shard
from weald.tree.state import LEAFWISE, Rules


def agree_on_rounding(shards: Sequence[Shard], precision: str, key: int) -> tuple[Rounding, Extremes]:
    """How the gradients of all shards are rounded, and what these say of their rows together."""
    found = [shard.extremes() for shard in shards]
    largest = (max(own.largest[0] for own in found), max(own.largest[1] for own in found))
    n_rows = sum(own.n_rows for own in found)
    sizes = (0, 0)
    if needs_sizes(precision, n_rows):
        totals = [shard.sizes(largest) for shard in shards]
        sizes = (sum(own[0] for own in totals), sum(own[1] for own in totals))
    rounding = choose_rounding(precision, n_rows, largest, sizes, key)
    return rounding, Extremes(largest, n_rows, sum(own.n_sampled for own in found))


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
