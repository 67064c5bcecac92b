"""How the members of a team count nodes and find their splits together: what each does, and what travels.

Data-parallel: every member has some rows; histograms are added up, and each searches them. Feature-parallel: every member has all
rows, and counts and searches some of the columns; best splits travel. Voting-parallel is in voting.py.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded import ShardedBins
from weald.runtime.errors import NotSupportedError
from weald.runtime.team import Team
from weald.tree.search import Search
from weald.tree.shards.rows import RowShard
from weald.tree.shards.search import search_level, search_nodes, settle_sums, store_histograms
from weald.tree.shards.shard import Shards
from weald.tree.shards.share_search import search_level_share, search_share
from weald.tree.shards.voting import VotingSeeker
from weald.tree.splits.gain import NO_GAIN
from weald.tree.state import FEATURE

Int64s = NDArray[np.int64]

_HALF, _LOW = 32, 0xFFFFFFFF  # bits of half a word
_SHORT_ROWS = 2**19  # rows below which no packed sum, of at most 4,095 a row, is beyond 31 bits


class Seeker(Protocol):
    """What finds the splits of a growing tree's nodes; the same with every member."""

    def begin(self, shards: Shards, columns: Int64s) -> None:
        """A new tree, which may be split by ``columns``; its rows are in the root."""

    def count(self, search: Search, nodes: Int64s, others: Int64s) -> None:
        """Bring the histograms of some nodes to their slots; ``others``: as of `store_histograms`."""

    def settle(self, search: Search) -> None:
        """The root is counted: its sums, and its value."""

    def find(self, search: Search, wanted: Int64s) -> None:
        """Find the best splits of nodes that were counted: their candidates."""

    def find_level(self, search: Search, first: int, last: int) -> bool:
        """Find the common split of the nodes first..last; False when none pays."""


class DataSeeker:
    """All histograms are added up, and everybody searches all of them."""

    def __init__(self, tasks: int) -> None:
        self._tasks = tasks

    def begin(self, shards: Shards, columns: Int64s) -> None:
        """See `Seeker`."""
        self._shards, self._columns = shards, columns

    def count(self, search: Search, nodes: Int64s, others: Int64s) -> None:
        """See `Seeker`."""
        own = self._shards.add_up_own(lambda shard: shard.histograms(nodes))
        n_rows = int((search.nodes.end[nodes] - search.nodes.begin[nodes]).max())
        is_small = search.gradients.packed and n_rows < _SHORT_ROWS
        sums = add_shortened(self._shards.team, own) if is_small else self._shards.team.add(own)
        store_histograms(search, sums, nodes, others, self._tasks)

    def settle(self, search: Search) -> None:
        """See `Seeker`."""
        settle_sums(search, self._columns)

    def find(self, search: Search, wanted: Int64s) -> None:
        """See `Seeker`."""
        search_nodes(search, self._columns, wanted, self._tasks)

    def find_level(self, search: Search, first: int, last: int) -> bool:
        """See `Seeker`."""
        return bool(search_level(search, self._columns, first, last, self._tasks))


def add_shortened(team: Team, sums: Int64s) -> Int64s:
    """`Team.add` of sums by cell, (nodes, 3, cells), none beyond 31 bits: as three halves of words in place of three words.

    Gradients may be below nought. The sum of words that hold two numbers holds the sums of both.
    """
    cells = sums.shape[2]
    if team.size == 1 or cells % 2:
        return team.add(sums)
    words = np.empty((len(sums), cells + cells // 2), np.int64)
    both, counts = words[:, :cells], words[:, cells:]
    np.left_shift(sums[:, 0], _HALF, out=both)
    both += sums[:, 1]
    np.left_shift(sums[:, 2, ::2], _HALF, out=counts)
    counts += sums[:, 2, 1::2]
    words = team.add(words)
    both, counts = words[:, :cells], words[:, cells:]
    sums[:, 0], sums[:, 1] = both >> _HALF, both & _LOW
    sums[:, 2, ::2], sums[:, 2, 1::2] = counts >> _HALF, counts & _LOW
    return sums


class FeatureSeeker(DataSeeker):
    """Everybody counts and searches a share of the columns, and tells the best split of each node.

    Which split is best is decided by what the whole search compares, and of equals the lowest column is taken, as there.
    """

    def __init__(self, team: Team, tasks: int) -> None:
        super().__init__(tasks)
        self._team = team

    def begin(self, shards: Shards, columns: Int64s) -> None:
        """See `Seeker`."""
        self._all = columns
        own = np.array_split(columns, self._team.size)[self._team.rank]
        counted = own if len(own) else columns[:1]  # the root's sums are those of some column
        super().begin(shards, counted)
        for shard in shards.own:
            if not isinstance(shard, RowShard):
                raise NotSupportedError(
                    "parallel='feature' is for rows in memory; use parallel='data' with other devices."
                )
            shard.count_only(counted)
        self._own = np.zeros(int(columns.max()) + 1, np.bool_)
        self._own[own] = True

    def find(self, search: Search, wanted: Int64s) -> None:
        """See `Seeker`."""
        nodes, scores = search.nodes, np.empty(len(wanted), np.float64)
        search_share(search, self._all, self._own, wanted, self._tasks, scores)
        found = self._team.gather((scores, nodes.candidate[wanted], nodes.candidate_gain[wanted]))
        by_member = np.array([scores for scores, _, _ in found])
        columns = np.array([candidates[:, FEATURE] for _, candidates, _ in found])
        for place, node in enumerate(wanted.tolist()):
            best = _best_of(by_member[:, place], columns[:, place])
            _, candidates, gains = found[best]
            nodes.candidate[node] = candidates[place]
            pays = by_member[best, place] > NO_GAIN and gains[place] >= search.rules.min_gain
            nodes.candidate_gain[node] = gains[place] if pays else NO_GAIN

    def find_level(self, search: Search, first: int, last: int) -> bool:
        """See `Seeker`."""
        nodes, level = search.nodes, slice(first, last)
        score = search_level_share(search, self._all, self._own, first, last, self._tasks)
        found = self._team.gather((score, nodes.candidate[level], nodes.candidate_gain[level]))
        scores = np.array([score for score, _, _ in found])
        if scores.max() == NO_GAIN:
            return False
        columns = np.array([candidates[0, FEATURE] for _, candidates, _ in found])
        _, nodes.candidate[level], nodes.candidate_gain[level] = found[_best_of(scores, columns)]
        return True


def _best_of(scores: NDArray[np.float64], columns: NDArray[Any]) -> int:
    """The member with the highest score, of equals the one with the lowest column."""
    equal = np.flatnonzero(scores == scores.max())
    return int(equal[np.argmin(columns[equal])])


def make_seeker(bins: ShardedBins, growth: str, tasks: int) -> Seeker:
    """The way that a table's team shares the work."""
    sharing = bins.sharing
    if sharing.mode == "data":
        return DataSeeker(tasks)
    if sharing.mode == "feature":
        return FeatureSeeker(sharing.searchers, tasks)
    if growth == "oblivious":
        raise NotSupportedError(
            "parallel='voting' elects columns node by node, and growth='oblivious' splits whole levels; use parallel='data'."
        )
    return VotingSeeker(bins.team, sharing.top_k, tasks)
