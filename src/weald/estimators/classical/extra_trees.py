"""Extremely randomised trees with scikit-learn's interface (Geurts, Ernst and Wehenkel 2006)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from weald.estimators.classical.forests import ForestClassifier, ForestRegressor


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees for classification: of every column looked at, one threshold is drawn at random.

    The parameters and attributes are those of `RandomForestClassifier`; only ``bootstrap`` is False by default.

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.ExtraTreesClassifier(20).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.95
    True
    """

    _random_thresholds = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: None = None,
        max_bins: int = 255,
        features_per: Literal["node", "tree"] = "node",
        categorical_features: Literal["auto"] | Sequence[str | int] = "auto",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.features_per = features_per
        self.categorical_features = categorical_features


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees for regression: of every column looked at, one threshold is drawn at random.

    The parameters and attributes are those of `RandomForestRegressor`; only ``bootstrap`` is False by default.

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> weald.ExtraTreesRegressor(20).fit(X, y).score(X, y) > 0.9
    True
    """

    _random_thresholds = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: None = None,
        max_bins: int = 255,
        features_per: Literal["node", "tree"] = "node",
        categorical_features: Literal["auto"] | Sequence[str | int] = "auto",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.features_per = features_per
        self.categorical_features = categorical_features
