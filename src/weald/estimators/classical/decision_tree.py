"""Decision trees with scikit-learn's interface, on bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from weald.estimators.classical.importance import forest_importances, paths, permutation_importances
from weald.estimators.classical.tree_choices import count_features
from weald.estimators.classical.trees import TreeClassifier, TreeEstimator, TreeRegressor
from weald.params import TREE_PARAMETERS


class DecisionTree(TreeEstimator):
    """What both decision trees share; use one of those."""

    _parameters = TREE_PARAMETERS
    splitter: str

    def _splitter(self) -> str:
        return self.splitter

    @property
    def max_features_(self) -> int:
        """How many columns a node looks at."""
        return count_features(self.max_features, self._fitted().schema.n_columns)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each column's share in the decrease of impurity."""
        return forest_importances(self._fitted().forest)[0]

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


class DecisionTreeClassifier(TreeClassifier, DecisionTree):
    """A decision tree for classification.

    Thresholds lie between the bins of a column, at most ``max_bins``; columns with no more distinct values lose nothing.

    Parameters
    ----------
    criterion : "gini", "entropy" or "log_loss" (the same as "entropy")
    splitter : "best" or "random"
    max_features : columns that a node looks at; None: all
    class_weight : None, "balanced", a dict of weights, or a list of dicts, one for every output

    All parameters are listed, with their ranges, in ``weald.params.TREE_PARAMETERS``.

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.DecisionTreeClassifier(max_depth=3).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.95, model.get_n_leaves() <= 8
    (True, True)
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: None = None,
        max_bins: int = 255,
        categorical_features: Literal["auto"] | Sequence[str | int] = "auto",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features


class DecisionTreeRegressor(TreeRegressor, DecisionTree):
    """A decision tree for regression.

    Parameters
    ----------
    criterion : "squared_error", "friedman_mse", "absolute_error" or "poisson"

    All parameters are listed, with their ranges, in ``weald.params.TREE_PARAMETERS``.

    Examples
    --------
    >>> import numpy as np
    >>> import weald
    >>> X, y = np.array([[14.0], [16.0], [24.0], [26.0]]), np.array([14.0, 16.0, 24.0, 26.0])
    >>> weald.DecisionTreeRegressor(max_depth=1).fit(X, y).predict(X)
    array([15., 15., 25., 25.])
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: None = None,
        max_bins: int = 255,
        categorical_features: Literal["auto"] | Sequence[str | int] = "auto",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
