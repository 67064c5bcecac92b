"""The door: from parameters and a schema to a plan. What two parameters may not be together is refused here, family by family."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weald.data import Schema
from weald.losses import Loss
from weald.params.choice import plain_values
from weald.runtime.random import seed_of
from weald.training.boosting.booster_parameters import Dart, Linear, Ordered
from weald.training.boosting.door.bins import bin_plan
from weald.training.boosting.door.blocks import check_blocks
from weald.training.boosting.door.categories import category_ways
from weald.training.boosting.door.columns import column_weights
from weald.training.boosting.door.devices import device_plan
from weald.training.boosting.door.leaves import leaf_plan
from weald.training.boosting.door.linear import linear_plan
from weald.training.boosting.door.statistics import statistic_plan
from weald.training.boosting.door.trees import check_averaging, check_splits, tree_rules
from weald.training.boosting.learning_rate import automatic_learning_rate
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting
from weald.training.boosting.plan import WHOLE_TREES, Plan, RowPlan, TreePlan


@dataclass(frozen=True)
class Facts:
    """What a plan depends on beside parameters and schema."""

    loss: Loss
    n_rows: int  # that have a weight
    keeps_best: bool = False  # the rounds after the best one are dropped
    own_starts: bool = False  # rows start from scores of their own
    in_blocks: bool = False  # the table is in blocks, perhaps elsewhere

    @property
    def n_classes(self) -> int:
        """How many classes labels are codes of; 0: they are numbers."""
        return max(2, self.loss.n_outputs) if self.loss.task == "classification" else 0


def plan_of(given: BoostingParameters, schema: Schema, facts: Facts) -> Plan:
    """The plan that parameters ask for; every one of them has been checked."""
    # Streams of random numbers take no numbers of NumPy's, and a plan stays as it is when a user's object changes.
    given = BoostingParameters(**plain_values(given, BoostingParameters))
    parts, loss, seed = given.resolved(), facts.loss, seed_of(given.random_state)
    if isinstance(parts.booster, Linear):
        if facts.in_blocks:
            check_blocks(given, parts)
        return linear_plan(given, parts.booster, schema, loss, seed)
    device = device_plan(given, parts)
    from_optimum = given.base_score is None and not facts.own_starts
    trees = _tree_plan(given, parts, schema, facts, from_optimum)
    n_rows = facts.n_rows
    if trees.statistics is not None and trees.statistics.kind == "holdout":
        n_rows = (n_rows + 1) // 2
    rate = given.learning_rate
    if trees.averaged:
        rate = WHOLE_TREES
    elif isinstance(rate, str):
        rate = automatic_learning_rate(loss.name, n_rows, given.n_estimators, facts.keeps_best, from_optimum)
    return Plan(loss, trees, given.n_estimators, float(rate), seed, given.n_jobs, device)


def _tree_plan(
    given: BoostingParameters, parts: ResolvedBoosting, schema: Schema, facts: Facts, from_optimum: bool
) -> TreePlan:
    booster, loss = parts.booster, facts.loss
    if facts.in_blocks:
        check_blocks(given, parts)
    ways = category_ways(given, parts, schema, loss, facts.n_rows)
    rules = tree_rules(given, parts, loss, schema, ways.sets)
    bins = bin_plan(given, parts)
    check_averaging(given, parts)
    check_splits(given, parts)
    statistics = statistic_plan(given, parts, schema, ways)
    parts.sampling.check_use(given.subsample, facts.n_classes)
    drops = booster.rules if isinstance(booster, Dart) else None
    ordered = booster.prefix_growth if isinstance(booster, Ordered) else None
    takes_turns = ordered is not None or statistics is not None
    leaves = leaf_plan(parts, loss, rules, takes_turns)
    return TreePlan(
        rules,
        bins,
        RowPlan(parts.sampling, given.subsample),
        replace(leaves, from_optimum=from_optimum and (drops is None or not drops.drops)),
        given.colsample_bytree,
        column_weights(given, schema),
        parts.splits.noise,
        booster.parallel_trees,
        booster.averages,
        drops,
        ordered,
        statistics,
        ways.names(schema),
        parts.permutations if takes_turns else 0,
    )
