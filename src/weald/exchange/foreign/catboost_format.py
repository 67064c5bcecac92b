"""CatBoost's models as JSON: oblivious trees and others, categories by one-hot and by target statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.exchange.foreign.catboost_statistics import Looked, looked_up
from weald.exchange.foreign.hashed import HashedStatistics
from weald.exchange.foreign.model import ForeignModel, schema_of
from weald.exchange.foreign.reading import MOST_COLUMNS, field, floats, integers, number_of, whole_of
from weald.exchange.foreign.singles import at_most
from weald.exchange.foreign.trees import LEAF, ForeignTree, forest_of
from weald.runtime.errors import ModelFileError, NotSupportedError

SYSTEM: Final = "CatBoost"
_WHERE: Final = "the CatBoost model"
_LINKS: Final = {
    "Logloss": "logit",
    "CrossEntropy": "logit",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "sigmoids",
    "MultiLogloss": "sigmoids",
    "MultiCrossEntropy": "sigmoids",
    "Poisson": "log",
    "Tweedie": "log",
    "RMSEWithUncertainty": "normal",
}
_SEVERAL_TARGETS: Final = ("MultiRMSE", "MultiRMSEWithMissingValues", "MultiLogloss", "MultiCrossEntropy")
_DEEPEST_OBLIVIOUS: Final = 16


@dataclass(frozen=True)
class _Split:
    """A test of a tree: of a number, or of a category, whose codes go right."""

    column: int
    threshold: float
    missing_left: bool
    codes: NDArray[np.int64] | None = None


class _Features:
    """The columns of a CatBoost model, by their numbers among those of their kind."""

    def __init__(self, info: Any) -> None:
        where = "the model's features_info"
        self._numbers = _by_index(info.get("float_features", []), where)
        self._categories = _by_index(info.get("categorical_features", []), where)
        for kind in ("text_features", "embedding_features"):
            if info.get(kind):
                raise NotSupportedError(
                    f"the CatBoost model has {kind.replace('_', ' ')}, which Weald has none of."
                )
        everything = [*self._numbers.values(), *self._categories.values()]
        self.n_columns = 1 + max((self._flat(one) for one in everything), default=-1)
        self.values = _values_of(info.get("cat_features_hash", []))

    def _flat(self, feature: Any) -> int:
        return whole_of(
            field(feature, "flat_feature_index", int, "a feature"), "flat_feature_index", 0, MOST_COLUMNS
        )

    def number(self, index: int) -> int:
        """The column of a float feature."""
        return self._column(self._numbers, index)

    def category(self, index: int) -> int:
        """The column of a categorical feature."""
        return self._column(self._categories, index)

    def _column(self, features: Mapping[int, Any], index: int) -> int:
        if index not in features:
            raise ModelFileError(
                f"The CatBoost model has a split of feature {index}, which it does not have."
            )
        return self._flat(features[index])

    def missing_above(self, index: int) -> bool:
        """Whether a missing number is above every border."""
        return bool(self._numbers[index].get("nan_value_treatment") == "AsTrue")

    def n_splits_before_statistics(self) -> int:
        """How many splits are numbered before those of statistics."""
        borders = sum(
            len(field(one, "borders", list, "a feature"))
            for one in self._numbers.values()
            if "borders" in one
        )
        values = (
            field(one, "values", list, "a feature") for one in self._categories.values() if "values" in one
        )
        return borders + sum(map(len, values))

    def schema(self) -> Schema:
        """The columns, with the categories that the model knows."""
        names = [f"x{place}" for place in range(self.n_columns)]
        dictionaries: list[tuple[Any, ...] | None] = [None] * self.n_columns
        named = False
        for features, is_category in ((self._numbers, False), (self._categories, True)):
            for one in features.values():
                place = self._flat(one)
                name = one.get("feature_name")
                if isinstance(name, str) and name and name != str(place):
                    names[place], named = name, True
                if is_category:
                    dictionaries[place] = tuple(self.values)
        return schema_of(names, dictionaries, named)


def _by_index(features: Any, where: str) -> dict[int, Any]:
    if not isinstance(features, list):
        raise ModelFileError(f"{where} must have lists of features.")
    return {
        whole_of(field(one, "feature_index", int, where), "feature_index", 0, MOST_COLUMNS): one
        for one in features
    }


def _values_of(stored: Any) -> dict[Any, int]:
    """Category -> its hash; a category that is a whole number is there as a number, too: CatBoost hashes its text."""
    if not isinstance(stored, list):
        raise ModelFileError("The model's cat_features_hash must be a list.")
    found: dict[Any, int] = {}
    for entry in stored:
        text = field(entry, "value", str, "an entry of cat_features_hash")
        found[text] = whole_of(
            field(entry, "hash", int, "an entry of cat_features_hash"), "a hash", -(2**31), 2**32 - 1
        )
    numbers = {int(text): code for text, code in found.items() if _is_whole(text)}
    return found | numbers


def _is_whole(text: str) -> bool:
    return (
        len(text) < 19
        and text.removeprefix("-").isascii()
        and text.removeprefix("-").isdigit()
        and str(int(text)) == text
    )


def signed(code: int) -> int:
    """A hash of 32 bits as the whole number that CatBoost takes it for."""
    return code - 2**32 if code >= 2**31 else code


def catboost_model(content: Any, apart: bool = False) -> ForeignModel:
    """The model of a JSON file of CatBoost's; ``apart``: a tree for every output, none whose leaves have several numbers."""
    features = _Features(field(content, "features_info", dict, _WHERE))
    info = field(content, "model_info", dict, _WHERE)
    schema = features.schema()
    codes = np.array([signed(code) for code in features.values.values()], np.int64)
    splits, hashed = _splits_of(content, features, schema, codes)
    bias, scale = _scale_and_bias(content)
    trees = list(_trees_of(content, splits, len(bias)))
    width = trees[0].value.shape[1] if trees else len(bias)
    if len(bias) != width:
        raise ModelFileError(f"The CatBoost model has a bias of {len(bias)} numbers, but leaves of {width}.")
    trees = [_scaled(tree, scale, width) for tree in trees]
    if apart and width > 1:
        trees = [replace(tree, value=tree.value[:, output]) for tree in trees for output in range(width)]
    n_columns = schema.n_columns if hashed is None else hashed.extended_schema.n_columns
    forest = forest_of(trees, n_columns, bias)
    objective = _objective_of(info)
    link, classes = _task_of(objective, info, width)
    return ForeignModel(SYSTEM, objective, forest, schema, link, classes, hashed=hashed)


def _scaled(tree: ForeignTree, scale: float, width: int) -> ForeignTree:
    value = tree.value * scale if scale != 1.0 else tree.value
    return replace(tree, value=value[:, 0] if width == 1 else value)


def _scale_and_bias(content: Any) -> tuple[NDArray[np.float64], float]:
    stored = content.get("scale_and_bias", [1, [0]])
    if not isinstance(stored, list) or len(stored) != 2:
        raise ModelFileError("The model's scale_and_bias must be a number and a list.")
    bias = stored[1] if isinstance(stored[1], list) else [stored[1]]
    return floats(bias, "the model's bias"), number_of(stored[0], "the model's scale")


def _objective_of(info: Any) -> str:
    params = info.get("params")
    loss = params.get("loss_function") if isinstance(params, Mapping) else None
    name = loss.get("type") if isinstance(loss, Mapping) else None
    return name if isinstance(name, str) else "custom"


def _task_of(objective: str, info: Any, width: int) -> tuple[str, NDArray[Any] | None]:
    """The link and the classes; regression where the model has no classes."""
    given = info.get("class_params")
    names = given.get("class_names") if isinstance(given, Mapping) else None
    link = _LINKS.get(objective, "identity")
    if link == "normal" and width != 2:
        raise ModelFileError(f"A model of {objective} has 2 outputs, not {width}.")
    if not isinstance(names, list) or not names or link == "identity" or objective.startswith("MultiLog"):
        return link, None
    if not all(isinstance(name, str | int | float) for name in names) or len(set(names)) < len(names):
        raise ModelFileError("The model's class_names must be different strings or numbers.")
    if len(names) != (2 if width == 1 else width):
        raise ModelFileError(f"The model has {len(names)} classes, but {width} outputs.")
    return link, np.array(names)


def _splits_of(
    content: Any, features: _Features, schema: Schema, codes: NDArray[np.int64]
) -> tuple[Any, HashedStatistics | None]:
    """What reads a stored split, and the statistics that splits may test."""
    looked: Looked | None = None
    if content["features_info"].get("ctrs"):
        _check_one_target(_objective_of(content["model_info"]))
        looked = looked_up(content, features, schema, codes)
    first = features.n_splits_before_statistics()
    known: dict[Any, _Split] = {}

    def read(stored: Any) -> _Split:
        kind = field(stored, "split_type", str, "a split")
        if kind == "FloatFeature":
            index = field(stored, "float_feature_index", int, "a split")
            border = number_of(stored.get("border"), "a border")
            key: Any = (kind, index, border)
            if key not in known:
                column = features.number(index)
                threshold = float(at_most(np.array([border], np.float32))[0])
                known[key] = _Split(column, threshold, not features.missing_above(index))
        elif kind == "OneHotFeature":
            index, value = (
                field(stored, "cat_feature_index", int, "a split"),
                field(stored, "value", int, "a split"),
            )
            key = (kind, index, value)
            if key not in known:
                equal = np.flatnonzero(codes == signed(value % 2**32))
                known[key] = _Split(features.category(index), 0.0, False, equal)
        elif kind == "OnlineCtr" and looked is not None:
            place = field(stored, "split_index", int, "a split") - first
            border = number_of(stored.get("border"), "a border")
            return _Split(looked.column_of_split(place), float(np.float32(border)), True)
        else:
            raise NotSupportedError(
                f"the CatBoost model has a split of the kind {kind[:40]!r}, which is not known here."
            )
        return known[key]

    return read, None if looked is None else looked.statistics


def _check_one_target(objective: str) -> None:
    if objective in _SEVERAL_TARGETS:
        raise NotSupportedError(
            f"CatBoost's JSON keeps target statistics of one target alone, and {objective} has those of several: CatBoost itself "
            "predicts otherwise after reading the file. Train a model for each target, or with a large one_hot_max_size."
        )


def _trees_of(content: Any, read: Any, width: int) -> Any:
    if "oblivious_trees" in content:
        for number, tree in enumerate(field(content, "oblivious_trees", list, _WHERE)):
            yield _oblivious(tree, number, read, width)
        return
    for number, tree in enumerate(field(content, "trees", list, _WHERE)):
        yield _nested(tree, number, read)


def _oblivious(tree: Any, number: int, read: Any, width: int) -> ForeignTree:
    """A tree with a split a level; bit ``i`` of a leaf's number is the answer of split ``i``."""
    where = f"tree {number}"
    stored = tree.get("splits") or [] if isinstance(tree, Mapping) else None
    if not isinstance(stored, list) or len(stored) > _DEEPEST_OBLIVIOUS:
        raise ModelFileError(f"{where} must have at most {_DEEPEST_OBLIVIOUS} splits.")
    splits = [read(split) for split in reversed(stored)]  # the root's is the highest bit
    depth = len(splits)
    values = floats(field(tree, "leaf_values", list, where), f"{where}'s leaf_values")
    if not len(values) or len(values) % (1 << depth):
        raise ModelFileError(f"{where} has {len(values)} leaf_values for {1 << depth} leaves.")
    table = values.reshape(1 << depth, -1)
    weights = floats(tree.get("leaf_weights") or [0.0] * (1 << depth), f"{where}'s leaf_weights")
    if len(weights) != 1 << depth:
        raise ModelFileError(f"{where} has {len(weights)} leaf_weights for {1 << depth} leaves.")
    # A category that is equal goes left in the forest: its set is small, and the level's answers are turned round.
    turned = sum(1 << (depth - 1 - level) for level, split in enumerate(splits) if split.codes is not None)
    leaves = np.arange(1 << depth) ^ turned
    return _full_tree(splits, table[leaves], weights[leaves])


def _full_tree(
    splits: Sequence[_Split], table: NDArray[np.float64], weights: NDArray[np.float64]
) -> ForeignTree:
    """A complete tree, whose nodes are numbered level after level."""
    depth, n_nodes = len(splits), 2 * len(table) - 1
    inner = len(table) - 1
    level = np.repeat(np.arange(depth), [1 << place for place in range(depth)])
    of = [splits[place] for place in level.tolist()]
    feature, threshold = np.full(n_nodes, LEAF), np.zeros(n_nodes)
    feature[:inner], threshold[:inner] = [split.column for split in of], [split.threshold for split in of]
    missing_left = np.zeros(n_nodes, np.bool_)
    missing_left[:inner] = [split.missing_left for split in of]
    nodes = np.arange(n_nodes)
    cover = np.zeros(n_nodes)
    cover[inner:] = weights
    for begin in (1 << np.arange(depth))[::-1].tolist():
        cover[begin - 1 : 2 * begin - 1] = cover[2 * begin - 1 : 4 * begin - 1].reshape(-1, 2).sum(axis=1)
    value = np.zeros((n_nodes, table.shape[1]))
    value[inner:] = table
    sets = {node: split.codes for node, split in enumerate(of) if split.codes is not None}
    return ForeignTree(
        feature, threshold, 2 * nodes + 1, 2 * nodes + 2, missing_left, sets, value, cover, np.zeros(n_nodes)
    )


def _nested(tree: Any, number: int, read: Any) -> ForeignTree:
    """A tree of nested objects."""
    where = f"tree {number}"
    feature: list[int] = []
    threshold: list[float] = []
    children: list[list[int]] = []
    missing_left: list[bool] = []
    values: list[Any] = []
    weight: list[float] = []
    sets: dict[int, Any] = {}
    waiting: list[tuple[Any, int, int]] = [(tree, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        if not isinstance(node, Mapping):
            raise ModelFileError(f"{where} has a node that is no object.")
        own = len(feature)
        if parent >= 0:
            children[parent][side] = own
        children.append([0, 0])
        if "split" in node:
            split = read(node["split"])
            feature.append(split.column)
            threshold.append(split.threshold)
            missing_left.append(split.missing_left)
            sides = ("left", "right")
            if split.codes is not None:
                sets[own] = split.codes
                sides = ("right", "left")
            waiting += [(node.get(name), own, place) for place, name in enumerate(sides)]
            values.append(None)
            weight.append(0.0)
        else:
            feature.append(LEAF)
            threshold.append(0.0)
            missing_left.append(False)
            given = node.get("value")
            values.append(floats(given if isinstance(given, list) else [given], f"{where}'s values"))
            weight.append(number_of(node.get("weight", 0.0), f"{where}'s weight"))
    width = max(len(value) for value in values if value is not None)
    table = np.zeros((len(feature), width))
    for place, value in enumerate(values):
        if value is not None:
            if len(value) != width:
                raise ModelFileError(f"{where} has leaves of {len(value)} and of {width} numbers.")
            table[place] = value
    cover = np.array(weight)
    pairs = np.array(children, np.int64)
    columns = integers(feature, where)
    for place in range(len(feature) - 1, -1, -1):  # children come after their parent
        if feature[place] != LEAF:
            cover[place] = cover[pairs[place]].sum()
    return ForeignTree(
        columns,
        np.array(threshold),
        pairs[:, 0],
        pairs[:, 1],
        np.array(missing_left),
        sets,
        table,
        cover,
        np.zeros(len(feature)),
    )
