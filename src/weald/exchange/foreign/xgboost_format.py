"""XGBoost's models: JSON and UBJSON, with trees (gbtree, dart) or weights (gblinear)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.foreign.model import ForeignModel, numbered_classes, schema_of
from weald.exchange.foreign.reading import (
    MOST_COLUMNS,
    MOST_OUTPUTS,
    field,
    floats,
    integers,
    number_of,
    one_per,
    texts,
    whole_of,
)
from weald.exchange.foreign.singles import below
from weald.exchange.foreign.trees import LEAF, ForeignTree, by_rounds, forest_of, scaled
from weald.forest.predictor import Predictor
from weald.linear.model import LinearModel
from weald.losses.links import scores_of
from weald.runtime.errors import ModelFileError, NotSupportedError

SYSTEM: Final = "XGBoost"
_WHERE: Final = "the XGBoost model"
# Objective -> link; classifiers have classes.
_LINKS: Final = {
    "binary:logistic": "logit",
    "binary:logitraw": "logit",
    "binary:hinge": "step",
    "multi:softprob": "softmax",
    "multi:softmax": "softmax",
    "reg:logistic": "logit",
    "count:poisson": "log",
    "reg:gamma": "log",
    "reg:tweedie": "log",
    "survival:cox": "log",
    "survival:aft": "log",
    "reg:squarederror": "identity",
    "reg:linear": "identity",
    "reg:squaredlogerror": "identity",
    "reg:absoluteerror": "identity",
    "reg:pseudohubererror": "identity",
    "reg:quantileerror": "identity",
    "reg:expectileerror": "identity",
    "rank:ndcg": "identity",
    "rank:map": "identity",
    "rank:pairwise": "identity",
}
_CLASSIFIERS: Final = {
    "binary:logistic",
    "binary:logitraw",
    "binary:hinge",
    "multi:softprob",
    "multi:softmax",
}
# Where a set of categories takes the place of a threshold.
_BY_CATEGORY: Final = 1


@dataclass(frozen=True)
class _Shape:
    """How large the model is."""

    n_features: int
    n_outputs: int
    n_classes: int


def xgboost_model(content: Any) -> ForeignModel:
    """The model of what an XGBoost file holds, once it is parsed."""
    learner = field(content, "learner", dict, _WHERE)
    objective = field(field(learner, "objective", dict, _WHERE), "name", str, "its objective")
    if objective not in _LINKS:
        raise NotSupportedError(
            f"the XGBoost model's objective is {objective!r:.60}, which is not known here; "
            "for one of your own set its name to that of the nearest in the file's learner.objective."
        )
    sizes = field(learner, "learner_model_param", dict, _WHERE)
    shape = _shape_of(sizes)
    link = _LINKS[objective]
    base = _base_scores(sizes.get("base_score", "0.5"), link, objective, shape.n_outputs)
    booster = field(learner, "gradient_booster", dict, _WHERE)
    dictionaries, predictor = _predictor_of(learner, booster, shape, base)
    names = texts(learner.get("feature_names", []), "the model's feature_names")
    classes = numbered_classes(shape.n_classes) if objective in _CLASSIFIERS else None
    if classes is not None and shape.n_outputs > 1 and shape.n_classes < 2:
        classes, link = None, "sigmoids"  # several labels a row
    elif shape.n_outputs > 1 and link == "logit":
        link = "sigmoids"
    return ForeignModel(
        SYSTEM, objective, predictor, schema_of(names, dictionaries, bool(names)), link, classes
    )


def _shape_of(sizes: Any) -> _Shape:
    n_features = whole_of(sizes.get("num_feature", 0), "the model's num_feature", 1, MOST_COLUMNS)
    n_classes = whole_of(sizes.get("num_class", 0), "the model's num_class", 0, MOST_OUTPUTS)
    n_targets = whole_of(sizes.get("num_target", 1), "the model's num_target", 0, MOST_OUTPUTS)
    return _Shape(n_features, max(n_classes, n_targets, 1), n_classes)


def _base_scores(text: Any, link: str, objective: str, n_outputs: int) -> NDArray[np.float64]:
    """Where rows start, as scores; the file has predictions, a number or one for every output in brackets."""
    parts = str(text).strip("[]").split(",") if isinstance(text, str) else [text]
    given = np.array([number_of(part, "the model's base_score") for part in parts])
    if len(given) not in (1, n_outputs):
        raise ModelFileError(f"The model's base_score has {len(given)} numbers for {n_outputs} outputs.")
    if link == "logit" and objective != "binary:logitraw":  # whose base_score is a score already
        if not ((given > 0.0) & (given < 1.0)).all():
            raise ModelFileError(
                f"The model's base_score is {text!r:.40}; with {objective} it lies between 0 and 1."
            )
        given = scores_of("logit", given)[0]
    elif link == "log":
        if not (given > 0.0).all():
            raise ModelFileError(f"The model's base_score is {text!r:.40}; with {objective} it is above 0.")
        given = scores_of("log", given)[0]
    return np.ascontiguousarray(np.broadcast_to(given, n_outputs))


def _predictor_of(
    learner: Any, booster: Any, shape: _Shape, base: NDArray[np.float64]
) -> tuple[list[tuple[Any, ...] | None], Predictor]:
    name = field(booster, "name", str, "the model's gradient_booster")
    if name == "gblinear":
        return [None] * shape.n_features, _linear(field(booster, "model", dict, _WHERE), shape, base)
    weights = None
    if name == "dart":
        weights = floats(field(booster, "weight_drop", object, _WHERE), "the model's weight_drop")
        booster = field(booster, "gbtree", dict, _WHERE)
    elif name != "gbtree":
        raise NotSupportedError(f"the XGBoost model's booster is {name!r:.40}, which is not known here.")
    model = field(booster, "model", dict, _WHERE)
    stored = field(model, "trees", list, _WHERE)
    if weights is not None:
        one_per(weights, len(stored), "the model's weight_drop")
    is_category = _categorical(learner, stored, shape.n_features)
    dictionaries = _dictionaries(model.get("cats"), is_category, stored)
    sizes = [0 if own is None else len(own) for own in dictionaries]
    trees = [_tree(tree, number, shape, sizes) for number, tree in enumerate(stored)]
    if weights is not None:
        pairs = zip(trees, weights.tolist(), strict=True)
        trees = [replace(scaled(tree, weight), weight=weight) for tree, weight in pairs]
    if any(tree.value.ndim == 2 for tree in trees):
        return dictionaries, forest_of(trees, shape.n_features, base)
    outputs = integers(
        field(model, "tree_info", object, _WHERE), "the model's tree_info", 0, shape.n_outputs - 1
    )
    one_per(outputs, len(trees), "the model's tree_info")
    parallel = _parallel(model, len(trees), shape.n_outputs)
    trees = by_rounds(trees, outputs.tolist(), shape.n_outputs)
    return dictionaries, forest_of(trees, shape.n_features, base, parallel)


def _parallel(model: Any, n_trees: int, n_outputs: int) -> int:
    """How many trees a round adds to every output."""
    sizes = model.get("gbtree_model_param", {})
    stored = sizes.get("num_parallel_tree", 1) if isinstance(sizes, dict) else 1
    # Old files say 0 for one.
    parallel = max(whole_of(stored, "the model's num_parallel_tree", 0, 2**31 - 1), 1)
    return 1 if n_trees % (parallel * n_outputs) else parallel


def _linear(model: Any, shape: _Shape, base: NDArray[np.float64]) -> LinearModel:
    weights = floats(field(model, "weights", object, _WHERE), "the model's weights")
    one_per(weights, (shape.n_features + 1) * shape.n_outputs, "the model's weights")
    table = weights.reshape(shape.n_features + 1, shape.n_outputs).T
    rounds = whole_of(model.get("boosted_rounds", 0), "the model's boosted_rounds", 0, 2**31 - 1)
    # XGBoost starts all outputs of such a model where it starts the first.
    linear = LinearModel(
        np.full_like(base, base[0]),
        np.ascontiguousarray(table[:, -1]),
        np.ascontiguousarray(table[:, :-1]),
        rounds,
    )
    linear.validate()
    return linear


def _categorical(learner: Any, stored: Sequence[Any], n_features: int) -> NDArray[np.bool_]:
    """Which columns are categorical: by their types, and by the splits of files without types."""
    is_category = np.zeros(n_features, np.bool_)
    types = texts(learner.get("feature_types", []), "the model's feature_types")
    if types:
        one_per(np.array(types), n_features, "the model's feature_types")
        is_category |= np.array([kind == "c" for kind in types])
    for number, tree in enumerate(stored):
        where = f"tree {number}"
        kinds = integers(
            tree.get("split_type", []) if isinstance(tree, dict) else [], f"{where}'s split_type", 0, 1
        )
        if kinds.any():
            columns = integers(
                field(tree, "split_indices", object, where), f"{where}'s split_indices", 0, n_features - 1
            )
            one_per(columns, len(kinds), f"{where}'s split_indices")
            is_category[columns[kinds == _BY_CATEGORY]] = True
    return is_category


def _dictionaries(
    cats: Any, is_category: NDArray[np.bool_], stored: Sequence[Any]
) -> list[tuple[Any, ...] | None]:
    """The categories of every column: those that the file names, otherwise the codes up to the largest of a split."""
    named = _named_categories(cats, len(is_category))
    found: list[tuple[Any, ...] | None] = []
    largest = _largest_codes(stored, is_category)
    for column, is_one in enumerate(is_category.tolist()):
        if not is_one:
            found.append(None)
        else:
            found.append(named[column] or tuple(range(int(largest[column]) + 1)))
    return found


def _largest_codes(stored: Sequence[Any], is_category: NDArray[np.bool_]) -> NDArray[np.int64]:
    largest = np.full(len(is_category), -1)
    if is_category.any():
        for number, tree in enumerate(stored):
            columns = integers(
                field(tree, "split_indices", object, f"tree {number}"),
                f"tree {number}'s split_indices",
                0,
                len(is_category) - 1,
            )
            for node, codes in _sets(tree, number, len(columns)).items():
                largest[columns[node]] = max(largest[columns[node]], codes.max(initial=-1))
    return largest


def _named_categories(cats: Any, n_features: int) -> list[tuple[Any, ...]]:
    """The categories that the file names, in the order of their codes; none where it names none."""
    if not isinstance(cats, dict) or not cats.get("enc"):
        return [()] * n_features
    encoded = field(cats, "enc", list, "the model's cats")
    if len(encoded) != n_features:
        raise ModelFileError(f"The model's categories are of {len(encoded)} columns, not of {n_features}.")
    return [_categories_of(one, f"the categories of column {place}") for place, one in enumerate(encoded)]


def _categories_of(encoded: Any, where: str) -> tuple[Any, ...]:
    values = field(encoded, "values", object, where)
    if "offsets" not in encoded:
        numbers = floats(values, where).tolist()
        found: tuple[Any, ...] = tuple(int(value) if value.is_integer() else value for value in numbers)
    else:
        data = (integers(values, where, -128, 255) & 255).astype(np.uint8).tobytes()
        ends = integers(encoded["offsets"], f"the offsets of {where}", 0, len(data))
        if (np.diff(ends) < 0).any():
            raise ModelFileError(f"The offsets of {where} do not ascend.")
        try:
            found = tuple(
                data[begin:end].decode("utf-8")
                for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
            )
        except UnicodeDecodeError:
            raise ModelFileError(f"{where} are not valid text.") from None
    if len(set(found)) < len(found):
        raise ModelFileError(f"{where} are not all different.")
    return found


def _sets(tree: Any, number: int, n_nodes: int) -> dict[int, NDArray[np.int64]]:
    """Node -> codes that go right, of the nodes of a tree that test a category."""
    where = f"tree {number}'s categories"
    nodes = integers(tree.get("categories_nodes", []), f"{where}_nodes", 0, n_nodes - 1)
    codes = integers(tree.get("categories", []), where, 0, MOST_COLUMNS)
    begins = integers(tree.get("categories_segments", []), f"{where}_segments", 0, len(codes))
    sizes = integers(tree.get("categories_sizes", []), f"{where}_sizes", 0, len(codes))
    one_per(begins, len(nodes), f"{where}_segments")
    one_per(sizes, len(nodes), f"{where}_sizes")
    if int(sizes.sum()) > len(codes) or (begins + sizes > len(codes)).any():
        raise ModelFileError(f"{where} have fewer codes than their sizes say.")
    parts = zip(nodes.tolist(), begins.tolist(), sizes.tolist(), strict=True)
    return {node: codes[begin : begin + size] for node, begin, size in parts}


def _tree(tree: Any, number: int, shape: _Shape, sizes: Sequence[int]) -> ForeignTree:
    """A tree of the file; a number below its threshold goes left there, and a category that a node lists goes right."""
    where = f"tree {number}"
    left = integers(field(tree, "left_children", object, where), f"{where}'s left_children")
    n_nodes = len(left)

    def per_node(name: str) -> Any:
        values = field(tree, name, object, where)
        one_per(values if isinstance(values, list | np.ndarray) else (), n_nodes, f"{where}'s {name}")
        return values

    right = integers(per_node("right_children"), f"{where}'s right_children")
    column = integers(per_node("split_indices"), f"{where}'s split_indices", 0, shape.n_features - 1)
    numbers = floats(per_node("split_conditions"), f"{where}'s split_conditions")
    missing_left = integers(per_node("default_left"), f"{where}'s default_left", 0, 1) == 1
    cover = (
        floats(per_node("sum_hessian"), f"{where}'s sum_hessian")
        if "sum_hessian" in tree
        else np.zeros(n_nodes)
    )
    gain = (
        floats(per_node("loss_changes"), f"{where}'s loss_changes")
        if "loss_changes" in tree
        else np.zeros(n_nodes)
    )
    is_leaf = left == LEAF
    kinds = integers(tree.get("split_type", []), f"{where}'s split_type", 0, 1)
    by_category = np.zeros(n_nodes, np.bool_) if not len(kinds) else kinds == _BY_CATEGORY
    one_per(by_category, n_nodes, f"{where}'s split_type")
    numeric = ~is_leaf & ~by_category
    threshold = np.where(numeric, below(numbers.astype(np.float32)), 0.0)
    if np.isnan(threshold).any():
        raise ModelFileError(f"{where} has a split at -infinity, below which there is nothing.")
    sets = _left_sets(tree, number, by_category & ~is_leaf, column, sizes)
    value = np.where(is_leaf, numbers, 0.0)
    sizes_of_tree = tree.get("tree_param")
    if isinstance(sizes_of_tree, dict) and "size_leaf_vector" in sizes_of_tree and shape.n_outputs > 1:
        value = _vectors(tree, where, value, is_leaf, right, shape.n_outputs)
    feature = np.where(is_leaf, LEAF, column)
    return ForeignTree(feature, threshold, left, right, missing_left, sets, value, cover, gain)


def _left_sets(
    tree: Any, number: int, tests: NDArray[np.bool_], column: NDArray[np.int64], sizes: Sequence[int]
) -> dict[int, NDArray[np.int64]]:
    """Node -> codes that go left: those of the column that the node does not list."""
    listed = _sets(tree, number, len(column))
    found = {}
    budget = 0
    for node in np.flatnonzero(tests).tolist():
        size = sizes[int(column[node])]
        budget += size
        goes_left = np.ones(size, np.bool_)
        right = listed.get(node, np.zeros(0, np.int64))
        goes_left[right[right < size]] = False
        found[node] = np.flatnonzero(goes_left)
    if budget > 2**28:
        raise ModelFileError(f"Tree {number} has more categories in its splits than any memory holds.")
    return found


def _vectors(
    tree: Any,
    where: str,
    value: NDArray[np.float64],
    is_leaf: NDArray[np.bool_],
    right: NDArray[np.int64],
    n_outputs: int,
) -> NDArray[np.float64]:
    """What leaves add to every output, (nodes, outputs), where leaves are vectors; otherwise the values themselves."""
    size = whole_of(tree["tree_param"]["size_leaf_vector"], f"{where}'s size_leaf_vector", 0, MOST_OUTPUTS)
    if size <= 1:
        return value
    if size != n_outputs:
        raise ModelFileError(f"{where} has leaves of {size} numbers, but the model {n_outputs} outputs.")
    weights = floats(field(tree, "leaf_weights", object, where), f"{where}'s leaf_weights")
    if len(weights) % size:
        raise ModelFileError(f"{where}'s leaf_weights must have {size} numbers a leaf.")
    rows = weights.reshape(-1, size)
    if is_leaf.any() and not (right[is_leaf].min() >= 0 and right[is_leaf].max() < len(rows)):
        raise ModelFileError(f"{where} has a leaf without its leaf_weights.")
    found = np.zeros((len(value), size))
    found[is_leaf] = rows[right[is_leaf]]
    return found
