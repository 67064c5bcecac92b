"""From a plan and tables to a session: bins, statistics, the scores that rows start from, and the booster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning import (
    AnyBins,
    BinMapper,
    BinnedTable,
    DenseBins,
    RankMapper,
    bins_of,
    dense_bins,
    ranks_of,
)
from weald.binning.proposals import with_buckets
from weald.binning.sharded import ShardedBins
from weald.binning.sharded_table import ShardedTable
from weald.data import Dataset
from weald.encoding.model import ModelStatistics
from weald.encoding.orders import random_orders, set_aside
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices, raw_scores, trees_alone
from weald.forest.predictor import Predictor
from weald.linear.columns import read_columns
from weald.linear.model import LinearModel
from weald.losses import Metric
from weald.runtime.errors import NotSupportedError
from weald.runtime.row_memory import IN_MEMORY
from weald.runtime.team import RowShare, labels_of_team
from weald.runtime.threads import hire
from weald.training.boosting.averaging import AveragedRows, AveragingBooster
from weald.training.boosting.boosters import Booster, PlainBooster
from weald.training.boosting.dart import DartBooster, DartRows
from weald.training.boosting.linear import LinearLearner, LinearRows, OffsetColumns
from weald.training.boosting.ordered import OrderedBooster
from weald.training.boosting.plan import BinPlan, LinearPlan, Plan
from weald.training.boosting.rounds import Evaluation
from weald.training.boosting.session import Interruption, Session
from weald.training.boosting.starts import origin_of, scores_in_memory, scores_so_far
from weald.training.boosting.statistics import (
    ExtendedBlocks,
    StatisticTraining,
    make_statistics,
    targets_of,
)
from weald.training.boosting.trees import TrainingRows, TreeLearner

Floats = NDArray[np.float64]


#: What training reads: floats, or bins that were made before, here or in blocks elsewhere.
AnyTable = Dataset | BinnedTable | ShardedTable


class FloatBlocks(Protocol):
    """Rows as trees read them."""

    @property
    def n_rows(self) -> int:
        """How many rows are here."""

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """Pairs of the first row and floats, (rows, columns)."""


@dataclass(frozen=True)
class Rows:
    """Rows of a table with their labels: those to train on, or an evaluation set."""

    table: Dataset | BinnedTable | ShardedTable
    y: Floats
    weight: Floats | None = None
    init_score: Floats | None = None  # (outputs, rows); None: where the model starts
    n_classes: int = 0  # that labels are codes of; 0: they are numbers
    name: str = ""
    metrics: Sequence[Metric] = ()
    history: dict[str, list[float]] = field(default_factory=dict)  # of the rounds that are there

    @property
    def kept(self) -> NDArray[np.int64] | None:
        """Rows that have a weight, None for all: the others are as if they were not there."""
        if self.weight is None or (self.weight > 0).all():
            return None
        return np.flatnonzero(self.weight > 0)


@dataclass(frozen=True)
class Start:
    """The model that training goes on from, which may have no rounds yet."""

    model: Predictor
    statistics: ModelStatistics | None = None
    interruption: Interruption | None = None  # of a session that is to go on as if there had been none

    def table_of(self, table: AnyTable) -> FloatBlocks:
        """A table with the columns that the model reads."""
        if self.statistics is None:
            return table
        if isinstance(table, ShardedTable):
            return ExtendedBlocks(self.statistics, table)
        return self.statistics.extend(table if isinstance(table, Dataset) else table.dataset)


def open_session(plan: Plan, train: Rows, sets: Sequence[Rows], start: Start) -> Session:
    """A session at the first round that ``start`` does not have."""
    tasks = hire(plan.n_jobs)
    if isinstance(plan.kind, LinearPlan):
        return _open_linear(plan, train, sets, start, tasks)
    return _Trees(plan, train, sets, start, tasks).open()


class _Trees:
    """The tables of a training of trees, on the way to a session."""

    def __init__(self, plan: Plan, train: Rows, sets: Sequence[Rows], start: Start, tasks: int) -> None:
        assert isinstance(start.model, Forest)
        self._plan, self._train, self._sets, self._tasks = plan, train, sets, tasks
        self._start, self._forest = start, start.model
        self._kept = train.kept
        is_dense = plan.trees.statistics is not None or plan.device is not None
        self._bins = (
            train.table.bins
            if isinstance(train.table, ShardedTable)
            else bin_table(plan.trees.bins, train.table, train.weight, plan.seed, tasks, is_dense)
        )
        if isinstance(self._bins, ShardedBins) and self._bins.team.size > 1:
            # All members of a team leave rows out, or none does: they count together what is left.
            leave_out = self._bins.team.add(np.array([self._kept is not None], np.int64))[0] > 0
            if leave_out and self._kept is None:
                self._kept = np.arange(self._bins.n_rows)

    def open(self) -> Session:
        """The session."""
        plan = self._plan
        rows, statistics, orders = self._rows()
        evaluations = [self._evaluation(one, statistics) for one in self._sets]
        scores = self._of_kept(self._scores(self._train))
        booster = self._booster(statistics, orders)
        interruption = self._start.interruption
        trees = self._forest if interruption is None else interruption.trees
        learner = TreeLearner(plan, rows, trees, scores, evaluations, booster, self._tasks)
        if interruption is not None:
            learner.resume(interruption.state)
        return Session(plan, learner, evaluations, statistics or self._earlier)

    @property
    def _mapper(self) -> BinMapper | RankMapper:
        mapper = self._bins.mapper
        assert isinstance(mapper, BinMapper | RankMapper)
        return mapper

    @property
    def _earlier(self) -> ModelStatistics | None:
        """The statistics of trees that the session did not make itself."""
        interruption = self._start.interruption
        return self._start.statistics if interruption is None else interruption.earlier

    def _rows(self) -> tuple[TrainingRows, StatisticTraining | None, list[NDArray[np.uint32]]]:
        """Rows with a weight; where columns are split by statistics or gradients depend on an order, these too."""
        plan, trees, train, source = self._plan, self._plan.trees, self._train, None
        counting = slice(None) if self._kept is None else self._kept
        if trees.statistics is not None and trees.statistics.kind == "holdout":
            self._kept, source = self._set_aside()
        kept = self._kept
        if kept is None:
            taken = TrainingRows(self._bins, train.y, train.weight)
        else:
            weight = None if train.weight is None else train.weight[kept]
            taken = TrainingRows(self._bins.take(kept), train.y[kept], weight)
        if not trees.takes_turns:
            return taken, None, []
        # That of the model, and those that take turns.
        orders = random_orders(1 + trees.permutations, taken.share.n_total, plan.seed)
        if trees.statistics is None:
            return taken, None, orders
        assert isinstance(taken.bins, DenseBins | ShardedBins)
        borders, team = trees.statistics.target_borders, self._share.team
        targets = targets_of(
            train.y,
            plan.loss,
            train.n_classes,
            borders,
            lambda: labels_of_team(team, train.y[counting], None)[0],
        )
        statistics = make_statistics(
            trees.statistics, train.table, taken.bins, targets, orders, kept, source, self._earlier
        )
        return replace(taken, bins=statistics.tables), statistics, orders

    def _set_aside(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of the rows here are trained on, and which give statistics: drawn by their numbers among all that count."""
        rows = np.arange(self._train.table.n_rows) if self._kept is None else self._kept
        counts = self._share.team.gather(len(rows))
        first, n_all = sum(counts[: self._share.team.rank]), sum(counts)
        own, others = set_aside(n_all, (n_all + 1) // 2, self._plan.seed)
        own, others = (one[(one >= first) & (one < first + len(rows))] - first for one in (own, others))
        return rows[own], rows[others]

    @property
    def _share(self) -> RowShare:
        """Which rows of the whole table are here."""
        return self._bins.share if isinstance(self._bins, ShardedBins) else RowShare.whole(self._bins.n_rows)

    def _evaluation(self, one: Rows, statistics: StatisticTraining | None) -> Evaluation[AnyBins]:
        bins: Any
        if isinstance(one.table, ShardedTable):
            bins = one.table.bins
        else:
            assert isinstance(one.table, Dataset)
            bins = self._mapper.transform(one.table, self._tasks)
            if self._plan.device is not None and statistics is None:
                bins = dense_bins(bins)
        if statistics is not None:
            bins = statistics.other(one.table, bins)
        scores, team = self._scores(one), self._share.team
        return Evaluation(one.name, bins, one.y, one.weight, one.metrics, scores, one.history, team)

    def _scores(self, one: Rows) -> Floats:
        """Of the trees that are there, on top of where the rows start."""
        table = self._start.table_of(one.table)
        if isinstance(one.table, ShardedTable) and one.init_score is None:
            memory = one.table.bins.memory
            return scores_in_memory(self._forest, table.blocks(), table.n_rows, self._tasks, memory)
        return scores_so_far(self._forest, table.blocks(), table.n_rows, self._tasks, one.init_score)

    def _of_kept(self, values: Floats) -> Floats:
        """Of all rows, (outputs, rows) or (outputs, 1) where it is the same for all, those of the rows to train on."""
        if self._kept is None or values.shape[1] == 1:
            return values
        return np.ascontiguousarray(values[:, self._kept])

    def _booster(self, statistics: StatisticTraining | None, orders: list[NDArray[np.uint32]]) -> Booster:
        plan, trees = self._plan, self._plan.trees
        everybody = [self._train, *self._sets]
        if trees.drops is not None:
            return DartBooster(trees.drops, plan.seed, [self._dart_rows(one) for one in everybody])
        if trees.averaged:
            return AveragingBooster([self._averaged_rows(one) for one in everybody])
        if not trees.takes_turns:
            return PlainBooster()
        assert trees.leaves.steps is not None
        search, tables = None, None
        if statistics is not None and trees.statistics is not None:
            search, tables = statistics.search(trees.statistics.max_combination, plan.seed), statistics.tables
        return OrderedBooster(plan.seed, orders, trees.leaves.steps, trees.prefix_growth, tables, search)

    def _dart_rows(self, one: Rows) -> DartRows:
        table, trains = self._start.table_of(one.table), one is self._train
        origin = origin_of(self._forest, one.init_score)

        def nodes_of(trees: Forest) -> NDArray[np.int32]:
            nodes = leaf_indices(trees, table.blocks(), table.n_rows, self._tasks)
            return nodes[self._kept] if trains and self._kept is not None else nodes

        return DartRows(self._of_kept(origin) if trains else origin, nodes_of)

    def _averaged_rows(self, one: Rows) -> AveragedRows:
        table, trains = self._start.table_of(one.table), one is self._train
        origin = origin_of(self._forest, one.init_score)
        memory = one.table.bins.memory if isinstance(one.table, ShardedTable) else IN_MEMORY
        sums: Floats = memory.zeros((self._forest.n_outputs, table.n_rows), np.float64)
        if self._forest.n_trees:
            sums[...] = raw_scores(trees_alone(self._forest), table.blocks(), table.n_rows, self._tasks)
        return (
            AveragedRows(self._of_kept(origin), self._of_kept(sums)) if trains else AveragedRows(origin, sums)
        )


def bin_table(
    plan: BinPlan,
    table: Dataset | BinnedTable,
    weight: Floats | None,
    seed: int,
    tasks: int,
    dense: bool = False,
) -> AnyBins:
    """The kind of binned table that the split finder works on; ``dense``: with a bin a cell, also where shared bins are not."""
    if plan.finder == "hist":
        bins = bins_of(table, weight, plan.choices, seed, tasks, None if dense else plan.bundling)
        return dense_bins(bins) if dense else bins
    ranks = ranks_of(table, weight, tasks)
    return ranks if plan.finder == "exact" else with_buckets(ranks, plan.buckets, plan.most_bins, plan.local)


def _open_linear(plan: Plan, train: Rows, sets: Sequence[Rows], start: Start, tasks: int) -> Session:
    assert isinstance(start.model, LinearModel)
    table, kept = train.table, train.kept
    if not isinstance(table, Dataset):
        raise NotSupportedError("booster='linear' needs the values of X and not their bins; pass X itself.")
    rows = LinearRows(OffsetColumns(read_columns(table), train.init_score), train.y, train.weight)
    if kept is not None:
        assert train.weight is not None
        offset = None if train.init_score is None else np.ascontiguousarray(train.init_score[:, kept])
        columns = OffsetColumns(read_columns(table, kept), offset)
        rows = LinearRows(columns, train.y[kept], train.weight[kept])
    evaluations = [_linear_evaluation(start.model, one, tasks) for one in sets]
    return Session(plan, LinearLearner(plan, rows, start.model, evaluations, tasks), evaluations)


def _linear_evaluation(model: LinearModel, one: Rows, tasks: int) -> Evaluation[OffsetColumns]:
    """Every round gives the set its scores anew."""
    assert isinstance(one.table, Dataset)
    columns = OffsetColumns(read_columns(one.table), one.init_score)
    scores = np.empty((model.n_outputs, one.table.n_rows))
    columns.score(model, tasks, scores)
    return Evaluation(one.name, columns, one.y, one.weight, one.metrics, scores, one.history)
