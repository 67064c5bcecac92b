"""Decision trees with scikit-learn's interface, on bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.estimators.classical.importance import paths, permutation_importances
from weald.estimators.classical.tree_choices import count_features
from weald.estimators.classical.tree_models import nodes_of
from weald.estimators.classical.tree_nodes import TreeNodes
from weald.estimators.classical.trees import TreeClassifier, TreeEstimator, TreeRegressor
from weald.params.declare import documented, one_of


@dataclass(kw_only=True, repr=False, eq=False)
class DecisionTree(TreeEstimator):
    """What both decision trees share; use one of those."""

    splitter: Annotated[
        str, one_of("The best threshold of a column, or one drawn at random.", "best", "random")
    ] = "best"

    def _splitter(self) -> str:
        return self.splitter

    @property
    def max_features_(self) -> int:
        """How many columns a node looks at."""
        return count_features(self.max_features, self._fitted().schema.n_columns)

    @cached_property
    def tree_(self) -> TreeNodes:
        """The tree's nodes by scikit-learn's names; see `weald.estimators.classical.tree_nodes.TreeNodes`."""
        return nodes_of(self._fitted(), self.criterion)

    def permutation_importances(
        self,
        X: Any,
        y: Any,
        n_repeats: int = 5,
        random_state: Any = None,
        scoring: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """How much the score falls when a column's values are shuffled.

        The result has ``importances_mean`` and ``importances_std``, (columns,), and ``importances``, (columns, repeats).
        """
        self._fitted()
        return permutation_importances(self, X, y, n_repeats, random_state, scoring, sample_weight)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the leaf that every row reaches, (rows,)."""
        return self._leaves(X)[:, 0]

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """(rows, nodes), 1 where a row passes a node."""
        return paths(self._fitted().forest, self._leaves(X))

    def get_depth(self) -> int:
        """The depth of the deepest leaf."""
        return int(self._fitted().forest.max_depth()[0])

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self._fitted().forest.n_leaves


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class DecisionTreeClassifier(TreeClassifier, DecisionTree):
    """A decision tree for classification.

    Thresholds lie between the bins of a column, at most ``max_bins``; columns with no more distinct values lose nothing.

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.DecisionTreeClassifier(max_depth=3).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.95, model.get_n_leaves() <= 8
    (True, True)
    """


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class DecisionTreeRegressor(TreeRegressor, DecisionTree):
    """A decision tree for regression.

    Examples
    --------
    >>> import numpy as np
    >>> import weald
    >>> X, y = np.array([[14.0], [16.0], [24.0], [26.0]]), np.array([14.0, 16.0, 24.0, 26.0])
    >>> weald.DecisionTreeRegressor(max_depth=1).fit(X, y).predict(X)
    array([15., 15., 25., 25.])
    """
