"""Splits chosen by cosines, and with noise, against brute force; the twins' trees, bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import reference
import reference_oblivious
import reference_scores
from unit.tree.factories import rules
from unit.tree.growth import test_grower, test_oblivious
from unit.tree.splits import test_split
from weald.runtime.random import normal
from weald.tree.histograms.quantise import quantise
from weald.tree.splits.noise import fading, noise_unit
from weald.tree.state import DEPTHWISE, Gradients, Rules

COSINES: dict[str, dict[str, Any]] = {
    "cosine": {},
    "no regularisation": {"reg_lambda": 0.0, "min_child_weight": 0.0},
    "few rows": {"min_samples_leaf": 40, "reg_lambda": 30.0},
    "light children": {"min_child_weight": 12.0},
    "alpha": {"reg_alpha": 0.9},
    "smoothed sets": {"max_cat_to_onehot": 1, "cat_smooth": 9.0, "cat_l2": 4.0, "min_samples_category": 9},
    "drawn": {"extra_trees": True, "max_cat_to_onehot": 1},
}


def noisy(limits: Rules, gradients: Gradients, strength: float) -> Rules:
    """The rules with noise of this strength, in units of about what a split scores by chance."""
    worth = gradients.gradient_unit**2 / gradients.hessian_unit * 0.3
    return limits._replace(noise=strength * (math.sqrt(1.0 / worth) * 0.3 if limits.cosine else 0.1 / worth))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", COSINES)
def test_brute_force_finds_no_split_of_larger_cosine(packed: bool, name: str) -> None:
    limits, found = rules(cosine=True, **COSINES[name]), 0
    for seed, n_rows in enumerate([2, 60, 900]):
        data, gradients, entries = test_split.case(seed, n_rows, packed, test_split.SEVEN, [3, 5, 6])
        sums = reference.histogram(data, range(7), gradients, entries)
        total = reference.total_of(reference.feature_sums(data, 0, sums))
        for features in (range(7), [1, 2, 5], [3], [5]):
            draw = (int(test_split.KEY), 1)
            expected = reference.best_split(data, features, sums, total, gradients, limits, draw=draw)
            assert test_split.kernel_split(data, features, sums, total, gradients, limits) == expected
            found += expected is not None
    assert found > 3


@pytest.mark.parametrize("cosine", [False, True])
def test_noise_lets_the_same_column_win_for_any_number_of_tasks(cosine: bool) -> None:
    number = 280
    n_bins = [2 + feature % 9 for feature in range(number)]
    data, gradients, entries = test_split.case(1, 300, True, n_bins, range(0, number, 5), uniform=False)
    sums = reference.histogram(data, range(number), gradients, entries)
    total = reference.total_of(reference.feature_sums(data, 0, sums))
    limits = noisy(rules(cosine=cosine), gradients, 1.0)
    draw = (int(test_split.KEY), 1)
    expected = reference.best_split(data, range(number), sums, total, gradients, limits, draw=draw)
    quiet = reference.best_split(data, range(number), sums, total, gradients, limits._replace(noise=0.0))
    assert expected is not None and quiet is not None
    assert expected.feature != quiet.feature
    assert 0.0 < expected.gain <= quiet.gain
    for tasks in (1, 2, 3):
        found = test_split.kernel_split(data, range(number), sums, total, gradients, limits, tasks)
        assert found == expected


@pytest.mark.parametrize("strength", [0.0, 0.5])
@pytest.mark.parametrize("name", COSINES)
def test_oblivious_trees_by_cosine_are_those_of_the_twin(name: str, strength: float) -> None:
    for packed in (True, False):
        data, gradients, entries = test_oblivious.case(700, packed)
        limits = noisy(rules(cosine=True, max_depth=4, **COSINES[name]), gradients, strength)
        key = int(test_oblivious.KEY)
        expected = reference_oblivious.grow_oblivious(data, range(5), gradients, limits, key, entries)
        assert len(expected) > 1
        for tasks in (1, 2):
            found = test_oblivious.grown(data, range(5), gradients, limits, entries, tasks)
            test_oblivious.assert_same(found, expected)


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("growth", ["leafwise", "depthwise", "oblivious"])
def test_noisy_trees_are_those_of_the_twin(growth: str, cosine: bool) -> None:
    if growth == "oblivious":
        data, gradients, entries = test_oblivious.case(500, True)
        limits = noisy(rules(cosine=cosine, max_depth=4, gamma=0.0 if cosine else 0.01), gradients, 9.0)
        key = int(test_oblivious.KEY)
        expected = reference_oblivious.grow_oblivious(data, range(5), gradients, limits, key, entries)
        test_oblivious.assert_same(
            test_oblivious.grown(data, range(5), gradients, limits, entries, 1), expected
        )
    else:
        data, gradients, entries = test_grower.case(500, True)
        changes = {"growth": DEPTHWISE} if growth == "depthwise" else {}
        limits = noisy(rules(cosine=cosine, max_leaves=12, **changes), gradients, 1.0)
        expected = reference.grow_tree(data, range(6), gradients, limits, int(test_grower.KEY), entries)
        test_grower.assert_same(test_grower.grown(data, range(6), gradients, limits, entries, 1, 9), expected)
    quiet = limits._replace(noise=0.0)
    grow = reference_oblivious.grow_oblivious if growth == "oblivious" else reference.grow_tree
    without = grow(data, range(5), gradients, quiet, 1, entries)
    assert [node.split for node in without] != [node.split for node in expected]


def test_a_cosine_is_that_of_the_textbook() -> None:
    # Bins of gradients 6, 1 and -5 with 4, 2 and 3 rows of hessian 1; lambda 1: a = G / (N + 1).
    cells = [(6, 4, 4), (1, 2, 2), (-5, 3, 3), (0, 0, 0)]
    found = test_split.hand_made(cells, limits=rules(cosine=True))
    assert found is not None

    def by_hand(*leaves: tuple[float, float]) -> float:
        value = [gradient / (count + 1.0) for gradient, count in leaves]
        dot = sum(a * gradient for a, (gradient, _) in zip(value, leaves, strict=True))
        return dot / math.sqrt(sum(a * a * count for a, (_, count) in zip(value, leaves, strict=True)))

    best = max(by_hand((6, 4), (-4, 5)), by_hand((7, 6), (-5, 3)))
    assert found.bin == 1
    assert found.gain == pytest.approx(best - by_hand((2, 9)), rel=1e-14)


def test_a_cosine_does_not_ask_for_the_length_of_the_values() -> None:
    # lambda makes the value of the single row small: the gain of dividing it off is small then, but not the cosine.
    cells = [(-12, 17, 17), (12, 16, 16), (12, 1, 1), (0, 0, 0)]
    by_gain = test_split.hand_made(cells, limits=rules(reg_lambda=10.0))
    by_cosine = test_split.hand_made(cells, limits=rules(reg_lambda=10.0, cosine=True))
    assert by_gain is not None and by_cosine is not None
    assert (by_gain.bin, by_cosine.bin) == (0, 1)


def test_gradients_that_are_all_zero_have_no_cosine() -> None:
    assert test_split.hand_made([(0, 4, 4), (0, 4, 4), (0, 0, 0)], limits=rules(cosine=True)) is None


def test_normal_numbers_are_those_of_the_twin_and_normal() -> None:
    bits = np.random.default_rng(0).integers(0, 2**64, 4_000, dtype=np.uint64)
    drawn = np.array([normal(one) for one in bits])
    assert drawn[:200].tolist() == [reference_scores.normal(int(one)) for one in bits[:200]]
    assert abs(drawn.mean()) < 0.05
    assert abs(drawn.std() - 1.0) < 0.03
    assert abs((np.abs(drawn) < 1.0).mean() - 0.6827) < 0.025
    assert drawn.max() > 2.8


@pytest.mark.parametrize("cosine", [False, True])
def test_the_unit_of_noise_is_the_mean_square_over_the_mean_hessian(cosine: bool) -> None:
    rng = np.random.default_rng(1)
    gradient = rng.standard_normal(5_000).astype(np.float32)
    hessian = rng.random(5_000).astype(np.float32)
    wide, entries = np.empty(5_000, np.uint64), np.empty(5_000, np.uint64)
    for rows in (np.empty(0, np.uint32), np.arange(0, 5_000, 3, dtype=np.uint32)):
        gradients = quantise(gradient, hessian, rows, 1, "wide", 1, wide, entries)
        seen = rows if len(rows) else slice(None)
        expected = reference_scores.noise_unit(gradient[seen], hessian[seen], gradients, cosine)
        assert noise_unit(gradient, hessian, rows, gradients, cosine) == pytest.approx(expected, rel=1e-4)
    zero = np.zeros(5_000, np.float32)
    gradients = quantise(zero, hessian, rows, 1, "wide", 1, wide, entries)
    assert noise_unit(zero, hessian, rows, gradients, cosine) == 0.0


def test_noise_fades_when_the_model_has_learned_the_number_of_its_rows() -> None:
    assert fading(1_000, 0, 0.3) == pytest.approx(1_000 / 1_001)
    left = math.exp(math.log(1_000) - 30 * 0.3)
    assert fading(1_000, 30, 0.3) == pytest.approx(left / (1 + left), rel=1e-12)
    assert fading(1_000, 10_000, 0.3) == 0.0
