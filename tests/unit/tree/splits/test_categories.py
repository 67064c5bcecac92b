"""Two sets of categories: the best of all there are, whatever the limits, and where the unseen goes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import reference
from unit.tree.factories import random_bins, random_gradients, rules, tree_input
from unit.tree.splits.test_split import kernel_split
from weald.binning import BinMapper
from weald.tree.splits.thresholds import split_thresholds
from weald.tree.state import Gradients

BY_SET: dict[str, Any] = {"max_cat_to_onehot": 1}


def units() -> Gradients:
    return Gradients(True, np.zeros(1, np.uint64), 1.0, 1.0)


def split_of(cells: list[tuple[int, int, int]], gathers: bool = False, **limits: Any) -> Any:
    """The split of one feature whose categories (the last is "missing") have these sums; units are one."""
    n_bins = len(cells) - 1
    data = tree_input(np.zeros((1, 1), np.uint8), [n_bins], [0], gathers=[0] if gathers else [])
    total = reference.total_of([reference.Sums(*cell) for cell in cells])
    sums, allowed = np.array(cells, np.int64).T, rules(**{**BY_SET, **limits})
    found = kernel_split(data, [0], sums, total, units(), allowed)
    assert found == reference.best_split(data, [0], sums, total, units(), allowed)
    return found


def best_of_all_subsets(cells: list[tuple[int, int, int]], **limits: Any) -> float:
    """The largest gain over all ways to form two sets of categories, missing values one of them."""
    sums = [reference.Sums(*cell) for cell in cells]
    total, allowed, best = reference.total_of(sums), rules(**{**BY_SET, **limits}), 0.0
    for size in range(1, len(sums)):
        for members in combinations(sums, size):
            left = reference.total_of(members)
            if reference.is_allowed(left, total, units(), allowed):
                best = max(best, reference.textbook_gain(left, total, units(), allowed))
    return best


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("squared", [True, False])
def test_no_other_two_sets_gain_more(seed: int, squared: bool) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, 30, int(generator.integers(2, 10)))
    hessians = counts if squared else generator.integers(1, 90, len(counts))  # of the squared loss: the rows
    gradients = generator.integers(-200, 200, len(counts))
    cells = list(zip(gradients.tolist(), hessians.tolist(), counts.tolist(), strict=True))
    cells[-1] = cells[-1] if seed % 2 else (0, 0, 0)
    free: dict[str, Any] = {"reg_lambda": 0.0, "min_child_weight": 0.0, "reg_alpha": 3.0 * (seed % 3)}
    found = split_of(cells, **free)
    expected = best_of_all_subsets(cells, **free)
    assert (found.gain if found else 0.0) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_limit_keeps_the_scanned_side_small() -> None:
    cells = [(g, 5, 5) for g in (-9, -8, -7, -6, 6, 7, 8, 9)] + [(0, 0, 0)]
    for most, expected in ((1, 1), (2, 2), (3, 3), (4, 4), (7, 4)):
        found = split_of(cells, max_cat_threshold=most)
        assert min(len(found.left_bins), 8 - len(found.left_bins)) == expected


def test_few_categories_are_split_one_from_the_rest() -> None:
    cells = [(-9, 5, 5), (9, 5, 5), (-8, 5, 5), (8, 5, 5), (0, 0, 0)]
    assert len(split_of(cells, max_cat_to_onehot=4).left_bins) == 1
    assert len(split_of(cells, max_cat_to_onehot=3).left_bins) == 2


def test_equal_categories_are_taken_in_the_order_of_their_bins() -> None:
    found = split_of([(5, 5, 5), (-5, 5, 5), (5, 5, 5), (-5, 5, 5), (-5, 5, 5), (0, 0, 0)])
    assert found.left_bins == {0, 2}


def test_what_the_node_has_not_seen_goes_right_with_most_rows() -> None:
    cells = [(90, 20, 20), (0, 0, 0), (-9, 5, 5), (-8, 5, 5), (0, 0, 0)]
    found = split_of(cells)
    assert (found.left_bins, found.missing_left, found.left.count) == ({2, 3}, 0, 10)


def test_missing_values_go_with_the_side_that_suits_them() -> None:
    for g_missing, expected in ((-40, 1), (40, 0)):
        found = split_of([(50, 20, 20), (40, 20, 20), (-9, 5, 5), (-8, 5, 5), (g_missing, 5, 5)])
        assert (found.left_bins, found.missing_left) == ({2, 3}, expected)


def test_a_bin_of_many_rare_categories_goes_right_even_with_few_rows() -> None:
    cells = [(90, 20, 20), (95, 20, 20), (-9, 5, 5), (-8, 5, 5), (0, 0, 0)]
    assert split_of(cells).left_bins == {2, 3}
    # The last bin is of the rest, so a scan goes up to the second of three categories from either end.
    assert split_of(cells, gathers=True).left_bins == {0, 1}


def test_categories_too_small_for_a_leaf_stay_with_the_rest() -> None:
    cells = [(90, 20, 20), (-95, 20, 20), (-30, 2, 2), (30, 2, 2), (0, 0, 0)]
    assert split_of(cells).left_bins == {0, 3}
    # Whichever of the large ones is parted from the others, both small ones are with the others.
    for limits in ({"min_samples_leaf": 3}, {"min_child_weight": 3.0}):
        found = split_of(cells, **limits)
        assert (found.left_bins, found.left) == ({1}, reference.Sums(-95, 20, 20))


def test_smoothing_takes_the_place_of_lambda_in_the_order() -> None:
    # -G / H is 8 and 6; with 10 added to H, 8 * 1 / 11 and 6 * 20 / 30.
    cells = [(-8, 1, 1), (-120, 20, 20), (30, 20, 20), (98, 20, 20), (0, 0, 0)]
    assert split_of(cells, reg_lambda=0.0, max_cat_threshold=1).left_bins == {3}
    order = reference.category_order
    data = tree_input(np.zeros((1, 1), np.uint8), [4], [0])
    bins = [reference.Sums(*cell) for cell in cells]
    assert order(data, 0, bins, units(), rules(reg_lambda=0.0, cat_smooth=0.0)) == [3, 2, 1, 0]
    assert order(data, 0, bins, units(), rules(reg_lambda=0.0, cat_smooth=1.0)) == [3, 2, 0, 1]


def test_a_category_with_fewer_rows_than_the_smoothing_stays_with_the_rest() -> None:
    cells = [(90, 20, 20), (-90, 20, 20), (-30, 2, 2), (30, 2, 2), (0, 0, 0)]
    for sign in (1, -1):
        turned = [(sign * g, h, n) for g, h, n in cells]
        found = split_of(turned, cat_smooth=3.0)
        assert found.left_bins in ({0}, {1})
        assert found.left.count == 20
    assert split_of(cells, cat_smooth=2.0).left_bins == {0, 3}


def test_the_scanned_side_may_be_the_upper_one_with_the_rest_on_the_other() -> None:
    cells = [(10, 10, 10), (12, 10, 10), (-90, 10, 10), (80, 4, 4), (0, 0, 0)]
    found = split_of(cells, cat_smooth=5.0)
    assert (found.left_bins, found.left) == ({2}, reference.Sums(-90, 10, 10))


def test_missing_values_are_tried_on_both_sides_of_the_rest() -> None:
    for g_missing, expected in ((-70, 1), (70, 0)):
        cells = [(10, 10, 10), (12, 10, 10), (-90, 10, 10), (80, 4, 4), (g_missing, 9, 9)]
        assert split_of(cells, cat_smooth=5.0).missing_left == expected


def test_the_penalty_of_sets_is_in_the_childrens_scores_alone() -> None:
    cells = [(40, 10, 10), (30, 10, 10), (-35, 10, 10), (0, 0, 0)]
    found = split_of(cells, reg_lambda=1.0, cat_l2=9.0)
    expected = 0.5 * (70**2 / (20 + 10) + 35**2 / (10 + 10) - 35**2 / (30 + 1))
    assert found.gain == pytest.approx(expected, rel=1e-12)
    # One category from the rest has no such penalty.
    found = split_of(cells, reg_lambda=1.0, cat_l2=9.0, max_cat_to_onehot=3)
    assert found.gain == pytest.approx(0.5 * (70**2 / 21 + 35**2 / 11 - 35**2 / 31), rel=1e-12)


def test_cuts_that_are_tried_have_enough_rows_between_them() -> None:
    cells = [(g, 6, 6) for g in (-60, -50, -40, -3, -2, -1, 41, 51, 61)] + [(0, 0, 0)]
    assert len(split_of(cells).left_bins) == 3
    # From the front after 2 and 4 categories, from the back as well: never after 3.
    found = split_of(cells, min_samples_category=12)
    assert len(found.left_bins) in (2, 4)
    assert split_of(cells, min_samples_category=54) is None


def test_sets_become_the_codes_of_their_categories() -> None:
    mapper = BinMapper(
        (np.array([0.5]), np.empty(0), np.empty(0)),
        np.array([2, 3, 255]),
        np.array([False, True, True]),
        np.array([0, 3, 400]),
    )
    feature = np.array([1, 2, 0, 1, 2, -1], np.int32)
    sets = [{0, 2}, {254}, set(), {0, 2}, {1, 70, 200}, {9}]
    left_bins = np.stack([reference.words_of_bins(frozenset(bins)) for bins in sets])
    found = split_thresholds(feature, np.zeros(6, np.int32), left_bins, mapper)
    assert found["category_set"].tolist() == [0, 1, -1, 0, 2, -1]
    assert found["set_offsets"].tolist() == [0, 2, 148, 151]
    assert found["set_codes"].tolist() == [0, 2, *range(254, 400), 1, 70, 200]
    assert found["set_codes"].dtype == np.int32


def test_twins_agree_on_columns_that_gather_rare_categories() -> None:
    for seed in range(4):
        generator = np.random.default_rng(seed)
        n_bins = [255, 6, 40]
        bins = random_bins(generator, 700, n_bins)
        gradients, entries = random_gradients(generator, 700, True, np.sin(bins @ [1.0, 2.0, 3.0]))
        data = tree_input(bins, n_bins, [0, 1, 2], gathers=[0, 1])
        several: list[dict[str, Any]] = [
            {},
            {"max_cat_threshold": 5, "min_samples_leaf": 3},
            {"cat_smooth": 4.0},
            {"cat_smooth": 3.0, "cat_l2": 2.0, "min_samples_category": 20, "max_cat_threshold": 30},
            {"min_samples_category": 40},
        ]
        for limits in (rules(**BY_SET, **changes) for changes in several):
            for features in ([0], [1], [2], [0, 1, 2]):
                sums = reference.histogram(data, features, gradients, entries)
                total = reference.total_of(reference.feature_sums(data, features[0], sums))
                expected = reference.best_split(data, features, sums, total, gradients, limits)
                assert kernel_split(data, features, sums, total, gradients, limits) == expected


def test_a_row_counts_by_its_hessian_where_smoothing_asks_for_rows() -> None:
    cells = [(90, 40, 20), (-90, 40, 20), (30, 2, 5), (-30, 10, 5), (0, 0, 0)]
    data, bins = tree_input(np.zeros((1, 1), np.uint8), [4], [0]), [reference.Sums(*cell) for cell in cells]
    # The mean hessian is 92 / 50, so the last two count as 1.09 and 5.43 rows.
    for smooth, expected in ((1.0, {0, 1, 2, 3}), (1.1, {0, 1, 3}), (5.4, {0, 1, 3}), (5.5, {0, 1})):
        order = reference.category_order(data, 0, bins, units(), rules(cat_smooth=smooth))
        assert set(order) == expected
        split_of(cells, cat_smooth=smooth)
