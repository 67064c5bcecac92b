"""Everything that must hold before a forest may be walked; nothing here trusts what it reads.

The kernels that predict index without bounds checks, so a forest that passes these checks can neither make
them read outside an array nor make them loop: children lie after their parent and inside their tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.forest.layout import ARRAY_DTYPES, MAXIMUM_FEATURES, NODE_DTYPES
from weald.runtime.errors import ModelFileError

# Scores, sums of a number of every tree, stay this far below the largest float64.
_MOST = 1e307

if TYPE_CHECKING:
    from weald.forest.forest import Forest


def check_forest(forest: Forest) -> None:
    """Raise a `ModelFileError` that names the first field that is wrong; return nothing when all is well."""
    _check_sizes(forest)
    _check_types(forest)
    _check_shapes(forest)
    _check_numbers(forest)
    _check_category_sets(forest)
    _check_nodes(forest)
    _check_links(forest)


def _require(good: bool, field: str, problem: str) -> None:
    if not good:
        raise ModelFileError(f"The forest's {field} is not valid: {problem}.")


def _require_everywhere(good: NDArray[np.bool_], field: str, values: NDArray[Any], problem: str) -> None:
    if good.all():
        return
    where = int(np.argmin(good))
    raise ModelFileError(f"The forest's {field} is not valid: entry {where} is {values[where]}, {problem}.")


def _check_sizes(forest: Forest) -> None:
    for field in ("n_features", "n_outputs", "parallel_trees"):
        size = getattr(forest, field)
        is_size = type(size) is int and 1 <= size <= MAXIMUM_FEATURES
        _require(is_size, field, f"it must be a whole number from 1 to {MAXIMUM_FEATURES}")
    _require(type(forest.averaged) is bool, "averaged", "it must be true or false")


def _check_types(forest: Forest) -> None:
    for field, dtype in ARRAY_DTYPES.items():
        array = getattr(forest, field)
        is_array = isinstance(array, np.ndarray)
        _require(is_array, field, f"it must be an array, not {type(array).__name__}")
        _require(array.dtype == dtype, field, f"it must have dtype {dtype}, not {array.dtype}")
        _require(array.ndim == 1, field, f"it must have one dimension, not {array.ndim}")
        _require(array.flags.c_contiguous, field, "it must be contiguous")


def _check_shapes(forest: Forest) -> None:
    base_size = forest.base_score.size
    expected = f"it has {base_size} entries, there are {forest.n_outputs} outputs"
    _require(base_size == forest.n_outputs, "base_score", expected)
    n_nodes = forest.feature.size
    for field in NODE_DTYPES:
        size = getattr(forest, field).size
        _require(size == n_nodes, field, f"it has {size} entries, feature has {n_nodes}")
    _check_offsets(forest.tree_offsets, "tree_offsets", n_nodes)
    _check_offsets(forest.set_offsets, "set_offsets", forest.set_codes.size)
    tree_sizes = np.diff(forest.tree_offsets)
    empty = "where a tree without nodes begins"
    _require_everywhere(tree_sizes > 0, "tree_offsets", forest.tree_offsets, empty)
    if forest.vectors.size:
        n_leaves = int(np.count_nonzero(forest.feature < 0))
        found = f"it has {forest.vectors.size} entries for {n_leaves} leaves and {forest.n_outputs} outputs"
        _require(forest.vectors.size == n_leaves * forest.n_outputs, "vectors", found)
        _require(forest.parallel_trees == 1, "parallel_trees", "with vector leaves it must be 1")
    n_trees = forest.tree_offsets.size - 1
    weights = forest.tree_weights.size
    _require(weights in (0, n_trees), "tree_weights", f"it has {weights} entries for {n_trees} trees")
    uneven = f"{n_trees} trees cannot be shared out evenly over {forest.n_outputs} outputs"
    if forest.parallel_trees > 1:
        uneven += f" and rounds of {forest.parallel_trees} trees each"
    _require(n_trees % forest.trees_per_round == 0, "tree_offsets", uneven)


def _check_offsets(offsets: NDArray[np.int64], field: str, end: int) -> None:
    _require(offsets.size > 0, field, "it is empty, it must begin with 0")
    _require(offsets[0] == 0, field, f"it begins with {offsets[0]} instead of 0")
    # Compared rather than subtracted: a difference of two hostile int64 can overflow.
    rises = offsets[1:] >= offsets[:-1]
    _require_everywhere(rises, field, offsets, "which is more than the entry after it")
    _require(offsets[-1] == end, field, f"it ends with {offsets[-1]} instead of {end}")


def _check_numbers(forest: Forest) -> None:
    for field in ("base_score", "value", "gain", "cover", "vectors", "tree_weights"):
        array = getattr(forest, field)
        _require_everywhere(np.isfinite(array), field, array, "which is not a finite number")
    largest = max(np.abs(forest.value).max(initial=0.0), np.abs(forest.vectors).max(initial=0.0))
    beyond = f"its numbers, up to {largest:g} in each tree, add up beyond {_MOST:g}"
    _require(bool(largest < _MOST / max(forest.tree_offsets.size, 1)), "value", beyond)
    _require(bool(np.abs(forest.base_score).max() < _MOST), "base_score", f"it must be within ±{_MOST:g}")
    threshold = forest.threshold
    _require_everywhere(~np.isnan(threshold), "threshold", threshold, "which nothing can be compared with")
    weights = forest.tree_weights
    _require_everywhere(weights >= 0.0, "tree_weights", weights, "a weight cannot be negative")
    _require_everywhere(forest.count >= 0, "count", forest.count, "a number of rows cannot be negative")
    _require_everywhere(forest.missing_left <= 1, "missing_left", forest.missing_left, "it must be 0 or 1")


def _check_category_sets(forest: Forest) -> None:
    codes = forest.set_codes
    _require_everywhere(codes >= 0, "set_codes", codes, "a category code cannot be negative")
    rises = np.ones(codes.size, dtype=np.bool_)
    rises[1:] = codes[1:] > codes[:-1]
    starts = forest.set_offsets[:-1]
    rises[starts[starts < codes.size]] = True
    _require_everywhere(rises, "set_codes", codes, "the codes of a set must rise without repeats")


def _check_nodes(forest: Forest) -> None:
    feature, category_set = forest.feature, forest.category_set
    n_sets = forest.set_offsets.size - 1
    in_range = (feature >= -1) & (feature < forest.n_features)
    allowed = f"there are {forest.n_features} features (-1 marks a leaf)"
    _require_everywhere(in_range, "feature", feature, allowed)
    in_range = (category_set >= -1) & (category_set < n_sets)
    allowed = f"there are {n_sets} category sets (-1 marks a numeric test)"
    _require_everywhere(in_range, "category_set", category_set, allowed)
    inner = feature >= 0
    _require_everywhere(inner | (forest.left == 0), "left", forest.left, "a leaf's must be 0")
    _require_everywhere(inner | (category_set == -1), "category_set", category_set, "a leaf's must be -1")


def _check_links(forest: Forest) -> None:
    sizes = np.diff(forest.tree_offsets)
    first_node = np.repeat(forest.tree_offsets[:-1], sizes)
    own_index = np.arange(forest.feature.size, dtype=np.int64) - first_node
    inner = forest.feature >= 0
    left = forest.left.astype(np.int64)
    after_parent = ~inner | (left > own_index)
    _require_everywhere(after_parent, "left", left, "a child must come after its parent")
    inside = ~inner | (left + 1 < np.repeat(sizes, sizes))
    _require_everywhere(inside, "left", left, "the children lie outside the tree")
    left_children = (left + first_node)[inner]
    n_parents = np.bincount(left_children, minlength=inner.size)
    n_parents += np.bincount(left_children + 1, minlength=inner.size)
    # A root needs no look: no child can lie before index 1 of its tree.
    strays = np.flatnonzero((n_parents != 1) & (own_index > 0))
    if strays.size:
        problem = f"node {strays[0]} is the child of {n_parents[strays[0]]} nodes instead of one"
        raise ModelFileError(f"The forest's left is not valid: {problem}.")
