"""A tree while it grows from shards: its nodes, and the histograms of those that may still be split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.tree.search import Search
from weald.tree.shards.search import (
    children_by_size,
    divide_level,
    divide_nodes,
    may_be_split,
    open_tree,
)
from weald.tree.shards.shard import Shards
from weald.tree.shards.sharing import Seeker
from weald.tree.shards.state import Splits
from weald.tree.splits.constraints import ConstraintState
from weald.tree.splits.gain import NO_GAIN
from weald.tree.state import NOBODY, Gradients, Nodes, Rules, TreeInput, Workspace

ROOT = 0
_NOBODY = int(NOBODY)
_NO_SLOT = -1


class GrowingTree:
    """Nodes in the order in which they are opened, which may be more than the tree needs.

    ``data``: where columns lie in a histogram; ``slots``: how many histograms are kept for subtraction, two at least; ``seeker``:
    counts nodes and finds their splits. The memory is used again by the next tree, from `begin` on.
    """

    def __init__(
        self, data: TreeInput, nodes: Nodes, state: ConstraintState, slots: int, seeker: Seeker
    ) -> None:
        self._data = data
        self._seeker = seeker
        self._most_pairs = slots // 2  # siblings whose histograms fit in all slots
        no_places = np.empty(0, np.int64)
        self._work = Workspace(
            entries=np.empty((2, 0), np.uint64),
            pool=np.empty((slots, 3, data.n_cells), np.int64),
            buffers=np.zeros((1, 2, 0), np.int64),
            totals=np.empty((1, 3, 0), np.int64),
            heap=no_places,
            chunk_counts=no_places,
            column=np.empty(0, data.columns.dtype),
        )
        self.nodes = nodes
        self.state = state

    def begin(
        self,
        shards: Shards,
        columns: NDArray[np.int64],
        gradients: Gradients,
        rules: Rules,
        key: int,
        n_rows: int,
    ) -> None:
        """Open the root, of so many rows; ``columns``: that the tree may be split by."""
        self._gradients, self._key = gradients, np.uint64(key)
        self.rules = rules
        self.n_nodes = 1
        #: nodes that have children, in the order in which they got them
        self.divided: list[int] = []
        #: how often all shards were asked for histograms
        self.n_passes = 0
        self._free = list(range(len(self._work.pool)))
        self._kept: dict[int, None] = {}  # nodes that have a slot, the oldest first
        open_tree(self._search, n_rows)
        self._shards = shards
        self._seeker.begin(shards, columns)
        self._count([(ROOT, _NOBODY)])
        self._seeker.settle(self._search)

    @property
    def _search(self) -> Search:
        return Search(self._data, self._gradients, self.rules, self._key, self._work, self.nodes, self.state)

    def has_children(self, node: int) -> bool:
        """Whether a node was divided."""
        return bool(self.nodes.feature[node] >= 0)

    def find_split(self) -> None:
        """Find the root's best split."""
        self._find_splits([ROOT])

    def open_children(self, parents: Sequence[int]) -> None:
        """Count the children of divided nodes, in as few passes as histograms fit in memory, and find their best splits.

        The smaller child is counted. The larger one's histogram is what is left of the parent's, if that was kept.
        """
        families = children_by_size(self._search, np.array(parents, np.int64))
        families = families[may_be_split(self._search, families[:, 2])]
        for begin in range(0, len(families), self._most_pairs):
            part = families[begin : begin + self._most_pairs]
            self._count_families(part)
            self._find_splits(part[:, 1:].ravel().tolist())

    def count_level(self, parents: Sequence[int]) -> None:
        """Count the children of all nodes of a level, whatever their size."""
        families = children_by_size(self._search, np.array(parents, np.int64))
        for begin in range(0, len(families), self._most_pairs):
            self._count_families(families[begin : begin + self._most_pairs])

    def find_level_split(self, first: int) -> bool:
        """Find the common split of the last level, whose nodes are those from ``first`` on; False when none pays."""
        return self._seeker.find_level(self._search, first, self.n_nodes)

    def divide(self, parents: Sequence[int], by_level: bool = False) -> None:
        """Split nodes by their best splits, and tell the shards."""
        if not parents:
            return
        self._reserve(2 * len(parents))
        chosen, first = np.array(parents, np.int64), self.n_nodes
        if by_level:
            divide_level(self._search, parents[0], first)
        else:
            divide_nodes(self._search, chosen, first)
        nodes = self.nodes
        splits = Splits(
            chosen,
            nodes.left[chosen].astype(np.int64),
            nodes.feature[chosen].astype(np.int64),
            nodes.split_bin[chosen].astype(np.int64),
            nodes.left_bins[chosen],
            nodes.missing_left[chosen].astype(np.int64),
        )
        self._shards.tell(lambda shard: shard.split(splits))
        self.n_nodes += 2 * len(parents)
        self.divided.extend(parents)

    def finished(self, order: Sequence[int]) -> dict[str, NDArray[Any]]:
        """The tree of the splits in ``order``: the t-th one's children are nodes 2t + 1 and 2t + 2.

        ``opened``: the number that each node had here.
        """
        lefts = self.nodes.left[list(order)].astype(np.int64)
        opened = np.concatenate([[ROOT], np.stack([lefts, lefts + 1], axis=1).ravel()]).astype(np.int64)
        nodes: dict[str, NDArray[Any]] = {
            name: values[opened] for name, values in self.nodes._asdict().items()
        }
        place = np.full(self.n_nodes, -1)
        place[list(order)] = np.arange(len(order))
        split = place[opened]
        nodes["feature"][split < 0] = -1
        nodes["left"] = np.where(split < 0, 0, 2 * split + 1).astype(np.int32)
        nodes["gain"][split < 0] = 0.0
        if len(self.state.lower):
            nodes |= {"lower": self.state.lower[opened], "upper": self.state.upper[opened]}
        return nodes | {"opened": opened}

    def leaf_of_node(self, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """The leaf that every node is in, or below of; -1 for those above. ``leaves``: the leaves' numbers here."""
        found = np.full(self.n_nodes, -1)
        found[leaves] = np.arange(len(leaves))
        for node in self.divided:
            if found[node] >= 0:
                left = self.nodes.left[node]
                found[left : left + 2] = found[node]
        return found

    def _count_families(self, families: NDArray[np.int64]) -> None:
        counted: list[tuple[int, int]] = []
        for parent, smaller, larger in families.tolist():
            if parent in self._kept:
                del self._kept[parent]
                self.nodes.slot[larger], self.nodes.slot[parent] = self.nodes.slot[parent], _NO_SLOT
                counted.append((smaller, larger))
            else:
                counted += [(smaller, _NOBODY), (larger, _NOBODY)]
        self._count(counted)

    def _count(self, counted: Sequence[tuple[int, int]]) -> None:
        """Ask the shards for histograms; with each node a sibling, in whose slot the parent's histogram is, or NOBODY."""
        nodes, others = np.array(counted, np.int64).T.copy()
        for node in nodes.tolist():
            self.nodes.slot[node] = self._take_slot()
        self._seeker.count(self._search, nodes, others)
        self.n_passes += 1
        for node in [*nodes.tolist(), *others[others != _NOBODY].tolist()]:
            self._kept[node] = None

    def _find_splits(self, wanted: Sequence[int]) -> None:
        self._seeker.find(self._search, np.array(wanted, np.int64))
        for node in wanted:
            if self.nodes.candidate_gain[node] == NO_GAIN:
                self._forget(node)

    def _take_slot(self) -> int:
        if not self._free:
            self._forget(next(iter(self._kept)))
        return self._free.pop()

    def _forget(self, node: int) -> None:
        del self._kept[node]
        self._free.append(int(self.nodes.slot[node]))
        self.nodes.slot[node] = _NO_SLOT

    def _reserve(self, n_more: int) -> None:
        """Make room for so many more nodes."""
        while self.n_nodes + n_more > len(self.nodes.feature):
            self.nodes = Nodes(*(np.concatenate([array, array]) for array in self.nodes))
            by_node = ("lower", "upper", "open_groups", "last_column", "values")
            self.state = self.state._replace(
                **{name: np.concatenate([getattr(self.state, name)] * 2) for name in by_node}
            )
