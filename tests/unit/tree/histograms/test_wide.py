"""Bins of two bytes: the same trees as of one byte, and sets of thousands of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import weald
from weald import BoostedTreesRegressor
from weald.binning import BinChoices, DenseBins, SparseBins, fit_bins
from weald.data import read_table
from weald.tree.growers import make_grower
from weald.tree.rules import TreeRules

N_ROWS = 9_000  # a root's histogram has more than one block
NONE = np.empty(0, np.uint32)


def widened(bins: Any) -> Any:
    """The same table with cells of two bytes."""
    if isinstance(bins, SparseBins):
        cells = bins.bins.astype(np.uint16), bins.default.astype(np.uint16)
        return SparseBins(bins.starts, bins.rows, *cells, bins.n_rows, bins.mapper)
    return DenseBins(bins.columns.astype(np.uint16), bins.rows.astype(np.uint16), bins.mapper)


def table(sparse: bool) -> Any:
    rng = np.random.default_rng(0)
    values = np.round(rng.standard_normal((N_ROWS, 5)), 2)
    if sparse:
        values *= rng.random(values.shape) < 0.07
        values[:40, 1] = np.nan
        return scipy.sparse.csr_array(values)
    values[rng.random(values.shape) < 0.05] = np.nan
    values[:, 4] = rng.integers(0, 200, N_ROWS)
    return values


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
@pytest.mark.parametrize("sparse", [False, True])
def test_two_bytes_a_cell_give_the_tree_of_one(sparse: bool, growth: str) -> None:
    dataset = read_table(table(sparse), categorical=[] if sparse else [4])
    bins = fit_bins(dataset, None, BinChoices(100, 255)).transform(dataset, 1)
    assert isinstance(bins, SparseBins) == sparse
    rng = np.random.default_rng(1)
    gradient, hessian = rng.standard_normal(N_ROWS).astype(np.float32), np.ones(N_ROWS, np.float32)
    gradient += np.nan_to_num(dataset.take(np.arange(N_ROWS))[:, 0] > 0.3)
    rules = TreeRules(growth, None if growth == "oblivious" else 12, 4, max_cat_to_onehot=4)
    trees = []
    for one in (bins, widened(bins)):
        grower = make_grower(one, rules, "packed_always", 1)
        sampled = np.arange(0, N_ROWS, 2, dtype=np.uint32)
        tree = grower.grow(gradient, hessian, sampled, np.arange(5), 7, 8)
        values, score = tree.leaf_values(), np.zeros(N_ROWS)
        tree.add_to(score, values)
        trees.append((tree.for_forest(values, 1.0), score))
    (first, first_score), (second, second_score) = trees
    assert first_score.tobytes() == second_score.tobytes() and np.ptp(first_score) > 0
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
@pytest.mark.parametrize("categories", ["onehot", "partition"])
def test_thousands_of_categories_are_told_apart(growth: str, categories: str) -> None:
    codes = np.random.default_rng(2).permutation(np.repeat(np.arange(2_000.0), 3))
    y = (
        np.where(codes % 2 == 0, 1.0, -1.0)
        if categories == "partition"
        else np.where(codes == 1_777, 9.0, 0.0)
    )
    model = BoostedTreesRegressor(
        n_estimators=1,
        learning_rate=1.0,
        growth=growth,
        max_depth=1,
        min_samples_leaf=1,
        min_child_weight=0.0,
        reg_lambda=0.0,
        categories=weald.Partition(max_threshold=1_000) if categories == "partition" else categories,
        bins=weald.Bins(max_categories=2_000),
        categorical_features=[0],
    ).fit(codes.reshape(-1, 1), y)
    assert np.abs(model.predict(codes.reshape(-1, 1)) - y).max() < 1e-6
    forest = model.forest_
    assert forest.set_offsets[-1] == (1_000 if categories == "partition" else 1)
    folded = BoostedTreesRegressor(max_depth=1, categories="onehot", categorical_features=[0]).fit(codes.reshape(-1, 1), y)
    assert np.abs(folded.predict(codes.reshape(-1, 1)) - y).max() > 0.1


def test_numbers_have_a_thousand_thresholds() -> None:
    X = np.random.default_rng(3).permutation(np.arange(5_000.0)).reshape(-1, 1)
    y = np.where(X[:, 0] < 1_234.0, 5.0, 0.0)
    errors = []
    for max_bins in (255, 5_000):
        model = BoostedTreesRegressor(
            n_estimators=1, learning_rate=1.0, max_depth=1, min_samples_leaf=1, reg_lambda=0.0, bins=max_bins
        )
        errors.append(np.abs(model.fit(X, y).predict(X) - y).max())
    assert errors[0] > 0.1 and errors[1] < 1e-6
    assert model.forest_.threshold[0] == 1_233.5
