"""How much columns matter to a finished forest: how far they move predictions, and what a metric loses without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.explain.shap import shap_values
from weald.forest.forest import Forest
from weald.forest.predict import Blocks

Floats = NDArray[np.float64]
Sources = Sequence[Sequence[int]]


def prediction_values_change(forest: Forest) -> Floats:
    """float64[features]: how far predictions move with each feature; the sum is 100 (CatBoost's PredictionValuesChange).

    A split divides c1 + c2 training rows of the mean value v into c1 of the value v1 and c2 of v2, and gives its feature
    (v1 - v)^2 c1 + (v2 - v)^2 c2. In an oblivious tree the two are leaves that differ in this split alone; in other trees they
    are the two children, with the mean of the leaves below as their value. Leaves of several outputs count by all of them.

    >>> from weald.forest.builder import ForestBuilder
    >>> builder = ForestBuilder(n_features=2, n_outputs=1, base_score=[0.5])
    >>> builder.append(
    ...     feature=[1, -1, -1], threshold=[3.5, 0, 0], left=[1, 0, 0], missing_left=[True, False, False],
    ...     category_set=[-1, -1, -1], value=[0, -1, 1], gain=[8, 0, 0], cover=[4, 3, 1], count=[4, 3, 1],
    ... )
    >>> prediction_values_change(builder.build()).tolist()
    [0.0, 100.0]
    """
    shape = _shape_of(forest)
    effect = _by_nodes(forest, shape) + _by_leaf_pairs(forest, shape)
    total = effect.sum()
    return 100.0 * effect / total if total > 0.0 else effect


def loss_function_change(
    forest: Forest,
    blocks: Blocks,
    n_rows: int,
    evaluate: Callable[[Floats], float],
    greater_is_better: bool = False,
    sources: Sources | None = None,
    tasks: int = 1,
) -> Floats:
    """float64[features]: how much worse a metric is without each feature (CatBoost's LossFunctionChange).

    Without a feature means that its Shapley values are taken from the raw scores. ``evaluate``: from raw scores
    float64[K, n_rows] to the metric; ``sources``: as in `by_source`, to leave out whole source columns.
    """
    parts = shap_values(forest, blocks, n_rows, tasks)
    scores = parts.sum(axis=2)
    columns = parts[:, :, :-1]
    if sources is not None:
        columns = by_source(columns, sources)
    sign = -1.0 if greater_is_better else 1.0
    whole = evaluate(scores)
    changes = [evaluate(scores - columns[:, :, column]) - whole for column in range(columns.shape[2])]
    return sign * np.array(changes, np.float64)


def by_source(values: Floats, sources: Sources, n_sources: int | None = None) -> Floats:
    """Numbers of features, along the last axis, summed up by the columns that the features were made from.

    ``sources[f]``: the source columns of feature f; where there are several, each gets an equal part.

    >>> by_source(np.array([1.0, 2.0, 4.0]), [(0,), (1,), (0, 1)]).tolist()
    [3.0, 4.0]
    """
    count = (
        max((column + 1 for of in sources for column in of), default=0) if n_sources is None else n_sources
    )
    sums = np.zeros((*values.shape[:-1], count))
    for feature, of in enumerate(sources):
        for column in of:
            sums[..., column] += values[..., feature] / len(of)
    return sums


@dataclass(frozen=True)
class _Levels:
    """The nodes of all trees, level by level."""

    tree: NDArray[np.int64]  # of every node
    child: NDArray[np.int64]  # the left one of every node, counted through the whole forest
    levels: list[NDArray[np.int64]]  # the inner nodes
    path: NDArray[np.int64]  # of a node of an oblivious tree: sum of 2 ** level over the steps to the right
    oblivious: NDArray[np.bool_]  # of every tree


def _shape_of(forest: Forest) -> _Levels:
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offsets))
    child = forest.left + forest.tree_offsets[tree]
    path = np.zeros(forest.n_nodes, np.int64)
    oblivious = np.ones(forest.n_trees, np.bool_)
    levels: list[NDArray[np.int64]] = []
    nodes = forest.tree_offsets[:-1]
    tests: list[NDArray[Any]] = [forest.feature, forest.threshold, forest.missing_left, _set_names(forest)]
    while (inner := nodes[forest.feature[nodes] >= 0]).size:
        leaves = nodes[forest.feature[nodes] < 0]
        in_both = np.intersect1d(tree[leaves], tree[inner])
        oblivious[in_both] = False  # a level of leaves and of splits
        some = np.zeros(forest.n_trees, np.int64)
        some[tree[inner]] = inner
        for test in tests:
            oblivious[tree[inner[test[inner] != test[some[tree[inner]]]]]] = False
        path[child[inner]] = path[inner]
        if len(levels) < 62:
            path[child[inner] + 1] = path[inner] + (1 << len(levels))
        levels.append(inner)
        nodes = np.concatenate([child[inner], child[inner] + 1])
    return _Levels(tree, child, levels, path, oblivious)


def _set_names(forest: Forest) -> NDArray[np.int64]:
    """For every node a number that says which categories go left, -1 for none; equal sets have one number."""
    names: dict[bytes, int] = {}
    bounds = zip(forest.set_offsets[:-1], forest.set_offsets[1:], strict=True)
    of_set = [names.setdefault(forest.set_codes[a:b].tobytes(), len(names)) for a, b in bounds]
    return np.append(np.array(of_set, np.int64), -1)[forest.category_set]


def _leaf_values(forest: Forest) -> Floats:
    """(nodes, outputs of a tree): what the leaves add; zeros for inner nodes."""
    is_leaf = forest.feature < 0
    if not forest.has_vectors:
        return np.where(is_leaf, forest.value, 0.0).reshape(-1, 1)
    values = np.zeros((forest.n_nodes, forest.n_outputs))
    values[is_leaf] = forest.vectors.reshape(-1, forest.n_outputs)
    return values


def _moved(values: tuple[Floats, Floats], counts: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The common means of pairs of values, (…, outputs), and what the split of each pair is worth, (…)."""
    rows = np.maximum(counts[0] + counts[1], 1.0)[..., None]
    mean = (values[0] * counts[0][..., None] + values[1] * counts[1][..., None]) / rows
    effect = sum(
        ((value - mean) ** 2).sum(axis=-1) * count for value, count in zip(values, counts, strict=True)
    )
    return mean, np.asarray(effect)


def _by_nodes(forest: Forest, shape: _Levels) -> Floats:
    """What the splits of the trees that are not oblivious are worth, by feature."""
    values, counts = _leaf_values(forest), forest.count.astype(np.float64)
    effect = np.zeros(forest.n_features)
    for inner in reversed(shape.levels):
        inner = inner[~shape.oblivious[shape.tree[inner]]]
        left = shape.child[inner]
        values[inner], moved = _moved((values[left], values[left + 1]), (counts[left], counts[left + 1]))
        effect += np.bincount(forest.feature[inner], moved, forest.n_features)
    return effect


def _by_leaf_pairs(forest: Forest, shape: _Levels) -> Floats:
    """What the splits of the oblivious trees are worth, by feature."""
    values, effect = _leaf_values(forest), np.zeros(forest.n_features)
    depth = np.zeros(forest.n_trees, np.int64)
    for inner in shape.levels:
        depth[np.unique(shape.tree[inner])] += 1
    for own_depth in np.unique(depth[shape.oblivious & (depth > 0)]).tolist():
        trees = np.flatnonzero(shape.oblivious & (depth == own_depth))
        leaves = np.flatnonzero((forest.feature < 0) & np.isin(shape.tree, trees))
        place = np.searchsorted(trees, shape.tree[leaves]), shape.path[leaves]
        own_values = np.zeros((len(trees), 1 << own_depth, values.shape[1]))
        counts = np.zeros((len(trees), 1 << own_depth))
        own_values[place], counts[place] = values[leaves], forest.count[leaves]
        numbers = np.arange(1 << own_depth)
        for level, inner in enumerate(shape.levels[:own_depth]):
            first = numbers[numbers >> level & 1 == 0]
            second = first + (1 << level)
            moved = _moved(
                (own_values[:, first], own_values[:, second]), (counts[:, first], counts[:, second])
            )[1]
            of_tree = np.zeros(forest.n_trees, np.int64)
            of_tree[shape.tree[inner]] = forest.feature[inner]
            effect += np.bincount(of_tree[trees], moved.sum(axis=1), forest.n_features)
    return effect
