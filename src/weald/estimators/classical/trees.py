"""What decision trees, random forests and extra trees share; the classes for use are in modules of those names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from weald.binning import (
    BinChoices,
    BinnedTable,
    BinWishes,
    DenseBins,
    bins_of,
    dense_bins,
    with_extremes,
)
from weald.binning.gathered import gathered_bins
from weald.binning.sharded_table import ShardedTable, read_training_rows
from weald.data import Dataset, Schema, read_table, read_weights
from weald.estimators.classical.importance import forest_importances
from weald.estimators.classical.tree_choices import cart_rules, count_features
from weald.estimators.classical.tree_labels import TreeLabels, Weights, class_labels, regression_labels
from weald.estimators.classical.tree_models import TreeModel, forest_scores, from_content, to_bytes
from weald.estimators.shared.block_labels import check_brings_labels, labels_of_all
from weald.estimators.shared.fitting import Fitting
from weald.estimators.shared.plain import parameters_to_json
from weald.explain.shap import shap_values, weighed_by_cover
from weald.forest.container import Container, unpack
from weald.forest.forest import Forest
from weald.forest.predict import leaf_indices
from weald.params.declare import (
    CategoricalFeatures,
    RandomState,
    anything,
    number,
    one_of,
    validate,
    whole,
)
from weald.params.parameter import Parameter
from weald.params.settable import Settable
from weald.runtime.errors import NotSupportedError
from weald.runtime.progress import progress
from weald.runtime.random import seed_of
from weald.runtime.team import ALONE, Team
from weald.runtime.threads import hire
from weald.training.classical.random_forest import Bags, forest_keys, grow_forest
from weald.tree.cart import Draw

if TYPE_CHECKING:
    from weald.exchange.model import Answer, Builder
    from weald.exchange.rows import Row

Floats = NDArray[np.float64]

_BYTES_A_ROW = 48  # that a thread takes beside the bins: entries, counts and labels


@dataclass(kw_only=True, repr=False, eq=False)
class TreeEstimator(Fitting, Settable):
    """Trees on bins, grown by impurity; use one of the subclasses."""

    _of_fit = ("_model", "_bags", "_members")
    _weighs_by_cover = True

    criterion: Annotated[
        str,
        one_of(
            "What a split lowers. A classifier's is 'gini', 'entropy' or 'log_loss' (the same as 'entropy'); a regressor's "
            "'squared_error', 'friedman_mse', 'absolute_error' or 'poisson'.",
            "gini",
            "entropy",
            "log_loss",
            "squared_error",
            "friedman_mse",
            "absolute_error",
            "poisson",
        ),
    ] = "gini"
    max_depth: Annotated[
        int | None, whole("Depth of a tree; None: until leaves are pure.", 1, 1_000_000, optional=True)
    ] = None
    min_samples_split: Annotated[
        int | float, anything("Rows that a node must have to be split: a number or a share.")
    ] = 2
    min_samples_leaf: Annotated[int | float, anything("Rows that a leaf must have: a number or a share.")] = 1
    min_weight_fraction_leaf: Annotated[
        float, number("Share of the weight that a leaf must have.", 0, 0.5)
    ] = 0.0
    max_features: Annotated[
        int | float | str | None,
        anything("Columns looked at: a number, a share, 'sqrt', 'log2' or None for all."),
    ] = None
    random_state: RandomState = None
    max_leaf_nodes: Annotated[
        int | None, whole("Leaves of a tree; None: no limit.", 2, 2**24, optional=True)
    ] = None
    min_impurity_decrease: Annotated[float, number("How much a split must lower the impurity.", 0)] = 0.0
    ccp_alpha: Annotated[
        float, number("Must be 0: trees are not pruned; use max_leaf_nodes or max_depth.", 0)
    ] = 0.0
    monotonic_cst: Annotated[None, Parameter("", "none", None, "Not supported yet.")] = None
    max_bins: Annotated[int, whole("Bins of a column, missing values apart.", 2, 255)] = 255
    categorical_features: CategoricalFeatures = "auto"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Train on a table.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix, list of rows, or a dict of columns; or a table
            that `weald.binning.bin_once` has binned; or a table in blocks, which brings labels and weights of its own. Missing
            values and categories need no preparation.
        y : labels, one a row, or a column of them for every output.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        """
        validate(self)
        owner = type(self).__name__
        earlier = self._earlier()
        self._forget()
        table = read_training_rows(X, self._bin_wishes(), owner)
        if isinstance(table, ShardedTable):
            check_brings_labels(y, sample_weight)
            labels = self._labels(*labels_of_all(table))
        else:
            labels = self._labels(y, table.n_rows, read_weights(sample_weight, table.n_rows))
        tasks = hire(self._jobs())
        self._grow(table, labels, seed_of(self.random_state), earlier, tasks)
        return self

    def _bin_wishes(self) -> BinWishes:
        """The bins that it wants; see `weald.binning.bin_once`."""
        # A random threshold is drawn from all values alike: bins of like weight alone are too wide for that in the tail of a
        # skewed column, where most of the values between the extremes are.
        random = self._splitter() == "random"
        border_type = "uniform_and_quantiles" if random else "quantiles"
        return BinWishes(BinChoices(self.max_bins, border_type=border_type), self.categorical_features)

    def _labels(self, y: Any, n_rows: int, weight: Weights) -> TreeLabels:
        raise NotImplementedError

    def _draw(self, n_rows: int, n_features: int) -> Draw:
        """How a tree draws its rows and columns."""
        return Draw()

    def _earlier(self) -> tuple[TreeModel, Bags | None] | None:
        """The model that a warm start goes on from."""
        return None

    def _trees_wanted(self) -> int:
        return 1

    def _jobs(self) -> int | None:
        return None

    def _splitter(self) -> str:
        return "best"

    def _grow(
        self,
        table: Dataset | BinnedTable | ShardedTable,
        labels: TreeLabels,
        seed: int,
        earlier: tuple[TreeModel, Bags | None] | None,
        tasks: int,
    ) -> None:
        """Bin, grow and keep the model; rows without weight are left out."""
        bins, n_all = self._bins(table, labels.weight, seed, tasks), labels.cart.n_rows
        team: Team = table.bins.team if isinstance(table, ShardedTable) else ALONE
        kept = None
        if labels.weight is not None and not labels.weight.all():
            kept = np.flatnonzero(labels.weight)
            bins, labels = bins.take(kept), labels.take(kept)
        labels = labels.without_unit_weights()
        n_rows, n_features = labels.cart.n_rows, len(bins.columns)
        draw = self._draw(n_rows, n_features)
        per_tree = draw.columns_per_tree is not None
        per_node = None if per_tree else count_features(self.max_features, n_features)
        rules = cart_rules(self, n_rows, n_features, self._splitter(), per_node)
        start = None if earlier is None else earlier[0].forest
        n_earlier = 0 if start is None else start.n_trees
        keys = forest_keys(seed, self._trees_wanted() - n_earlier, n_earlier)
        weigh = self._weigh(labels, draw)
        verbose = bool(getattr(self, "verbose", 0))
        with progress(len(keys), "growing trees", verbose) as bar:
            forest = grow_forest(bins, labels.cart, weigh, rules, draw, keys, tasks, start, bar, team)
        self._bags: Bags | None = Bags(keys, n_all, kept, draw)
        if earlier is not None:
            self._bags = None if earlier[1] is None else self._bags.after(earlier[1])
        self._set_model(TreeModel(forest, table.schema, labels.classes, None))

    def _bins(
        self, table: Dataset | BinnedTable | ShardedTable, weight: Weights, seed: int, tasks: int
    ) -> DenseBins:
        """The bins of all rows; those of a table in blocks are gathered, as trees draw rows from everywhere."""
        random = self._splitter() == "random"
        if isinstance(table, ShardedTable):
            if random and table.bins.mapper.extremes is None:
                raise NotSupportedError(
                    f"{type(self).__name__} draws thresholds between the extremes of columns, which this table in blocks does "
                    "not keep; use RandomForestClassifier or RandomForestRegressor."
                )
            table.bins.memory.check_room(
                _BYTES_A_ROW * table.bins.n_total * tasks, "forests", "BoostedTrees* with booster='averaging'"
            )
            return gathered_bins(table.bins)
        bins = dense_bins(bins_of(table, weight, self._bin_wishes().choices, seed, tasks))
        return with_extremes(bins, table, weight) if random else bins

    def _weigh(self, labels: TreeLabels, draw: Draw) -> Any:
        """The rows' weights, or a function of a tree's key that gives them."""
        return labels.weight

    def _set_model(self, model: TreeModel) -> None:
        self._model = model if model.params else replace(model, params=parameters_to_json(self))
        self.forest_: Forest = model.forest
        self.n_outputs_ = model.n_outputs
        self._set_names(model.schema)
        if model.classes is not None:
            single = len(model.classes) == 1
            self.classes_ = model.classes[0] if single else list(model.classes)
            sizes = [len(found) for found in model.classes]
            self.n_classes_ = sizes[0] if single else sizes

    def _fitted(self) -> TreeModel:
        self._check_fitted()
        return self._model

    def _rows(self, X: Any) -> Dataset:
        """A table to predict, matched to that of the training; it may have no rows."""
        return read_table(X, schema=self._fitted().schema, owner=type(self).__name__, least_rows=0)

    def _means(self, X: Any) -> Floats:
        """The mean over the trees of what their leaves say, (numbers of a leaf, rows)."""
        model = self._fitted()
        dataset = self._rows(X)
        scores = forest_scores(model.forest, dataset, self._jobs())
        scores /= model.forest.n_trees
        return scores

    def _shap(self, X: Any) -> Floats:
        """Shapley values of what `_means` gives, (numbers of a leaf, rows, columns + 1); last what they are parts beside of."""
        model = self._fitted()
        dataset = self._rows(X)
        tasks = hire(self._jobs())
        values = shap_values(weighed_by_cover(model.forest), dataset.blocks(), dataset.n_rows, tasks)
        values /= model.forest.n_trees
        return values

    @property
    def feature_importances_(self) -> Floats:
        """Each column's share in the decrease of impurity; of several trees the mean."""
        return forest_importances(self._fitted().forest)[0]

    def _leaves(self, X: Any) -> NDArray[np.int32]:
        model = self._fitted()
        dataset = self._rows(X)
        tasks = hire(self._jobs())
        return leaf_indices(model.forest, dataset.blocks(), dataset.n_rows, tasks)

    def _to_bytes(self) -> bytes:
        return to_bytes(self, self._fitted())

    def _exchanged_schema(self) -> Schema:
        return self._fitted().schema

    def _lower(self, builder: Builder, row: Row) -> Answer:
        from weald.estimators.classical.lowering import lower_trees  # when a model is exported

        return lower_trees(self._fitted(), builder, row)

    @classmethod
    def _from_content(cls, content: Container) -> Any:
        params, model = from_content(cls, content)
        estimator = cls(**params)
        estimator._set_model(model)
        return estimator

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the parameters and, of a fitted model, the bytes of its model file and what training left beside it."""
        state: dict[str, Any] = {"params": self.get_params(deep=False)}
        if self.__sklearn_is_fitted__():
            beside = ("_bags", "oob_decision_function_", "oob_prediction_")
            state["file"] = self._to_bytes()
            state["beside"] = {name: self.__dict__[name] for name in beside if name in self.__dict__}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["params"])
        if "file" in state:
            self._set_model(from_content(type(self), unpack(state["file"]))[1])
            self.__dict__.update(state["beside"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags


@dataclass(kw_only=True, repr=False, eq=False)
class TreeClassifier(ClassifierMixin, TreeEstimator):  # type: ignore[misc]
    """Classes: their shares in the leaves are their probabilities."""

    class_weight: Annotated[
        Any,
        anything(
            "None, 'balanced', 'sqrt_balanced' (by the roots of the factors), "
            "'minority' (the lighter of two classes weighs as much as the other), a weight for every class, "
            "or a list of such dicts, one for every output; of forests also 'balanced_subsample' (among a tree's rows)."
        ),
    ] = None

    def _labels(self, y: Any, n_rows: int, weight: Weights) -> TreeLabels:
        return class_labels(y, n_rows, weight, self.class_weight, type(self).__name__)

    def _probabilities(self, means: Floats) -> list[Floats]:
        """(rows, classes) of every output."""
        classes = self._model.classes
        assert classes is not None
        if len(classes) == 1 and len(classes[0]) == 1:
            return [np.ones((means.shape[1], 1))]
        if not self._model.forest.has_vectors:
            return [np.column_stack([1.0 - means[0], means[0]])]
        ends = np.cumsum([len(found) for found in classes])[:-1]
        return [np.ascontiguousarray(part.T) for part in np.split(means, ends)]

    def _chosen(self, probabilities: list[Floats]) -> NDArray[Any]:
        """The most probable class of every row and output; of equals the first."""
        classes = self._model.classes
        assert classes is not None
        columns = [found[each.argmax(axis=1)] for found, each in zip(classes, probabilities, strict=True)]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, (rows, classes); a list of them, one for every output, where there are several."""
        probabilities = self._probabilities(self._means(X))
        return probabilities[0] if len(probabilities) == 1 else probabilities

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of `predict_proba`."""
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(probabilities, list):
                return [np.log(each) for each in probabilities]
            return np.log(probabilities)

    def shap_values(self, X: Any) -> Any:
        """What every column adds to the probabilities of every row, (rows, classes, columns + 1): exact Shapley values.

        A column that is left out sends a row both ways, in the proportion of the weight of the tree's own rows. The
        last number is the mean probability of these; with it a row's numbers add up to `predict_proba`. Of several outputs there
        is a list.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 2)
        >>> model = weald.RandomForestClassifier(5).fit(X, X[:, 0] > 20)
        >>> bool(np.allclose(model.shap_values(X).sum(axis=2), model.predict_proba(X)))
        True
        """
        values, model = self._shap(X), self._model
        assert model.classes is not None
        if not model.forest.has_vectors:  # one number, of the second class
            first, second = -values[0], values[0]
            first[:, -1] += 1.0
            values = np.stack([first, second][: len(model.classes[0])])
        ends = np.cumsum([len(found) for found in model.classes])[:-1]
        parts = [np.ascontiguousarray(part.swapaxes(0, 1)) for part in np.split(values, ends)]
        return parts[0] if len(parts) == 1 else parts

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row; (rows, outputs) where there are several outputs."""
        return self._chosen(self._probabilities(self._means(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@dataclass(kw_only=True, repr=False, eq=False)
class TreeRegressor(RegressorMixin, TreeEstimator):  # type: ignore[misc]
    """Numbers: a leaf's mean or median."""

    criterion: str = "squared_error"

    def _labels(self, y: Any, n_rows: int, weight: Weights) -> TreeLabels:
        return regression_labels(y, n_rows, weight, type(self).__name__)

    def predict(self, X: Any) -> Floats:
        """The predicted value of every row; (rows, outputs) where there are several outputs."""
        means = self._means(X)
        return means[0] if len(means) == 1 else np.ascontiguousarray(means.T)

    def shap_values(self, X: Any) -> Floats:
        """What every column adds to the prediction of every row, (rows, columns + 1): exact Shapley values.

        A column that is left out sends a row both ways, in the proportion of the weight of the tree's own rows. The
        last number is the mean prediction of these; with it a row's numbers add up to `predict`. Of several outputs:
        (rows, outputs, columns + 1).

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 2)
        >>> model = weald.RandomForestRegressor(5).fit(X, X[:, 0])
        >>> bool(np.allclose(model.shap_values(X).sum(axis=1), model.predict(X)))
        True
        """
        values = self._shap(X)
        return values[0] if len(values) == 1 else np.ascontiguousarray(values.swapaxes(0, 1))
