"""The best split against brute force over all splits: the same gain, bit for bit, and the same place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from reference_constraints import Fence
from unit.tree.factories import CANDIDATE, POISON, n_cells, random_bins, random_gradients, rules, tree_input
from weald.tree.splits.constraints import Constraints
from weald.tree.splits.gain import NO_GAIN
from weald.tree.splits.split import PARALLEL_FEATURES, find_best_split
from weald.tree.state import LEFT_BINS, PACKED_BLOCK, Gradients, NodeSums, Rules, TreeInput

KEY = np.uint64(0x0123_4567_89AB_CDEF)
SEVEN = [255, 1, 3, 16, 9, 64, 2]
RULES: dict[str, dict[str, Any]] = {
    "plain": {},
    "no regularisation": {"reg_lambda": 0.0, "min_child_weight": 0.0},
    "few rows": {"min_samples_leaf": 40},
    "no fewest rows": {"min_samples_leaf": 0},
    "light children": {"min_child_weight": 12.0},
    "alpha": {"reg_alpha": 0.9},
    "gamma": {"gamma": 0.02},
    "clipped": {"max_delta_step": 0.01},
    "hardly clipped": {"max_delta_step": 0.3, "reg_alpha": 0.2},
    "all": {
        "min_samples_leaf": 25,
        "min_child_weight": 7.5,
        "reg_lambda": 3.0,
        "reg_alpha": 0.4,
        "gamma": 1e-3,
    },
    "sets of categories": {"max_cat_to_onehot": 2},
    "small sets of categories": {"max_cat_to_onehot": 1, "max_cat_threshold": 3, "min_samples_leaf": 4},
    "smoothed sets": {"max_cat_to_onehot": 1, "cat_smooth": 9.0, "cat_l2": 4.0},
    "groups of categories": {"max_cat_to_onehot": 1, "min_samples_category": 15, "max_cat_threshold": 5},
    "smoothed groups": {
        "max_cat_to_onehot": 1,
        "min_samples_leaf": 4,
        "cat_smooth": 4.5,
        "cat_l2": 1.0,
        "min_samples_category": 15,
    },
    "clipped sets": {"max_cat_to_onehot": 1, "max_delta_step": 0.01, "reg_alpha": 0.1},
    "smoothed": {"path_smooth": 20.0, "min_samples_leaf": 2},
    "smoothed and clipped sets": {"path_smooth": 3.0, "max_cat_to_onehot": 1, "max_delta_step": 0.1},
}


def kernel_split(
    data: TreeInput,
    features: Sequence[int],
    sums: NDArray[np.int64],
    total: reference.Sums,
    gradients: Gradients,
    limits: Rules,
    tasks: int = 1,
    constraints: Constraints = reference.UNCONSTRAINED,
    fence: Fence = reference.FREE,
) -> reference.Split | None:
    """The kernel's answer from the words of a histogram whose other cells are rubbish."""
    used = reference.feature_cells(data, features)
    words = reference.encode_histogram(sums[:, used], gradients.packed, total.count)
    histogram = np.full((3, n_cells(data)), POISON, np.int64)
    histogram[: len(words), used] = words
    best = np.full(CANDIDATE, POISON, np.int64)
    chosen = np.array(features, np.int64)
    state = constraints.state(len(data.n_bins), 3, limits.path_smooth > 0.0)
    state.lower[1:2], state.upper[1:2], state.values[1:2] = fence.lower, fence.upper, fence.value
    node = NodeSums(histogram, tuple(total), 1, KEY)
    gain = find_best_split(node, data, chosen, gradients, limits, state, tasks, best)
    if gain == NO_GAIN:
        return None
    feature, split_bin, missing_left, *left = best[:LEFT_BINS].tolist()
    chosen = frozenset[int]()
    if data.categorical[feature]:
        chosen = reference.bins_of_words(best[LEFT_BINS:].tolist())
    return reference.Split(gain, feature, split_bin, missing_left, reference.Sums(*left), chosen)


def assert_same(
    data: TreeInput,
    features: Sequence[int],
    gradients: Gradients,
    entries: NDArray[np.uint64],
    limits: Rules,
    tasks: int = 1,
) -> reference.Split | None:
    sums = reference.histogram(data, features, gradients, entries)
    total = reference.total_of(reference.feature_sums(data, features[0], sums))
    expected = reference.best_split(data, features, sums, total, gradients, limits)
    assert kernel_split(data, features, sums, total, gradients, limits, tasks) == expected
    if expected is not None and limits.max_delta_step == limits.path_smooth == 0.0:
        cat_l2 = limits.cat_l2 if reference.is_by_set(data, expected.feature, limits) else 0.0
        textbook = reference.textbook_gain(expected.left, total, gradients, limits, cat_l2)
        assert expected.gain == pytest.approx(textbook, rel=1e-9, abs=1e-12)
    return expected


def case(
    seed: int, n_rows: int, packed: bool, n_bins: Sequence[int], categorical: Sequence[int] = (), **more: Any
) -> tuple[TreeInput, Gradients, NDArray[np.uint64]]:
    generator = np.random.default_rng(seed)
    bins = random_bins(generator, n_rows, n_bins)
    signal = np.sin(bins @ np.arange(1, len(n_bins) + 1))
    gradients, entries = random_gradients(generator, n_rows, packed, signal)
    return tree_input(bins, n_bins, categorical, **more), gradients, entries


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", RULES)
def test_brute_force_finds_no_other_split(packed: bool, name: str) -> None:
    found = 0
    for seed, n_rows in enumerate([2, 7, 60, 300, 2_000]):
        for uniform in (True, False):
            data, gradients, entries = case(seed, n_rows, packed, SEVEN, [3, 5, 6], uniform=uniform)
            for features in (range(7), [1, 2, 5], [3], [5], [6, 0]):
                found += assert_same(data, features, gradients, entries, rules(**RULES[name])) is not None
    assert found > 10


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("n_rows", [PACKED_BLOCK, PACKED_BLOCK + 1, 20_000])
def test_cells_of_several_words_are_searched_as_packed_ones(packed: bool, n_rows: int) -> None:
    data, gradients, entries = case(n_rows, n_rows, packed, SEVEN, [4])
    for name in ("plain", "all", "clipped"):
        assert assert_same(data, range(7), gradients, entries, rules(**RULES[name])) is not None


def test_the_number_of_tasks_does_not_change_the_split() -> None:
    for number in (PARALLEL_FEATURES - 1, PARALLEL_FEATURES, PARALLEL_FEATURES + 41):
        n_bins = [2 + feature % 9 for feature in range(number)]
        data, gradients, entries = case(1, 300, True, n_bins, range(0, number, 5), uniform=False)
        for tasks in (1, 2, 3, 5):
            assert assert_same(data, range(number), gradients, entries, rules(), tasks) is not None


def test_of_equal_features_the_first_wins_for_any_number_of_tasks() -> None:
    generator = np.random.default_rng(4)
    column = random_bins(generator, 400, [12])
    bins = np.repeat(column, 300, axis=1)
    data = tree_input(bins, [12] * 300, uniform=False)
    gradients, entries = random_gradients(generator, 400, True, np.sin(column[:, 0]))
    for features in (range(300), range(17, 300)):
        for tasks in (1, 2, 3, 5):
            split = assert_same(data, features, gradients, entries, rules(), tasks)
            assert split is not None
            assert split.feature == features[0]


def hand_made(
    cells: Sequence[tuple[int, int, int]], categorical: bool = False, limits: Rules | None = None
) -> reference.Split | None:
    """The split of one feature whose bins (the last holds missing values) have these sums; units are one."""
    n_bins = len(cells) - 1
    data = tree_input(np.zeros((1, 1), np.uint8), [n_bins], [0] if categorical else [])
    gradients = Gradients(True, np.zeros(1, np.uint64), 1.0, 1.0)
    sums = np.array(cells, np.int64).T
    total = reference.total_of([reference.Sums(*cell) for cell in cells])
    limits = limits or rules()
    found = kernel_split(data, [0], sums, total, gradients, limits)
    assert found == reference.best_split(data, [0], sums, total, gradients, limits)
    return found


def test_of_equal_thresholds_the_lowest_bin_wins() -> None:
    found = hand_made([(8, 4, 4), (0, 4, 4), (0, 4, 4), (8, 4, 4), (0, 0, 0)])
    assert found is not None
    assert found.bin == 0


def test_of_equal_categories_the_lowest_wins() -> None:
    found = hand_made([(0, 4, 4), (9, 4, 4), (-9, 4, 4), (0, 4, 4), (0, 0, 0)], categorical=True)
    assert found is not None
    assert found.bin == 1


def test_of_equal_directions_missing_values_go_to_the_right() -> None:
    found = hand_made([(5, 4, 4), (-5, 4, 4), (0, 4, 4)], limits=rules(reg_lambda=0.0))
    assert found is not None
    assert found.missing_left == 0


def test_a_threshold_never_lies_in_an_empty_bin() -> None:
    empty = (0, 0, 0)
    found = hand_made([empty, empty, (50, 9, 9), empty, empty, (-50, 9, 9), empty, empty])
    assert found is not None
    assert (found.bin, found.left.count) == (2, 9)


def test_missing_values_alone_can_be_divided_from_all_others() -> None:
    found = hand_made([(50, 9, 9), (50, 9, 9), (-100, 9, 9)])
    assert found is not None
    assert (found.bin, found.missing_left, found.left.count) == (1, 0, 18)


def test_missing_values_join_the_side_that_they_are_like() -> None:
    for missing, expected in (((90, 9, 9), 1), ((-90, 9, 9), 0)):
        found = hand_made([(90, 9, 9), (-90, 9, 9), missing])
        assert found is not None
        assert found.missing_left == expected


def test_without_missing_values_those_to_come_go_where_most_rows_went() -> None:
    for counts, expected in (((8, 9), 0), ((9, 9), 1), ((10, 9), 1)):
        found = hand_made([(50, 9, counts[0]), (-50, 9, counts[1]), (0, 0, 0)])
        assert found is not None
        assert found.missing_left == expected


def test_missing_can_be_the_category_that_is_divided_from_the_rest() -> None:
    found = hand_made([(5, 9, 9), (6, 9, 9), (-90, 9, 9)], categorical=True)
    assert found is not None
    assert (found.bin, found.missing_left) == (2, 1)


def test_a_node_that_cannot_be_divided_has_no_split() -> None:
    empty = (0, 0, 0)
    assert hand_made([(50, 9, 9), empty, empty]) is None
    assert hand_made([empty, empty, (50, 9, 9)]) is None
    assert hand_made([empty, (50, 9, 9), empty], categorical=True) is None
    assert hand_made([(50, 0, 9), (-50, 0, 9), empty], limits=rules(min_child_weight=0.0)) is None


def test_equal_children_gain_nothing() -> None:
    for step in (0.0, 0.5):
        for cells in ([(7, 9, 9), (7, 9, 9), (0, 0, 0)], [(0, 9, 9), (0, 9, 9), (0, 0, 0)]):
            limits = rules(reg_lambda=0.0, max_delta_step=step)
            assert hand_made(cells, limits=limits) is None
            assert hand_made(cells, categorical=True, limits=limits) is None


def test_an_alpha_above_all_gradients_leaves_no_split_when_values_are_clipped() -> None:
    for cells in ([(50, 9, 9), (-50, 9, 9), (0, 0, 0)], [(50, 9, 9), (-50, 9, 9), (0, 9, 9)]):
        for alpha in (60.0, 50.0):
            assert hand_made(cells, limits=rules(reg_alpha=alpha, max_delta_step=0.5)) is None
        found = hand_made(cells, limits=rules(reg_alpha=49.999999999999, max_delta_step=0.5))
        assert found is not None
        assert 0.0 < found.gain < 1e-20


def test_gains_are_those_of_the_textbook_for_every_allowed_threshold() -> None:
    generator = np.random.default_rng(9)
    for _ in range(60):
        left, right = (generator.integers([-900, 1, 1], [900, 900, 90]).tolist() for _ in range(2))
        lam, alpha, gamma = generator.random(3) * [5.0, 100.0, 10.0]
        limits = rules(reg_lambda=lam, reg_alpha=alpha, gamma=gamma)
        found = hand_made([left, right, (0, 0, 0)], limits=limits)
        gl, hl, gr, hr = left[0], left[1], right[0], right[1]
        expected = -gamma
        for sign, g, h in ((0.5, gl, hl), (0.5, gr, hr), (-0.5, gl + gr, hl + hr)):
            expected += sign * max(abs(g) - alpha, 0.0) ** 2 / (h + lam)
        assert (found is not None) == (expected > 0.0)
        if found is not None:
            assert found.gain == pytest.approx(expected, rel=1e-9)


def test_a_clipped_gain_is_the_objectives_reduction_by_the_clipped_values() -> None:
    limits = rules(reg_lambda=2.0, reg_alpha=3.0, max_delta_step=0.5)
    found = hand_made([(40, 10, 9), (-30, 90, 9), (0, 0, 0)], limits=limits)
    steps = np.linspace(-0.5, 0.5, 200_001)

    def best(g: float, h: float) -> float:
        return float(np.min(g * steps + 0.5 * (h + 2.0) * steps**2 + 3.0 * np.abs(steps)))

    assert found is not None
    assert found.gain == pytest.approx(best(10, 100) - best(40, 10) - best(-30, 90), rel=1e-6)
