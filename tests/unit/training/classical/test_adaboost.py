"""The loops of AdaBoost against the papers' formulas, worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from weald.runtime.errors import InputError
from weald.training.classical.adaboost import (
    boost_labels,
    boost_probabilities,
    boost_values,
    real_votes,
    weighted_median,
)

Floats = NDArray[np.float64]

# Ten points on a line that no stump can separate, a standard exercise.
LINE = np.arange(10.0)
SIGNS = np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])


class BestStump:
    """The threshold and sign with the smallest weighted error, found by trying all; codes 0 and 1 are -1 and +1."""

    draws = False

    def __init__(self, x: Floats, signs: NDArray[Any]) -> None:
        self.x, self.signs = x, signs
        self.weights: list[Floats] = []

    def fit(self, number: int, weight: Floats) -> tuple[float, int]:
        self.weights.append(weight.copy())
        candidates = [(cut, sign) for cut in np.unique(self.x) + 0.5 for sign in (1, -1)]
        return min(candidates, key=lambda rule: (weight[self.votes(rule) != self.signs].sum(), rule[0]))

    def votes(self, rule: tuple[float, int]) -> NDArray[Any]:
        return np.where(self.x < rule[0], rule[1], -rule[1])

    def predict(self, member: tuple[float, int]) -> NDArray[np.int64]:
        return (self.votes(member) > 0).astype(np.int64)


def seed_adaboost(learner: BestStump, rounds: int) -> tuple[list[Any], list[float], list[Floats]]:
    """The pseudocode, word by word: D is 1/n, alpha is 1/2 ln((1 - e)/e), D changes by exp(-alpha y h)/Z."""
    y = learner.signs
    D = np.full(len(y), 1.0 / len(y))
    members, alphas, weights = [], [], []
    for m in range(rounds):
        weights.append(D)
        h = learner.fit(m, D)
        error = D[learner.votes(h) != y].sum()
        if error > 0.5:
            break
        alpha = 0.5 * math.log((1 - error) / error)
        Z = (D * np.exp(-alpha * y * learner.votes(h))).sum()
        D = D * np.exp(-alpha * y * learner.votes(h)) / Z
        members.append(h)
        alphas.append(alpha)
    return members, alphas, weights


def boosted_line(rounds: int, learning_rate: float = 1.0) -> tuple[BestStump, Any]:
    learner = BestStump(LINE, SIGNS)
    codes = (SIGNS > 0).astype(np.int64)
    return learner, boost_labels(learner, codes, 2, np.ones(10), rounds, learning_rate)


def test_two_classes_are_the_seeds_algorithm_with_twice_its_alphas() -> None:
    learner, boosted = boosted_line(6)
    members, alphas, weights = seed_adaboost(BestStump(LINE, SIGNS), 6)
    assert boosted.members == members
    np.testing.assert_allclose(boosted.weights, 2 * np.array(alphas), rtol=1e-12)
    np.testing.assert_allclose(learner.weights, weights, rtol=1e-12)


def test_the_ten_points_of_the_textbooks_come_out_as_by_hand() -> None:
    learner, boosted = boosted_line(3)
    np.testing.assert_allclose(boosted.errors, [0.3, 3 / 14, 2 / 11], rtol=1e-12)
    np.testing.assert_allclose(np.array(boosted.weights) / 2, [0.4236, 0.6496, 0.7520], atol=5e-5)
    assert [cut for cut, _ in boosted.members] == [2.5, 8.5, 5.5]
    vote = sum(a * learner.votes(h) for a, h in zip(boosted.weights, boosted.members, strict=True))
    assert (np.sign(vote) == SIGNS).all()


def test_adaboost_is_stagewise_fitting_of_the_exponential_loss() -> None:
    """Alpha minimises sum exp(-y (F + alpha h)), and the weights are those of exp(-y F)."""
    learner, boosted = boosted_line(8)
    F = np.zeros(10)
    for weight, twice_alpha, member in zip(learner.weights, boosted.weights, boosted.members, strict=True):
        margins = np.exp(-SIGNS * F)
        np.testing.assert_allclose(weight, margins / margins.sum(), rtol=1e-10)
        h, alpha = learner.votes(member), twice_alpha / 2

        def loss(step: float, F: Floats = F, h: NDArray[Any] = h) -> float:
            return float(np.exp(-SIGNS * (F + step * h)).sum())

        slope = (loss(alpha + 1e-5) - loss(alpha - 1e-5)) / 2e-5
        assert abs(slope) < 1e-7 * loss(alpha)
        assert loss(alpha) < min(loss(alpha - 0.01), loss(alpha + 0.01))
        rivals = [(cut, sign) for cut in np.unique(LINE) + 0.5 for sign in (1, -1)]
        best = min(loss(step, F, learner.votes(rule)) for rule in rivals for step in (alpha, alpha + 0.05))
        assert loss(alpha) <= best + 1e-12
        F = F + alpha * h


def test_the_training_error_is_at_most_the_product_of_the_normalisers() -> None:
    learner, boosted = boosted_line(8)
    F, bound = np.zeros(10), 1.0
    for twice_alpha, error, member in zip(boosted.weights, boosted.errors, boosted.members, strict=True):
        F += twice_alpha / 2 * learner.votes(member)
        bound *= 2 * math.sqrt(error * (1 - error))
        assert (np.sign(F) != SIGNS).mean() <= bound + 1e-12
        np.testing.assert_allclose(np.exp(-SIGNS * F).mean(), bound, rtol=1e-10)


class Says:
    """A learner whose members say what they are told to."""

    draws = False

    def __init__(self, *said: Any) -> None:
        self.said = [np.array(one) for one in said]
        self.weights: list[Floats] = []

    def fit(self, number: int, weight: Floats) -> int:
        self.weights.append(weight.copy())
        return number

    def predict(self, member: int) -> NDArray[Any]:
        return self.said[member]


CODES = np.array([0, 0, 1, 1])


def test_a_member_without_error_ends_the_boosting_and_votes_with_1() -> None:
    boosted = boost_labels(Says([0, 0, 1, 0], CODES, CODES), CODES, 2, np.ones(4), 3, 1.0)
    assert boosted.members == [0, 1]
    assert boosted.weights[1] == 1.0 and boosted.errors[1] == 0.0


def test_a_member_worse_than_guessing_is_dropped_and_ends_the_boosting() -> None:
    boosted = boost_labels(Says([0, 0, 1, 0], [1, 1, 0, 0], CODES), CODES, 2, np.ones(4), 3, 1.0)
    assert boosted.members == [0]


@pytest.mark.parametrize("bad", [[1, 1, 0, 0], [0, 1, 0, 1]])
def test_a_first_member_no_better_than_guessing_is_refused(bad: list[int]) -> None:
    with pytest.raises(InputError, match=r"no better than guessing .* first round is (1|0\.5) for 2 classes"):
        boost_labels(Says(bad), CODES, 2, np.ones(4), 3, 1.0)


def test_a_learner_that_draws_its_rows_may_begin_again() -> None:
    learner = Says([1, 1, 0, 0], [0, 0, 1, 0], CODES)
    learner.draws = True
    assert boost_labels(learner, CODES, 2, np.ones(4), 3, 1.0).members == [1, 2]
    np.testing.assert_array_equal(learner.weights[0], learner.weights[1])


def test_several_classes_may_err_more_than_half_the_time() -> None:
    codes = np.array([0, 1, 2, 2])
    boosted = boost_labels(Says([0, 0, 0, 2], codes), codes, 3, np.ones(4), 2, 1.0)
    assert boosted.errors == [0.5, 0.0]
    np.testing.assert_allclose(boosted.weights[0], math.log(2.0))


def test_the_learning_rate_is_a_factor_of_the_votes_and_of_the_change_of_weights() -> None:
    learner, boosted = boosted_line(2, learning_rate=0.5)
    np.testing.assert_allclose(boosted.weights[0], 0.5 * math.log(0.7 / 0.3), rtol=1e-14)
    wrong, right = learner.weights[1][6], learner.weights[1][0]
    np.testing.assert_allclose(wrong / right, math.exp(boosted.weights[0]))


def test_a_row_of_weight_zero_stays_at_zero_and_no_other_reaches_it() -> None:
    learner = Says(*[[0, 0, 1, 0]] * 40)
    weight = np.array([1.0, 1.0, 1.0, 0.0])
    boosted = boost_labels(learner, CODES, 2, weight, 40, 1.0)
    assert boosted.errors == [0.0]
    learner = Says(*[[0, 1, 1, 1]] * 2 + [[0, 0, 1, 1]] * 38)
    boost_labels(learner, CODES, 2, np.array([1e9, 1.0, 1e9, 0.0]), 40, 1.0)
    for weights in learner.weights:
        assert weights[3] == 0.0 and (weights[:3] > 0).all()


def test_probabilities_change_the_weights_as_zhu_and_others_write_it() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    codes, K = np.array([0, 1, 2, 2]), 3
    learner = Says(p, p)
    boosted = boost_probabilities(learner, codes, K, np.ones(4), 2, 1.0)
    y = np.full((4, K), -1.0 / (K - 1))
    y[np.arange(4), codes] = 1.0
    expected = np.exp(-(K - 1) / K * (y * np.log(p)).sum(axis=1))
    np.testing.assert_allclose(learner.weights[1], expected / expected.sum(), rtol=1e-12)
    assert boosted.errors[0] == 0.25 and boosted.weights == [1.0, 1.0]


def test_real_votes_sum_to_zero_and_survive_a_probability_of_zero() -> None:
    votes = real_votes(np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]))
    assert np.isfinite(votes).all()
    np.testing.assert_allclose(votes.sum(axis=1), 0.0, atol=1e-12)
    assert votes[0].argmax() == 0 and votes[1].argmax() == 2


@pytest.mark.parametrize(
    ("loss", "losses"),
    [
        ("linear", [0.0, 0.25, 0.5, 1.0]),
        ("square", [0.0, 0.0625, 0.25, 1.0]),
        ("exponential", [0.0, 1 - math.exp(-0.25), 1 - math.exp(-0.5), 1 - math.exp(-1.0)]),
    ],
)
def test_r2_follows_drucker(loss: str, losses: list[float]) -> None:
    y = np.zeros(4)
    learner = Says([0.0, 1.0, -2.0, 4.0], y)
    boosted = boost_values(learner, y, np.ones(4), 2, 1.0, loss)
    average = float(np.mean(losses))
    beta = average / (1 - average)
    np.testing.assert_allclose(boosted.errors, [average, 0.0])
    np.testing.assert_allclose(boosted.weights, [math.log(1 / beta), 1.0])
    expected = beta ** (1 - np.array(losses))
    np.testing.assert_allclose(learner.weights[1], expected / expected.sum())


def test_r2_keeps_the_first_member_however_bad_and_drops_a_later_one() -> None:
    y = np.zeros(4)
    bad, good = [1.0, 1.0, 1.0, 0.9], [0.0, 0.1, 0.2, 1.0]
    alone = boost_values(Says(bad, good), y, np.ones(4), 2, 1.0, "linear")
    assert alone.members == [0] and alone.weights == [1.0]
    later = boost_values(Says(good, bad, good), y, np.ones(4), 3, 1.0, "linear")
    assert later.members == [0]


def test_r2_measures_errors_by_rows_that_have_a_weight() -> None:
    y = np.zeros(3)
    weight = np.array([1.0, 1.0, 0.0])
    boosted = boost_values(Says([0.0, 1.0, 100.0], [0.0, 0.0, 5.0]), y, weight, 3, 1.0, "linear")
    assert boosted.members == [0] and boosted.errors == [0.5]


def test_the_weighted_median_is_that_of_repeated_values() -> None:
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(50, 7)), rng.integers(1, 6, 7)
    repeated = np.repeat(values, weights, axis=1)
    lower = np.sort(repeated, axis=1)[:, (weights.sum() + 1) // 2 - 1]
    np.testing.assert_array_equal(weighted_median(values, weights.astype(float)), lower)


class Fixed:
    """A learner that always says the same."""

    draws = False

    def __init__(self, said: NDArray[Any]) -> None:
        self.said = said

    def fit(self, number: int, weight: Floats) -> int:
        assert np.isfinite(weight).all() and weight.sum() == pytest.approx(1.0, abs=1e-9)
        return number

    def predict(self, member: int) -> NDArray[Any]:
        return self.said


@pytest.mark.parametrize("rate", [1e-6, 1.0, 1e4, 1e12, 1e200])
def test_weights_stay_finite_whatever_the_learning_rate(rate: float) -> None:
    codes = (LINE > 4).astype(np.int64)
    wrong = np.where(LINE == 3, 1 - codes, codes)
    likely = np.where(np.arange(2) == wrong[:, None], 0.9, 0.1)
    weight = np.ones(10)
    assert boost_labels(Fixed(wrong), codes, 2, weight, 5, rate).members
    assert boost_probabilities(Fixed(likely), codes, 2, weight, 5, rate).members
    assert boost_values(Fixed(LINE + (LINE == 3) + 0.1), LINE, weight, 5, rate, "linear").members


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e300, 1e308])
def test_only_the_shares_of_the_weights_count(scale: float) -> None:
    codes = (LINE > 4).astype(np.int64)
    wrong = np.where(LINE == 3, 1 - codes, codes)
    boosted = boost_labels(Fixed(wrong), codes, 2, np.full(10, scale), 1, 1.0)
    assert boosted.errors == [pytest.approx(0.1)]


@pytest.mark.parametrize(("rate", "said"), [(5e-324, "larger"), (1e301, "smaller")])
def test_a_learning_rate_with_which_votes_do_not_add_up_is_refused(rate: float, said: str) -> None:
    codes = (LINE > 4).astype(np.int64)
    nearly = np.where(LINE == 3, 1 - codes, codes)
    half = np.where((LINE == 3) | (LINE > 6), 1 - codes, codes)
    with pytest.raises(InputError, match=f"use a {said} learning_rate"):
        boost_labels(Fixed(half if said == "larger" else nearly), codes, 2, np.ones(10), 5, rate)
