"""Symmetric (oblivious) trees in few small arrays: a split for a level, a few numbers for a leaf.

All nodes of a level share their split, and the nodes of a tree are numbered as in a heap, so links need no place. What an inner
node holds follows from its leaves: its count and cover are those of its children added up, and its value is their mean, weighted
by cover, which is Newton's step for the node but for the penalty. Only its gain is stored, where both children have rows.

A forest may be written so only if reading gives it back to the last bit. `slim` makes a forest of symmetric trees one of that
kind: gains and covers become numbers that float32 holds, and the values of inner nodes become means. Leaves' values and counts,
and splits, stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.forest.forest import Forest
from weald.forest.layout import DEEPEST_OBLIVIOUS
from weald.runtime.errors import ModelFileError

_INDEX: Final = tuple(np.dtype(kind) for kind in (np.uint8, np.uint16, np.uint32))
_REAL: Final = (np.dtype(np.float32), np.dtype(np.float64))

#: The arrays of the trees, each of the narrowest of its types that holds all its numbers.
ARRAYS: Final[dict[str, tuple[np.dtype[Any], ...]]] = {
    "tree_depth": (np.dtype(np.uint8),),
    "level_split": _INDEX,  # of every level of every tree: which of the different splits
    "level_set": _INDEX,  # of every level that is split by categories: its set
    "split_feature": _INDEX,
    "split_threshold": _REAL,
    "split_kind": (np.dtype(np.uint8),),  # 1: missing values go left, 2: by categories, 3: both
    "set_sizes": _INDEX,
    "set_codes": _INDEX,
    "leaf_value": _REAL,
    "leaf_count": (*_INDEX, np.dtype(np.int64)),
    "leaf_cover": _REAL,  # of leaves with rows, or of all if one without rows has a cover
    "inner_gain": _REAL,  # of nodes both of whose children have rows, or of all if another one has a gain
}
_SPLIT: Final = np.dtype([("feature", np.int64), ("threshold", np.uint64), ("kind", np.uint8)])
_MISSING_LEFT, _BY_CATEGORIES = 1, 2

Arrays = dict[str, NDArray[Any]]


class _CompleteTrees:
    """Where the nodes of trees of these depths are, one tree after another."""

    def __init__(self, depth: NDArray[np.int64]) -> None:
        sizes = 2 ** (depth + 1) - 1
        self.depth = depth
        self.n_leaves = int((2**depth).sum())
        self.tree_offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.own_index = np.arange(self.tree_offsets[-1]) - np.repeat(self.tree_offsets[:-1], sizes)
        self.level = np.frexp(self.own_index + 1.0)[1].astype(np.int64) - 1
        self.inner = self.level < np.repeat(depth, sizes)
        first_level = np.repeat(np.cumsum(depth) - depth, sizes)
        self.level_of_inner = (first_level + self.level)[self.inner]

    def children(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the left and the right children."""
        left = nodes + self.own_index[nodes] + 1
        return left, left + 1

    def first_of_levels(self) -> NDArray[np.int64]:
        """The first node of every level that has a split."""
        return np.flatnonzero(self.inner & (self.own_index + 1 == 2**self.level))

    def levels_upwards(self) -> list[NDArray[np.int64]]:
        """The inner nodes of every depth, the deepest first."""
        deepest = int(self.depth.max(initial=0))
        return [np.flatnonzero(self.inner & (self.level == level)) for level in range(deepest - 1, -1, -1)]

    def split_both(self, count: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of every inner node: whether both children have rows."""
        left, right = self.children(np.flatnonzero(self.inner))
        return (count[left] > 0) & (count[right] > 0)


def to_arrays(forest: Forest) -> Arrays | None:
    """The arrays from which `from_arrays` makes just this forest; None where there are none."""
    arrays = _encoded(forest)
    if arrays is None or _decoded(arrays, forest) != forest:
        return None
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]], **others: Any) -> Forest:
    """The forest of the arrays of a file; ``others``: its fields that are none of its trees'. It is still to be validated.

    Raises:
        ModelFileError: when the arrays do not fit each other.
    """
    _check(arrays)
    depth = arrays["tree_depth"].astype(np.int64)
    shape = _CompleteTrees(depth)
    inner, leaf = shape.inner, ~shape.inner
    n_nodes = len(inner)
    split = arrays["level_split"][shape.level_of_inner]
    kind = arrays["split_kind"]
    level_set = np.full(len(arrays["level_split"]), -1, np.int32)
    level_set[kind[arrays["level_split"]] >= _BY_CATEGORIES] = arrays["level_set"]
    feature, category_set = np.full(n_nodes, -1, np.int32), np.full(n_nodes, -1, np.int32)
    threshold, gain = np.zeros(n_nodes), np.zeros(n_nodes)
    missing_left, left = np.zeros(n_nodes, np.uint8), np.zeros(n_nodes, np.int32)
    feature[inner] = arrays["split_feature"][split]
    category_set[inner] = level_set[shape.level_of_inner]
    threshold[inner] = arrays["split_threshold"][split]
    missing_left[inner] = kind[split] & _MISSING_LEFT
    left[inner] = 2 * shape.own_index[inner] + 1
    value, cover, count = np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(n_nodes, np.int64)
    value[leaf], count[leaf] = arrays["leaf_value"], arrays["leaf_count"]
    cover[leaf] = _spread(arrays["leaf_cover"], count[leaf] > 0, "leaf_cover")
    _add_up(shape, value, cover, count)
    gain[inner] = _spread(arrays["inner_gain"], shape.split_both(count), "inner_gain")
    return Forest(
        tree_offsets=shape.tree_offsets,
        feature=feature,
        threshold=threshold,
        left=left,
        missing_left=missing_left,
        category_set=category_set,
        set_offsets=np.concatenate([[0], np.cumsum(arrays["set_sizes"], dtype=np.int64)]),
        set_codes=arrays["set_codes"].astype(np.int32),
        value=value,
        gain=gain,
        cover=cover,
        count=count,
        **others,
    )


def slim(forest: Forest) -> Forest:
    """A forest of symmetric trees as one that `to_arrays` takes, with the same predictions; any other as it is.

    Examples:
        >>> from weald.forest.builder import ForestBuilder
        >>> builder = ForestBuilder(n_features=2, n_outputs=1, base_score=[0.5])
        >>> builder.append(
        ...     feature=[1, -1, -1], threshold=[3.5, 0, 0], left=[1, 0, 0], missing_left=[True, False, False],
        ...     category_set=[-1, -1, -1], value=[0, -1, 1], gain=[8.1, 0, 0], cover=[8, 6, 2], count=[6, 3, 3],
        ... )
        >>> tree = slim(builder.build()).tree(0)
        >>> tree.value, tree.gain
        (array([-0.5, -1. ,  1. ]), array([8.10000038, 0.        , 0.        ]))
    """
    arrays = _encoded(replace(forest, gain=_rounded(forest.gain), cover=_rounded(forest.cover)))
    if arrays is None:
        return forest
    made = _decoded(arrays, forest)
    leaf = made.feature < 0
    derived = {name: getattr(made, name) for name in ("gain", "cover", "value")}
    is_same = replace(forest, **derived) == made and bool(
        np.array_equal(forest.value[leaf], made.value[leaf])
    )
    return made if is_same and all(np.isfinite(array).all() for array in derived.values()) else forest


def _encoded(forest: Forest) -> Arrays | None:
    """The arrays of a forest as if its trees were symmetric; None where that cannot be, by their sizes."""
    sizes = np.diff(forest.tree_offsets)
    depth = np.frexp(sizes + 1.0)[1].astype(np.int64) - 2
    if forest.has_vectors or depth.max(initial=0) > DEEPEST_OBLIVIOUS or (2 ** (depth + 1) - 1 != sizes).any():
        return None
    shape = _CompleteTrees(depth)
    first, leaf = shape.first_of_levels(), ~shape.inner
    category_set, count = forest.category_set[first], forest.count
    by_categories = category_set >= 0
    splits = np.empty(len(first), _SPLIT)
    splits["feature"] = forest.feature[first]
    splits["threshold"] = forest.threshold[first].view(np.uint64)
    splits["kind"] = forest.missing_left[first] + _BY_CATEGORIES * by_categories
    different, number = np.unique(splits, return_inverse=True)
    if (different["feature"] < 0).any() or (count < 0).any() or (forest.set_codes < 0).any():
        return None
    arrays = {
        "tree_depth": depth,
        "level_split": number.reshape(-1),
        "level_set": category_set[by_categories],
        "split_feature": different["feature"],
        "split_threshold": different["threshold"].view(np.float64),
        "split_kind": different["kind"],
        "set_sizes": np.diff(forest.set_offsets),
        "set_codes": forest.set_codes,
        "leaf_value": forest.value[leaf],
        "leaf_count": count[leaf],
        "leaf_cover": _gathered(forest.cover[leaf], count[leaf] > 0),
        "inner_gain": _gathered(forest.gain[shape.inner], shape.split_both(count)),
    }
    return {name: _narrowed(array, ARRAYS[name]) for name, array in arrays.items()}


def _decoded(arrays: Arrays, forest: Forest) -> Forest:
    """The forest of arrays, with all else as another one has it."""
    names = ("n_features", "n_outputs", "base_score", "tree_weights", "parallel_trees", "averaged")
    return from_arrays(arrays, **{name: getattr(forest, name) for name in names})


def _add_up(
    shape: _CompleteTrees, value: NDArray[np.float64], cover: NDArray[np.float64], count: NDArray[np.int64]
) -> None:
    """Give inner nodes what follows from their leaves."""
    for nodes in shape.levels_upwards():
        left, right = shape.children(nodes)
        count[nodes] = count[left] + count[right]
        cover[nodes] = cover[left] + cover[right]
        with np.errstate(all="ignore"):  # a hostile file's numbers; validation finds what comes of them
            mean = (value[left] * cover[left] + value[right] * cover[right]) / cover[nodes]
            value[nodes] = np.where(cover[nodes] > 0.0, mean, 0.5 * value[left] + 0.5 * value[right])


def _narrowed(array: NDArray[Any], types: tuple[np.dtype[Any], ...]) -> NDArray[Any]:
    """The same numbers in the first type that holds them all."""
    for dtype in types[:-1]:
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = array.astype(dtype)
        if np.array_equal(narrow, array):
            return narrow
    return array.astype(types[-1])


def _rounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers as float32 holds them, where it can."""
    with np.errstate(over="ignore"):
        rounded = numbers.astype(np.float32).astype(np.float64)
    return np.where(np.isfinite(rounded), rounded, numbers)


def _gathered(numbers: NDArray[np.float64], wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The wanted numbers if all others are 0, or else all."""
    return numbers if numbers[~wanted].any() else numbers[wanted]


def _spread(stored: NDArray[Any], wanted: NDArray[np.bool_], name: str) -> NDArray[np.float64]:
    """All numbers, from what `_gathered` kept."""
    if len(stored) == len(wanted):
        return stored.astype(np.float64)
    numbers = np.zeros(len(wanted))
    if len(stored) != np.count_nonzero(wanted):
        raise ModelFileError(
            f"The model file's array {name!r} has {len(stored)} entries, which is not what its trees need."
        )
    numbers[wanted] = stored
    return numbers


def _check(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays whose sizes and numbers do not fit each other."""
    depth = arrays["tree_depth"].astype(np.int64)
    if depth.max(initial=0) > DEEPEST_OBLIVIOUS:
        raise ModelFileError(f"The model file has a tree of depth {depth.max()}; {DEEPEST_OBLIVIOUS} is the deepest.")
    level_split, kind = arrays["level_split"], arrays["split_kind"]
    for name, below in (
        ("level_split", len(kind)),
        ("split_kind", 4),
        ("level_set", len(arrays["set_sizes"])),
    ):
        found = arrays[name]
        if len(found) and found.max() >= below:
            raise ModelFileError(
                f"The model file's array {name!r} has {found.max()}, which is not below {below}."
            )
    lengths = {
        "level_split": int(depth.sum()),
        "split_feature": len(kind),
        "split_threshold": len(kind),
        "leaf_value": int((2**depth).sum()),
        "leaf_count": int((2**depth).sum()),
    }
    for name, length in lengths.items():
        if len(arrays[name]) != length:
            raise ModelFileError(
                f"The model file's array {name!r} has {len(arrays[name])} entries instead of {length}."
            )
    if len(arrays["level_set"]) != np.count_nonzero(kind[level_split] >= _BY_CATEGORIES):
        raise ModelFileError(
            "The model file's array 'level_set' does not fit the levels that are split by categories."
        )
