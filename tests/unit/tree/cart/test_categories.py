"""Sets of categories in trees on labels: the best of all for one number or two classes, and where the unseen goes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reference_cart import Twin
from unit.tree.cart.test_cart import assert_twin
from weald.binning import BinChoices, DenseBins, fit_bins
from weald.data import read_table
from weald.tree.cart import CartLabels, CartRules, CartTree, Draw, grow_cart_trees

KEYS = np.array([7], np.uint64)


def binned(columns: list[list[Any]], max_bins: int = 255) -> DenseBins:
    dataset = read_table([list(row) for row in zip(*columns, strict=True)])
    return fit_bins(dataset, None, BinChoices(max_bins)).transform(dataset, tasks=1)


def random_column(rng: np.random.Generator, n_rows: int, n_categories: int, missing: float) -> list[Any]:
    codes = (rng.random(n_rows) ** 2 * n_categories).astype(int)
    return [None if rng.random() < missing else f"c{code}" for code in codes]


def labels_for(criterion: str, rng: np.random.Generator, column: list[Any], n_classes: int = 2) -> CartLabels:
    names = sorted({str(name) for name in column})
    signal = rng.standard_normal(len(names))[[names.index(str(name)) for name in column]]
    noisy = signal + 0.7 * rng.standard_normal(len(column))
    if criterion in ("gini", "entropy"):
        cuts = np.quantile(noisy, np.linspace(0, 1, n_classes + 1)[1:-1])
        return CartLabels.classification(np.digitize(noisy, cuts), (n_classes,))
    return CartLabels.regression(np.floor(np.exp(noisy)) + 1.0 if criterion == "poisson" else noisy)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_no_other_two_sets_lower_the_impurity_more(criterion: str) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        column = random_column(rng, 60, 7, 0.1)
        bins, labels = binned([column]), labels_for(criterion, rng, column)
        rules = CartRules(criterion, max_depth=1)
        (tree,) = assert_twin(bins, labels, None, rules, Draw(), (7,))
        twin = Twin(bins, labels, None, rules, Draw(), 7)
        rows = list(range(60))
        present = sorted(set(bins.columns[0].tolist()))
        best = max(
            twin.try_split(rows, [row for row in rows if bins.columns[0, row] in members])
            for size in range(1, len(present))
            for members in combinations(present, size)
        )
        unit = twin.unit**2 if criterion == "squared_error" else twin.unit
        assert tree.gain[0] == pytest.approx((best - twin.score(rows)) * unit / 60, rel=1e-9)


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def test_many_categories_grow_the_twins_tree(criterion: str, splitter: str) -> None:
    rng = np.random.default_rng(3)
    columns = [
        random_column(rng, 90, 30, 0.0),
        random_column(rng, 90, 9, 0.3),
        random_column(rng, 90, 60, 0.1),
    ]
    labels = labels_for(criterion, rng, columns[1], 2)
    for max_bins in (255, 20):  # with 20 the last bin gathers rare categories
        bins = binned(columns, max_bins)
        for more in ({}, {"min_samples_leaf": 4, "features_per_node": 2}, {"max_leaf_nodes": 6}):
            rules = CartRules(criterion, splitter, **more)  # type: ignore[arg-type]
            assert_twin(bins, labels, rng.random(90), rules, Draw(bootstrap=True))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_several_classes_and_outputs_grow_the_twins_tree(criterion: str) -> None:
    rng = np.random.default_rng(4)
    columns = [random_column(rng, 80, 12, 0.1), random_column(rng, 80, 40, 0.0)]
    bins = binned(columns)
    labels = [labels_for(criterion, rng, columns[0], 5), labels_for(criterion, rng, columns[1], 3)]
    if criterion == "squared_error":
        several = CartLabels.regression(np.column_stack([each.values[:, 0] for each in labels]))
    else:
        several = CartLabels.classification(np.column_stack([each.codes[:, 0] for each in labels]), (5, 3))
    for each in (labels[0], several):
        for splitter in ("best", "random"):
            assert_twin(bins, each, None, CartRules(criterion, splitter), Draw(bootstrap=True), (1, 2))


def left_categories(tree: CartTree) -> NDArray[Any]:
    return np.flatnonzero([(int(tree.left_bins[0, b // 64]) >> (b % 64)) & 1 for b in range(256)])


def test_the_unseen_goes_right_with_most_weight() -> None:
    column = ["a"] * 10 + ["b"] * 6 + ["c"] * 5 + ["d"] * 2
    y = np.array([1.0] * 10 + [0.0] * 6 + [1.0] * 5 + [0.0] * 2)
    bins, rules = binned([column]), CartRules("squared_error")
    (tree,) = grow_cart_trees(bins, CartLabels.regression(y), None, rules, Draw(), KEYS)
    assert (left_categories(tree).tolist(), int(tree.missing_left[0]), tree.count.tolist()) == (
        [1, 3],
        0,
        [23, 8, 15],
    )
    weight = np.where(y == 0.0, 9.0, 1.0)
    (tree,) = grow_cart_trees(bins, CartLabels.regression(y), weight, rules, Draw(), KEYS)
    assert left_categories(tree).tolist() == [0, 2]
