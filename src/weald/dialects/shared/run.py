"""One training on behalf of another system's interface: a session, and what the interface adds to its rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded_table import ShardedTable, in_blocks, read_training_rows
from weald.data import Dataset, read_table, read_weights
from weald.data.targets import check_number_of_classes
from weald.dialects.shared.devices import AskedDevice
from weald.dialects.shared.team_rows import TeamRows
from weald.estimators.boosted.continuing import Earlier
from weald.estimators.boosted.evaluation_sets import same_bins
from weald.estimators.boosted.fitting import session_team, start_of
from weald.estimators.shared.labels import Labels, writeable
from weald.estimators.shared.persistence import FittedModel
from weald.losses import Loss, Metric
from weald.params.choice import same
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting import opening
from weald.training.boosting.door import Facts, plan_of
from weald.training.boosting.flat import from_flat
from weald.training.boosting.opening import open_session
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.plan import LinearPlan, Plan, TreePlan
from weald.training.boosting.rounds import Round
from weald.training.boosting.session import Session
from weald.training.boosting.starts import read_init_score

Float64s = NDArray[np.float64]
#: evaluation set -> (metric, value) of a round, in the order that they were asked for
Values = dict[str, list[tuple[Any, ...]]]
#: function(predictions, the place of the evaluation set) -> what users' own metrics gave, the name and the value first
OwnMetrics = Callable[[Float64s, int], list[tuple[Any, ...]]]

_OWNER = "train"


@dataclass(frozen=True)
class GivenRows:
    """The rows to train on, or an evaluation set."""

    table: Any
    label: Float64s
    weight: Float64s | None = None
    init_score: Float64s | None = None  # (rows, outputs)
    name: str = ""


@dataclass(frozen=True)
class Order:
    """What an interface asks for: native parameters by their flat names, a loss, rows, and metrics of the evaluation sets."""

    native: Mapping[str, Any]
    loss: Loss
    train: GivenRows
    evals: Sequence[GivenRows] = ()
    metrics: Sequence[Metric] = ()
    own_metrics: OwnMetrics | None = None
    base: Float64s | None = None  # first score of the model, where every row starts from a score of its own
    keeps_empty_rounds: bool = True  # rounds but the first in which no tree splits are rounds, too
    device: AskedDevice | None = None  # None: the CPU
    column_weights: Sequence[float] | None = None  # of the draw of a tree's columns; 0: never used

    @property
    def evaluates(self) -> bool:
        """Whether any metric is asked for."""
        return bool(self.metrics) or self.own_metrics is not None

    @property
    def parameters(self) -> BoostingParameters:
        """The native parameters."""
        device = "cpu" if self.device is None else self.device.native
        return BoostingParameters(
            **from_flat(self.native), column_weights=self.column_weights, device=device
        )


class Run:
    """A training in the making; ``earlier``: the model that it goes on from."""

    def __init__(self, order: Order, earlier: FittedModel | None = None) -> None:
        self._open(order, earlier)

    def _open(self, order: Order, earlier: FittedModel | None) -> None:
        given, loss = order.parameters, order.loss
        self._order = order
        if order.device is not None:
            order.device.announce()
        if earlier is not None and order.base is not None:
            earlier = _rebased(earlier, np.zeros_like(order.base))
        self._bins = given.resolved().bins
        table, labels = self._train_rows(order, earlier)
        self._schema, self._table = table.schema, table
        loss.check_target(labels.y)
        if loss.task == "classification":
            n_all = table.bins.n_total if isinstance(table, ShardedTable) else table.n_rows
            check_number_of_classes(loss.n_outputs, n_all, who="the objective has")
        init_score = read_init_score(order.train.init_score, table.n_rows, loss.n_outputs)
        train = opening.Rows(table, labels.y, labels.weight, init_score)
        self._n_rows = table.n_rows if train.kept is None else len(train.kept)
        if isinstance(table, ShardedTable):
            if train.kept is not None:
                raise NotSupportedError("a class of weight 0 leaves rows on disk out; leave them out of the rows instead.")
            self._n_rows = table.bins.n_total
        plan = self._plan(order)
        before = None
        if earlier is not None:
            given.n_estimators += earlier.predictor.n_rounds
            # Trees add up whatever they were grown for, so another loss may go on from them.
            before = Earlier(replace(earlier, loss=loss.name), "warm_start")
        start = start_of(given, plan, self._schema, labels, init_score, before, session_team(table))
        self._session = open_session(plan, train, self._sets(order), start)
        self._made: FittedModel | None = None

    def _train_rows(self, order: Order, earlier: FittedModel | None) -> tuple[opening.AnyTable, Labels]:
        """The rows to train on, read or binned, with labels and weights."""
        given, train = order.parameters, order.train
        if isinstance(train.table, TeamRows):
            binned = train.table.binned(given, _OWNER, train.label, train.weight)
            return binned, Labels(binned.labels, binned.weight, order.loss, None)
        table = read_training_rows(
            train.table, given._reading(), _OWNER, None if earlier is None else earlier.schema
        )
        weight = None if train.weight is None else read_weights(train.weight, table.n_rows)
        return table, Labels(train.label, weight, order.loss, None)

    def _plan(self, order: Order) -> Plan:
        facts = Facts(
            order.loss,
            self._n_rows,
            own_starts=order.train.init_score is not None,
            in_blocks=isinstance(self._table, ShardedTable),
        )
        plan = plan_of(order.parameters, self._schema, facts)
        if order.keeps_empty_rounds or isinstance(plan.kind, LinearPlan):
            return plan
        return replace(plan, kind=replace(plan.kind, keeps_empty_rounds=False))

    def _sets(self, order: Order) -> list[opening.Rows]:
        if not order.evaluates:
            return []
        sets = []
        for rows in order.evals:
            if isinstance(rows.table, TeamRows):
                assert isinstance(self._table, ShardedTable)
                binned = rows.table.binned(order.parameters, _OWNER, rows.label, rows.weight, self._table)
                labels, metrics = binned.labels, order.metrics
                sets.append(opening.Rows(binned, labels, binned.weight, name=rows.name, metrics=metrics))
                continue
            table = self._evaluated(rows)
            weight = read_weights(rows.weight, table.n_rows)
            start = read_init_score(rows.init_score, table.n_rows, order.loss.n_outputs)
            sets.append(
                opening.Rows(
                    table,
                    writeable(rows.label),
                    None if weight is None else writeable(weight),
                    start,
                    name=rows.name,
                    metrics=order.metrics,
                )
            )
        return sets

    def _evaluated(self, rows: GivenRows) -> Dataset | ShardedTable:
        """The table of an evaluation set."""
        stored = in_blocks(rows.table)
        if stored is None:
            bins = self._bins
            return read_table(
                rows.table, schema=self._schema, owner=_OWNER, unstored=bins.unstored, missing=bins.missing
            )
        own = self._table
        if not isinstance(own, ShardedTable) or not same_bins(stored.bins.mapper, own.bins.mapper):
            raise InputError(
                f"the rows of {rows.name!r} are on disk in other bins than those that are trained on; bin them alike."
            )
        return stored

    @property
    def n_rounds(self) -> int:
        """How many rounds the model has."""
        return self._session.n_rounds

    @property
    def session(self) -> Session:
        """The boosting loop."""
        return self._session

    def step(self, learning_rate: float | None = None) -> Round:
        """Train one round; ``learning_rate``: of this round alone, in place of the plan's."""
        session = self._session
        with session.lock:
            state = session.begin()
            if learning_rate is not None:
                state.learning_rate = learning_rate
            self._made = None
            return session.complete(state)

    def values(self) -> Values:
        """The metrics of all sets after the last round, those of the users' own functions as they were told."""
        found: Values = {}
        for place, evaluation in enumerate(self._session.evaluations):
            own: list[tuple[Any, ...]] = [(name, past[-1]) for name, past in evaluation.history.items()]
            if self._order.own_metrics is not None:
                own += self._order.own_metrics(self._order.loss.respond(evaluation.scores), place)
            found[evaluation.name] = own
        return found

    def follow(self, order: Order) -> None:
        """Go on with another order for the same rows: one round later it is as if training had gone on from the model so far."""
        order.loss.check_target(order.train.label)
        plan, before = self._plan(order), self._session.plan
        same_rows = (
            same(self._order.train.weight, order.train.weight) and self._order.evaluates == order.evaluates
        )
        if not same_rows or before.seed != plan.seed or not _same_tables(before.kind, plan.kind):
            self._open(order, self.model())
            return
        self._order, self._made = order, None
        for evaluation in self._session.evaluations:
            evaluation.metrics = order.metrics
            evaluation.history.clear()
        self._session.change(plan)

    def model(self) -> FittedModel:
        """The model as it is now."""
        if self._made is None:
            session, loss = self._session, self._order.loss
            predictor, statistics = session.finished(session.model())
            self._made = FittedModel(
                predictor,
                self._schema,
                loss.name,
                loss.link,
                None,
                {},
                predictor.n_rounds - 1,
                self._bins.unstored,
                self._bins.missing,
                session.plan.rate,
                statistics,
            )
            if self._order.base is not None:
                self._made = _rebased(self._made, self._order.base)
        return self._made


def _rebased(model: FittedModel, base: Float64s) -> FittedModel:
    """The model with another first score."""
    predictor: Any = model.predictor
    return replace(model, predictor=replace(predictor, base_score=base))


def _same_tables(before: TreePlan | LinearPlan, after: TreePlan | LinearPlan) -> bool:
    """Whether two plans are for the same bins and the same booster."""
    if isinstance(before, LinearPlan) or isinstance(after, LinearPlan):
        return type(before) is type(after)
    same_booster = (before.booster, before.statistics, before.permutations, before.parallel_trees) == (
        after.booster,
        after.statistics,
        after.permutations,
        after.parallel_trees,
    )
    return same_booster and replace(before.bins, precision="") == replace(after.bins, precision="")
