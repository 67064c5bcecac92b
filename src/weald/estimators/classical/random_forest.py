"""Random forests with scikit-learn's interface, on bins that all trees share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from weald.estimators.classical.forests import ForestClassifier, ForestRegressor


class RandomForestClassifier(ForestClassifier):
    """A random forest for classification: the mean of trees that were grown on drawn rows and drawn columns.

    The same data, parameters and seed give the same model, byte for byte, on any number of threads.

    Parameters
    ----------
    n_estimators : trees
    criterion : "gini", "entropy" or "log_loss" (the same as "entropy")
    max_features : columns looked at: a number, a share, "sqrt", "log2" or None for all
    features_per : "node", or "tree" for columns that are drawn once for a tree
    bootstrap, max_samples : whether a tree draws rows with replacement, and how many
    oob_score : whether to score every row with the trees that have not seen it; or a function(y, predicted)
    class_weight : None, "balanced", "balanced_subsample" (among a tree's rows), a dict of weights, or a list of dicts

    All parameters are listed, with their ranges, in ``weald.params.FOREST_PARAMETERS``.

    Attributes
    ----------
    forest_ : the trees
    estimators_ : the same as decision trees, made when first asked for
    feature_importances_, feature_importances_std_ : shares in the decrease of impurity, and their spread over the trees
    oob_score_, oob_decision_function_ : accuracy and probabilities by trees that have not seen the row

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.RandomForestClassifier(20, oob_score=True).fit(data.data, data.target)
    >>> model.oob_score_ > 0.95
    True
    """

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
        bootstrap: bool = True,
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


class RandomForestRegressor(ForestRegressor):
    """A random forest for regression: the mean of trees that were grown on drawn rows.

    Parameters
    ----------
    n_estimators : trees
    criterion : "squared_error", "friedman_mse", "absolute_error" or "poisson"
    max_features : columns looked at: a number, a share, "sqrt", "log2" or None for all
    features_per : "node", or "tree" for columns that are drawn once for a tree
    bootstrap, max_samples : whether a tree draws rows with replacement, and how many
    oob_score : whether to score every row with the trees that have not seen it; or a function(y, predicted)

    All parameters are listed, with their ranges, in ``weald.params.FOREST_PARAMETERS``.

    Attributes
    ----------
    forest_ : the trees
    estimators_ : the same as decision trees, made when first asked for
    feature_importances_, feature_importances_std_ : shares in the decrease of impurity, and their spread over the trees
    oob_score_, oob_prediction_ : R² and predictions by trees that have not seen the row

    Examples
    --------
    >>> import weald
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = weald.RandomForestRegressor(50, min_samples_leaf=5, oob_score=True).fit(X, y)
    >>> model.oob_score_ > 0.35
    True
    """

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
        bootstrap: bool = True,
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
