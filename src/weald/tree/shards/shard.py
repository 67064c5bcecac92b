"""What a part of a training table is asked while a tree grows.

A *shard* is some rows with their bins, gradients and scores, wherever they are, and the node that each row is in. It answers with
integers, or with a maximum, so that the answers of several shards add up exactly in any order, and the tree is the one that the
whole table gives, to the byte. Nodes have the numbers of the grower, from 0, the root; siblings are neighbours.

A tree takes these steps: `extremes` and perhaps `sizes` of all shards say how gradients are rounded; `begin`; a few turns of
`histograms` and `split`; `settle`; `leaf_sums`; `add`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded import Block
from weald.runtime.in_turn import in_turn
from weald.runtime.team import ALONE, Team
from weald.tree.histograms.quantise import Rounding
from weald.tree.rows.leaf import LeafNumbers
from weald.tree.shards.state import Splits

Answer = TypeVar("Answer")
Largest = tuple[float, float]  # absolute gradient and hessian

#: ``walk(codes, leaf_of_row)`` tells those rows their leaves that do not know them; ``codes``: bins, (columns, rows)
Walk = Callable[[NDArray[np.unsignedinteger[Any]], LeafNumbers], None]


class Extremes(NamedTuple):
    """What a shard says of its rows before a tree begins."""

    largest: Largest
    n_rows: int
    n_sampled: int  # rows that the tree is grown on


class Shard(Protocol):
    """Some rows of a training table. It keeps no labels: gradients and scores are given to it as arrays.

    ``rows``: which of the rows the tree is grown on, ascending; None: all. ``tasks``: how many threads may work for it.
    """

    rows: NDArray[np.uint32] | None
    tasks: int

    def take(
        self, gradient: NDArray[np.float32], hessian: NDArray[np.float32], rows: NDArray[np.uint32] | None
    ) -> None:
        """Two numbers for each of the shard's rows, and which of these are sampled, ascending; None: all."""

    def turn(self, blocks: Sequence[Block]) -> None:
        """Go on with other bins of the same rows, in blocks of the same sizes."""

    def follow(self, score: NDArray[np.float64]) -> None:
        """The scores, (rows,), that `add` adds to."""

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
        """Gradient, hessian and count of the sampled rows of some nodes by cell, (nodes, 3, cells).

        Cells are those of `inputs.tree_input`; of columns that are not needed they have no meaning.
        """

    def split(self, splits: Splits) -> None:
        """Move the rows of some nodes, sampled or not, to the nodes' children."""

    def settle(self, leaf_of_node: NDArray[np.int64], n_leaves: int) -> None:
        """The tree is finished: tell every sampled row the leaf of its node; -1 for nodes above the leaves."""

    def place_others(self, walk: Walk) -> None:
        """Tell the rows that were not sampled their leaves, too; sums are then no longer those of the sampled rows."""

    def rows_of(self, node: int) -> NDArray[np.int64]:
        """The sampled rows of a node, ascending, from 0 on."""

    def leaf_sums(self, scales: tuple[float, float]) -> NDArray[np.int64]:
        """Gradient and hessian of the sampled rows of every leaf, (leaves, 2), in the fixed point of these scales."""

    def add(self, values: NDArray[np.float64]) -> None:
        """Add to the score of every row, sampled or not, the value of its leaf, which all rows know by then."""


@dataclass(frozen=True)
class Shards:
    """The shards of a table: some here, the others with the rest of the team, whose members all ask the same.

    ``at_once``: each shard here is asked by a thread of its own, as it waits for a device.
    """

    own: Sequence[Shard]
    team: Team = ALONE
    at_once: bool = False

    def _ask(self, question: Callable[[Shard], Answer]) -> list[Answer]:
        """What the shards here say, in any order."""

        def work(shards: Iterator[tuple[int, Shard]]) -> list[Answer]:
            return [question(shard) for _, shard in shards]

        found = in_turn(len(self.own), self.own.__getitem__, work, len(self.own) if self.at_once else 1)
        return [answer for answers in found for answer in answers]

    def add_up(self, question: Callable[[Shard], NDArray[np.int64]]) -> NDArray[np.int64]:
        """Ask all shards, and add up what they say."""
        return self.team.add(self.add_up_own(question))

    def add_up_own(self, question: Callable[[Shard], NDArray[np.int64]]) -> NDArray[np.int64]:
        """The same of the shards here alone."""
        total, *others = self._ask(question)
        for other in others:
            total += other
        return total

    def tell(self, news: Callable[[Shard], None]) -> None:
        """Tell the shards here; other members tell theirs."""
        self._ask(news)

    def extremes(self) -> Extremes:
        """Those of all rows."""
        found = self._ask(lambda shard: shard.extremes())
        largest = np.array([one.largest for one in found]).max(axis=0)
        n_rows, n_sampled = self.team.add(
            np.array([sum(one.n_rows for one in found), sum(one.n_sampled for one in found)])
        ).tolist()
        gradient, hessian = self.team.most(largest).tolist()
        return Extremes((gradient, hessian), n_rows, n_sampled)
