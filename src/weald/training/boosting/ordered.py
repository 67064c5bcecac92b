"""Boosting that takes turns between random orders of the rows: for ordered target statistics, and ordered boosting.

A row's statistics, and in ordered boosting its gradient too, come only from rows before it in an order sigma, so that its
own label has no part in them (Prokhorenkova and others 2018). Every round draws one of the orders sigma_1 … sigma_s for the
structure of its trees. All orders then take the step, each with leaf values of its own, and the model gets those of sigma_0.
Statistics and gradients share the order: a label that were known to one of them would be known to the other.

Ordered boosting in its practical form: an order keeps models for prefixes of n / c, n / c^2, … rows. Each follows the
trees with leaf values from the rows of its own prefix, and is known for the rows up to the next longer prefix. The gradient of
a row comes from the longest prefix that it is not in; so it is that of a model which has not seen the row. The rows of the
shortest prefix, which no model is without, keep the gradient of the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning.statistics import StatisticBins
from weald.runtime.errors import InputError
from weald.runtime.random import ORDERS, stream_key
from weald.runtime.team import RowShare, Team
from weald.training.boosting.leaf_steps import LeafProblem, LeafSteps, estimate_leaves
from weald.training.boosting.statistics import CombinationSearch
from weald.tree.grown import Grower, GrownTree
from weald.tree.rows.leaf import LeafNumbers, add_leaf_values

if TYPE_CHECKING:
    from weald.training.boosting.boosters import Making
    from weald.training.boosting.descent import Position
    from weald.training.boosting.plan import Plan

Float64s = NDArray[np.float64]
Rows = NDArray[np.uint32]

SHORTEST_PREFIX = 32  # rows


class Follower(Protocol):
    """The scores of the training rows as one order sees them."""

    #: how far leaves go
    steps: LeafSteps

    def show(self, scores: Float64s) -> None:
        """Write the scores, (outputs, rows), that the structure of a round's trees is found from."""

    def step(self, tree: GrownTree, leaf_of_row: LeafNumbers, output: int, share: float) -> object:
        """Take a tree's step, to be seen after the round."""

    def finish(self) -> None:
        """Let the steps of the round be seen."""

    def arrays(self) -> list[_Scores]:
        """All scores that it keeps, in memory that may be written to."""


@dataclass(frozen=True)
class _Scores:
    """Scores of rows here, (outputs, rows), and their places among those of the whole team, so many in all."""

    values: Float64s
    places: NDArray[np.int64]
    n_all: int

    def of_all(self, team: Team) -> Float64s:
        """Those of the whole team, in order."""
        whole = np.empty((len(self.values), self.n_all))
        for values, places in team.gather((self.values, self.places)):
            whole[:, places] = values
        return whole


class _Steps:
    """The steps of a round, which the gradients of its other outputs must not see."""

    def __init__(self, at: Position) -> None:
        self._at = at
        self._waiting: list[tuple[Float64s, LeafNumbers, Float64s]] = []

    def add(self, score: Float64s, leaf_of_row: LeafNumbers, values: Float64s) -> None:
        self._waiting.append((score, leaf_of_row, values))

    def take(self) -> None:
        for score, leaf_of_row, values in self._waiting:
            add_leaf_values(leaf_of_row, values, self._at.tasks, score)
        self._waiting.clear()


class AllRows:
    """One model of all rows: plain boosting on the statistics of an order."""

    def __init__(self, at: Position, steps: LeafSteps) -> None:
        self._at = at
        self.steps = steps
        self._waiting = _Steps(at)
        self.scores: Float64s = at.memory.zeros(at.scores.shape, np.float64)
        self.scores[...] = at.scores

    def show(self, scores: Float64s) -> None:
        """The model's own."""
        scores[...] = self.scores

    def step(self, tree: GrownTree, leaf_of_row: LeafNumbers, output: int, share: float) -> Float64s:
        """The best values for all rows, as numbers that float32 holds: files of such models are smaller by half."""
        at = self._at
        problem = LeafProblem(
            at.loss,
            self.scores,
            at.train.y,
            at.train.weight,
            output,
            leaf_of_row,
            tree.n_leaves,
            at.tasks,
            at.share,
        )
        values = estimate_leaves(problem, self.steps, bound=tree.bound) * share
        values = values.astype(np.float32).astype(np.float64)
        self._waiting.add(self.scores[output], leaf_of_row, values)
        return values

    def finish(self) -> None:
        """The round is over."""
        self._waiting.take()

    def arrays(self) -> list[_Scores]:
        """The scores of the model."""
        first, n_all, _ = self._at.share
        return [_Scores(self.scores, np.arange(first, first + self.scores.shape[1]), n_all)]


class Prefixes:
    """A model for every prefix of an order, each known up to the end of the next longer one.

    A member of a team has the rows of each that are here, in the order.
    """

    def __init__(self, at: Position, steps: LeafSteps, order: Rows, growth: float) -> None:
        self._at = at
        self.steps = steps
        first, n_all, _ = at.share
        self._places = np.flatnonzero((order >= first) & (order < first + at.train.n_rows))
        self._order = order = order[self._places] - np.uint32(first)
        self._y = at.train.y[order]
        self._weight = None if at.train.weight is None else at.train.weight[order]
        self._lengths = prefix_ends(n_all, growth)
        self._ends = np.searchsorted(self._places, self._lengths).tolist()  # of the rows here
        self._waiting = _Steps(at)
        ordered = at.scores[:, order]
        self._start = ordered[:, : self._ends[0]].copy()
        self._scores = [ordered[:, :known].copy() for known in self._ends[1:]]

    def show(self, scores: Float64s) -> None:
        """Every row's score by the longest prefix that it is not in; of the rows of the shortest, where they started."""
        begin = self._ends[0]
        scores[:, self._order[:begin]] = self._start
        for end, own in zip(self._ends[1:], self._scores, strict=True):
            scores[:, self._order[begin:end]] = own[:, begin:]
            begin = end

    def step(self, tree: GrownTree, leaf_of_row: LeafNumbers, output: int, share: float) -> None:
        """A step for every prefix, with values from its own rows."""
        at, ordered = self._at, leaf_of_row[self._order]
        for prefix, length, own in zip(self._ends, self._lengths, self._scores, strict=False):
            weight = None if self._weight is None else self._weight[:prefix]
            problem = LeafProblem(
                at.loss,
                own[:, :prefix],
                self._y[:prefix],
                weight,
                output,
                ordered[:prefix],
                tree.n_leaves,
                at.tasks,
                RowShare(0, length, at.share.team),
                self._places[:prefix],
            )
            values = estimate_leaves(problem, self.steps, bound=tree.bound) * share
            self._waiting.add(own[output], ordered[: own.shape[1]], values)

    def finish(self) -> None:
        """The round is over."""
        self._waiting.take()

    def arrays(self) -> list[_Scores]:
        """Where the rows of the shortest prefix started, and the scores of every model."""
        known = zip([self._start, *self._scores], self._ends, self._lengths, strict=True)
        return [_Scores(values, self._places[:end], length) for values, end, length in known]


def prefix_ends(n_rows: int, growth: float) -> list[int]:
    """The lengths of the prefixes, ascending, and then the number of rows, which is no prefix.

    >>> prefix_ends(1000, 2.0)
    [62, 125, 250, 500, 1000]
    >>> prefix_ends(10, 2.0)
    [5, 10]
    """
    ends = [n_rows]
    while len(ends) < 2 or ends[-1] / growth >= SHORTEST_PREFIX:
        shorter = int(ends[-1] / growth)
        if shorter < 1:
            return ends * 2 if len(ends) == 1 else ends[::-1]
        ends.append(shorter)
    return ends[::-1]


class OrderedBooster:
    """A booster that takes turns between orders.

    ``tables``: the training table in every order, None where no column is a statistic, so that all orders see the same.
    ``orders``: row numbers, one for every order; the first is that of the model. ``growth``: how much longer each next prefix
    is; None: plain boosting.
    """

    def __init__(
        self,
        seed: int,
        orders: Sequence[Rows],
        steps: LeafSteps,
        growth: float | None,
        tables: StatisticBins | None,
        search: CombinationSearch | None,
    ) -> None:
        self._seed = seed
        self._orders = orders
        self._steps = steps
        self._growth = growth
        self._tables = tables
        self._search = search

    def begin(self, making: Making) -> None:
        """Every order starts where the training rows do."""
        self._making, at = making, making.at
        if self._growth is not None:
            a_row = (len(self._orders) - 1) * (24 * len(at.scores) + 36)
            at.memory.check_room(a_row * at.train.n_rows, "ordered boosting", "booster='plain'")
        self._model = AllRows(at, self._steps)
        self._followers: list[Follower] = [self._model]
        for order in self._orders[1:]:
            follower: Follower = AllRows(at, self._steps)
            if self._growth is not None:
                follower = Prefixes(at, self._steps, order, self._growth)
            self._followers.append(follower)
        self._drawn = 0

    def change(self, plan: Plan) -> None:
        """Leaves go as far as the plan says; the orders and their prefixes stay."""
        assert plan.trees.leaves.steps is not None
        for follower in self._followers:
            follower.steps = plan.trees.leaves.steps

    def begin_round(self, number: int) -> None:
        """Draw the order that the trees are grown in."""
        if self._search is not None:
            self._search.renew(number)
        turns = len(self._orders) - 1
        self._drawn = 1 + stream_key(self._seed, number, ORDERS) % turns if turns else 0
        self._followers[self._drawn].show(self._making.at.scores)
        if self._tables is not None:
            columns = self._tables.columns if self._search is None else self._search.columns(number)
            grower = self._making.grower
            assert isinstance(grower, Grower)
            grower.turn(self._tables.tables[self._drawn], columns)

    def add(self, tree: GrownTree, share: float, output: int) -> None:
        """Every order takes its own step along the tree."""
        values = self._model.step(tree, self._leaves(tree, 0), output, share)
        for number, follower in enumerate(self._followers[1:], 1):
            follower.step(tree, self._leaves(tree, number), output, share)
        for evaluation in self._making.evaluations:
            tree.add_to_binned(evaluation.bins, evaluation.scores[output], values)
        nodes = tree.for_forest(values, share)
        if self._tables is not None:
            if self._search is not None:
                self._search.saw(nodes["feature"])
            nodes["feature"] = np.append(self._tables.features, np.int32(-1))[nodes["feature"]]
            self._making.builder.n_features = max(
                self._making.builder.n_features, int(nodes["feature"].max()) + 1
            )
        self._making.builder.append(**nodes)

    def _leaves(self, tree: GrownTree, number: int) -> LeafNumbers:
        """The leaf of every row, as an order sees it."""
        if self._tables is None or number == self._drawn:
            return tree.leaf_of_all_rows().copy()  # the next tree of the round is grown in the same memory
        return tree.leaves_in(self._tables.tables[number])

    def end_round(self, learning_rate: float) -> None:
        """Show the next round what this one has added."""
        for follower in self._followers:
            follower.finish()

    def settle(self) -> None:
        """The training scores are those of the model's own order."""
        self._model.show(self._making.at.scores)

    def state(self) -> dict[str, Any]:
        """The scores of every order, what was put into slots, and what the search for combinations has seen."""
        state: dict[str, Any] = {
            f"{number}.{place}": scores.of_all(self._making.at.share.team)
            for number, follower in enumerate(self._followers)
            for place, scores in enumerate(follower.arrays())
        }
        if self._tables is not None:
            fills = self._tables.fills[self._tables.n_single :]
            state["fills"] = [[slot, list(projection)] for slot, projection in fills]
        if self._search is not None:
            state |= self._search.state()
        return state

    def resume(self, state: Mapping[str, Any]) -> None:
        """Put everything back in its place."""
        for number, follower in enumerate(self._followers):
            for place, scores in enumerate(follower.arrays()):
                kept = np.asarray(state.get(f"{number}.{place}", ()))
                if kept.size != len(scores.values) * scores.n_all:
                    raise InputError(
                        "resume_from needs the rows of the interrupted fit; there are not as many."
                    )
                scores.values[...] = kept.reshape(-1, scores.n_all)[:, scores.places]
        if self._tables is not None:
            for slot, projection in state["fills"]:
                self._tables.fill(int(slot), tuple(int(column) for column in projection))
        if self._search is not None:
            self._search.resume(state)
