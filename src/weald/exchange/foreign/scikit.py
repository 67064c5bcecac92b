"""scikit-learn's fitted ensembles of trees, from the objects themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.exchanged import ExchangedModel
from weald.exchange.foreign.histogram_boosting import histogram_boosting
from weald.exchange.foreign.model import ForeignModel, schema_of
from weald.exchange.foreign.singles import at_most_of_doubles
from weald.exchange.foreign.trees import LEAF, ForeignTree, forest_of
from weald.exchange.model import Answer, Builder, Median, Output, TreeValues
from weald.runtime.errors import NotSupportedError

SYSTEM: Final = "scikit-learn"
_LN_2: Final = math.log(2.0)
_EULER: Final = 0.577215664901532860606512090082402431


def scikit_model(model: Any) -> ForeignModel | ExchangedModel:
    """The model of a fitted estimator."""
    from sklearn.utils.validation import check_is_fitted

    kind = type(model).__name__
    if kind not in READERS:
        raise NotSupportedError(f"a {kind} of scikit-learn cannot be read; {', '.join(sorted(READERS))} can.")
    check_is_fitted(model)
    return READERS[kind](model)


def _schema(model: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    return schema_of(
        [] if names is None else [str(name) for name in names],
        [None] * int(model.n_features_in_),
        names is not None,
    )


def _tree(tree: Any, value: NDArray[np.float64], columns: NDArray[np.int64] | None = None) -> ForeignTree:
    """A tree whose nodes have these values; ``columns``: those that it was grown on, where these are not all."""
    is_leaf = tree.children_left == -1
    feature = np.where(is_leaf, 0, tree.feature)
    feature = feature if columns is None else columns[feature]
    missing = getattr(tree, "missing_go_to_left", None)
    loss = tree.weighted_n_node_samples * tree.impurity
    left, right = np.where(is_leaf, 0, tree.children_left), np.where(is_leaf, 0, tree.children_right)
    gain = np.where(is_leaf, 0.0, loss - loss[left] - loss[right])
    return ForeignTree(
        np.where(is_leaf, LEAF, feature).astype(np.int64),
        np.where(is_leaf, 0.0, at_most_of_doubles(tree.threshold)),
        left.astype(np.int64),
        right.astype(np.int64),
        np.zeros(len(feature), np.bool_) if missing is None else missing.astype(np.bool_),
        {},
        value,
        tree.weighted_n_node_samples.astype(np.float64),
        gain,
    )


def _members(model: Any) -> list[Any]:
    return [model] if hasattr(model, "tree_") else list(model.estimators_)


def _mean_of_trees(model: Any) -> ForeignModel:
    """Trees whose leaves hold means or shares of classes; a forest's prediction is their mean."""
    members = _members(model)
    is_classifier = hasattr(model, "classes_")
    if is_classifier and isinstance(model.classes_, list):
        raise NotSupportedError(
            "the scikit-learn classifier has several targets; fit one for each, or read them one by one."
        )
    values = [member.tree_.value for member in members]
    if is_classifier:
        tables = [_shares(value[:, 0, :]) for value in values]
    else:
        tables = [value[:, :, 0] for value in values]
    if tables[0].shape[1] == 1:
        tables = [table[:, 0] for table in tables]
    trees = [_tree(member.tree_, table) for member, table in zip(members, tables, strict=True)]
    n_outputs = 1 if tables[0].ndim == 1 else tables[0].shape[1]
    forest = forest_of(trees, int(model.n_features_in_), np.zeros(n_outputs), averaged=len(trees) > 1)
    return ForeignModel(
        SYSTEM,
        type(model).__name__,
        forest,
        _schema(model),
        "identity",
        model.classes_ if is_classifier else None,
    )


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of classes, as the tree's predict_proba has them."""
    total = counts.sum(axis=1, keepdims=True)
    total[total == 0.0] = 1.0
    shares: NDArray[np.float64] = counts / total
    return shares


def _gradient_boosting(model: Any) -> ForeignModel:
    is_classifier = hasattr(model, "classes_")
    n_outputs = int(model.estimators_.shape[1])
    start = model.init_
    if start != "zero" and type(start).__name__ not in ("DummyClassifier", "DummyRegressor"):
        raise NotSupportedError(
            f"the scikit-learn model starts from the predictions of a {type(start).__name__}, which no forest can hold; "
            "fit it with init=None or init='zero'."
        )
    base = np.asarray(model._raw_predict_init(np.zeros((1, int(model.n_features_in_)))), np.float64)[0]
    rate = float(model.learning_rate)
    trees = [
        _tree(member.tree_, member.tree_.value[:, 0, 0] * rate)
        for round_ in model.estimators_
        for member in round_
    ]
    forest = forest_of(
        trees, int(model.n_features_in_), np.ascontiguousarray(np.broadcast_to(base, n_outputs))
    )
    link = "identity"
    if is_classifier:
        exponential = model.loss == "exponential"
        link = "softmax" if n_outputs > 1 else "half_logit" if exponential else "logit"
    return ForeignModel(
        SYSTEM,
        f"{type(model).__name__}({model.loss})",
        forest,
        _schema(model),
        link,
        model.classes_ if is_classifier else None,
    )


def _adaboost_classifier(model: Any) -> ForeignModel:
    """Every member votes for a class, as much as it weighs; a sum over trees whose leaves hold those votes."""
    n_classes = len(model.classes_)
    weights = np.asarray(model.estimator_weights_, np.float64)[: len(model.estimators_)]
    total = float(weights.sum())
    if not total > 0.0:
        raise NotSupportedError("the scikit-learn AdaBoostClassifier has members of no weight in all.")
    _check_trees(model.estimators_, "AdaBoostClassifier")
    trees = []
    for member, weight in zip(model.estimators_, weights.tolist(), strict=True):
        shares = member.tree_.value[:, 0, :]
        # Members know the classes by their own labels, which may lack some.
        chosen = np.searchsorted(model.classes_, member.classes_[shares.argmax(axis=1)])
        if n_classes == 2:
            value = np.where(chosen == 1, 1.0, -1.0) * (2.0 * weight / total)
        else:
            value = np.full((len(chosen), n_classes), -1.0 / (n_classes - 1))
            value[np.arange(len(chosen)), chosen] = 1.0
            value *= weight / total / (n_classes - 1)
        trees.append(_tree(member.tree_, value))
    n_outputs = 1 if n_classes == 2 else n_classes
    forest = forest_of(trees, int(model.n_features_in_), np.zeros(n_outputs))
    link = "logit" if n_classes == 2 else "softmax"
    return ForeignModel(SYSTEM, "AdaBoostClassifier", forest, _schema(model), link, model.classes_)


def _adaboost_regressor(model: Any) -> ExchangedModel:
    """The weighted median of the members, which no forest adds up to: a program of two steps."""
    _check_trees(model.estimators_, "AdaBoostRegressor")
    trees = [_tree(member.tree_, member.tree_.value[:, 0, 0]) for member in model.estimators_]
    forest = forest_of(trees, int(model.n_features_in_), np.zeros(1))
    builder = Builder(_schema(model))
    values = builder.add(TreeValues(builder.columns, forest))
    weights = tuple(np.asarray(model.estimator_weights_, np.float64)[: len(trees)].tolist())
    answer = Answer((), (Output(builder.add(Median(values, weights))),))
    return ExchangedModel(builder.model("AdaBoostRegressor", answer))


def _check_trees(members: Sequence[Any], owner: str) -> None:
    for member in members:
        if not hasattr(member, "tree_"):
            raise NotSupportedError(
                f"an {owner} over {type(member).__name__} cannot be read; one over trees can."
            )


def _isolation_forest(model: Any) -> ForeignModel:
    """The anomaly score, ``-score_samples``: 2 to the power of the mean path's length, negative, over that of random data."""
    usual = _path_length(np.array([float(model._max_samples)]))[0] if hasattr(model, "_max_samples") else None
    if not usual:
        raise NotSupportedError(
            "the scikit-learn IsolationForest has no number of samples; fit it on two rows or more."
        )
    trees = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        tree = member.tree_
        depth = _depths(tree) + _path_length(tree.n_node_samples.astype(np.float64))
        trees.append(_tree(tree, depth * (-_LN_2 / usual), np.asarray(columns, np.int64)))
    forest = forest_of(trees, int(model.n_features_in_), np.zeros(1), averaged=True)
    return ForeignModel(SYSTEM, "IsolationForest", forest, _schema(model), "log")


def _depths(tree: Any) -> NDArray[np.float64]:
    """The number of splits above every node; children come after their parent."""
    depth = np.zeros(tree.node_count)
    for node in np.flatnonzero(tree.children_left != -1).tolist():
        depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1.0
    return depth


def _path_length(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean number of comparisons of an unsuccessful search in a binary tree of so many rows (Liu et al., 2008)."""
    length = np.zeros(len(rows))
    length[rows == 2.0] = 1.0
    more = rows > 2.0
    length[more] = 2.0 * (np.log(rows[more] - 1.0) + _EULER) - 2.0 * (rows[more] - 1.0) / rows[more]
    return length


def _histogram_boosting(model: Any) -> ForeignModel:
    return histogram_boosting(model, SYSTEM, _schema(model))


#: Estimator of scikit-learn -> its reader.
READERS: Final[dict[str, Callable[[Any], ForeignModel | ExchangedModel]]] = {
    "RandomForestClassifier": _mean_of_trees,
    "RandomForestRegressor": _mean_of_trees,
    "ExtraTreesClassifier": _mean_of_trees,
    "ExtraTreesRegressor": _mean_of_trees,
    "DecisionTreeClassifier": _mean_of_trees,
    "DecisionTreeRegressor": _mean_of_trees,
    "ExtraTreeClassifier": _mean_of_trees,
    "ExtraTreeRegressor": _mean_of_trees,
    "GradientBoostingClassifier": _gradient_boosting,
    "GradientBoostingRegressor": _gradient_boosting,
    "HistGradientBoostingClassifier": _histogram_boosting,
    "HistGradientBoostingRegressor": _histogram_boosting,
    "AdaBoostClassifier": _adaboost_classifier,
    "AdaBoostRegressor": _adaboost_regressor,
    "IsolationForest": _isolation_forest,
}
