"""ONNX models that are one ensemble of trees: ai.onnx.ml's TreeEnsemble, and its older classifier and regressor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.exchange.foreign.model import ForeignModel, numbered_classes, schema_of
from weald.exchange.foreign.reading import MOST_COLUMNS, MOST_OUTPUTS, floats, integers, one_per, whole_of
from weald.exchange.foreign.singles import at_most, below
from weald.exchange.foreign.trees import LEAF, ForeignTree, forest_of
from weald.runtime.errors import ModelFileError, NotSupportedError
from weald.runtime.extras import load_extra

SYSTEM: Final = "ONNX"
_WHERE: Final = "the ONNX model"
# What a node of TreeEnsemble does with its number: as the older operators call it.
_MODES: Final = (
    "BRANCH_LEQ",
    "BRANCH_LT",
    "BRANCH_GTE",
    "BRANCH_GT",
    "BRANCH_EQ",
    "BRANCH_NEQ",
    "BRANCH_MEMBER",
)
_ENSEMBLES: Final = ("TreeEnsemble", "TreeEnsembleRegressor", "TreeEnsembleClassifier")
_LINKS: Final = {"NONE": "identity", "LOGISTIC": "sigmoids", "SOFTMAX": "softmax"}


def onnx_model(data: bytes) -> ForeignModel:
    """The model of an ONNX file; other files that it names are not opened."""
    onnx = load_extra("onnx", "weald.load_foreign of an ONNX file")
    try:
        model = onnx.load_model_from_string(data)
    except Exception as error:  # the protobuf library has an exception of its own
        raise ModelFileError(
            f"The file is neither JSON, UBJSON, LightGBM's text nor ONNX: {error}."
        ) from None
    nodes = [node for node in model.graph.node if node.op_type in _ENSEMBLES and node.domain == "ai.onnx.ml"]
    others = sorted(
        {_text(node.op_type) for node in model.graph.node} - {*_ENSEMBLES, "Cast", "Identity", "ZipMap"}
    )
    if len(nodes) != 1 or others:
        found = f"it has {len(nodes)}" + (f" beside {', '.join(others)[:100]}" if others else "")
        raise NotSupportedError(f"the ONNX model is read where it is one ensemble of trees; {found}.")
    return _model_of(nodes[0], _attributes(nodes[0], onnx), _columns_of(model))


def _attributes(node: Any, onnx: Any) -> dict[str, Any]:
    """The attributes of a node; tensors as arrays."""
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, onnx.TensorProto):
            if value.data_location == onnx.TensorProto.EXTERNAL or value.external_data:
                raise NotSupportedError("the ONNX model keeps numbers in another file; save it as one file.")
            try:
                value = onnx.numpy_helper.to_array(value)
            except Exception as error:
                raise ModelFileError(f"The ONNX model's {attribute.name} is damaged: {error}.") from None
        found[attribute.name] = value
    return found


def _model_of(node: Any, given: Mapping[str, Any], n_columns: int) -> ForeignModel:
    classes = None
    if node.op_type == "TreeEnsemble":
        trees, n_outputs, base = _trees_of_five(given)
        post = _named(given, "post_transform", 0, _POST_FIVE)
        aggregate = _named(given, "aggregate_function", 1, _AGGREGATES)
    else:
        trees, n_outputs, base, classes = _trees_of_three(given, node.op_type == "TreeEnsembleClassifier")
        post = _text(given.get("post_transform", b"NONE"))
        aggregate = _text(given.get("aggregate_function", b"SUM"))
    if post not in _LINKS:
        raise NotSupportedError(f"the ONNX model's post_transform is {post!r:.30}, which is not known here.")
    if aggregate not in ("SUM", "AVERAGE"):
        raise NotSupportedError(
            "the ONNX model takes the minimum or the maximum of its trees; a forest adds them up."
        )
    link = _LINKS[post]
    if link == "sigmoids" and n_outputs == 1:
        link = "logit"
    if classes is not None and n_outputs == 1 and link != "logit":
        raise NotSupportedError(
            "the ONNX classifier has one score for two classes without LOGISTIC; give both classes weights."
        )
    n_features = max(1 + max((int(tree.feature.max()) for tree in trees), default=0), n_columns, 1)
    forest = forest_of(trees, n_features, base, averaged=aggregate == "AVERAGE")
    schema = schema_of([], [None] * forest.n_features, False)
    return ForeignModel(SYSTEM, node.op_type, forest, schema, link, classes, has_cover=False)


def _named(given: Mapping[str, Any], name: str, default: int, names: tuple[str, ...]) -> str:
    """What a number of TreeEnsemble's stands for."""
    return names[whole_of(given.get(name, default), f"the ONNX model's {name}", 0, len(names) - 1)]


def _columns_of(model: Any) -> int:
    """The number of columns of the only input, where the model says it; otherwise 0."""
    if len(model.graph.input) != 1:
        return 0
    dims = model.graph.input[0].type.tensor_type.shape.dim
    size = dims[1].dim_value if len(dims) == 2 else 0
    return int(size) if 0 <= size <= MOST_COLUMNS else 0


_AGGREGATES: Final = ("AVERAGE", "SUM", "MIN", "MAX")
_POST_FIVE: Final = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _ints(given: Mapping[str, Any], name: str, least: int = 0) -> NDArray[np.int64]:
    return integers(_array(given, name, np.int64), f"the ONNX model's {name}", least)


def _list(given: Mapping[str, Any], name: str) -> list[Any]:
    """An attribute that is a list."""
    found = given.get(name, [])
    if not isinstance(found, list | tuple):
        raise ModelFileError(f"The ONNX model's {name} must be a list.")
    return list(found)


def _array(given: Mapping[str, Any], name: str, dtype: Any = None) -> NDArray[Any]:
    """An attribute as a flat array; by default of the type that its tensor has."""
    try:
        found = np.asarray(given.get(name, ()), dtype).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        found = np.array([None])
    if found.dtype.kind not in "iuf":
        raise ModelFileError(f"The ONNX model's {name} must be numbers.")
    return found


def _thresholds(
    modes: list[str], values: NDArray[Any], is_leaf: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Thresholds of ``at most goes left``, and which nodes' children change places for it."""
    double = values.dtype == np.float64
    threshold, turned = np.zeros(len(values)), np.zeros(len(values), np.bool_)
    leq = values.astype(np.float64) if double else at_most(values.astype(np.float32))
    less = np.nextafter(values.astype(np.float64), -np.inf) if double else below(values.astype(np.float32))
    for place, mode in enumerate(modes):
        if is_leaf[place]:
            continue
        if mode not in ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"):
            raise NotSupportedError(
                f"the ONNX model has nodes of the mode {mode[:30]!r}, which is not known here."
            )
        threshold[place] = leq[place] if mode in ("BRANCH_LEQ", "BRANCH_GT") else less[place]
        turned[place] = mode in ("BRANCH_GT", "BRANCH_GTE")
    if np.isnan(threshold).any():
        raise ModelFileError("The ONNX model has a threshold that nothing can be compared with.")
    return threshold, turned


def _tree(
    feature: NDArray[np.int64],
    threshold: NDArray[np.float64],
    yes: NDArray[np.int64],
    no: NDArray[np.int64],
    missing_yes: NDArray[np.bool_],
    turned: NDArray[np.bool_],
    value: NDArray[np.float64],
) -> ForeignTree:
    zeros = np.zeros(len(feature))
    return ForeignTree(
        feature,
        threshold,
        np.where(turned, no, yes),
        np.where(turned, yes, no),
        missing_yes ^ turned,
        {},
        value[:, 0] if value.shape[1] == 1 else value,
        zeros,
        zeros,
    )


def _trees_of_five(given: Mapping[str, Any]) -> tuple[list[ForeignTree], int, NDArray[np.float64]]:
    """Trees of TreeEnsemble: inner nodes and leaves apart, a tree a root."""
    n_outputs = whole_of(given.get("n_targets", 1), "the ONNX model's n_targets", 1, MOST_OUTPUTS)
    feature = _ints(given, "nodes_featureids")
    inner = len(feature)
    modes_given = _array(given, "nodes_modes", np.int64)
    splits = _array(given, "nodes_splits")
    children = [
        (_ints(given, f"nodes_{side}nodeids"), _ints(given, f"nodes_{side}leafs"))
        for side in ("true", "false")
    ]
    missing = _ints(given, "nodes_missing_value_tracks_true")
    weights = _array(given, "leaf_weights")
    targets = _ints(given, "leaf_targetids")
    for name, array in (("nodes_modes", modes_given), ("nodes_splits", splits)):
        one_per(array, inner, f"the ONNX model's {name}")
    for side, (nodes, leafs) in zip(("true", "false"), children, strict=True):
        one_per(nodes, inner, f"the ONNX model's nodes_{side}nodeids")
        one_per(leafs, inner, f"the ONNX model's nodes_{side}leafs")
        limit = np.where(leafs > 0, len(weights), inner)
        if (nodes >= limit).any():
            raise ModelFileError("The ONNX model has a child that is none of its nodes.")
    one_per(targets, len(weights), "the ONNX model's leaf_targetids")
    if (
        (len(targets) and targets.max() >= n_outputs)
        or (feature > MOST_COLUMNS).any()
        or (modes_given >= len(_MODES)).any()
    ):
        raise ModelFileError("The ONNX model has a target, a column or a mode that it does not have.")
    is_leaf = np.zeros(inner + len(weights), np.bool_)
    is_leaf[inner:] = True
    modes = [_MODES[mode] for mode in modes_given.tolist()]
    threshold, turned = _thresholds(modes, splits, is_leaf[:inner])
    value = np.zeros((len(weights), n_outputs))
    value[np.arange(len(weights)), targets] = floats(
        weights.astype(np.float64), "the ONNX model's leaf_weights"
    )
    place = [np.where(leafs > 0, nodes + inner, nodes) for nodes, leafs in children]
    missing_yes = missing.astype(np.bool_) if len(missing) == inner else np.zeros(inner, np.bool_)
    whole = (feature, threshold, place[0], place[1], missing_yes, turned, value)
    roots = _ints(given, "tree_roots")
    return [_rooted(root, whole, inner) for root in roots.tolist()], n_outputs, np.zeros(n_outputs)


def _rooted(root: int, whole: Any, inner: int) -> ForeignTree:
    """The tree below a root, whose nodes are numbered anew; in a tree of one leaf both children of the root are that leaf."""
    feature, threshold, yes, no, missing_yes, turned, value = whole
    if root >= inner:
        raise ModelFileError("The ONNX model has a root that is none of its nodes.")
    if yes[root] == no[root] and yes[root] >= inner:
        zeros = np.zeros(1)
        only = value[[yes[root] - inner]]
        nothing = np.zeros(1, np.int64)
        none = np.zeros(1, np.bool_)
        return _tree(nothing + LEAF, zeros, nothing, nothing, none, none, only)
    order: list[int] = []
    number: dict[int, int] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node in number:
            raise ModelFileError("The ONNX model has a node with two parents.")
        number[node] = len(order)
        order.append(node)
        if node < inner:
            waiting += [int(no[node]), int(yes[node])]
    nodes = np.array(order)
    is_leaf = nodes >= inner
    own = np.where(is_leaf, 0, nodes)

    def mapped(children: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array(
            [0 if leaf else number[int(children[node])] for node, leaf in zip(order, is_leaf, strict=True)],
            np.int64,
        )

    values = np.zeros((len(nodes), value.shape[1]))
    values[is_leaf] = value[nodes[is_leaf] - inner]
    return _tree(
        np.where(is_leaf, LEAF, feature[own]),
        np.where(is_leaf, 0.0, threshold[own]),
        mapped(yes),
        mapped(no),
        missing_yes[own] & ~is_leaf,
        turned[own] & ~is_leaf,
        values,
    )


def _trees_of_three(
    given: Mapping[str, Any], is_classifier: bool
) -> tuple[list[ForeignTree], int, NDArray[np.float64], NDArray[Any] | None]:
    """Trees of the older operators: lists of nodes with the numbers of their trees, and of leaves' weights."""
    tree = _ints(given, "nodes_treeids")
    kind = "class" if is_classifier else "target"
    modes = [_text(mode) for mode in _list(given, "nodes_modes")]
    suffix = "_as_tensor" if "nodes_values_as_tensor" in given else ""
    values = _array(given, f"nodes_values{suffix}", None if suffix else np.float32)
    weights = _array(given, f"{kind}_weights{suffix}", np.float64)
    arrays = [
        _ints(given, f"nodes_{name}") for name in ("nodeids", "featureids", "truenodeids", "falsenodeids")
    ]
    ids, feature, yes, no = arrays
    for size in (*map(len, arrays), len(modes), len(values)):
        one_per(range(size), len(tree), "a list of the ONNX model's nodes")
    owners = [_ints(given, f"{kind}_{name}") for name in ("treeids", "nodeids", "ids")]
    for array in owners:
        one_per(array, len(weights), f"a list of the ONNX model's {kind}es")
    classes, n_outputs = _outputs_of(given, is_classifier, owners[2])
    missing = _ints(given, "nodes_missing_value_tracks_true")
    missing_yes = missing.astype(np.bool_) if len(missing) == len(tree) else np.zeros(len(tree), np.bool_)
    is_leaf = np.array([mode == "LEAF" for mode in modes], np.bool_)
    threshold, turned = _thresholds(modes, values, is_leaf)
    if (feature > MOST_COLUMNS).any():
        raise ModelFileError(f"The ONNX model has a column beyond {MOST_COLUMNS}.")
    place = {pair: number for number, pair in enumerate(zip(tree.tolist(), ids.tolist(), strict=True))}
    value = np.zeros((len(tree), n_outputs))
    for owner, node, output, weight in zip(
        *(array.tolist() for array in owners), weights.tolist(), strict=True
    ):
        if (owner, node) not in place or output >= n_outputs:
            raise ModelFileError("The ONNX model has a weight of a leaf or an output that it does not have.")
        value[place[owner, node], output] += weight
    trees = []
    feature = np.where(is_leaf, LEAF, feature)
    for number in np.unique(tree).tolist():
        nodes = np.flatnonzero(tree == number)
        within = {int(ids[node]): position for position, node in enumerate(nodes.tolist())}
        yes_of, no_of = (_within(side[nodes], is_leaf[nodes], within, number) for side in (yes, no))
        trees.append(
            _tree(
                feature[nodes],
                threshold[nodes],
                yes_of,
                no_of,
                missing_yes[nodes] & ~is_leaf[nodes],
                turned[nodes],
                value[nodes],
            )
        )
    base = _array(given, f"base_values{suffix}", np.float64)
    if len(base) not in (0, n_outputs):
        raise ModelFileError(f"The ONNX model has {len(base)} base_values for {n_outputs} outputs.")
    return trees, n_outputs, base if len(base) else np.zeros(n_outputs), classes


def _within(
    children: NDArray[np.int64], is_leaf: NDArray[np.bool_], within: Mapping[int, int], number: int
) -> NDArray[np.int64]:
    """Children by their places in their tree."""
    pairs = zip(children.tolist(), is_leaf.tolist(), strict=True)
    try:
        return np.array([0 if leaf else within[child] for child, leaf in pairs], np.int64)
    except KeyError:
        raise ModelFileError(f"Tree {number} has a child that is none of its nodes.") from None


def _outputs_of(
    given: Mapping[str, Any], is_classifier: bool, ids: NDArray[np.int64]
) -> tuple[NDArray[Any] | None, int]:
    """The classes, and the number of scores; two classes have one score where all weights are of one of them."""
    if not is_classifier:
        return None, whole_of(given.get("n_targets", 1), "the ONNX model's n_targets", 1, MOST_OUTPUTS)
    texts, numbers = _list(given, "classlabels_strings"), _list(given, "classlabels_int64s")
    classes = np.array([_text(one) for one in texts]) if len(texts) else np.array(list(numbers))
    if len(classes) < 2:
        classes = numbered_classes(2)
    if len(classes) == 2 and not (ids != 0).any():
        return classes, 1
    if len(classes) == 2 and (ids == 1).all():
        raise NotSupportedError(
            "the ONNX classifier has weights of its second class alone; give them to class 0 or to both."
        )
    return classes, len(classes)
