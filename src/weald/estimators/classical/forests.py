"""What random forests and extra trees share: out-of-bag scores, importances, members, warm starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import accuracy_score, r2_score

from weald.binning.sharded_table import ShardedTable
from weald.binning.shared import BinnedTable
from weald.data import Dataset, read_table
from weald.estimators.classical.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from weald.estimators.classical.importance import forest_importances, paths, permutation_importances
from weald.estimators.classical.out_of_bag import check_unseen
from weald.estimators.classical.tree_choices import count_draws, count_features
from weald.estimators.classical.tree_labels import TreeLabels, Weights, balanced_in_bag, class_labels
from weald.estimators.classical.tree_models import TreeModel
from weald.estimators.classical.trees import Floats, TreeClassifier, TreeEstimator, TreeRegressor
from weald.params.declare import Threads, anything, flag, one_of, whole
from weald.runtime.errors import InputError
from weald.runtime.threads import hire
from weald.training.classical.random_forest import Bags, out_of_bag
from weald.tree.cart import Draw


@dataclass(kw_only=True, repr=False, eq=False)
class ForestEstimator(TreeEstimator):
    """Many trees and their mean; use one of the subclasses."""

    _random_thresholds = False
    _member: ClassVar[type[Any]]

    n_estimators: Annotated[int, whole("Trees.", 1, 10_000_000)] = field(default=100, kw_only=False)
    bootstrap: Annotated[bool, flag("Rows are drawn with replacement; otherwise trees see all of them.")] = (
        True
    )
    oob_score: Annotated[
        bool | Callable[..., float],
        anything(
            "Whether to score every row with the trees that have not seen it; or a function(y, predicted)."
        ),
    ] = False
    n_jobs: Threads = None
    verbose: Annotated[int, whole("0: silent, 1 or more: progress.", 0)] = 0
    warm_start: Annotated[bool, flag("fit goes on from the trees that are there.")] = False
    max_samples: Annotated[
        int | float | None,
        anything(
            "Rows drawn for a tree: a number or a share, which may be more than all, or None for as many."
        ),
    ] = None
    features_per: Annotated[
        Literal["node", "tree"],
        one_of("Whether max_features columns are drawn for every node or once for a tree.", "node", "tree"),
    ] = "node"

    def _jobs(self) -> int | None:
        return self.n_jobs

    def _trees_wanted(self) -> int:
        return self.n_estimators

    def _splitter(self) -> str:
        return "random" if self._random_thresholds else "best"

    def _draw(self, n_rows: int, n_features: int) -> Draw:
        n_draws = count_draws(self.max_samples, n_rows, self.bootstrap)
        columns = count_features(self.max_features, n_features) if self.features_per == "tree" else None
        return Draw(self.bootstrap, n_draws, columns)

    def _earlier(self) -> tuple[TreeModel, Bags | None] | None:
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        return self._model, self.__dict__.get("_bags")

    def _grow(
        self,
        table: Dataset | BinnedTable | ShardedTable,
        labels: TreeLabels,
        seed: int,
        earlier: tuple[TreeModel, Bags | None] | None,
        tasks: int,
    ) -> None:
        wants_score = self._wants_score()
        if earlier is not None:
            self._check_continues(earlier[0], table, labels)
        super()._grow(table, labels, seed, earlier, tasks)
        if not wants_score:
            return
        bags = self._bags
        if bags is None or (earlier is not None and not bags.continues(earlier[1])):
            raise InputError(
                "oob_score=True with warm_start=True needs the rows, weights and draws of the earlier fit, made in this "
                "session; fit all trees at once instead."
            )
        share = table.bins.share if isinstance(table, ShardedTable) else None
        sums, votes = out_of_bag(self.forest_, table, bags, tasks, share)
        check_unseen(votes == 0, "tree", labels.weight)
        with np.errstate(invalid="ignore"):
            means = sums / votes
        rows = votes > 0 if labels.weight is None else (votes > 0) & (labels.weight > 0)
        score = float(self._score_out_of_bag(means, labels, rows))
        self._set_model(replace(self._model, oob_score=score))

    def _wants_score(self) -> bool:
        if not isinstance(self.oob_score, bool) and not callable(self.oob_score):
            raise InputError(f"oob_score must be True, False or a function, not {self.oob_score!r}.")
        if self.oob_score and not self.bootstrap:
            raise InputError("oob_score needs bootstrap=True: without it every tree has seen every row.")
        return bool(self.oob_score)

    def _score_out_of_bag(self, means: Floats, labels: TreeLabels, rows: NDArray[np.bool_]) -> float:
        """Keep the out-of-bag predictions, NaN where there are none, and score those of `rows`."""
        raise NotImplementedError

    def _check_continues(
        self, model: TreeModel, table: Dataset | BinnedTable | ShardedTable, labels: TreeLabels
    ) -> None:
        """A warm start needs the columns and classes of the earlier fit, and at least as many trees."""
        if model.schema != table.schema:
            raise InputError("warm_start needs the columns and categories of the earlier fit; X has others.")
        before, now = (
            None if classes is None else [found.tolist() for found in classes]
            for classes in (model.classes, labels.classes)
        )
        if before != now or model.forest.n_outputs != labels.cart.numbers_per_leaf:
            raise InputError(
                f"warm_start needs the classes and outputs of the earlier fit, {before}, not {now}."
            )
        n_trees = model.forest.n_trees
        if n_trees > self.n_estimators:
            raise InputError(
                f"warm_start cannot go back: n_estimators is {self.n_estimators}, but there are {n_trees} trees."
            )
        if n_trees == self.n_estimators:
            warnings.warn(f"warm_start adds no tree: there are {n_trees} trees already.", stacklevel=4)

    def _set_model(self, model: TreeModel) -> None:
        super()._set_model(model)
        if model.oob_score is not None:
            self.oob_score_ = model.oob_score

    @property
    def estimators_(self) -> list[Any]:
        """The trees as fitted decision trees; made when first asked for, they share the forest's memory."""
        model = self._fitted()
        members: list[Any] | None = self.__dict__.get("_members")
        if members is None:
            members = []
            for tree in range(model.forest.n_trees):
                member = self.estimator
                tree_model = model.forest.trees(tree, tree + 1)
                member._set_model(replace(model, forest=tree_model, oob_score=None, params=None))
                members.append(member)
            self._members = members
        return members

    @property
    def estimator(self) -> Any:
        """What its trees are, not fitted: a decision tree with the forest's parameters; its seed is not theirs."""
        known = set(self._member._get_param_names())
        params = {name: value for name, value in self.get_params(deep=False).items() if name in known}
        return self._member(**{**params, "splitter": self._splitter(), "random_state": None})

    @property
    def estimator_(self) -> Any:
        """`estimator`, of a fitted forest."""
        self._check_fitted()
        return self.estimator

    def __len__(self) -> int:
        """The number of trees."""
        return self._fitted().forest.n_trees

    def __getitem__(self, index: int) -> Any:
        """A tree."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """The trees in their order."""
        return iter(self.estimators_)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """The rows that each tree was grown on, drawn ones as often as they were drawn; not kept in model files."""
        self._fitted()
        bags = self._known_bags("estimators_samples_")
        every = np.arange(bags.n_rows, dtype=np.int32)
        return [np.repeat(every, bags.counts(tree)) for tree in range(len(bags.keys))]

    def _known_bags(self, asked_for: str) -> Bags:
        bags: Bags | None = self.__dict__.get("_bags")
        if bags is None:
            raise AttributeError(f"{asked_for} is known after fit only, not after loading a model file")
        return bags

    @property
    def feature_importances_std_(self) -> NDArray[np.float64]:
        """The standard deviation, over the trees, of each column's share in the decrease of impurity."""
        return forest_importances(self._fitted().forest)[1]

    def permutation_importances(
        self,
        X: Any,
        y: Any,
        n_repeats: int = 5,
        random_state: Any = None,
        scoring: Any = None,
        sample_weight: Any = None,
        out_of_bag: bool = False,
    ) -> Any:
        """How much the score falls when a column's values are shuffled.

        The result has ``importances_mean`` and ``importances_std``, (columns,), and ``importances``, (columns, repeats). With
        ``out_of_bag`` X and y are the training table and its labels, and a row is predicted by the trees that have not
        seen it (Breiman 2001), so that no table need be held out.
        """
        self._fitted()
        scored, weight = self, sample_weight
        if out_of_bag:
            scored, weight = self._out_of_bag_view(X, sample_weight)
        return permutation_importances(scored, X, y, n_repeats, random_state, scoring, weight)

    def _out_of_bag_view(self, X: Any, sample_weight: Any) -> tuple[Any, Any]:
        """The same forest, in which trees answer only for training rows they have not seen; weights, 0 where none answers."""
        bags = self._known_bags("out_of_bag=True")
        if not bags.draw.bootstrap and bags.draw.n_draws is None:
            raise InputError(
                "out_of_bag=True needs bootstrap=True: without it every tree has seen every row."
            )

        def means(table: Any) -> Floats:
            dataset = read_table(table, schema=self._model.schema, owner=type(self).__name__)
            if dataset.n_rows != bags.n_rows:
                raise InputError(
                    f"out_of_bag=True needs the {bags.n_rows} rows of the training table, but X has {dataset.n_rows}."
                )
            tasks = hire(self._jobs())
            sums, votes = out_of_bag(self.forest_, dataset, bags, tasks)
            return sums / np.maximum(votes, 1)

        view = type(self).__new__(type(self))
        view.__dict__.update(self.__dict__, _means=means)
        answered = np.zeros(bags.n_rows, bool)
        for tree in range(len(bags.keys)):
            answered |= bags.counts(tree) == 0
        if answered.all():
            return view, sample_weight
        return view, answered if sample_weight is None else answered * np.asarray(sample_weight, np.float64)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number, within its tree, of the leaf that every row reaches, (rows, trees)."""
        return self._leaves(X)

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
        """(rows, nodes), 1 where a row passes a node, and where each tree's nodes begin and end."""
        forest = self._fitted().forest
        return paths(forest, self._leaves(X)), forest.tree_offsets


@dataclass(kw_only=True, repr=False, eq=False)
class ForestClassifier(TreeClassifier, ForestEstimator):
    """Forests of classes."""

    max_features: int | float | str | None = "sqrt"
    _member = DecisionTreeClassifier

    def _check_continues(
        self, model: TreeModel, table: Dataset | BinnedTable | ShardedTable, labels: TreeLabels) -> None:
        super()._check_continues(model, table, labels)
        if isinstance(self.class_weight, str):
            warnings.warn(
                f"warm_start weighs new trees by class_weight={self.class_weight!r} of the rows of this fit, and leaves earlier "
                "trees as they are; where the rows differ between fits, give class_weight as a dict.",
                stacklevel=5,
            )

    def _labels(self, y: Any, n_rows: int, weight: Weights) -> TreeLabels:
        fixed = None if self._balances_bags() else self.class_weight
        return class_labels(y, n_rows, weight, fixed, type(self).__name__)

    def _balances_bags(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def _weigh(self, labels: TreeLabels, draw: Draw) -> Any:
        return balanced_in_bag(labels, draw) if self._balances_bags() else labels.weight

    def _score_out_of_bag(self, means: Floats, labels: TreeLabels, rows: NDArray[np.bool_]) -> float:
        assert labels.classes is not None
        probabilities = self._probabilities(means)
        if len({each.shape[1] for each in probabilities}) > 1:
            raise InputError("oob_score needs outputs with the same number of classes.")
        kept = np.stack(probabilities, axis=-1)
        kept[np.isnan(means[0])] = np.nan
        self.oob_decision_function_ = kept[..., 0] if len(probabilities) == 1 else kept
        predicted = self._chosen([each[rows] for each in probabilities])
        codes = labels.cart.codes[rows]
        columns = [found[codes[:, output]] for output, found in enumerate(labels.classes)]
        truth = columns[0] if len(columns) == 1 else np.column_stack(columns)
        if callable(self.oob_score):
            return self.oob_score(truth, predicted)
        if len(columns) > 1:
            return float((truth == predicted).all(axis=1).mean())
        return float(accuracy_score(truth, predicted))


@dataclass(kw_only=True, repr=False, eq=False)
class ForestRegressor(TreeRegressor, ForestEstimator):
    """Forests of numbers."""

    max_features: int | float | str | None = 1.0
    _member = DecisionTreeRegressor

    def _score_out_of_bag(self, means: Floats, labels: TreeLabels, rows: NDArray[np.bool_]) -> float:
        values = labels.cart.values
        single = values.shape[1] == 1
        self.oob_prediction_ = means[0] if single else np.ascontiguousarray(means.T)
        score = self.oob_score if callable(self.oob_score) else r2_score
        return float(score(values[rows, 0] if single else values[rows], self.oob_prediction_[rows]))
