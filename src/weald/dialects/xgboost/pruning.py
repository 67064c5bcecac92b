"""Trees that are there, cut back as XGBoost's updater ``prune`` does it.

From the leaves up, a split becomes a leaf if both its children are leaves and its gain is below ``gamma``, or its children lie
deeper than ``max_depth``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest, TreeView

_FIELDS = ("feature", "threshold", "missing_left", "value", "gain", "cover", "count")


def pruned_forest(forest: Forest, gamma: float, max_depth: int) -> Forest:
    """The same trees without such splits; ``max_depth`` of 0: no limit."""
    builder = ForestBuilder(
        forest.n_features, forest.n_outputs, forest.base_score, forest.parallel_trees, forest.averaged
    )
    for place in range(forest.n_trees):
        tree = forest.tree(place)
        # Weald's gain is half of XGBoost's.
        builder.append(**_cut(tree, _leaves_after(tree, 2.0 * tree.gain < gamma, max_depth)))
    return replace(builder.build(), tree_weights=forest.tree_weights)


def _leaves_after(tree: TreeView, is_weak: NDArray[np.bool_], max_depth: int) -> NDArray[np.bool_]:
    """Which nodes are leaves when weak splits are gone."""
    is_leaf, inner = tree.feature < 0, np.flatnonzero(tree.feature >= 0)
    depth = np.zeros(len(tree.feature), np.int64)
    for node in inner:
        depth[tree.left[node] : tree.left[node] + 2] = depth[node] + 1
    for node in inner[::-1]:
        left = tree.left[node]
        goes = is_weak[node] or 0 < max_depth <= depth[node]
        is_leaf[node] = goes and is_leaf[left] and is_leaf[left + 1]
    return is_leaf


def _cut(tree: TreeView, is_leaf: NDArray[np.bool_]) -> dict[str, Any]:
    """The arrays of the tree down to its leaves, as a builder takes them."""
    kept = np.zeros(len(is_leaf), np.bool_)
    kept[0] = True
    for node in np.flatnonzero(tree.feature >= 0):
        if kept[node] and not is_leaf[node]:
            kept[tree.left[node] : tree.left[node] + 2] = True
    nodes, place = np.flatnonzero(kept), np.cumsum(kept) - 1
    arrays: dict[str, Any] = {name: getattr(tree, name)[nodes].copy() for name in _FIELDS}
    ends = is_leaf[nodes]
    arrays["feature"][ends], arrays["threshold"][ends], arrays["gain"][ends] = -1, 0.0, 0.0
    arrays["missing_left"][ends] = False
    arrays["left"] = np.where(ends, 0, place[tree.left[nodes]])
    codes = [None if end else tree.categories_left[node] for node, end in zip(nodes, ends, strict=True)]
    sets = [one for one in codes if one is not None]
    numbers = iter(range(len(sets)))
    arrays["category_set"] = [-1 if one is None else next(numbers) for one in codes]
    arrays["set_offsets"] = np.cumsum([0, *map(len, sets)])
    arrays["set_codes"] = [code for one in sets for code in one]
    return arrays
