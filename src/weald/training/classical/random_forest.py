"""Random forests: trees that see different rows and columns, and what they say of rows they did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning import DenseBins
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices
from weald.runtime.progress import Progress
from weald.runtime.random import MEMBER_SEED, stream_key
from weald.runtime.team import ALONE, RowShare, Team
from weald.tree.cart import CartLabels, CartRules, CartTree, Draw, bootstrap_counts, grow_cart_trees

# Trees a task grows before they are appended to the forest: few, so that they are not all in memory twice.
_TREES_A_TASK = 16
# Leaves that are looked up at a time for the out-of-bag rows: 16 MB.
_LEAVES_AT_ONCE = 2**22


class ForestTable(Protocol):
    """The floats of a table: a `Dataset` or a `BinnedTable`."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """Pairs of the first row and a matrix."""


@dataclass(frozen=True)
class Bags:
    """Which rows of the training table each tree was grown on.

    Attributes:
        keys: a key per tree, from which all that is drawn for it follows.
        n_rows: rows of the table.
        kept: numbers of the rows that have a weight, of which trees draw; None when all have.
        draw: how a tree draws its rows.
    """

    keys: NDArray[np.uint64]
    n_rows: int
    kept: NDArray[np.int64] | None
    draw: Draw

    def counts(self, tree: int) -> NDArray[np.int32]:
        """How often a tree has drawn each row of the table, int32 (rows,); 0 is out of bag.

        >>> bags = Bags(forest_keys(0, 1), 1000, None, Draw(bootstrap=True))
        >>> int(bags.counts(0).sum()), bool(350 < (bags.counts(0) == 0).sum() < 390)
        (1000, True)
        """
        n_kept = self.n_rows if self.kept is None else len(self.kept)
        drawn = drawn_counts(int(self.keys[tree]), n_kept, self.draw)
        if self.kept is None:
            return drawn
        counts = np.zeros(self.n_rows, np.int32)
        counts[self.kept] = drawn
        return counts

    def after(self, earlier: Bags) -> Bags:
        """The bags of the earlier trees, then these."""
        return replace(self, keys=np.concatenate([earlier.keys, self.keys]))

    def continues(self, earlier: Bags | None) -> bool:
        """Whether earlier trees have drawn in the same way from the same number of rows."""
        if earlier is None or (self.n_rows, self.draw) != (earlier.n_rows, earlier.draw):
            return False
        if self.kept is None or earlier.kept is None:
            return self.kept is earlier.kept
        return np.array_equal(self.kept, earlier.kept)


def drawn_counts(key: int, n_rows: int, draw: Draw) -> NDArray[np.int32]:
    """How often the tree of a key draws each of the rows, int32 (rows,)."""
    n_draws = n_rows if draw.n_draws is None else draw.n_draws
    return bootstrap_counts(key, n_rows, n_draws, draw.bootstrap)


def forest_keys(seed: int, n_trees: int, first: int = 0) -> NDArray[np.uint64]:
    """The keys of the trees from `first` on: a tree's does not depend on how many there are."""
    return np.array([stream_key(seed, MEMBER_SEED, first + tree) for tree in range(n_trees)], np.uint64)


def grow_forest(
    bins: DenseBins,
    labels: CartLabels,
    weigh: NDArray[np.float64] | Callable[[int], NDArray[np.float64]] | None,
    rules: CartRules,
    draw: Draw,
    keys: NDArray[np.uint64],
    tasks: int,
    start: Forest | None,
    bar: Progress,
    team: Team = ALONE,
) -> Forest:
    """The trees of `start`, if there are any, and one for every key.

    ``weigh``: the rows' weights, or a function of a tree's key that gives them. ``team``: its members all have all rows, and
    share the trees out.
    """
    builder = ForestBuilder.continuing(start) if start is not None else _new_builder(bins, labels)
    step = _TREES_A_TASK * tasks * team.size
    for begin in range(0, len(keys), step):
        some = keys[begin : begin + step]
        own = some[team.rank :: team.size]
        if callable(weigh):
            trees = _grow_weighed(bins, labels, weigh, rules, draw, own, tasks)
        else:
            trees = grow_cart_trees(bins, labels, weigh, rules, draw, own, tasks)
        grown = team.gather(trees)
        trees = [grown[number % team.size][number // team.size] for number in range(len(some))]
        for tree in trees:
            builder.append(**tree.for_forest(bins.mapper))
        bar.advance(steps=len(trees))
    return builder.finish()


def _new_builder(bins: DenseBins, labels: CartLabels) -> ForestBuilder:
    return ForestBuilder(len(bins.columns), labels.numbers_per_leaf, np.zeros(labels.numbers_per_leaf))


def _grow_weighed(
    bins: DenseBins,
    labels: CartLabels,
    weigh: Callable[[int], NDArray[np.float64]],
    rules: CartRules,
    draw: Draw,
    keys: NDArray[np.uint64],
    tasks: int,
) -> list[CartTree]:
    """Trees with weights of their own."""

    def grow(tree: int) -> CartTree:
        own = keys[tree : tree + 1]
        return grow_cart_trees(bins, labels, weigh(int(own[0])), rules, draw, own)[0]

    if tasks == 1:
        return [grow(tree) for tree in range(len(keys))]
    with ThreadPoolExecutor(tasks) as executor:
        return list(executor.map(grow, range(len(keys))))


def out_of_bag(
    forest: Forest, table: ForestTable, bags: Bags, tasks: int, share: RowShare | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What the trees that have not seen a row say of it: their sum (outputs, rows), and how many they are (rows,).

    ``share``: which of all rows the table has, None: all. What is said is of all rows.
    """
    n_rows, n_outputs = table.n_rows, forest.n_outputs
    first, _, team = share or RowShare.whole(n_rows)
    sums, votes = np.zeros((n_outputs, n_rows)), np.zeros(n_rows, np.int64)
    step = max(1, _LEAVES_AT_ONCE // max(1, n_rows))
    for begin in range(0, forest.n_trees, step):
        part = forest.trees(begin, min(begin + step, forest.n_trees))
        leaves = leaf_indices(part, table.blocks(), n_rows, tasks)
        vectors = part.vectors.reshape(-1, n_outputs)
        number = np.cumsum(part.feature < 0) - 1
        for tree in range(part.n_trees):
            rows = np.flatnonzero(bags.counts(begin + tree)[first : first + n_rows] == 0)
            nodes = part.tree_offsets[tree] + leaves[rows, tree]
            sums[:, rows] += vectors[number[nodes]].T if part.has_vectors else part.value[nodes]
            votes[rows] += 1
    found = team.gather((sums, votes))
    return np.concatenate([own for own, _ in found], axis=1), np.concatenate([own for _, own in found])
