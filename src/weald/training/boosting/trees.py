"""The trees of a round: which rows and columns they see, what they are fitted to, and who adds them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import AnyBins, DenseBins
from weald.binning.sharded import ShardedBins
from weald.binning.statistics import StatisticBins
from weald.devices.grower import device_grower
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.runtime.random import NODE_COLUMNS, ROUNDING, TREE_COLUMNS, stream_key
from weald.runtime.row_memory import IN_MEMORY, RowMemory
from weald.runtime.team import RowShare
from weald.sampling import draw_columns
from weald.training.boosting.boosters import Booster, Making
from weald.training.boosting.descent import Descent, Newton, Position
from weald.training.boosting.leaf_steps import leaf_descent, weight_of_rows
from weald.training.boosting.plan import LeafPlan, Plan
from weald.training.boosting.rounds import Evaluation
from weald.tree.growers import AnyGrower, make_grower
from weald.tree.grown import GrownTree
from weald.tree.splits.noise import fading

Float64s = NDArray[np.float64]

_REFITTED_BYTES = 40  # of every row, while a leaf's own rows are sorted


@dataclass(frozen=True)
class TrainingRows:
    """Binned rows with their labels and weights."""

    bins: AnyBins | StatisticBins | ShardedBins
    y: Float64s
    weight: Float64s | None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def share(self) -> RowShare:
        """Which rows of the whole table these are."""
        bins = self._table
        return bins.share if isinstance(bins, ShardedBins) else RowShare.whole(self.n_rows)

    @property
    def memory(self) -> RowMemory:
        """Where numbers that every row has are kept."""
        bins = self._table
        return bins.memory if isinstance(bins, ShardedBins) else IN_MEMORY

    @property
    def _table(self) -> AnyBins | ShardedBins:
        return self.bins.tables[0] if isinstance(self.bins, StatisticBins) else self.bins


class TreeLearner:
    """Grows the trees of a round, one an output and parallel tree, and hands them to the booster.

    ``start``: the trees that are there, or none; ``scores``: of the training rows with them, (outputs, rows). ``descent``: what
    trees are fitted to and how far their leaves go, where the plan does not say it.
    """

    def __init__(
        self,
        plan: Plan,
        train: TrainingRows,
        start: Forest,
        scores: Float64s,
        evaluations: Sequence[Evaluation[AnyBins]],
        booster: Booster,
        tasks: int,
        descent: Descent | None = None,
    ) -> None:
        self._booster = booster
        self._own_descent = descent
        self._tasks = self._most_tasks = tasks
        self._n_empty = 0
        self._train = train
        self.at = Position.of(train, plan.loss, scores, train.share, train.memory)
        self._plan = plan
        if plan.loss.refits_leaves:
            size = _REFITTED_BYTES * self.at.share.n_total
            what = f"sorting rows for the leaves of loss={plan.loss.name!r}"
            self.at.memory.check_room(size, what, "a loss whose leaves are Newton's steps")
        self._sampler = plan.sampler(train.y)
        self._making = Making(
            ForestBuilder.continuing(start), self.at, evaluations, self._grower(), self._descent()
        )
        self.use(tasks)
        booster.begin(self._making)

    def _grower(self) -> AnyGrower:
        trees, bins = self._plan.trees, self._train.bins
        rules, signs = trees.rules, trees.rules.constraints.signs
        if signs and isinstance(bins, StatisticBins):
            moved = replace(rules.constraints, signs=bins.signs_of_columns(signs))
            rules = replace(rules, constraints=moved)
        device = self._plan.device
        if device is not None:
            table = bins.tables[0] if isinstance(bins, StatisticBins) else bins
            assert isinstance(table, DenseBins | ShardedBins)  # as the opening makes them
            return device_grower(device, table, rules, trees.bins.precision, self._most_tasks)
        return make_grower(bins, rules, trees.bins.precision, self._most_tasks)

    def _descent(self) -> Descent:
        return self._own_descent or descent_of(self._plan.trees.leaves)

    @cached_property
    def _weight(self) -> NDArray[np.float32]:
        """The rows' weights, for splits that are chosen by them in place of hessians."""
        return weight_of_rows(self._train.weight, self._train.n_rows)

    def change(self, plan: Plan) -> None:
        """Follow another plan from the next round on; it must be for the same bins and the same booster."""
        self.settle()
        before, self._plan = self._plan.trees, plan
        self.at.loss = plan.loss
        self._sampler = plan.sampler(self._train.y)
        if (before.rules, before.bins.precision) != (plan.trees.rules, plan.trees.bins.precision):
            self._making.grower = self._grower()
        self._making.descent = self._descent()
        self._booster.change(plan)
        self.use(self._tasks)

    def use(self, tasks: int) -> None:
        """Share kernels among so many tasks, at most those that there is memory for."""
        self._tasks = min(tasks, self._most_tasks)
        self._making.grower.use(self._tasks)
        self.at.use(self._tasks)

    @property
    def n_rounds(self) -> int:
        """How many rounds of trees there are."""
        return self._making.builder.n_rounds

    def begin_round(self, number: int) -> None:
        """Bring the training scores to where the round's gradients are to be taken."""
        self._booster.begin_round(number)

    def learn(self, number: int, learning_rate: float) -> NDArray[np.uint32]:
        """Grow and add the round's trees."""
        at, plan, trees = self.at, self._plan, self._plan.trees
        number += self._n_empty  # what a round that came to nothing has drawn is not drawn again
        waiting: list[GrownTree] | None = None if trees.keeps_empty_rounds or not self.n_rounds else []
        grower, descent = self._making.grower, self._making.descent
        weight = self._weight if trees.rules.counts_rows else None
        n_outputs = plan.loss.n_outputs
        column_weights = None if trees.column_weights is None else np.array(trees.column_weights)
        share = learning_rate / trees.parallel_trees
        noise = trees.noise
        if noise > 0.0:
            noise *= fading(at.share.n_total, number, plan.rate)
        for place in range(n_outputs * trees.parallel_trees):
            output, key = place % n_outputs, stream_key(plan.seed, number, place)
            if output == 0:
                sample = self._sampler.draw(number, place, at.gradient, at.hessian, self._tasks, at.share)
                seen = replace(at, gradient=sample.gradient, hessian=sample.hessian)
            columns = draw_columns(
                grower.columns, trees.column_share, stream_key(key, TREE_COLUMNS), column_weights
            )
            hessian = descent.hessian_of_tree(seen, output)
            tree = grower.grow(
                sample.gradient[output],
                hessian if weight is None else sample.weigh(weight),
                sample.rows,
                columns,
                stream_key(key, ROUNDING),
                stream_key(key, NODE_COLUMNS),
                noise,
            )
            if weight is not None:
                tree.use_hessian(hessian)
            if waiting is not None and tree.n_leaves == 1:
                waiting.append(tree)
                continue
            self._add_constants(waiting)
            self._booster.add(tree, share, output)
        if waiting is not None and len(waiting) == n_outputs:
            self._n_empty += 1
            return sample.rows
        self._add_constants(waiting)
        self._booster.end_round(learning_rate)
        return sample.rows

    def _add_constants(self, waiting: list[GrownTree] | None) -> None:
        """Add trees that found no split, and move nothing, before the next tree of their round that did."""
        for tree in waiting or ():
            self._making.builder.append(**tree.for_forest(np.zeros(1), 1.0))
        if waiting:
            waiting.clear()

    def settle(self) -> None:
        """Bring the training scores to where the last round has left the model."""
        self._booster.settle()

    def state(self) -> dict[str, Any]:
        """What the booster knows beside the trees."""
        return self._booster.state()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a booster's `state`."""
        self._booster.resume(state)

    def model(self) -> Forest:
        """The trees as they are now."""
        return self._making.builder.build()


def descent_of(leaves: LeafPlan) -> Descent:
    """The way down the loss."""
    if leaves.steps is None:
        return Newton(leaves.from_optimum, leaves.whole_leaves)
    return leaf_descent(leaves.steps, leaves.from_optimum)
