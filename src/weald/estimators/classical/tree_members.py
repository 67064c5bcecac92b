"""Weald's own decision trees as members: grown on bins that are computed once, and predicted as one forest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import DenseBins, Ranks, SparseRanks, bin_once, dense_bins, with_extremes
from weald.data import Dataset, Schema
from weald.estimators.classical.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from weald.estimators.classical.tree_choices import cart_rules, count_features
from weald.estimators.classical.tree_models import TreeModel
from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices, raw_scores
from weald.params.declare import validate
from weald.runtime.progress import progress
from weald.runtime.threads import hire
from weald.sampling import draw_by_weight
from weald.training.classical.bagging import MemberBags
from weald.training.classical.joined import join_trees
from weald.training.classical.learners import WeakTree
from weald.training.classical.members import member_seed, outputs_in_order, seeded_clone
from weald.training.classical.random_forest import forest_keys, grow_forest
from weald.tree.cart import CartLabels, CartRules, Draw

Floats = NDArray[np.float64]


def is_own_tree(estimator: Any) -> bool:
    """Whether an estimator is a tree of Weald's that needs nothing but its rows and their weights."""
    if type(estimator) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return False
    return getattr(estimator, "class_weight", None) is None


class TreeTraining:
    """The training table of members that are Weald's trees: its bins and labels, and estimators of grown trees."""

    def __init__(
        self,
        template: Any,
        X: Any,
        labels: CartLabels,
        classes: NDArray[Any] | None,
        weight: Floats | None,
        seed: int,
        n_jobs: int | None,
    ) -> None:
        validate(template)
        table = bin_once(X, [template], weight=weight, seed=seed, n_jobs=n_jobs)
        # A single estimator agrees with itself, and one of trees on labels wants bins.
        assert table is not None and not isinstance(table.bins, Ranks | SparseRanks)
        self.schema, self.bins = table.schema, dense_bins(table.bins)
        if template.splitter == "random":
            self.bins = with_extremes(self.bins, table, weight)
        self.labels = labels
        self._template = template
        self._classes = classes
        self._weight = weight
        self._seed = seed
        self._n_rows = labels.n_rows if weight is None else int(np.count_nonzero(weight))

    def learner(self, real: bool, draws: bool, total_weight: float, tasks: int) -> WeakTree:
        """The weak learner of AdaBoost; see there."""
        return WeakTree(
            self.bins,
            self.labels,
            self._rules(self.bins),
            self._key,
            real,
            self._seed,
            draws,
            total_weight,
            tasks,
        )

    def estimators(self, grown: Sequence[tuple[int, Any]]) -> list[Any]:
        """The fitted estimators of the learner's members."""
        fitted = []
        for number, tree in grown:
            numbers = self.labels.numbers_per_leaf
            builder = ForestBuilder(len(self.bins.columns), numbers, np.zeros(numbers))
            builder.append(**tree.for_forest(self.bins.mapper))
            fitted.append(self._estimator(number, builder.build(), self.schema))
        return fitted

    def bagged(self, bags: MemberBags, numbers: range, n_jobs: int | None, verbose: bool) -> list[Any]:
        """The fitted members of these numbers: all in one call of the engine where they have the same columns."""
        draw, weigh = Draw(bootstrap=bags.bootstrap, n_draws=bags.n_draws), self._weight_of(bags)
        if bags.weight is not None:
            draw = Draw()
        keys = np.array([bags.key(number) for number in numbers], np.uint64)
        tasks = hire(n_jobs)
        with progress(len(keys), "growing trees", verbose) as bar:
            if bags.all_columns:
                rules = self._rules(self.bins)
                forest = grow_forest(self.bins, self.labels, weigh, rules, draw, keys, tasks, None, bar)
                trees = [(forest.trees(place, place + 1), self.schema) for place in range(len(keys))]
            else:

                def grow(place: int) -> tuple[Forest, Schema]:
                    columns = bags.columns(numbers[place])
                    bins = self.bins.take_columns(columns)
                    rules, own = self._rules(bins), keys[place : place + 1]
                    tree = grow_forest(bins, self.labels, weigh, rules, draw, own, 1, None, bar)
                    return tree, schema_of_columns(self.schema, columns)

                trees = list(outputs_in_order(grow, range(len(keys)), tasks))
        return [
            self._estimator(number, tree, schema)
            for number, (tree, schema) in zip(numbers, trees, strict=True)
        ]

    def _weight_of(self, bags: MemberBags) -> Floats | Callable[[int], Floats] | None:
        """The rows' weights; where rows are drawn by them, a function of a member's key that says how often each was."""
        weight = bags.weight
        if weight is None:
            return self._weight
        return lambda key: draw_by_weight(weight, bags.n_draws, key).astype(np.float64)

    def _rules(self, bins: DenseBins) -> CartRules:
        n_features = len(bins.columns)
        looked_at = count_features(self._template.max_features, n_features)
        return cart_rules(self._template, self._n_rows, n_features, self._template.splitter, looked_at)

    def _key(self, number: int) -> int:
        """The key with which the member's own ``fit`` would grow its tree."""
        return int(forest_keys(member_seed(self._seed, number), 1)[0])

    def _estimator(self, number: int, tree: Forest, schema: Schema) -> Any:
        member = seeded_clone(self._template, self._seed, number)
        classes = None if self._classes is None else (self._classes,)
        member._set_model(TreeModel(tree, schema, classes, None))
        return member


def schema_of_columns(schema: Schema, columns: NDArray[np.int64]) -> Schema:
    """The schema of some columns; one that has a column twice has no names."""
    chosen = tuple(schema.columns[column] for column in columns)
    if len({column.name for column in chosen}) == len(chosen):
        return Schema(chosen, schema.named)
    return Schema(
        tuple(replace(column, name=f"x{place}") for place, column in enumerate(chosen)), named=False
    )


def joined_members(
    members: Sequence[Any],
    columns: Sequence[NDArray[np.int64]],
    leaves: Callable[[int, Forest], Floats],
    n_features: int,
    n_outputs: int,
) -> Forest | None:
    """One forest of all members, with ``leaves(number, tree)``, (leaves, outputs), in their leaves; None unless all are trees."""
    if not all(is_own_tree(member) for member in members):
        return None
    trees = (
        (member.forest_, columns[number], leaves(number, member.forest_))
        for number, member in enumerate(members)
    )
    return join_trees(trees, n_features, n_outputs)


def staged_forest_scores(forest: Forest, dataset: Dataset) -> Iterator[Floats]:
    """`forest_scores` after every tree, (outputs, rows); the array is changed in place."""
    sums = np.zeros((forest.n_outputs, dataset.n_rows))
    for number in range(forest.n_trees):
        sums += raw_scores(forest.trees(number, number + 1), dataset.blocks(), dataset.n_rows)
        yield sums


def values_of_trees(forest: Forest, dataset: Dataset, n_jobs: int | None) -> Floats:
    """What every tree of a forest with one output says, (rows, trees)."""
    tasks = hire(n_jobs)
    leaves = leaf_indices(forest, dataset.blocks(), dataset.n_rows, tasks)
    values: Floats = forest.value[forest.tree_offsets[:-1] + leaves]
    return values
