"""One tree of a boosted model as a regressor of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from weald.data import Schema, read_table
from weald.estimators.classical.tree_nodes import TreeNodes
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices, raw_scores


class TreeStep(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted tree of gradient boosting; it predicts the step that the tree takes, before shrinkage.

    ``forest`` has no base score; ``index`` counts its trees; its leaves hold the steps times ``learning_rate``.

    >>> import numpy as np
    >>> import weald
    >>> X = np.arange(4.0).reshape(-1, 1)
    >>> model = weald.GradientBoostingRegressor(n_estimators=1, max_depth=1).fit(X, [1.0, 1.0, 5.0, 5.0])
    >>> model.estimators_[0, 0].predict(X)
    array([-2., -2.,  2.,  2.])
    """

    def __init__(self, forest: Forest, schema: Schema, index: int, learning_rate: float) -> None:
        self.forest = forest
        self.schema = schema
        self.index = index
        self.learning_rate = learning_rate

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<tree {self.index} of {self.forest.n_trees}: {self.get_n_leaves()} leaves>"

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self.forest.n_features

    @cached_property
    def tree_(self) -> TreeNodes:
        """The tree's nodes by scikit-learn's names; ``value`` is the step, not shrunk."""
        single = replace(self.forest, n_outputs=1, base_score=np.zeros(1), parallel_trees=1)
        tree = single.trees(self.index, self.index + 1)
        values = (tree.value / self.learning_rate)[:, None, None]
        # A gain is half of what the sum of squares falls by.
        decrease = 2.0 * tree.gain / max(float(tree.cover[0]), np.finfo(np.float64).tiny)
        return TreeNodes(tree, self.schema, "friedman_mse", np.ones(1, np.int64), values, decrease)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the nodes, which the forest has."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "tree_"}

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self.tree_.n_leaves

    def get_depth(self) -> int:
        """The depth of the deepest leaf."""
        return int(self.forest.max_depth()[self.index])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The step of every row."""
        dataset = read_table(X, schema=self.schema, owner="This tree", least_rows=0)
        number, output = divmod(self.index, self.forest.n_outputs)
        scores = raw_scores(self.forest, dataset.blocks(), dataset.n_rows, 1, number, number + 1)
        step: NDArray[np.float64] = scores[output] / self.learning_rate
        return step

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The node, by its number within the tree, that every row reaches."""
        dataset = read_table(X, schema=self.schema, owner="This tree", least_rows=0)
        return leaf_indices(self.forest, dataset.blocks(), dataset.n_rows)[:, self.index]
