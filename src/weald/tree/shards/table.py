"""A table in memory, cut into shards: the shard grower in the place of the compiled one.

Boosting asks it as it asks any grower, and gets the same trees. What a part of the table is not asked as a `Shard`, the leaves of
evaluation sets for one, is done as for a whole table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import AnyBins, BundledBins, DenseBins, Ranks, SparseBins, SparseRanks
from weald.binning.proposals import ProposalTable
from weald.binning.sparse_proposals import SparseProposalTable
from weald.binning.statistics import StatisticBins
from weald.runtime.errors import NotSupportedError
from weald.tree.grown import Grower, GrownTree
from weald.tree.inputs import bin_words, tree_input
from weald.tree.rows.leaf import fixed_scales
from weald.tree.rules import TreeRules
from weald.tree.shards.grower import Keys, grow_from
from weald.tree.shards.growing import GrowingTree
from weald.tree.shards.memory import MemoryShard
from weald.tree.shards.shard import add_up
from weald.tree.tree import count_slots, empty_nodes

Float32s = NDArray[np.float32]

_REFUSED: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (SparseBins, "a sparse table"),
    (BundledBins, "a table of bundled columns"),
    ((ProposalTable, SparseProposalTable), "split_finder='approx'"),  # which are ranks, too
    ((Ranks, SparseRanks), "split_finder='exact'"),
    (StatisticBins, "a table of target statistics"),
)


def make_shard_grower(
    bins: AnyBins | StatisticBins, rules: TreeRules, precision: str, tasks: int, sizes: Sequence[int]
) -> ShardGrower:
    """A grower on shards of so many rows each, in the order of the table's; a table or rule that it cannot do is refused."""
    for kind, name in _REFUSED:
        if isinstance(bins, kind):
            raise NotSupportedError(f"{name} cannot be cut into shards; use dense bins.")
    if rules.forced:
        raise NotSupportedError("forced_splits is not supported by trees from shards; leave it out.")
    assert isinstance(bins, DenseBins)
    return ShardGrower(bins, rules, precision, tasks, sizes)


class ShardGrower(Grower):
    """Grows trees from `MemoryShard`s of a dense table; see `make_shard_grower`."""

    def __init__(
        self, bins: DenseBins, rules: TreeRules, precision: str, tasks: int, sizes: Sequence[int]
    ) -> None:
        super().__init__(bins, rules, precision, tasks)
        if sum(sizes) != bins.n_rows:
            raise ValueError(f"shards of {sum(sizes)} rows in all for a table of {bins.n_rows} rows")
        ends = np.cumsum([0, *sizes]).tolist()
        self._ranges = [slice(begin, end) for begin, end in pairwise(ends)]
        self.shards = [
            MemoryShard(_rows_of(bins, part), part.start, self.leaf_of_row[part], tasks)
            for part in self._ranges
        ]
        data = tree_input(_rows_of(bins, slice(0, 0)))
        most_leaves = self._kernel_rules.max_leaves
        slots = count_slots(rules, most_leaves, 3 * data.n_cells, bins.n_columns)
        n_nodes, smooths = 2 * most_leaves, rules.path_smooth > 0.0
        self.growing = GrowingTree(
            data,
            empty_nodes(n_nodes, bin_words(bins.mapper)),
            rules.constraints.state(bins.n_columns, n_nodes, smooths),
            slots,
            tasks,
        )

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
        """Grow a tree in a few passes over the shards."""
        self._hand_out(gradient, hessian, rows)
        keys = Keys(rounding_key, column_key)
        grown = grow_from(
            self.shards, self.growing, self.rules, self._kernel_rules, self.precision, columns, keys, noise
        )
        self._places = grown.places
        return GrownTree(self, grown.nodes, (gradient, hessian), grown.gradients, grown.n_sampled)

    def _hand_out(self, gradient: Float32s, hessian: Float32s, rows: NDArray[np.uint32] | None) -> None:
        """Give every shard its rows' numbers, and which of its rows are sampled (empty: all); None: those of the last tree."""
        for shard, part in zip(self.shards, self._ranges, strict=True):
            own: NDArray[np.uint32] | None = shard.rows
            if rows is not None:
                begin, end = np.searchsorted(rows, [part.start, part.stop])
                own = rows[begin:end] - np.uint32(part.start) if len(rows) else None
            shard.take(gradient[part], hessian[part], own)

    def place_sampled(self, tree: GrownTree) -> None:
        """The shards write to their parts of ``leaf_of_row``."""
        leaf_of_node = self.growing.leaf_of_node(tree.nodes["opened"][tree.leaf_nodes])
        for shard in self.shards:
            shard.settle(leaf_of_node, tree.n_leaves)

    def place_others(self, tree: GrownTree) -> None:
        """They moved with the sampled rows."""
        for shard in self.shards:
            shard.place_others()

    def leaf_sums(
        self, tree: GrownTree, gradient: Float32s, hessian: Float32s, largest: tuple[float, float]
    ) -> NDArray[np.float64]:
        """The shards' sums, added up."""
        self._hand_out(gradient, hessian, None)
        scales = fixed_scales(largest, self.bins.n_rows)
        total: NDArray[np.float64] = add_up(self.shards, lambda shard: shard.leaf_sums(scales)) / np.array(
            scales
        )
        return total

    def rows_by_leaf(self, tree: GrownTree) -> NDArray[np.uint32]:
        """In the order of the nodes' places before pruning, which joins leaves as they are."""
        place_of_node = self.growing.leaf_of_node(self._places)
        found = [shard.sampled_nodes() for shard in self.shards]
        rows = np.concatenate([own + part.start for (own, _), part in zip(found, self._ranges, strict=True)])
        places = place_of_node[np.concatenate([nodes for _, nodes in found])]
        return rows[np.argsort(places, kind="stable")].astype(np.uint32)

    def add_values(self, score: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Every shard adds to its own rows' scores."""
        for shard, part in zip(self.shards, self._ranges, strict=True):
            shard.follow(score[part])
            shard.add(values)

    def is_sparse(self, bins: DenseBins) -> bool:
        """Dense tables alone are cut into shards."""
        return False

    def cells(self, bins: DenseBins, columns: NDArray[np.int64]) -> Iterable[tuple[int, NDArray[Any]]]:
        """The bins, row after row in memory."""
        yield 0, bins.rows.reshape(bins.n_rows, bins.n_columns)

    def whole_columns(self, bins: DenseBins) -> NDArray[np.unsignedinteger[Any]] | None:
        """The bins of a dense table."""
        return bins.columns


def _rows_of(bins: DenseBins, part: slice) -> DenseBins:
    """Some neighbouring rows of a table; kernels want columns without gaps, so these are copied."""
    width = bins.n_columns
    rows = bins.rows[part.start * width : part.stop * width]
    return DenseBins(np.ascontiguousarray(bins.columns[:, part]), rows, bins.mapper)
