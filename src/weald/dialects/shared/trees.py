"""Looking at trees: with the names of categories, node by node, and the thresholds of a column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest, TreeView
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra


def named_trees(model: FittedModel, forest: Forest | None = None) -> Iterator[TreeView]:
    """The trees, with the names of the categories that go left in place of their codes."""
    columns = model.schema.columns
    forest = model.forest if forest is None else forest
    for index in range(forest.n_trees):
        tree = forest.tree(index)
        named: Any = tuple(
            None if codes is None else tuple(columns[feature].categories[code] for code in codes)
            for feature, codes in zip(tree.feature, tree.categories_left, strict=True)
        )
        yield replace(tree, categories_left=named)


def from_the_root(tree: TreeView) -> list[tuple[int, int]]:
    """(node, depth) from the root, first child first."""
    order, waiting = [], [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        order.append((node, depth))
        if tree.feature[node] >= 0:
            left = int(tree.left[node])
            waiting += [(left + 1, depth + 1), (left, depth + 1)]
    return order


def split_values(model: FittedModel, names: Sequence[str], feature: str) -> NDArray[np.float64]:
    """All thresholds of a numeric column."""
    if feature not in names:
        raise InputError(f"feature must be one of {', '.join(names)}, not {feature!r}.")
    forest, column = model.forest, list(names).index(feature)
    if model.schema.categorical_mask[column]:
        raise InputError(f"column {feature!r} holds categories, which have no thresholds.")
    return np.asarray(forest.threshold[forest.feature == column])


def histogram(values: NDArray[np.float64], bins: int | None, as_pandas: bool) -> Any:
    """(upper end, count) of every bin that has a threshold."""
    most = max(len(np.unique(values)), 1)
    counts, ends = np.histogram(values, bins=most if bins is None else max(min(most, bins), 1))
    table = np.column_stack((ends[1:], counts))
    table = table[table[:, 1] > 0]
    if not as_pandas:
        return table
    pd = load_extra("pandas", "get_split_value_histogram")
    return pd.DataFrame(table, columns=["SplitValue", "Count"])
