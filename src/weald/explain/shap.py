"""Shapley values of a forest: what every column adds to a row's raw score, beside the mean of the training rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.explain.kernels import (
    MOST_TESTS,
    WIDTH,
    PathWorkspace,
    Points,
    TreeArrays,
    add_expected,
    shap_rows,
)
from weald.forest.forest import Forest
from weald.forest.predict import Blocks

# Rows below which threads cost more than they save, and cells that are explained at a time.
_PARALLEL_ROWS: Final = 64
_CELLS_TOGETHER: Final = 2**20
# Sums of weights as whole numbers, of which those of a root have so many bits.
_BITS: Final = 40


def shap_values(forest: Forest, blocks: Blocks, n_rows: int, tasks: int = 1) -> NDArray[np.float64]:
    """float64[K, n_rows, features + 1]: each feature's part of the K raw scores, and last what they are parts beside of.

    That is the mean score of the training rows by the trees' own counts of them; it and a row's parts add up to its raw
    score. Blocks and tasks are as in `weald.forest.predict.raw_scores`; the values do not depend on either.

    >>> import numpy as np
    >>> from weald.forest.builder import ForestBuilder
    >>> builder = ForestBuilder(n_features=2, n_outputs=1, base_score=[0.5])
    >>> builder.append(
    ...     feature=[1, -1, -1], threshold=[3.5, 0, 0], left=[1, 0, 0], missing_left=[True, False, False],
    ...     category_set=[-1, -1, -1], value=[0, -1, 1], gain=[8, 0, 0], cover=[4, 3, 1], count=[4, 3, 1],
    ... )
    >>> shap_values(builder.build(), [(0, np.array([[0.0, 3.0], [0.0, 4.0]]))], n_rows=2).tolist()
    [[[0.0, -0.5, 0.0], [0.0, 1.5, 0.0]]]
    """
    per_tree = forest.n_outputs if forest.has_vectors else 1
    trees = TreeArrays(**{name: getattr(forest, name) for name in TreeArrays._fields})
    found = np.zeros((forest.n_outputs, n_rows, forest.n_features + 1))
    expected, nodes = np.zeros(forest.n_outputs), int(np.diff(forest.tree_offsets).max(initial=1))
    steps = int(add_expected(trees, per_tree, np.empty((nodes, 2)), expected))
    if n_rows < _PARALLEL_ROWS:
        tasks = 1
    depth = int(forest.max_depth().max(initial=0)) if forest.n_trees else 0
    points, work = _gauss(depth), _workspace(tasks, forest, nodes, steps, depth, per_tree)
    step = max(1, _CELLS_TOGETHER // max(forest.n_features, 1))
    for first_row, block in blocks:
        for begin in range(0, len(block), step):
            rows = np.ascontiguousarray(block[begin : begin + step], dtype=np.float64)
            rows.flags.writeable = False
            place = slice(first_row + begin, first_row + begin + len(rows))
            part = np.zeros((forest.n_outputs, len(rows), forest.n_features + 1))
            shap_rows(tasks, trees, points, rows, work, per_tree, part)
            found[:, place] = part
    found[:, :, -1] = expected[:, None]
    if forest.averaged:
        found /= max(forest.n_rounds, 1)
    found[:, :, -1] += forest.base_score[:, None]
    return found


def weighed_by_cover(forest: Forest) -> Forest:
    """The trees with sums of weights or hessians where rows are counted, as whole numbers."""
    roots = forest.cover[forest.tree_offsets[:-1]]
    scale = 2.0**_BITS / np.where(roots > 0.0, roots, 1.0)
    weighed = np.rint(forest.cover * np.repeat(scale, np.diff(forest.tree_offsets)))
    return replace(forest, count=weighed.astype(np.int64))


def _gauss(depth: int) -> Points:
    """Gauss's rules for paths of at most ``depth`` columns."""
    most = (depth + 1) // 2
    at, weight = np.zeros((most + 1, max(most, 1))), np.zeros((most + 1, max(most, 1)))
    for count in range(1, most + 1):
        points, weights = np.polynomial.legendre.leggauss(count)
        at[count, :count], weight[count, :count] = 0.5 * (points + 1.0), 0.5 * weights
    return Points(at, weight)


def _workspace(
    tasks: int, forest: Forest, nodes: int, steps: int, depth: int, per_tree: int
) -> PathWorkspace:
    def floats(*shape: int) -> NDArray[np.float64]:
        return np.empty((tasks, *shape))

    def integers(*shape: int) -> NDArray[np.int64]:
        return np.empty((tasks, *shape), np.int64)

    def bits(*shape: int) -> NDArray[Any]:
        return np.empty((tasks, *shape), np.uint8)

    slots, rules = min(forest.n_features, nodes // 2 + 1), (depth + 1) // 2
    return PathWorkspace(
        parent=integers(nodes),
        test=integers(nodes),
        goes_left=bits(nodes, WIDTH),
        tests=integers(MOST_TESTS),
        slot_of=np.full((tasks, forest.n_features), -1, np.int64),
        columns=integers(slots),
        leaf=integers(nodes // 2 + 2, 3),
        fraction=floats(steps),
        slot=integers(steps),
        step=integers(steps, 2),
        passes=bits(depth, WIDTH),
        passed=floats(depth, WIDTH),
        factor=floats(rules, depth, 2),
        gain=floats(rules, depth, 2),
        product=floats(WIDTH),
        part=floats(depth, WIDTH),
        share=floats(slots, per_tree, WIDTH),
        pattern=integers(WIDTH),
        patterns=floats(1 << MOST_TESTS, MOST_TESTS, per_tree),
    )
