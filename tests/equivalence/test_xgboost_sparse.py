"""Sparse tables against XGBoost on the same matrix: what is not stored takes the direction that both learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald
from weald import BoostedTreesRegressor

xgboost = pytest.importorskip("xgboost")


def wine_words() -> tuple[Any, Any]:
    """Real measurements of wines, of which only those that stand out are stored, rounded so that bins are values."""
    from sklearn.datasets import load_wine

    wine = load_wine()
    X = wine.data
    z = np.round((X - X.mean(0)) / X.std(0), 1)
    z[np.abs(z) < 0.7] = 0.0
    z[z < 0] += 5.0
    return scipy.sparse.csr_array(z.astype(np.float32)), X[:, 12] / 1000.0  # proline, beside its own column


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_trees_are_xgboosts_with_its_default_directions(form: str) -> None:
    matrix, y = wine_words()
    matrix = matrix[:, :12].asformat(form)
    ours = BoostedTreesRegressor(
        n_estimators=1,
        learning_rate=1.0,
        growth="depthwise",
        max_depth=3,
        max_leaves=None,
        min_samples_leaf=1,
        min_child_weight=1.0,
        reg_lambda=1.0,
        split_finder=weald.Histogram(precision="wide"),
        bins=weald.Bins(unstored="missing"),
        n_jobs=1,
    ).fit(matrix, y)
    theirs = xgboost.train(
        {
            "tree_method": "hist",
            "max_depth": 3,
            "eta": 1.0,
            "reg_lambda": 1.0,
            "base_score": float(y.mean()),
            "nthread": 1,
        },
        xgboost.DMatrix(matrix, y),
        1,
    )
    frame = theirs.trees_to_dataframe()
    inner = frame[frame.Feature != "Leaf"]
    tree = ours.forest_.tree(0)
    is_inner = tree.feature >= 0
    # Node after node, level by level, as both number them.
    assert [f"f{feature}" for feature in tree.feature[is_inner]] == inner.Feature.tolist()
    goes_left = (inner.Missing == inner.Yes).tolist()
    assert tree.missing_left[is_inner].astype(bool).tolist() == goes_left
    assert len(set(goes_left)) == 2  # both directions occur
    expected = theirs.predict(xgboost.DMatrix(matrix))
    np.testing.assert_allclose(ours.predict(matrix), expected, rtol=2e-5)


def test_fifty_trees_are_as_good_on_other_rows() -> None:
    matrix, y = wine_words()
    matrix, test = matrix[:, :12], np.arange(len(y)) % 3 == 0
    ours = BoostedTreesRegressor(
        n_estimators=50,
        growth="depthwise",
        max_depth=4,
        max_leaves=None,
        min_samples_leaf=1,
        min_child_weight=1.0,
        reg_lambda=1.0,
        bins=weald.Bins(unstored="missing"),
        n_jobs=1,
    ).fit(matrix[~test], y[~test])
    theirs = xgboost.XGBRegressor(n_estimators=50, learning_rate=0.1, max_depth=4, n_jobs=1).fit(
        matrix[~test], y[~test]
    )
    errors = [np.sqrt(np.mean((model.predict(matrix[test]) - y[test]) ** 2)) for model in (ours, theirs)]
    assert errors[0] < 1.05 * errors[1]
