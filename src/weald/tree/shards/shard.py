"""What a part of a training table is asked while a tree grows.

A *shard* is some rows with their bins, gradients and scores, wherever they are, and the node that each row is in. It answers with
integers, or with a maximum, so that the answers of several shards add up exactly in any order, and the tree is the one that the
whole table gives, to the byte. Nodes have the numbers of the grower, from 0, the root; siblings are neighbours.

A tree takes these steps: `extremes` and perhaps `sizes` of all shards say how gradients are rounded; `begin`; a few turns of
`histograms` and `split`; `settle`; `leaf_sums`; `add`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.tree.histograms.quantise import Rounding
from weald.tree.shards.state import Splits

Largest = tuple[float, float]  # absolute gradient and hessian


class Extremes(NamedTuple):
    """What a shard says of its rows before a tree begins."""

    largest: Largest
    n_rows: int
    n_sampled: int  # rows that the tree is grown on


class Shard(Protocol):
    """Some rows of a training table."""

    def extremes(self) -> Extremes:
        """The largest absolute gradient and hessian of all rows, sampled or not, and how many there are."""

    def sizes(self, largest: Largest) -> tuple[int, int]:
        """Sums of absolute gradients and of hessians of all rows, in whole steps of the largest: see `quantise.sum_sizes`."""

    def squares(self, largest: Largest) -> tuple[int, int]:
        """Sums of squared gradients and of hessians of the sampled rows, likewise: see `noise.sum_squares`."""

    def begin(self, rounding: Rounding, columns: NDArray[np.int64]) -> None:
        """Round the gradients, by the rows' numbers in the whole table, and put every row into the root.

        ``columns``: those that histograms are needed of, for this tree.
        """

    def histograms(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Gradient, hessian and count of the sampled rows of some nodes by cell, (nodes, cells, 3).

        Cells are those of `inputs.tree_input`; of columns that are not needed they have no meaning.
        """

    def split(self, splits: Splits) -> None:
        """Move the rows of some nodes, sampled or not, to the nodes' children."""

    def settle(self, leaf_of_node: NDArray[np.int64], n_leaves: int) -> None:
        """The tree is finished: tell every row the leaf of its node."""

    def leaf_sums(self, scales: tuple[float, float]) -> NDArray[np.int64]:
        """Gradient and hessian of the sampled rows of every leaf, (leaves, 2), in the fixed point of these scales."""

    def add(self, values: NDArray[np.float64]) -> None:
        """Add to the score of every row, sampled or not, the value of its leaf."""


def add_up(shards: Sequence[Shard], question: Callable[[Shard], NDArray[np.int64]]) -> NDArray[np.int64]:
    """Ask all shards and add up what they say."""
    answers = [question(shard) for shard in shards]
    total = answers[0]
    for answer in answers[1:]:
        total += answer
    return total
