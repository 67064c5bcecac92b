"""Dropout for boosted trees: a round is fitted to the gradients without some of the earlier trees.

DART (Rashmi and Gilad-Bachrach 2015): later trees of plain boosting correct a few rows only; a tree that has to stand
in for trees that are missing learns something of use for all. The trees that were dropped and the new one then do the same
work twice, so both are made lighter. Every output is an ensemble of its own: it drops from its own trees and counts them.

With k trees of an output dropped, P parallel trees a round and eta the learning rate, the new trees, already shrunk by eta / P,
and the dropped ones are multiplied by

    tree:    1 / (k / P + eta)    and    (k / P) / (k / P + eta)
    forest:  1 / (1 + eta)        and    1 / (1 + eta)
    paper:   1 / (k / P + 1)      and    (k / P) / (k / P + 1)

The first two are what XGBoost does for P = 1 and one output; the third is the paper's own rule, and LightGBM's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest
from weald.runtime.random import DROPPED_TREES, ONE_DROPPED_TREE, SKIPPED_DROP, stream_key
from weald.sampling import draw_points
from weald.training.boosting.boosters import KnownByTrees, Making
from weald.tree.rows.leaf import add_leaf_values
from weald.tree.rows.remembered import RememberedLeaves
from weald.tree.tree import GrownTree

if TYPE_CHECKING:
    from weald.training.boosting.plan import Plan

Float64s = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Leaf numbers that are kept, of the training rows and all evaluation sets together; the leaves of later trees are
# walked to in every round.
REMEMBERED_BYTES = 2 * 2**30


@dataclass(frozen=True)
class DropRules:
    """Which trees a round drops, and what becomes of their weights."""

    rate_drop: float
    skip_drop: float = 0.0
    one_drop: bool = False
    sample_type: str = "uniform"
    normalize_type: str = "tree"
    max_drop: int = 0  # of every output; 0: no limit

    @property
    def drops(self) -> bool:
        """Whether any tree can ever be dropped."""
        return (self.rate_drop > 0.0 or self.one_drop) and self.skip_drop < 1.0

    def factors(self, dropped: float, learning_rate: float) -> tuple[float, float]:
        """What the new trees and the dropped ones are multiplied by; ``dropped``: how many, in trees of a round."""
        if self.normalize_type == "forest":
            return 1.0 / (1.0 + learning_rate), 1.0 / (1.0 + learning_rate)
        new = 1.0 if self.normalize_type == "paper" else learning_rate
        return 1.0 / (dropped + new), dropped / (dropped + new)


@dataclass(frozen=True)
class DartRows:
    """What dart needs to know of the training rows or an evaluation set."""

    origin: Float64s  # scores before the first tree, (outputs, rows) or (outputs, 1)
    nodes_of: Callable[[Forest], NDArray[np.int32]]  # the node of every row in every tree, (rows, trees)


def draw_drops(weights: Float64s, n_outputs: int, rules: DropRules, key: int) -> Mask:
    """Which of the trees a round drops; ``weights``: what is left of each, tree after tree, output after output.

    >>> rules = DropRules(rate_drop=0.1)
    >>> dropped = draw_drops(np.ones(1000), 1, rules, key=3)
    >>> bool(70 < dropped.sum() < 130)
    True
    """
    dropped = np.zeros(len(weights), np.bool_)
    if draw_points(1, stream_key(key, SKIPPED_DROP))[0] < rules.skip_drop:
        return dropped
    points = draw_points(len(weights), stream_key(key, DROPPED_TREES))
    single = draw_points(n_outputs, stream_key(key, ONE_DROPPED_TREE))
    for output in range(n_outputs):
        own, below = weights[output::n_outputs], np.cumsum(weights[output::n_outputs])
        if not len(own):
            break
        rate = min(rules.rate_drop, rules.max_drop / len(own)) if rules.max_drop else rules.rate_drop
        chance = np.full(len(own), rate)
        if rules.sample_type == "weighted" and below[-1] > 0.0:
            chance = rate * len(own) * own / below[-1]
        chosen = points[output::n_outputs] < chance
        if rules.max_drop:
            chosen &= np.cumsum(chosen) <= rules.max_drop
        if rules.one_drop and not chosen.any():
            ends = below if rules.sample_type == "weighted" else np.arange(1.0, len(own) + 1.0)
            place = int(np.searchsorted(ends, single[output] * ends[-1], side="right"))
            chosen[min(place, len(own) - 1)] = True
        dropped[output::n_outputs] = chosen
    return dropped


class DartBooster(KnownByTrees):
    """A booster whose rounds leave out trees; ``rows``: of the training set, then of every evaluation set."""

    def __init__(self, rules: DropRules, seed: int, rows: Sequence[DartRows]) -> None:
        self._rules = rules
        self._seed = seed
        self._rows = rows
        self._dropped: Mask = np.zeros(0, np.bool_)
        self._settled = True
        self._full = False

    def begin(self, making: Making) -> None:
        """Remember which leaves of the earlier trees the rows are in."""
        self._making = making
        self._builder = builder = making.builder
        self._scores = [making.at.scores, *(evaluation.scores for evaluation in making.evaluations)]
        self._values: list[list[Float64s]] = [[] for _ in range(builder.n_outputs)]  # of remembered trees
        self._leaves = [
            [RememberedLeaves(scores.shape[1]) for _ in range(builder.n_outputs)] for scores in self._scores
        ]
        forest = builder.build()
        for first in range(0, forest.n_trees, builder.n_outputs):
            trees = _trees(forest, first)
            self._look_for_room(int(trees.leaves_per_tree().max()))
            if self._full:
                break
            nodes = [rows.nodes_of(trees) for rows in self._rows]
            for output in range(builder.n_outputs):
                tree = trees.tree(output)
                number = np.cumsum(tree.feature < 0) - 1
                reached = [number[own[:, output]] for own in nodes]
                self._remember(output, reached, tree.value[tree.feature < 0].copy())

    def change(self, plan: Plan) -> None:
        """Drop by other rules."""
        assert plan.trees.drops is not None
        self._rules, self._seed = plan.trees.drops, plan.seed

    @property
    def _tasks(self) -> int:
        return self._making.grower.tasks

    def begin_round(self, number: int) -> None:
        """Draw the trees to drop, and leave them out of the training scores."""
        weights = self._builder.tree_weights()
        key = stream_key(self._seed, number, 0)
        self._dropped = draw_drops(weights, self._builder.n_outputs, self._rules, key)
        if self._dropped.any():
            self._sum(0, ~self._dropped)
            self._settled = False
        else:
            self.settle()

    def add(self, tree: GrownTree, share: float, output: int) -> None:
        """Take a tree; scores follow when the round is over."""
        values = self._making.descent.leaf_values(tree, self._making.at, output) * share
        if output == 0:
            self._look_for_room(tree.n_leaves)
        if not self._full:
            numbers = np.arange(tree.n_leaves, dtype=np.float64)
            reached = [np.zeros(scores.shape[1]) for scores in self._scores]
            tree.add_to(reached[0], numbers)
            for evaluation, own in zip(self._making.evaluations, reached[1:], strict=True):
                tree.add_to_binned(evaluation.bins, own, numbers)
            self._remember(output, reached, values.copy())
        self._builder.append(**tree.for_forest(values, share))

    def end_round(self, learning_rate: float) -> None:
        """Make the new trees and the dropped ones lighter, and sum anew; without dropped ones just add."""
        earlier, n_outputs = len(self._dropped), self._builder.n_outputs
        wanted = np.ones(self._builder.n_trees, np.bool_)
        if not self._dropped.any():
            wanted[:earlier] = False
            for place in range(len(self._scores)):
                self._add(place, wanted)
            return
        for output in range(n_outputs):
            dropped = np.flatnonzero(self._dropped[output::n_outputs]) * n_outputs + output
            if not len(dropped):
                continue
            new, old = self._rules.factors(len(dropped) / self._builder.parallel_trees, learning_rate)
            for tree in range(earlier + output, self._builder.n_trees, n_outputs):
                self._scale(tree, new)
            for tree in dropped.tolist():
                self._scale(tree, old)
        for place in range(1, len(self._scores)):
            self._sum(place, wanted)

    def settle(self) -> None:
        """Sum the training scores anew, if trees are missing or were rescaled since."""
        if not self._settled:
            self._sum(0, np.ones(self._builder.n_trees, np.bool_))
            self._settled = True

    def _scale(self, tree: int, factor: float) -> None:
        self._builder.scale(tree, factor)
        output, place = tree % self._builder.n_outputs, tree // self._builder.n_outputs
        if place < len(self._values[output]):
            self._values[output][place] *= factor

    def _sum(self, place: int, wanted: Mask) -> None:
        """The scores of a set with the wanted trees alone."""
        self._scores[place][...] = self._rows[place].origin
        self._add(place, wanted)

    def _add(self, place: int, wanted: Mask) -> None:
        """Add the wanted trees to the scores of a set, in their order."""
        n_outputs, scores = self._builder.n_outputs, self._scores[place]
        for output, leaves in enumerate(self._leaves[place]):
            leaves.add_to(scores[output], self._values[output], wanted[output::n_outputs], self._tasks)
        remembered = len(self._values[-1]) * n_outputs
        if not wanted[remembered:].any():
            return
        forest = self._builder.build()
        for first in range(remembered, forest.n_trees, n_outputs):
            if not wanted[first : first + n_outputs].any():
                continue
            trees = _trees(forest, first)
            nodes = self._rows[place].nodes_of(trees)
            for output in np.flatnonzero(wanted[first : first + n_outputs]).tolist():
                reached = np.ascontiguousarray(nodes[:, output])
                add_leaf_values(reached, trees.tree(output).value.copy(), self._tasks, scores[output])

    def _look_for_room(self, n_leaves: int) -> None:
        """Whether one more tree of every output may be remembered; from the first that may not, none is."""
        every = [leaves for own in self._leaves for leaves in own]
        needed = sum(leaves.nbytes + leaves.bytes_of(n_leaves) for leaves in every)
        self._full = self._full or needed > REMEMBERED_BYTES

    def _remember(self, output: int, reached: Sequence[NDArray[np.generic]], values: Float64s) -> None:
        for own, leaf_of_row in zip(self._leaves, reached, strict=True):
            own[output].append(leaf_of_row, len(values))
        self._values[output].append(values)


def _trees(forest: Forest, first: int) -> Forest:
    """The trees of all outputs from ``first`` on, one each."""
    return replace(forest, parallel_trees=1).trees(first, first + forest.n_outputs)
