"""Boosting on a table in shards: a grower that boosting uses as it uses the compiled ones.

Gradients, hessians and scores of the rows here are whole arrays; each shard sees its part of them. What cannot be asked as a
`Shard`, the leaves of evaluation sets for one, is done as for a whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import DenseBins
from weald.binning.sharded import ShardedBins
from weald.runtime.errors import NotSupportedError
from weald.sampling.rows import NO_ROWS
from weald.tree.grown import Grower, GrownTree
from weald.tree.inputs import bin_words, tree_input
from weald.tree.rows.leaf import LeafNumbers, fixed_scales
from weald.tree.rules import TreeRules
from weald.tree.shards.grower import Keys, grow_from
from weald.tree.shards.growing import GrowingTree
from weald.tree.shards.rows import RowShard
from weald.tree.shards.shard import Shard, Shards
from weald.tree.shards.sharing import make_seeker
from weald.tree.state import TreeInput
from weald.tree.tree import count_slots, empty_nodes

Float32s = NDArray[np.float32]

#: ``make(bins, first, data, leaf_of_row, tasks)``: a shard of the rows of ``bins``; see `RowShard`
MakeShard = Callable[[ShardedBins, int, TreeInput, LeafNumbers, int], Shard]


class ShardGrower(Grower):
    """Grows trees on the rows of ``bins``, and those that the other members of its team have.

    ``parts``: how many neighbouring blocks are a shard of their own, from the first on, and what makes it; all blocks together
    must be in one. None: one `RowShard`. ``at_once``: see `Shards`.
    """

    def __init__(
        self,
        bins: ShardedBins,
        rules: TreeRules,
        precision: str,
        tasks: int,
        parts: Sequence[tuple[int, MakeShard]] | None = None,
        at_once: bool = False,
    ) -> None:
        if rules.forced:
            raise NotSupportedError("forced_splits is not supported by trees from shards; leave it out.")
        super().__init__(bins, rules, precision, tasks)
        data = _layout_of(bins)
        self._ranges, self._blocks, own = [], [], []
        begin = block = 0
        for n_blocks, make in parts or [(len(bins.blocks), RowShard)]:
            some = bins.part(block, block + n_blocks)
            here = slice(begin, begin + some.n_rows)
            own.append(make(some, bins.first + begin, data, self.leaf_of_row[here], tasks))
            self._ranges.append(here)
            self._blocks.append(slice(block, block + n_blocks))
            begin, block = here.stop, block + n_blocks
        self.shards = Shards(own, bins.team, at_once)
        most_leaves = self._kernel_rules.max_leaves
        slots = count_slots(rules, most_leaves, 3 * data.n_cells, bins.n_columns)
        n_nodes, smooths = 2 * most_leaves, rules.path_smooth > 0.0
        self.growing = GrowingTree(
            data,
            empty_nodes(n_nodes, bin_words(bins.mapper)),
            rules.constraints.state(bins.n_columns, n_nodes, smooths),
            slots,
            make_seeker(bins, rules.growth, tasks),
        )

    def _all_rows(self, bins: ShardedBins) -> int:
        return bins.n_total

    def _row_array(self, bins: ShardedBins, dtype: np.dtype[Any]) -> NDArray[Any]:
        return bins.memory.zeros((bins.n_rows,), dtype)

    def largest_of(self, values: Float32s) -> float:
        """That of the whole team."""
        return float(self.shards.team.most(np.array([values.max(initial=-np.inf)], np.float64))[0])

    def use(self, tasks: int) -> None:
        """Share the work of the shards among so many threads."""
        super().use(tasks)
        for shard in self.shards.own:
            shard.tasks = tasks

    def turn(self, bins: ShardedBins, columns: NDArray[np.int64]) -> None:
        """Go on with other bins of the same rows."""
        self.bins, self.columns = bins, columns
        for shard, part in zip(self.shards.own, self._blocks, strict=True):
            shard.turn(bins.blocks[part])

    def grow(
        self,
        gradient: Float32s,
        hessian: Float32s,
        rows: NDArray[np.uint32],
        columns: NDArray[np.int64],
        rounding_key: int,
        column_key: int,
        noise: float = 0.0,
    ) -> GrownTree:
        """Grow a tree in a few passes over the shards; no rows: all, or those that there are none of here."""
        self._hand_out(gradient, hessian, rows)
        keys = Keys(rounding_key, column_key)
        grown = grow_from(
            self.shards, self.growing, self.rules, self._kernel_rules, self.precision, columns, keys, noise
        )
        self._places = grown.places
        return GrownTree(self, grown.nodes, (gradient, hessian), grown.gradients, grown.n_sampled)

    def _hand_out(self, gradient: Float32s, hessian: Float32s, rows: NDArray[np.uint32] | None) -> None:
        """Give every shard its rows' numbers, and which of its rows are sampled (empty: all); None: those of the last tree."""
        for shard, part in zip(self.shards.own, self._ranges, strict=True):
            own: NDArray[np.uint32] | None = shard.rows
            if rows is not None:
                begin, end = np.searchsorted(rows, [part.start, part.stop])
                is_all = len(rows) == 0 and rows is not NO_ROWS
                own = None if is_all else rows[begin:end] - np.uint32(part.start)
            shard.take(gradient[part], hessian[part], own)

    def place_sampled(self, tree: GrownTree) -> None:
        """The shards write to their parts of ``leaf_of_row``."""
        leaf_of_node = self.growing.leaf_of_node(tree.nodes["opened"][tree.leaf_nodes])
        self.shards.tell(lambda shard: shard.settle(leaf_of_node, tree.n_leaves))

    def place_others(self, tree: GrownTree) -> None:
        """Rows that were not sampled walk down the tree, unless their shard has moved them with the others."""
        mapper = self.bins.mapper

        def walk(codes: NDArray[Any], leaf_of_row: LeafNumbers) -> None:
            tree.walk(DenseBins(codes, codes.ravel()[:0], mapper), tree.n_leaves, leaf_of_row)

        self.shards.tell(lambda shard: shard.place_others(walk))

    def leaf_sums(
        self, tree: GrownTree, gradient: Float32s, hessian: Float32s, largest: tuple[float, float]
    ) -> NDArray[np.float64]:
        """The shards' sums, added up."""
        self._hand_out(gradient, hessian, None)
        scales = fixed_scales(largest, self.n_all_rows)
        sums = self.shards.add_up(lambda shard: shard.leaf_sums(scales))
        total: NDArray[np.float64] = sums / np.array(scales)
        return total

    def rows_by_leaf(self, tree: GrownTree) -> NDArray[np.uint32]:
        """In the order of the nodes' places before pruning, which joins leaves as they are."""
        found = [
            shard.rows_of(int(node)) + part.start
            for node in self._places
            for shard, part in zip(self.shards.own, self._ranges, strict=True)
        ]
        return np.concatenate(found).astype(np.uint32)

    def add_values(self, score: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Every shard adds to its own rows' scores."""
        for shard, part in zip(self.shards.own, self._ranges, strict=True):
            shard.follow(score[part])
            shard.add(values)

    def is_sparse(self, bins: DenseBins | ShardedBins) -> bool:
        """Dense tables alone are in shards."""
        return False

    def cells(
        self, bins: DenseBins | ShardedBins, columns: NDArray[np.int64]
    ) -> Iterable[tuple[int, NDArray[Any]]]:
        """The bins, row after row, or of some rows column after column."""
        if isinstance(bins, ShardedBins):
            begin = 0
            for block in bins.blocks:
                yield begin, block.read().T
                begin += block.n_rows
        elif len(bins.rows):
            yield 0, bins.rows.reshape(bins.n_rows, bins.n_columns)
        else:
            yield 0, bins.columns.T

    def whole_columns(self, bins: DenseBins | ShardedBins) -> NDArray[np.unsignedinteger[Any]] | None:
        """The bins of a dense table."""
        return bins.columns if isinstance(bins, DenseBins) else None


def _layout_of(bins: ShardedBins) -> TreeInput:
    """What the search reads of a table without its rows."""
    codes = np.empty((bins.n_columns, 0), bins.codes)
    return tree_input(DenseBins(codes, codes.ravel(), bins.mapper))
