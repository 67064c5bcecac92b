"""Gradient boosting as Friedman (2001) wrote it, with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinChoices, BinnedTable, BinWishes, read_training_table
from weald.data import read_weights
from weald.estimators.boosted.fitted import BoostedModel
from weald.estimators.classical.gradient_training import (
    EarlierFit,
    GivenTable,
    init_scores,
    train_by_friedman,
)
from weald.estimators.classical.steps import TreeStep
from weald.estimators.classical.tree_choices import count_features
from weald.estimators.shared.persistence import FittedModel
from weald.estimators.shared.tasks import ClassifierTask, RegressorTask
from weald.forest.container import Container
from weald.losses import Loss, friedman_loss
from weald.params.declare import (
    CategoricalFeatures,
    RandomState,
    Threads,
    anything,
    documented,
    flag,
    number,
    one_of,
    validate,
    whole,
)
from weald.params.settable import Settable
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError
from weald.training.boosting.rounds import History

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row

Monitor = Callable[[int, Any, dict[str, Any]], object]


@dataclass(kw_only=True, repr=False, eq=False)
class GradientBoosting(BoostedModel, Settable):
    """What classifier and regressor share; use one of those."""

    loss: Annotated[
        str,
        anything(
            "What is minimised. A classifier's: 'log_loss', the deviance (logistic, or multinomial with a tree per class and "
            "round), or 'exponential', AdaBoost's loss of two classes. A regressor's: 'squared_error' (LS), "
            "'absolute_error' (LAD), 'huber' or 'quantile'."
        ),
    ]
    learning_rate: Annotated[float, number("Share of every tree that is added.", 0, open_low=True)] = 0.1
    n_estimators: Annotated[int, whole("Rounds of boosting.", 1, 10_000_000)] = 100
    subsample: Annotated[float, number("Share of rows drawn for every round.", 0, 1, open_low=True)] = 1.0
    criterion: Annotated[
        str,
        one_of(
            "What a split of the negative gradients must lower most. Both order the splits of a node by "
            "sum_l² / w_l + sum_r² / w_r of the negative gradients, so that they grow the same trees.",
            "friedman_mse",
            "squared_error",
        ),
    ] = "friedman_mse"
    min_samples_split: Annotated[
        int | float, anything("Rows that a node must have to be split: a number, or a share of all.")
    ] = 2
    min_samples_leaf: Annotated[
        int | float, anything("Rows that a leaf must have: a number, or a share of all.")
    ] = 1
    min_weight_fraction_leaf: Annotated[
        float, number("Share of the weight of a tree's rows in a leaf.", 0, 0.5)
    ] = 0.0
    max_depth: Annotated[
        int | None, whole("Depth of a tree; None: no limit.", 1, 1_000_000, optional=True)
    ] = 3
    min_impurity_decrease: Annotated[
        float,
        number(
            "How much a split must lower the squared error of the negative gradients, a unit of weight.", 0
        ),
    ] = 0.0
    init: Annotated[
        Any,
        anything(
            "Where boosting starts: None (the best constant; of classes, their shares), 'zero', or an estimator: "
            "a regressor, or a classifier with predict_proba."
        ),
    ] = None
    random_state: RandomState = None
    max_features: Annotated[
        Any, anything("Columns drawn for every node: a number, a share, 'sqrt', 'log2'; None: all.")
    ] = None
    verbose: Annotated[int, whole("0: silent; 1 or more: progress.", 0)] = 0
    max_leaf_nodes: Annotated[
        int | None,
        whole("Leaves of a tree, which then grows best first; None: no limit.", 2, 2**24, optional=True),
    ] = None
    warm_start: Annotated[bool, flag("fit goes on from the trees that are there.")] = False
    validation_fraction: Annotated[
        float, number("Share of rows held out for n_iter_no_change.", 0, 1, open_low=True)
    ] = 0.1
    n_iter_no_change: Annotated[
        int | None,
        whole(
            "Stop when the held-out loss is no better than any of so many before; None: never.",
            1,
            optional=True,
        ),
    ] = None
    tol: Annotated[float, number("By how much a loss must be smaller to be better.", 0)] = 1e-4
    ccp_alpha: Annotated[
        float, number("Cost-complexity pruning, which boosting does without: must be 0.", 0)
    ] = 0.0
    line_search: Annotated[
        str,
        one_of(
            "The step along a tree: the best of every leaf (one Newton step), the best of the whole tree (Friedman's "
            "Algorithm 1), or the tree's own values, which are its projection sum(r h) / sum(h h).",
            "leaf",
            "tree",
            "projection",
        ),
    ] = "leaf"
    max_bins: Annotated[int, whole("Bins of a column, missing values apart.", 2, 255)] = 255
    categorical_features: CategoricalFeatures = "auto"
    n_jobs: Threads = None

    def _bin_wishes(self) -> BinWishes | None:
        """The bins that it wants, which `weald.binning.bin_once` asks for: an init estimator needs the table itself."""
        return self._reading() if self.init is None or isinstance(self.init, str) else None

    def _reading(self) -> BinWishes:
        return BinWishes(BinChoices(self.max_bins), self.categorical_features)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, monitor: Monitor | None = None) -> Any:
        """Train on a table.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix, list of rows, or a dict of columns; or a table
            that `weald.binning.bin_once` has binned, whose bins are then used as they are.
        y : labels, one a row.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        monitor : function(number, estimator, variables) that is called after every round and stops training by
            returning True; ``estimator.train_score_`` has the losses so far, ``variables["state"]`` the round.
        """
        validate(self)
        if self.ccp_alpha > 0:
            raise NotSupportedError(
                f"ccp_alpha={self.ccp_alpha} is not supported; limit trees by max_depth, max_leaf_nodes or "
                "min_impurity_decrease."
            )
        earlier = None
        if self.warm_start and self.__sklearn_is_fitted__():
            earlier = EarlierFit(self._model, self.init_)
        self._forget()
        dataset = read_training_table(
            X, self._reading(), type(self).__name__, None if earlier is None else earlier.model.schema
        )
        if isinstance(dataset, BinnedTable) and self._bin_wishes() is None:
            raise InputError(
                f"init={type(self.init).__name__} cannot read a binned table; pass the table itself."
            )
        labels = self._labels(y, dataset.n_rows, read_weights(sample_weight, dataset.n_rows))
        labels.loss.check_target(labels.y)
        model, init = train_by_friedman(self, GivenTable(X, dataset, labels), monitor, earlier)
        self._set_model(model)
        self.init_: Any = init
        return self

    def _set_model(self, model: FittedModel) -> None:
        super()._set_model(model)
        self.init_ = self.init
        self.n_estimators_ = model.forest.n_rounds
        self.n_trees_per_iteration_ = model.forest.n_outputs
        self.max_features_ = count_features(self.max_features, model.schema.n_columns)
        self._set_losses(model.history)

    def _set_losses(self, history: History) -> None:
        """The losses of every round as scikit-learn names them."""
        self.train_score_ = np.array(history["train"]["loss"])
        if "out_of_bag" in history:
            self.oob_scores_ = np.array(history["out_of_bag"]["loss"])
            self.oob_improvement_ = np.array(history["out_of_bag"]["improvement"])
            self.oob_score_ = float(self.oob_scores_[-1])

    def _raw(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        scores = super()._raw(X, n_rounds)
        offset = self._offset(X)
        return scores if offset is None else scores + offset

    def _offset(self, X: Any) -> NDArray[np.float64] | None:
        """The scores of the init estimator, if there is one."""
        if self.init_ is None or isinstance(self.init_, str):
            return None
        return init_scores(self.init_, X, self._model.link, self._model.forest.n_outputs)

    def _staged(self, X: Any) -> Iterator[NDArray[np.float64]]:
        stages, offset = super()._staged(X), self._offset(X)
        return stages if offset is None else (scores + offset for scores in stages)

    @cached_property
    def estimators_(self) -> NDArray[Any]:
        """The trees as regressors, (rounds, outputs): ``learning_rate`` times their predictions add up to the scores."""
        model = self._fitted()
        trees = replace(model.forest, base_score=np.zeros(model.forest.n_outputs))
        steps = np.empty((trees.n_rounds, trees.n_outputs), dtype=object)
        for index in range(trees.n_trees):
            steps.flat[index] = TreeStep(trees, model.schema, index, self.learning_rate_)
        return steps

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the squared error that the trees' splits took from the negative gradients."""
        importances = self._fitted().forest.importances("gain")
        total = importances.sum()
        return importances / total if total > 0 else importances

    def _to_bytes(self) -> bytes:
        self._fitted()
        if self.init_ is not None and not isinstance(self.init_, str):
            raise NotSupportedError(
                f"init={type(self.init_).__name__} cannot be part of a model file; "
                "use pickle or joblib, or fit with init=None."
            )
        return super()._to_bytes()

    def _lower(self, builder: Builder, row: Row) -> Answer:
        if self.init_ is not None and not isinstance(self.init_, str):
            raise NotSupportedError(
                f"init={type(self.init_).__name__} cannot be exported; fit with init=None, or export trees and init apart."
            )
        return super()._lower(builder, row)

    @classmethod
    def _from_content(cls, content: Container) -> Any:
        model = super()._from_content(content)
        if not (model.init is None or model.init == "zero"):
            raise ModelFileError(f"The file's init is {model.init!r:.40}; a model file has none, or 'zero'.")
        return model

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "init": self.__dict__.get("init_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if state["file"] is not None:
            self.init_ = state["init"]


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class GradientBoostingClassifier(ClassifierTask, GradientBoosting):
    """Friedman's gradient boosting for classification.

    Regression trees are fitted to the negative gradients of the loss, one after another; the loss decides how far the
    scores move along each. The same data, parameters and seed give the same model, byte for byte, on any number of
    threads.

    Attributes
    ----------
    classes_ : the classes, sorted
    estimators_ : the trees as regressors, (rounds, 1 or classes)
    train_score_ : the loss after every round, of the rows that the round was fitted on
    oob_scores_, oob_improvement_, oob_score_ : with ``subsample`` below 1, the loss of the rows left out of a round,
        how much the round improved it, and the last loss
    n_estimators_ : the number of rounds
    init_ : the fitted init estimator, or what ``init`` is
    forest_ : the trees

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("penguins")
    >>> model = weald.GradientBoostingClassifier(n_estimators=10).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.95
    True
    """

    loss: str = "log_loss"

    def _make_loss(self, n_classes: int) -> Loss:
        if self.loss not in ("log_loss", "exponential"):
            raise InputError(f"loss must be 'log_loss' or 'exponential', not {self.loss!r}.")
        if self.loss == "exponential" and n_classes > 2:
            raise InputError(f"loss='exponential' is for two classes, but y has {n_classes}; use 'log_loss'.")
        return friedman_loss(self.loss, n_classes=n_classes)

    def apply(self, X: Any, n_rounds: int | None = None) -> NDArray[np.int32]:
        """The node, by its number within the tree, that every row reaches: (rows, rounds, outputs).

        ``n_rounds``: of the first so many rounds only.
        """
        leaves = super().apply(X, n_rounds)
        trees = self.n_trees_per_iteration_
        return leaves.reshape(len(leaves), leaves.shape[1] // trees, trees)


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class GradientBoostingRegressor(RegressorTask, GradientBoosting):
    """Friedman's gradient boosting for regression.

    Regression trees are fitted to the negative gradients of the loss, one after another; the loss decides how far the
    scores move along each. With the squared loss the negative gradients are the residuals: the boosting tree. The same
    data, parameters and seed give the same model, byte for byte, on any number of threads.

    The attributes are those of `GradientBoostingClassifier`.

    Examples
    --------
    >>> import weald
    >>> data = weald.datasets.load("diamonds")
    >>> model = weald.GradientBoostingRegressor(n_estimators=20).fit(data.data, data.target)
    >>> model.score(data.data, data.target) > 0.9
    True
    """

    loss: str = "squared_error"
    alpha: Annotated[
        float,
        number(
            "The quantile of the quantile loss; for huber the quantile of the absolute residuals beyond which the loss is "
            "linear, taken anew in every round.",
            0,
            1,
            open_low=True,
        ),
    ] = 0.9

    def _make_loss(self) -> Loss:
        known = ("squared_error", "absolute_error", "huber", "quantile")
        if self.loss not in known:
            raise InputError(f"loss must be one of {', '.join(map(repr, known))}, not {self.loss!r}.")
        return friedman_loss(self.loss, self.alpha)
