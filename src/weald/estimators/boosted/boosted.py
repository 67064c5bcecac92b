"""Boosted trees with scikit-learn's interface: the native door to every choice of the engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.exceptions import NotFittedError

from weald.binning import bundling_wanted, choices_of, read_training_table
from weald.data import Dataset, read_table, read_weights
from weald.data.sparse import Unstored
from weald.estimators.boosted.averaging_training import WHOLE_TREES
from weald.estimators.boosted.explained import ExplainedTrees
from weald.estimators.boosted.linear_training import check_booster, train_linear
from weald.estimators.boosted.refit import refitted_model
from weald.estimators.boosted.training import FitOptions, train
from weald.estimators.shared.class_weights import class_factors
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel, estimator_from_content, from_bytes, to_bytes
from weald.estimators.shared.tasks import ClassifierTask, RegressorTask
from weald.explain.importances import prediction_values_change
from weald.forest import file as model_file
from weald.forest.container import Container
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices
from weald.linear.model import LinearModel
from weald.losses import Loss, make_loss
from weald.losses.elementary import exp_of
from weald.params import PARAMETERS, validate
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.threads import parallel
from weald.training.boosting.boosting import Callback

LossFunction = Callable[..., Any]
_LOSS_OPTIONS = {
    "huber_delta": ("huber", "pseudo_huber"),
    "quantile_alpha": ("quantile",),
    "tweedie_power": ("tweedie",),
    "fair_scale": ("fair",),
}
# Rows times rounds and outputs below which prediction does not ask for threads.
_SMALL_PREDICTION = 100_000


class BoostedTrees(BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share; use one of those."""

    # Parameters, set by the subclasses' __init__.
    loss: str | LossFunction
    n_estimators: int
    learning_rate: float | Literal["auto"]
    growth: str
    max_leaves: int | None
    max_depth: int | None
    min_samples_leaf: int
    min_child_weight: float
    reg_lambda: float | None
    reg_alpha: float
    gamma: float
    max_delta_step: float | None
    leaf_estimation: str
    leaf_iterations: int
    subsample: float
    sampling: str
    bagging_temperature: float
    mvs_reg: float | None
    subsample_freq: int
    positive_subsample: float | None
    negative_subsample: float | None
    top_rate: float
    other_rate: float
    colsample_bytree: float
    colsample_bylevel: float
    colsample_bynode: float
    path_smooth: float
    extra_trees: bool
    split_score: str
    random_strength: float
    forced_splits: Any
    split_finder: str
    proposals: str
    sketch_eps: float | None
    booster: str
    permutations: int
    prefix_growth: float
    num_parallel_tree: int
    rate_drop: float
    skip_drop: float
    one_drop: bool
    sample_type: str
    normalize_type: str
    max_drop: int
    feature_selector: str
    top_k: int
    base_score: Any
    categories: str
    max_cat_to_onehot: int
    max_cat_threshold: int
    cat_smooth: float
    cat_l2: float
    min_samples_category: int
    max_combination: int
    prior: Any
    prior_weight: float
    statistic_bins: int
    target_borders: int
    counters: bool
    categorical_features: Literal["auto"] | Sequence[str | int]
    unstored: Unstored
    monotone_constraints: Any
    interaction_constraints: Any
    max_bins: int
    max_bins_by_column: Any
    max_categories: int | None
    rare_categories: float
    min_samples_bin: int
    bin_sample: int
    border_type: str
    forced_bins: Any
    use_missing: bool
    zero_as_missing: bool
    bundling: str
    max_conflict_rate: float
    precision: str
    eval_metric: Any
    early_stopping_rounds: int | None
    importance_type: Literal["gain", "split", "prediction"]
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    verbose: int

    @property
    def _takes_binned_table(self) -> bool:
        """Whether bins serve it; `weald.binning.bin_once` asks for it."""
        return self.booster != "linear"

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] | None = None,
        resume_from: str | os.PathLike[str] | None = None,
        init_score: Any = None,
        eval_init_scores: Sequence[Any] | None = None,
    ) -> Any:
        """Train on a table.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix, list of rows, or a dict of columns; or a table
            that `weald.binning.bin_once` has binned, whose bins are then used as they are.
        y : labels, one a row.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        eval_set : list of (X, y) or (X, y, sample_weight)
            Sets to evaluate after every round; see ``history_``.
        eval_names : names of these sets; "valid_0", "valid_1", … when None.
        callbacks : functions of a round, such as `EarlyStopping`, `TimeBudget`, `Checkpoint` and `LearningRateScheduler`.
        resume_from : path of a checkpoint of this training, which goes on from there to the same bytes.
        init_score : raw scores, (rows,) or (rows, classes)
            Where each row starts, in place of a constant: the margin of another model. The model then holds only what
            was added: its raw scores are to be added to scores of your own for the same rows, which `predict` does not know.
        eval_init_scores : list of such scores, one for every eval_set; needed beside ``init_score``.
        """
        validate(self.get_params(deep=False), PARAMETERS)
        owner = type(self).__name__
        earlier = self.__dict__.get("_model") if self.warm_start and resume_from is None else None
        check_booster(self, earlier)
        self._forget()
        table = read_training_table(
            X,
            categorical=self.categorical_features,
            choices=choices_of(self),
            owner=owner,
            unstored=self.unstored,
            bundling=bundling_wanted(self),
            earlier=None if earlier is None else earlier.schema,
        )
        labels = self._labels(y, table.n_rows, read_weights(sample_weight, table.n_rows))
        labels.loss.check_target(labels.y)
        options = FitOptions(eval_set, eval_names, callbacks, resume_from, init_score, eval_init_scores)
        booster = train_linear if self.booster == "linear" else train
        self._set_model(booster(self, table, labels, options, earlier))
        return self

    def _labels(self, y: Any, n_rows: int, weight: NDArray[np.float64] | None) -> Labels:
        raise NotImplementedError

    def _labels_of_known(
        self, y: Any, n_rows: int, weight: NDArray[np.float64] | None, classes: NDArray[Any] | None
    ) -> Labels:
        raise NotImplementedError

    def _encode(self, y: Any, n_rows: int, classes: NDArray[Any] | None) -> NDArray[np.float64]:
        raise NotImplementedError

    def _forget(self) -> None:
        """Become unfitted: a fit that is interrupted must not leave half of the old and half of the new."""
        for name in [name for name in self.__dict__ if name.endswith("_") and not name.startswith("__")]:
            del self.__dict__[name]
        self.__dict__.pop("_model", None)

    def _set_model(self, model: FittedModel) -> None:
        self._model = model
        self.history_ = model.history
        self.best_iteration_ = model.best_iteration
        self.n_features_in_ = model.schema.n_columns
        if model.schema.named:
            self.feature_names_in_ = np.array(model.schema.names, dtype=object)
        if model.classes is not None:
            self.classes_ = model.classes
            self.n_classes_ = len(model.classes)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _fitted(self) -> FittedModel:
        try:
            return self._model
        except AttributeError:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet; call 'fit' first."
            ) from None

    def _read(self, X: Any) -> Dataset:
        """A table to predict, as that of the training was read."""
        model = self._fitted()
        dataset = read_table(
            X,
            schema=model.schema,
            owner=type(self).__name__,
            unstored=model.unstored,
            missing=model.missing,
        )
        return model.extended(dataset)

    def _raw(self, X: Any) -> NDArray[np.float64]:
        """Raw scores, (outputs, rows)."""
        dataset, predictor = self._read(X), self._fitted().predictor
        if dataset.n_rows * predictor.n_rounds * predictor.n_outputs < _SMALL_PREDICTION:
            return predictor.raw_scores(dataset)
        with parallel(self.n_jobs) as tasks:
            return predictor.raw_scores(dataset, tasks)

    def refit(
        self, X: Any, y: Any, sample_weight: Any = None, decay_rate: float = 0.9, init_score: Any = None
    ) -> Any:
        """The same trees with leaf values that follow other rows: a new estimator, this one stays as it is.

        Round by round a leaf gets ``decay_rate`` times its old value and the rest of what it would have by the rows of this
        table that reach it. A leaf that none reaches keeps its value. The learning rate is the estimator's, in every round.

        Parameters
        ----------
        X : table with the columns of the training; categories that it did not have go where they go in `predict`.
        y : labels, one a row; of a classifier, classes that the model knows.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        decay_rate : from 0, new values alone, to 1, old ones alone.
        init_score : raw scores of the rows, where the fit had such.

        >>> import numpy as np
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> model = BoostedTreesRegressor(n_estimators=50, min_samples_leaf=5).fit(X, X[:, 0])
        >>> later = model.refit(X, X[:, 0] + 10.0, decay_rate=0.5)
        >>> bool(model.predict(X).mean() < later.predict(X).mean() < model.predict(X).mean() + 10.0)
        True
        """
        other = type(self)(**self.get_params(deep=False))
        other._set_model(refitted_model(self, X, y, sample_weight, decay_rate, init_score))
        return other

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The node, by its number within the tree, that every row reaches: (rows, trees).

        >>> import numpy as np
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> model = BoostedTreesRegressor(n_estimators=2, min_samples_leaf=5, max_leaves=2).fit(X, X[:, 0])
        >>> model.apply(X[[0, -1]]).tolist()
        [[1, 1], [2, 2]]
        """
        dataset, forest = self._read(X), self._fitted().forest
        with parallel(self.n_jobs) as tasks:
            return leaf_indices(forest, dataset.blocks(), dataset.n_rows, tasks)

    @property
    def forest_(self) -> Forest:
        """The trees."""
        return self._tree_model("forest_").forest

    @property
    def learning_rate_(self) -> float:
        """The share of every tree that was added: ``learning_rate``, or what "auto" has come to.

        >>> import numpy as np
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> BoostedTreesRegressor(n_estimators=200, learning_rate="auto").fit(X, X[:, 0]).learning_rate_
        0.09111
        """
        model = self._fitted()
        if isinstance(model.predictor, Forest) and model.predictor.averaged:
            return WHOLE_TREES
        chosen = model.learning_rate
        return float(self.learning_rate if chosen is None else chosen)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of ``booster="linear"``: (columns,) of a regressor, (1 or classes, columns) of a classifier.

        >>> import numpy as np
        >>> X = np.arange(40.0).reshape(-1, 2)
        >>> model = BoostedTreesRegressor(booster="linear", n_estimators=500).fit(X, X[:, 0] - 3 * X[:, 1] + 7)
        >>> bool(np.allclose(model.predict(X), X @ model.coef_ + model.intercept_))
        True
        """
        weights = self._linear_model("coef_").weights
        return weights[0] if is_regressor(self) else weights

    @property
    def intercept_(self) -> float | NDArray[np.float64]:
        """Where every row starts, with ``booster="linear"``: a number of a regressor, (1 or classes,) of a classifier."""
        intercept = self._linear_model("intercept_").intercept
        return float(intercept[0]) if is_regressor(self) else intercept

    def _tree_model(self, name: str) -> FittedModel:
        """The fitted model, for an attribute that only trees have."""
        model = self._fitted()
        if isinstance(model.predictor, LinearModel):
            raise AttributeError(
                f"{name} is of trees, and booster='linear' has none; see coef_ and intercept_."
            )
        return model

    def _linear_model(self, name: str) -> LinearModel:
        """The linear model, for an attribute that trees do not have."""
        predictor = self._fitted().predictor
        if not isinstance(predictor, LinearModel):
            raise AttributeError(f"{name} is of booster='linear', and this model has trees; see forest_.")
        return predictor

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the trees' gain, in their splits, or in how far they move predictions (``importance_type``).

        With ``booster="linear"``: its share in the absolute weights, which compares columns of like scale.
        """
        model = self._fitted()
        if self.importance_type == "prediction":
            return model.by_source(prediction_values_change(model.forest) / 100.0)
        importances = model.by_source(model.predictor.importances(self.importance_type))
        total = importances.sum()
        return importances / total if total > 0 else importances

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically; `weald.load` reads it."""
        model_file.save(path, self._to_bytes())

    def _to_bytes(self) -> bytes:
        return to_bytes(self, self._fitted())

    @classmethod
    def _from_content(cls, content: Container) -> BoostedTrees:
        return estimator_from_content(cls, content)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the parameters and, of a fitted model, the bytes of its model file."""
        fitted = self.__sklearn_is_fitted__()
        return {
            "params": self.get_params(deep=False),
            "file": to_bytes(self, self._model) if fitted else None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["params"])
        if state["file"] is not None:
            self._set_model(from_bytes(state["file"])[2])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = self.booster != "linear"
        return tags


class BoostedTreesClassifier(ClassifierTask, ExplainedTrees, BoostedTrees):
    """Gradient-boosted trees for classification.

    The same data, parameters and seed give the same model, byte for byte, on any number of threads.

    Parameters
    ----------
    loss : "auto", "logistic", "exponential", "hinge", "softmax", "one_vs_rest" or a function(y, raw_scores) -> (gradient,
        hessian)
        "auto" is logistic for two classes and softmax, with a tree per class and round, for more; "one_vs_rest" has as
        many trees, and a logistic loss for each class against all others. "exponential" is AdaBoost's, for two classes;
        "hinge" too is for two, and its probabilities are 0 and 1.
    class_weight : None, "balanced" (all classes weigh the same), "minority" (the lighter of two classes is multiplied to weigh as
        much as the other) or a dict of weights
    scale_pos_weight : weight of the second of two classes

    All parameters are listed, with their ranges, in ``weald.params.PARAMETERS`` and in the documentation.

    Attributes
    ----------
    classes_ : the classes, sorted
    forest_ : the trees
    history_ : evaluation set -> metric -> one value per round
    best_iteration_ : the best round, from 0, by the first metric on the first evaluation set; the last one without

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.BoostedTreesClassifier(n_estimators=20).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.95
    True
    """

    def __init__(
        self,
        loss: str | LossFunction = "auto",
        *,
        n_estimators: int = 100,
        learning_rate: float | Literal["auto"] = 0.1,
        growth: str = "leafwise",
        max_leaves: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        reg_lambda: float | None = None,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        max_delta_step: float | None = None,
        leaf_estimation: str = "auto",
        leaf_iterations: int = 1,
        subsample: float = 1.0,
        sampling: str = "uniform",
        bagging_temperature: float = 1.0,
        mvs_reg: float | None = None,
        subsample_freq: int = 1,
        positive_subsample: float | None = None,
        negative_subsample: float | None = None,
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        path_smooth: float = 0.0,
        extra_trees: bool = False,
        split_score: str = "newton_l2",
        random_strength: float = 0.0,
        forced_splits: Any = None,
        split_finder: str = "hist",
        proposals: str = "global",
        sketch_eps: float | None = None,
        booster: str = "plain",
        permutations: int = 3,
        prefix_growth: float = 2.0,
        num_parallel_tree: int = 1,
        rate_drop: float = 0.0,
        skip_drop: float = 0.0,
        one_drop: bool = False,
        sample_type: str = "uniform",
        normalize_type: str = "tree",
        max_drop: int = 0,
        feature_selector: str = "cyclic",
        top_k: int = 0,
        base_score: Any = None,
        categories: str = "onehot",
        max_cat_to_onehot: int = 4,
        max_cat_threshold: int = 64,
        cat_smooth: float = 0.0,
        cat_l2: float = 0.0,
        min_samples_category: int = 1,
        max_combination: int = 4,
        prior: Any = "mean",
        prior_weight: float = 1.0,
        statistic_bins: int = 32,
        target_borders: int = 1,
        counters: bool = True,
        categorical_features: Literal["auto"] | Sequence[str | int] = "auto",
        unstored: Unstored = "zero",
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        max_bins: int = 255,
        max_bins_by_column: Any = None,
        max_categories: int | None = None,
        rare_categories: float = 0.0,
        min_samples_bin: int = 1,
        bin_sample: int = 200_000,
        border_type: str = "quantiles",
        forced_bins: Any = None,
        use_missing: bool = True,
        zero_as_missing: bool = False,
        bundling: str = "count",
        max_conflict_rate: float = 0.0,
        precision: str = "packed",
        class_weight: str | Mapping[Any, float] | None = None,
        scale_pos_weight: float | None = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        importance_type: Literal["gain", "split", "prediction"] = "gain",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.growth = growth
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.max_delta_step = max_delta_step
        self.leaf_estimation = leaf_estimation
        self.leaf_iterations = leaf_iterations
        self.subsample = subsample
        self.sampling = sampling
        self.bagging_temperature = bagging_temperature
        self.mvs_reg = mvs_reg
        self.subsample_freq = subsample_freq
        self.positive_subsample = positive_subsample
        self.negative_subsample = negative_subsample
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.path_smooth = path_smooth
        self.extra_trees = extra_trees
        self.split_score = split_score
        self.random_strength = random_strength
        self.forced_splits = forced_splits
        self.split_finder = split_finder
        self.proposals = proposals
        self.sketch_eps = sketch_eps
        self.booster = booster
        self.permutations = permutations
        self.prefix_growth = prefix_growth
        self.num_parallel_tree = num_parallel_tree
        self.rate_drop = rate_drop
        self.skip_drop = skip_drop
        self.one_drop = one_drop
        self.sample_type = sample_type
        self.normalize_type = normalize_type
        self.max_drop = max_drop
        self.feature_selector = feature_selector
        self.top_k = top_k
        self.base_score = base_score
        self.categories = categories
        self.max_cat_to_onehot = max_cat_to_onehot
        self.max_cat_threshold = max_cat_threshold
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.min_samples_category = min_samples_category
        self.max_combination = max_combination
        self.prior = prior
        self.prior_weight = prior_weight
        self.statistic_bins = statistic_bins
        self.target_borders = target_borders
        self.counters = counters
        self.categorical_features = categorical_features
        self.unstored = unstored
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints
        self.max_bins = max_bins
        self.max_bins_by_column = max_bins_by_column
        self.max_categories = max_categories
        self.rare_categories = rare_categories
        self.min_samples_bin = min_samples_bin
        self.bin_sample = bin_sample
        self.border_type = border_type
        self.forced_bins = forced_bins
        self.use_missing = use_missing
        self.zero_as_missing = zero_as_missing
        self.bundling = bundling
        self.max_conflict_rate = max_conflict_rate
        self.precision = precision
        self.class_weight = class_weight
        self.scale_pos_weight = scale_pos_weight
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.importance_type = importance_type
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_loss(self, n_classes: int) -> Loss:
        binary = n_classes == 2
        if callable(self.loss):
            return make_loss(
                self.loss, n_outputs=1 if binary else n_classes, link="logit" if binary else "softmax"
            )
        name = ("logistic" if binary else "softmax") if self.loss == "auto" else self.loss
        several = name in ("softmax", "one_vs_rest")
        if name in ("logistic", "exponential", "hinge") and not binary:
            raise InputError(f"loss={name!r} is for two classes, but y has {n_classes}; use 'softmax'.")
        if several and binary:
            raise InputError(f"loss={name!r} is for three classes or more, but y has 2; use 'logistic'.")
        loss = make_loss(name, n_classes=n_classes) if several else make_loss(name)
        if loss.task == "regression":
            raise InputError(
                f"loss={name!r} is for regression; a classifier takes 'logistic', 'exponential', 'hinge', 'softmax', "
                "'one_vs_rest' or a function."
            )
        return loss

    def _class_weights(
        self, codes: NDArray[np.int64], classes: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Row weights times the weights of the classes."""
        factors = class_factors(self.class_weight, codes, classes, weight)
        if self.scale_pos_weight is not None:
            if len(classes) != 2:
                raise InputError(
                    f"scale_pos_weight is for two classes, but y has {len(classes)}; use class_weight."
                )
            factors[1] *= self.scale_pos_weight
        if (factors == 1.0).all():
            return weight
        return factors[codes] if weight is None else factors[codes] * weight


class BoostedTreesRegressor(RegressorTask, ExplainedTrees, BoostedTrees):
    """Gradient-boosted trees for regression.

    The same data, parameters and seed give the same model, byte for byte, on any number of threads.

    Parameters
    ----------
    loss : "auto" (squared), "absolute", "mape", "huber", "pseudo_huber", "fair", "log_cosh", "squared_log", "quantile",
        "normal" (mean and deviation), "cross_entropy" (labels from 0 to 1), "poisson", "gamma", "tweedie" or a function
    huber_delta, quantile_alpha, tweedie_power, fair_scale : the option of the loss of that name; several values of
        quantile_alpha make a prediction each

    All parameters are listed, with their ranges, in ``weald.params.PARAMETERS`` and in the documentation.

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("diamonds")
    >>> model = weald.BoostedTreesRegressor(n_estimators=20).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.9
    True
    """

    def __init__(
        self,
        loss: str | LossFunction = "auto",
        *,
        huber_delta: float | None = None,
        quantile_alpha: float | Sequence[float] | None = None,
        tweedie_power: float | None = None,
        fair_scale: float | None = None,
        n_estimators: int = 100,
        learning_rate: float | Literal["auto"] = 0.1,
        growth: str = "leafwise",
        max_leaves: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        reg_lambda: float | None = None,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        max_delta_step: float | None = None,
        leaf_estimation: str = "auto",
        leaf_iterations: int = 1,
        subsample: float = 1.0,
        sampling: str = "uniform",
        bagging_temperature: float = 1.0,
        mvs_reg: float | None = None,
        subsample_freq: int = 1,
        positive_subsample: float | None = None,
        negative_subsample: float | None = None,
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        path_smooth: float = 0.0,
        extra_trees: bool = False,
        split_score: str = "newton_l2",
        random_strength: float = 0.0,
        forced_splits: Any = None,
        split_finder: str = "hist",
        proposals: str = "global",
        sketch_eps: float | None = None,
        booster: str = "plain",
        permutations: int = 3,
        prefix_growth: float = 2.0,
        num_parallel_tree: int = 1,
        rate_drop: float = 0.0,
        skip_drop: float = 0.0,
        one_drop: bool = False,
        sample_type: str = "uniform",
        normalize_type: str = "tree",
        max_drop: int = 0,
        feature_selector: str = "cyclic",
        top_k: int = 0,
        base_score: Any = None,
        categories: str = "onehot",
        max_cat_to_onehot: int = 4,
        max_cat_threshold: int = 64,
        cat_smooth: float = 0.0,
        cat_l2: float = 0.0,
        min_samples_category: int = 1,
        max_combination: int = 4,
        prior: Any = "mean",
        prior_weight: float = 1.0,
        statistic_bins: int = 32,
        target_borders: int = 1,
        counters: bool = True,
        categorical_features: Literal["auto"] | Sequence[str | int] = "auto",
        unstored: Unstored = "zero",
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        max_bins: int = 255,
        max_bins_by_column: Any = None,
        max_categories: int | None = None,
        rare_categories: float = 0.0,
        min_samples_bin: int = 1,
        bin_sample: int = 200_000,
        border_type: str = "quantiles",
        forced_bins: Any = None,
        use_missing: bool = True,
        zero_as_missing: bool = False,
        bundling: str = "count",
        max_conflict_rate: float = 0.0,
        precision: str = "packed",
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        importance_type: Literal["gain", "split", "prediction"] = "gain",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile_alpha = quantile_alpha
        self.tweedie_power = tweedie_power
        self.fair_scale = fair_scale
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.growth = growth
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.max_delta_step = max_delta_step
        self.leaf_estimation = leaf_estimation
        self.leaf_iterations = leaf_iterations
        self.subsample = subsample
        self.sampling = sampling
        self.bagging_temperature = bagging_temperature
        self.mvs_reg = mvs_reg
        self.subsample_freq = subsample_freq
        self.positive_subsample = positive_subsample
        self.negative_subsample = negative_subsample
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.path_smooth = path_smooth
        self.extra_trees = extra_trees
        self.split_score = split_score
        self.random_strength = random_strength
        self.forced_splits = forced_splits
        self.split_finder = split_finder
        self.proposals = proposals
        self.sketch_eps = sketch_eps
        self.booster = booster
        self.permutations = permutations
        self.prefix_growth = prefix_growth
        self.num_parallel_tree = num_parallel_tree
        self.rate_drop = rate_drop
        self.skip_drop = skip_drop
        self.one_drop = one_drop
        self.sample_type = sample_type
        self.normalize_type = normalize_type
        self.max_drop = max_drop
        self.feature_selector = feature_selector
        self.top_k = top_k
        self.base_score = base_score
        self.categories = categories
        self.max_cat_to_onehot = max_cat_to_onehot
        self.max_cat_threshold = max_cat_threshold
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.min_samples_category = min_samples_category
        self.max_combination = max_combination
        self.prior = prior
        self.prior_weight = prior_weight
        self.statistic_bins = statistic_bins
        self.target_borders = target_borders
        self.counters = counters
        self.categorical_features = categorical_features
        self.unstored = unstored
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints
        self.max_bins = max_bins
        self.max_bins_by_column = max_bins_by_column
        self.max_categories = max_categories
        self.rare_categories = rare_categories
        self.min_samples_bin = min_samples_bin
        self.bin_sample = bin_sample
        self.border_type = border_type
        self.forced_bins = forced_bins
        self.use_missing = use_missing
        self.zero_as_missing = zero_as_missing
        self.bundling = bundling
        self.max_conflict_rate = max_conflict_rate
        self.precision = precision
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.importance_type = importance_type
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_loss(self) -> Loss:
        name = "squared" if self.loss == "auto" else self.loss
        options = {}
        for option, owners in _LOSS_OPTIONS.items():
            value = getattr(self, option)
            if value is None:
                continue
            if name not in owners:
                raise InputError(
                    f"{option} belongs to loss={' or '.join(map(repr, owners))}, but loss is {self.loss!r}; "
                    f"leave {option} at None."
                )
            options[option] = value
        loss = make_loss(name, **options)
        if loss.task == "classification":
            raise InputError(f"loss={name!r} is for classification; use BoostedTreesClassifier.")
        return loss

    def predict_deviation(self, X: Any) -> NDArray[np.float64]:
        """The predicted standard deviation of every row's label, (rows,), of a model with loss="normal"."""
        scores = self._raw(X)
        if self._model.link != "normal":
            raise NotSupportedError(
                f"a model with loss={self._model.loss!r} predicts no deviation; fit one with loss='normal'."
            )
        return exp_of(scores[1])
