"""Voting-parallel growth: members elect columns by their own rows, and only the histograms of those elected travel.

After Meng et al. (2016): every member finds the columns of a node that it would split by, from the sums of its rows alone, and
votes for the ``top_k`` best; twice as many columns with the most votes are elected. Their sums are added up, and the best split
of all rows among them is taken. Members keep the histograms of their own rows, from which those of siblings are subtracted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.runtime.team import Team
from weald.tree.search import Search
from weald.tree.shards.search import settle_root_of_all, store_histograms
from weald.tree.shards.shard import Shards
from weald.tree.shards.share_search import gains_by_column, read_columns, search_share, write_columns
from weald.tree.splits.gain import NO_GAIN
from weald.tree.state import NOBODY, Nodes, Rules

Int64s = NDArray[np.int64]

_ROOT = 0
_OF_ROWS = ("begin", "end", "gradient_sum", "hessian_sum", "candidate", "candidate_gain")
_RANK_BITS = 40  # of a vote: who has more votes is before who has better places


class VotingSeeker:
    """See `weald.tree.shards.sharing.Seeker`; the one whose trees depend on the members."""

    def __init__(self, team: Team, top_k: int, tasks: int) -> None:
        self._team, self._top_k, self._tasks = team, top_k, tasks
        self._own: Nodes | None = None

    def begin(self, shards: Shards, columns: Int64s) -> None:
        """See `Seeker`."""
        self._shards, self._columns = shards, columns

    def count(self, search: Search, nodes: Int64s, others: Int64s) -> None:
        """The rows here alone; what siblings have is what is left of their parent's rows here."""
        sums = self._shards.add_up_own(lambda shard: shard.histograms(nodes))
        here, cells = self._here(search), self._cells(search, self._columns[:1])
        own = here.nodes
        for place, (node, other) in enumerate(zip(nodes.tolist(), others.tolist(), strict=True)):
            gradient, hessian, count = sums[place][:, cells].sum(axis=1).tolist()
            if other != NOBODY:
                parent = _parent_of(search.nodes, node)
                _put(
                    own,
                    other,
                    int(own.gradient_sum[parent]) - gradient,
                    int(own.hessian_sum[parent]) - hessian,
                    int(own.end[parent]) - count,
                )
            _put(own, node, gradient, hessian, count)
        store_histograms(here, sums, nodes, others, self._tasks)

    def settle(self, search: Search) -> None:
        """See `Seeker`."""
        own = self._here(search).nodes
        sums = np.array([own.gradient_sum[_ROOT], own.hessian_sum[_ROOT]], np.int64)
        gradient, hessian = self._team.add(sums).tolist()
        settle_root_of_all(search, gradient, hessian)

    def find(self, search: Search, wanted: Int64s) -> None:
        """See `Seeker`."""
        here = self._here(search)
        elected = [self._elected(votes) for votes in self._votes(here, wanted)]
        parts = [np.empty((3, len(self._cells(search, columns))), np.int64) for columns in elected]
        for node, columns, part in zip(wanted.tolist(), elected, parts, strict=True):
            read_columns(here, node, columns, part)
        sums = self._team.add(np.concatenate([part.ravel() for part in parts]))
        ends = np.cumsum([part.size for part in parts])
        alone, scores = self._of_all(search), np.empty(1, np.float64)
        for node, columns, cells in zip(wanted.tolist(), elected, np.split(sums, ends), strict=False):
            write_columns(alone, node, columns, cells.reshape(3, -1))
            chosen = np.zeros(len(search.data.n_bins), np.bool_)
            chosen[columns] = True
            search_share(alone, self._columns, chosen, np.array([node]), self._tasks, scores)
            if search.nodes.candidate_gain[node] < search.rules.min_gain:
                search.nodes.candidate_gain[node] = NO_GAIN

    def find_level(self, search: Search, first: int, last: int) -> bool:
        """Not for this way, as `make_seeker` says."""
        raise NotImplementedError

    def _here(self, search: Search) -> Search:
        """The same tree by the rows here, with limits that are as much lower as a member's rows are fewer."""
        nodes = search.nodes
        if self._own is None or len(self._own.feature) < len(nodes.feature):
            self._own = _with_own_sums(nodes, self._own)
        self._own = self._own._replace(depth=nodes.depth, slot=nodes.slot, left=nodes.left)
        return search._replace(nodes=self._own, rules=_rules_of_share(search.rules, self._team.size))

    def _of_all(self, search: Search) -> Search:
        """The same tree with room for one node's histogram of all rows."""
        slots = np.zeros_like(search.nodes.slot)
        pool = np.empty((1, *search.work.pool.shape[1:]), np.int64)
        return search._replace(nodes=search.nodes._replace(slot=slots), work=search.work._replace(pool=pool))

    def _cells(self, search: Search, columns: Int64s) -> Int64s:
        """Where some columns are in a histogram."""
        data = search.data
        found = [
            int(data.offsets[column]) + np.arange(int(data.n_bins[column]) + 1) for column in columns.tolist()
        ]
        return np.concatenate([np.empty(0, np.int64), *found])

    def _votes(self, here: Search, wanted: Int64s) -> list[NDArray[np.int32]]:
        """For every node, what all members vote for: (members, top_k) columns, the best first, -1 where there is none."""
        gains = np.empty((len(wanted), len(here.data.n_bins)), np.float64)
        gains_by_column(here, self._columns, wanted, gains)
        size = min(self._top_k, gains.shape[1])
        best = np.argsort(-gains, axis=1, kind="stable")[:, :size]
        votes = np.where(np.take_along_axis(gains, best, axis=1) > NO_GAIN, best, -1).astype(np.int32)
        return list(np.stack(self._team.gather(votes), axis=1))

    def _elected(self, votes: NDArray[np.int32]) -> Int64s:
        """The columns with the most votes, of equals those with better places, then the lowest."""
        places = np.broadcast_to(np.arange(votes.shape[1]), votes.shape)[votes >= 0]
        tally = np.zeros(int(votes.max(initial=-1)) + 1, np.int64)
        np.add.at(tally, votes[votes >= 0], (1 << _RANK_BITS) - places)
        ranked = np.argsort(-tally, kind="stable")[: 2 * self._top_k]
        return np.sort(ranked[tally[ranked] > 0]).astype(np.int64)


def _rules_of_share(rules: Rules, size: int) -> Rules:
    """Limits of a node's rows and hessian, for a member that has one of ``size`` shares of them."""
    return rules._replace(
        min_samples_leaf=max(1, rules.min_samples_leaf // size),
        min_samples_split=max(2, rules.min_samples_split // size),
        min_child_weight=rules.min_child_weight / size,
    )


def _with_own_sums(nodes: Nodes, before: Nodes | None) -> Nodes:
    """Memory for the rows here of as many nodes, with the numbers that there were before."""
    arrays = {name: np.zeros_like(getattr(nodes, name)) for name in _OF_ROWS}
    for name, array in arrays.items():
        if before is not None:
            values = getattr(before, name)
            array[: len(values)] = values
    return nodes._replace(**arrays)


def _parent_of(nodes: Nodes, child: int) -> int:
    """The node whose left child, or that one's neighbour, a node is."""
    left = nodes.left[:child]
    return int(np.flatnonzero((left == child) | ((left > 0) & (left == child - 1)))[0])


def _put(nodes: Nodes, node: int, gradient: int, hessian: int, count: int) -> None:
    nodes.begin[node], nodes.end[node] = 0, count
    nodes.gradient_sum[node], nodes.hessian_sum[node] = gradient, hessian
