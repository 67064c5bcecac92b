"""Trees whose nodes propose their own thresholds, against a naive twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_approx as reference
import weald
from weald import BoostedTreesRegressor
from weald.binning.sketch import ACCURACY
from weald.tree.state import WIDE_GRADIENT_LIMIT, WIDE_HESSIAN_LIMIT


def splits_of(forest: Any, node: int = 0) -> list[tuple[int, float, int, int]]:
    """(feature, threshold, rows on the left, on the right) of a tree's splits, left sides before right ones."""
    if forest.feature[node] < 0:
        return []
    left = int(forest.left[node])
    own = (
        int(forest.feature[node]),
        float(forest.threshold[node]),
        int(forest.count[left]),
        int(forest.count[left + 1]),
    )
    return [own, *splits_of(forest, left), *splits_of(forest, left + 1)]


@pytest.mark.parametrize("buckets", [2, 4, 9])
@pytest.mark.parametrize("rows", [60, 400])
def test_a_tree_splits_where_the_naive_twin_does(buckets: int, rows: int) -> None:
    rng = np.random.default_rng(buckets * rows)
    X = rng.standard_normal((rows, 3))
    X[:, 1] = np.round(X[:, 1] * 2)
    X[rng.random(rows) < 0.5, 2] = 0.0
    y = np.sin(3 * X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(rows)
    weight = rng.integers(1, 40, rows).astype(np.float64) ** 2
    model = BoostedTreesRegressor(
        split_finder=weald.Approximate(proposals="local", eps=1 / buckets, precision="wide"),
        n_estimators=1,
        growth="depthwise",
        max_depth=3,
        max_leaves=None,
        min_samples_leaf=1,
        min_child_weight=0.0,
        reg_lambda=0.0,
        n_jobs=1,
    ).fit(X, y, sample_weight=weight)
    gradient = (weight * (model.forest_.base_score[0] - y)).astype(np.float32).astype(np.float64)
    scales = WIDE_GRADIENT_LIMIT / np.abs(gradient).max(), WIDE_HESSIAN_LIMIT / weight.max()
    expected = reference.grow(
        X,
        np.floor(gradient * scales[0] + 0.5).astype(np.int64),
        (weight * scales[1] + 0.5).astype(np.int64),
        np.arange(rows),
        3,
        buckets,
        ACCURACY * buckets + 1,
    )
    found = splits_of(model.forest_)
    assert [(split.feature, split.left, split.right) for split in expected] == [
        (feature, left, right) for feature, _, left, right in found
    ]
    for split, (_, threshold, _, _) in zip(expected, found, strict=True):
        above = X[X[:, split.feature] > split.threshold, split.feature].min()
        assert split.threshold <= threshold < above
