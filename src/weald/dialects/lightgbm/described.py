"""The part of LightGBM's `Booster` that tells of its trees: numbers, importances, dumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.lightgbm import dumps
from weald.dialects.lightgbm.learning import LearningBooster
from weald.dialects.shared.constraints import monotone_signs
from weald.dialects.shared.trees import histogram, split_values
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest
from weald.params.lightgbm import value_of
from weald.runtime.errors import InputError


class DescribedBooster(LearningBooster):
    """A booster that can be looked into."""

    best_iteration: int

    def _range(self, start_iteration: int, num_iteration: int | None) -> tuple[int, int]:
        """The first round and the one after the last; None: up to the best round, where there is one."""
        first, rounds = max(0, int(start_iteration)), self._rounds()
        if num_iteration is None:
            num_iteration = self.best_iteration if first == 0 else -1
        last = rounds if num_iteration <= 0 else min(rounds, first + int(num_iteration))
        return min(first, rounds), last

    def current_iteration(self) -> int:
        """How many rounds the model has."""
        return self._rounds()

    def num_model_per_iteration(self) -> int:
        """Trees of a round: one, or one for every class."""
        return self._chosen().n_outputs

    def num_trees(self) -> int:
        """How many trees the model has."""
        return self._rounds() * self.num_model_per_iteration()

    def feature_name(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    def feature_importance(
        self, importance_type: str = "split", iteration: int | None = None
    ) -> NDArray[Any]:
        """How often each column is split, or the sum of its gains; of the rounds up to the best one, or ``iteration``."""
        return dumps.importances(self._view(0, iteration), importance_type)

    def get_leaf_output(self, tree_id: int, leaf_id: int) -> float:
        """The value of a leaf."""
        trees = list(dumps.whole_trees(self._fitted(), self._trees("get_leaf_output")))
        if not 0 <= tree_id < len(trees) or not 0 <= leaf_id < trees[tree_id].n_leaves:
            raise InputError(f"there is no leaf {leaf_id} of a tree {tree_id}.")
        tree = trees[tree_id]
        return float(tree.value[(tree.feature < 0) & (dumps.leaf_numbers(tree) == leaf_id)][0])

    def _extremes(self, largest: bool) -> float:
        forest = self._trees("bounds")
        pick = np.max if largest else np.min
        leaves = [
            float(pick(tree.value[tree.feature < 0])) for tree in dumps.whole_trees(self._fitted(), forest)
        ]
        return float(np.mean(leaves) if forest.averaged else np.sum(leaves))

    def lower_bound(self) -> float:
        """A raw score that no row is below."""
        return self._extremes(False)

    def upper_bound(self) -> float:
        """A raw score that no row is above."""
        return self._extremes(True)

    def get_split_value_histogram(
        self, feature: int | str, bins: int | None = None, xgboost_style: bool = False
    ) -> Any:
        """How often the thresholds of a numeric column fall into each bin."""
        name = self._names[feature] if isinstance(feature, int | np.integer) else feature
        values = split_values(self._fitted(), self._names, name)
        if xgboost_style:
            return histogram(values, bins, True)
        return np.histogram(values, bins=max(len(np.unique(values)), 1) if bins is None else bins)

    def _view(self, start_iteration: int, num_iteration: int | None) -> Forest:
        return self._part("trees", *self._range(start_iteration, num_iteration))

    def _model_of(self, first: int, last: int) -> FittedModel:
        """The model of some of the rounds."""
        forest = self._part("a range of rounds", first, last)
        if first and not forest.averaged:
            forest = replace(forest, base_score=np.zeros(forest.n_outputs))
        return replace(self._fitted(), predictor=forest, best_iteration=forest.n_rounds - 1)

    def dump_model(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
        object_hook: Callable[[dict[str, Any]], Any] | None = None,
    ) -> dict[str, Any]:
        """The model as nested dicts; ``object_hook``: a function that each of them is replaced by, the inner ones first."""
        model, forest = self._fitted(), self._view(start_iteration, num_iteration)
        factors = self._factors(forest, self._range(start_iteration, num_iteration)[0])
        missing = dumps.missing_types(model, self._facts)
        trees = [
            dumps.tree_dict(tree, index, factors[index], missing)
            for index, tree in enumerate(dumps.whole_trees(model, forest))
        ]
        values = dumps.importances(forest, importance_type)
        monotone = monotone_signs(value_of(self._params, "monotone_constraints"), self._names)
        dump = {
            "name": "tree",
            "version": "weald",
            "num_class": self.num_model_per_iteration(),
            "num_tree_per_iteration": self.num_model_per_iteration(),
            "label_index": 0,
            "max_feature_idx": self.num_feature() - 1,
            "objective": self._chosen().name,
            "average_output": forest.averaged,
            "feature_names": self.feature_name(),
            "monotone_constraints": list(monotone or ()),
            "feature_infos": {} if self._facts is None else self._facts.infos(self._names, model.schema),
            "tree_info": trees,
            "feature_importances": {
                name: value.item() for name, value in zip(self._names, values, strict=True) if value
            },
            "pandas_categorical": self.pandas_categorical,
        }
        return dump if object_hook is None else dumps.hooked(dump, object_hook)

    @property
    def pandas_categorical(self) -> list[list[Any]] | None:
        """The categories of a frame's category columns, in the order of their codes; None: the training table was no frame."""
        return None if self._facts is None else self._facts.pandas_categorical

    def _factors(self, forest: Forest, first: int) -> list[float]:
        """What the values of every tree were multiplied by: the learning rate of its round, and what dart has left of it."""
        if forest.averaged:
            return [1.0] * forest.n_trees
        per = forest.trees_per_round
        last = self._rates[-1] if self._rates else value_of(self._params, "learning_rate")
        rates = [*self._rates[first : first + forest.n_rounds], *([last] * forest.n_rounds)]
        weights = forest.tree_weights if forest.tree_weights.size else np.ones(forest.n_trees)
        return [float(rates[place // per] * weight) for place, weight in enumerate(weights.tolist())]

    def trees_to_dataframe(self) -> Any:
        """All nodes as a pandas frame."""
        model, forest = self._fitted(), self._trees("trees_to_dataframe")
        return dumps.dataframe(model, forest, self._names, dumps.missing_types(model, self._facts))
