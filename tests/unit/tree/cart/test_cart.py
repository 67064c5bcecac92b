"""Trees of the CART engine against a twin that tries every split on its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reference_cart import Twin
from weald.binning import BinChoices, DenseBins, fit_bins, with_extremes
from weald.data import read_table
from weald.runtime.errors import InputError
from weald.tree.cart import CartLabels, CartRules, CartTree, Draw, bootstrap_counts, grow_cart_trees

CLASS_CRITERIA = ("gini", "entropy")
NUMBER_CRITERIA = ("squared_error", "friedman_mse", "absolute_error", "poisson")
KEY = 0xFEDC_BA98_7654_3210


def table(rng: np.random.Generator, n_rows: int) -> DenseBins:
    """Six columns: numbers with many and few values, missing ones, categories with and without missing ones, a constant."""
    X = np.empty((n_rows, 6))
    X[:, 0] = rng.standard_normal(n_rows)
    X[:, 1] = rng.integers(0, 5, n_rows)
    X[:, 2] = np.where(rng.random(n_rows) < 0.3, np.nan, rng.standard_normal(n_rows) ** 3)
    X[:, 3] = rng.integers(0, 4, n_rows)
    X[:, 4] = np.where(rng.random(n_rows) < 0.2, np.nan, rng.integers(0, 3, n_rows))
    X[:, 5] = 1.0
    dataset = read_table(X, categorical=[3, 4])
    return with_extremes(fit_bins(dataset, None).transform(dataset, tasks=1), dataset, None)


def labels_of(
    rng: np.random.Generator, bins: DenseBins, criterion: str, n_outputs: int, n_classes: int
) -> CartLabels:
    n_rows = bins.columns.shape[1]
    signal = np.sin(bins.columns.T.astype(float) @ rng.standard_normal((6, n_outputs)))
    noisy = signal + 0.5 * rng.standard_normal((n_rows, n_outputs))
    if criterion in CLASS_CRITERIA:
        codes = np.clip((noisy + 1.5) / 3 * n_classes, 0, n_classes - 1).astype(np.int64)
        return CartLabels.classification(codes, (n_classes,) * n_outputs)
    values = noisy.round(1) if criterion == "absolute_error" else noisy
    if criterion == "poisson":
        values = np.floor(np.exp(noisy))
        values[0] = 1.0
    return CartLabels.regression(values)


def assert_twin(
    bins: DenseBins,
    labels: CartLabels,
    weight: NDArray[np.float64] | None,
    rules: CartRules,
    draw: Draw,
    keys: Any = (KEY,),
) -> list[CartTree]:
    trees = grow_cart_trees(bins, labels, weight, rules, draw, np.array(keys, np.uint64))
    for tree, key in zip(trees, keys, strict=True):
        twin = Twin(bins, labels, weight, rules, draw, int(key))
        for name, expected in twin.arrays().items():
            found = getattr(tree, name)
            if expected.size or found.size:
                np.testing.assert_array_equal(found, expected, err_msg=name)
        np.testing.assert_array_equal(tree.cover, twin.cover())
    return trees


RULES: dict[str, dict[str, Any]] = {
    "full depth": {},
    "drawn features": {"features_per_node": 2},
    "one feature at a time": {"features_per_node": 1},
    "random thresholds": {"splitter": "random"},
    "random thresholds, drawn features": {"splitter": "random", "features_per_node": 2},
    "to a depth": {"max_depth": 2},
    "best first": {"max_leaf_nodes": 7, "features_per_node": 3},
    "large leaves": {"min_samples_leaf": 6, "features_per_node": 3},
    "large nodes": {"min_samples_split": 15},
    "heavy leaves": {"min_weight_leaf": 0.1},
    "decreasing": {"min_impurity_decrease": 0.004},
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("criterion", CLASS_CRITERIA + NUMBER_CRITERIA)
def test_a_tree_is_that_of_the_twin_under_every_rule(name: str, criterion: str) -> None:
    rng = np.random.default_rng(len(name))
    rules = CartRules(criterion, **RULES[name])
    grown = 0
    for n_rows in (3, 70):
        bins = table(rng, n_rows)
        labels = labels_of(rng, bins, criterion, 1, 2)
        for weight in (
            None,
            rng.random(n_rows) * (rng.random(n_rows) < 0.9) + 0.01 * (np.arange(n_rows) < 2),
        ):
            (tree,) = assert_twin(bins, labels, weight, rules, Draw(bootstrap=weight is None))
            grown = max(grown, len(tree.feature))
    assert grown > 3


@pytest.mark.parametrize("criterion", CLASS_CRITERIA + NUMBER_CRITERIA)
@pytest.mark.parametrize(("n_outputs", "n_classes"), [(1, 1), (1, 5), (2, 3), (3, 2)])
def test_several_outputs_and_classes_grow_the_twins_tree(
    criterion: str, n_outputs: int, n_classes: int
) -> None:
    rng = np.random.default_rng(n_outputs + n_classes)
    bins = table(rng, 60)
    labels = labels_of(rng, bins, criterion, n_outputs, n_classes)
    for splitter in ("best", "random"):
        rules = CartRules(criterion, splitter, features_per_node=3)
        assert_twin(bins, labels, None, rules, Draw(bootstrap=True))
        assert_twin(bins, labels, rng.random(60), rules, Draw(n_draws=40))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_histograms_and_sorted_rows_give_the_same_tree(
    criterion: str, n_outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    bins = table(rng, 400)
    labels = labels_of(rng, bins, criterion, n_outputs, 3)
    rules, keys = CartRules(criterion, features_per_node=3), np.array([1, 2], np.uint64)
    trees = {}
    for sort_rows in (0, 5, 400):
        monkeypatch.setattr("weald.tree.cart.cart.sort_rows_below", lambda n_slots, s=sort_rows: s)
        trees[sort_rows] = grow_cart_trees(bins, labels, None, rules, Draw(bootstrap=True), keys)
    for sort_rows in (5, 400):
        for one, other in zip(trees[0], trees[sort_rows], strict=True):
            assert_same(one, other)


def assert_same(one: CartTree, other: CartTree) -> None:
    for name in CartTree.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_the_number_of_tasks_changes_no_tree(criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weald.tree.cart.cart.PARALLEL_ROWS", 0)
    rng = np.random.default_rng(6)
    bins = table(rng, 500)
    labels = labels_of(rng, bins, criterion, 1, 3)
    rules, draw = CartRules(criterion, features_per_node=2), Draw(bootstrap=True)
    keys = rng.integers(0, 2**63, 11).astype(np.uint64)
    expected = grow_cart_trees(bins, labels, None, rules, draw, keys, tasks=1)
    for tasks in (2, 3):
        for one, other in zip(
            expected, grow_cart_trees(bins, labels, None, rules, draw, keys, tasks), strict=True
        ):
            assert_same(one, other)
    (alone,) = grow_cart_trees(bins, labels, None, rules, draw, keys[4:5])
    assert_same(expected[4], alone)


def test_every_tree_draws_its_own_rows_and_columns() -> None:
    rng = np.random.default_rng(7)
    bins = table(rng, 50)
    labels = labels_of(rng, bins, "gini", 1, 2)
    draw = Draw(bootstrap=True, n_draws=80, columns_per_tree=3)
    trees = assert_twin(bins, labels, None, CartRules("gini", features_per_node=2), draw, (1, 2, 3))
    assert len({tuple(tree.feature.tolist()) for tree in trees}) == 3
    for tree, key in zip(trees, (1, 2, 3), strict=True):
        counts = bootstrap_counts(key, 50, 80)
        assert counts.sum() == 80 == tree.cover[0]
        assert np.count_nonzero(counts) == tree.count[0]
    without = bootstrap_counts(9, 50, 20, replace=False)
    assert without.sum() == 20 and without.max() == 1


def test_a_row_drawn_twice_weighs_as_two_copies() -> None:
    rng = np.random.default_rng(8)
    bins = table(rng, 60)
    counts = bootstrap_counts(5, 60, 60)
    copies = np.repeat(np.arange(60), counts)
    copied = DenseBins(bins.columns[:, copies], bins.rows.reshape(60, 6)[copies].reshape(-1), bins.mapper)
    keys = np.array([5], np.uint64)
    for criterion in (*CLASS_CRITERIA, "poisson"):
        labels, rules = labels_of(rng, bins, criterion, 1, 3), CartRules(criterion)
        (one,) = grow_cart_trees(bins, labels, None, rules, Draw(bootstrap=True), keys)
        (other,) = grow_cart_trees(copied, labels.take(copies), None, rules, Draw(), keys)
        for name in ("feature", "split_bin", "left", "cover", "gain"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_allclose(one.value, other.value, rtol=1e-14)


def test_every_row_falls_in_the_leaf_that_the_forest_sends_it_to() -> None:
    rng = np.random.default_rng(9)
    bins = table(rng, 80)
    labels = labels_of(rng, bins, "squared_error", 1, 2)
    (tree,) = grow_cart_trees(
        bins, labels, None, CartRules("squared_error"), Draw(), np.array([1], np.uint64)
    )
    leaves = tree.leaf_of_row(bins)
    assert (tree.feature[leaves] == -1).all()
    np.testing.assert_array_equal(np.bincount(leaves, minlength=len(tree.feature)) > 0, tree.feature == -1)
    # To the last row, unless rows with different labels are equal in all columns.
    same = np.unique(bins.columns, axis=1, return_inverse=True)[1].reshape(-1)
    for row in range(80):
        np.testing.assert_allclose(tree.value[leaves[row]], labels.values[same == same[row], 0].mean())


def test_weights_of_any_scale_grow_the_same_tree() -> None:
    rng = np.random.default_rng(10)
    bins = table(rng, 60)
    labels = labels_of(rng, bins, "gini", 1, 2)
    weight = rng.random(60)
    keys = np.array([3], np.uint64)
    (expected,) = grow_cart_trees(bins, labels, weight, CartRules("gini"), Draw(), keys)
    for scale in (2.0**-1000, 2.0**20, 2.0**1000):
        (tree,) = grow_cart_trees(bins, labels, weight * scale, CartRules("gini"), Draw(), keys)
        np.testing.assert_array_equal(tree.split_bin, expected.split_bin)
        np.testing.assert_array_equal(tree.value, expected.value)
        np.testing.assert_array_equal(tree.cover, expected.cover * scale)


def test_a_draw_without_weight_takes_all_rows() -> None:
    rng = np.random.default_rng(11)
    bins = table(rng, 40)
    labels = labels_of(rng, bins, "gini", 1, 2)
    weight = np.zeros(40)
    weight[7] = 1.0
    trees = grow_cart_trees(
        bins,
        labels,
        weight,
        CartRules("gini"),
        Draw(bootstrap=True, n_draws=1),
        np.arange(8).astype(np.uint64),
    )
    assert all(tree.count.tolist() == [1] for tree in trees)


def test_read_only_data_need_no_other_compiled_kernel() -> None:
    from weald.tree.cart.grower import grow_trees

    rng = np.random.default_rng(12)
    bins = table(rng, 30)
    for n_outputs in (1, 2):
        labels = labels_of(rng, bins, "squared_error", n_outputs, 2)
        values, weight = labels.values.copy(), rng.random(30)
        for array in (values, weight, bins.rows, bins.columns):
            array.flags.writeable = False
        rules = CartRules("squared_error", max_depth=2)
        grow_cart_trees(bins, CartLabels.regression(values), weight, rules, Draw(), np.array([1], np.uint64))
    for criterion in ("gini", "absolute_error"):
        labels = labels_of(rng, bins, criterion, 2, 3)
        grow_cart_trees(bins, labels, None, CartRules(criterion), Draw(), np.array([1], np.uint64))
    assert len(grow_trees.signatures) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("criterion", "more", "message"),
    [
        ("mse", {}, "criterion must be one of gini"),
        ("squared_error", {}, "cannot be used with labels that are classes"),
        ("gini", {"splitter": "worst"}, "splitter must be 'best' or 'random'"),
        ("gini", {"features_per_node": 7}, "features_per_node must be from 1 to 6"),
    ],
)
def test_rules_that_do_not_fit_are_refused(criterion: str, more: dict[str, Any], message: str) -> None:
    rng = np.random.default_rng(13)
    bins = table(rng, 20)
    labels = labels_of(rng, bins, "gini", 1, 2)
    with pytest.raises(InputError, match=message):
        grow_cart_trees(bins, labels, None, CartRules(criterion, **more), Draw(), np.array([1], np.uint64))


def test_labels_and_weights_that_do_not_fit_are_refused() -> None:
    rng = np.random.default_rng(14)
    bins = table(rng, 20)
    keys, rules = np.array([1], np.uint64), CartRules("gini")
    labels = labels_of(rng, bins, "gini", 1, 2)
    for weight in (np.zeros(20), np.full(20, -1.0), np.full(20, np.nan), np.full(20, np.inf)):
        with pytest.raises(InputError, match="weights must be finite"):
            grow_cart_trees(bins, labels, weight, rules, Draw(), keys)
    with pytest.raises(InputError, match="codes of output 0 must be from 0 to 1"):
        CartLabels.classification(np.array([0, 2]), (2,))
    with pytest.raises(InputError, match="must be finite"):
        CartLabels.regression(np.array([0.0, np.nan]))
    with pytest.raises(InputError, match="not negative"):
        grow_cart_trees(bins, CartLabels.regression(-np.ones(20)), None, CartRules("poisson"), Draw(), keys)
    with pytest.raises(InputError, match="n_draws must be"):
        grow_cart_trees(bins, labels, None, rules, Draw(bootstrap=True, n_draws=0), keys)


def thresholds(
    X: NDArray[np.float64], y: NDArray[np.float64], looked_for: bool, n_trees: int = 200
) -> NDArray[np.float64]:
    """Those of the first splits of many random trees on four bins."""
    dataset = read_table(X)
    bins = fit_bins(dataset, None, BinChoices(4)).transform(dataset, tasks=1)
    if looked_for:
        bins = with_extremes(bins, dataset, None)
    rules = CartRules("squared_error", splitter="random", max_depth=1)
    trees = grow_cart_trees(
        bins, CartLabels.regression(y[:, None]), None, rules, Draw(), np.arange(n_trees, dtype=np.uint64)
    )
    return np.array([bins.mapper.cuts[0][tree.split_bin[0]] for tree in trees])


def test_random_thresholds_of_a_skewed_column_are_drawn_as_far_as_its_tail() -> None:
    """Nearly all of the way from the least to the greatest value is in the last bin."""
    X = np.exp(np.linspace(0.0, 6.0, 400)).reshape(-1, 1)
    last = fit_bins(read_table(X), None, BinChoices(4)).cuts[0][-1]
    assert 0.82 < (thresholds(X, X[:, 0], True, 2_000) == last).mean() < 0.89
    assert (thresholds(X, X[:, 0], False) == last).mean() < 0.7


def test_random_thresholds_part_values_at_equal_distances_equally_often() -> None:
    found = thresholds(np.repeat([0.0, 1.0, 2.0, 3.0], 10)[:, None], np.arange(40.0), True, 2_000)
    shares = [(found == cut).mean() for cut in (0.5, 1.5, 2.5)]
    np.testing.assert_allclose(shares, 1.0 / 3.0, atol=0.04)


def test_random_thresholds_know_no_infinite_extreme() -> None:
    X = np.array([-np.inf, 0.0, 1.0, 2.0, np.inf]).reshape(-1, 1)
    found = thresholds(X, np.arange(5.0), True)
    assert np.isfinite(found).all() and len(np.unique(found)) > 1
