"""Learned weights: the best there are on the simplex, found by brute force and by the conditions of an optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from weald.training.combining.simplex import fit_weights, nearest_to_zero


def grid(members: int, steps: int) -> np.ndarray:
    """All weights of sum one that are multiples of 1 / steps."""
    bars = itertools.combinations(range(steps + members - 1), members - 1)
    cuts = np.array([(-1, *bar, steps + members - 1) for bar in bars])
    return (np.diff(cuts, axis=1) - 1) / steps


def products(seed: int, members: int, rows: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    # Errors that have much in common, as those of real members have.
    errors = generator.normal(size=(members, rows)) + 2 * generator.normal(size=rows)
    errors *= generator.uniform(0.5, 2, size=(members, 1))
    return errors @ errors.T / rows


def value(weights: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return np.einsum("...i,ij,...j->...", weights, matrix, weights)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("members", "steps"), [(2, 2000), (3, 150), (4, 40)])
def test_no_weights_of_a_fine_grid_are_better(seed: int, members: int, steps: int) -> None:
    matrix = products(seed, members, rows=members + 2)
    found = nearest_to_zero(matrix)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-15)
    weights = grid(members, steps)
    best = value(weights, matrix).min()
    assert value(found, matrix) <= best + 1e-12 * matrix.max()
    # And the grid comes as near as its steps allow, so the comparison means something.
    assert best - value(found, matrix) <= matrix.max() * 4 * members / steps


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("members", [5, 12, 40])
def test_no_exchange_of_weight_between_members_helps(seed: int, members: int) -> None:
    matrix = products(seed, members, rows=members * 2)
    found = nearest_to_zero(matrix)
    slope = matrix @ found
    tolerance = 1e-9 * matrix.diagonal().max()
    assert (slope >= value(found, matrix) - tolerance).all()
    assert (slope[found > 0] <= value(found, matrix) + tolerance).all()


@pytest.mark.parametrize("seed", range(10))
def test_members_that_are_alike_or_dependent_do_no_harm(seed: int) -> None:
    generator = np.random.default_rng(seed)
    errors = generator.normal(size=(3, 50))
    errors = np.vstack([errors, errors[0], errors[1], (errors[0] + errors[2]) / 2])
    matrix = errors @ errors.T / 50
    found = nearest_to_zero(matrix)
    alone = nearest_to_zero(matrix[:3, :3])
    assert value(found, matrix) == pytest.approx(value(alone, matrix[:3, :3]), rel=1e-9)
    assert (found >= 0).all() and found.sum() == pytest.approx(1)


def test_a_perfect_member_gets_all_the_weight() -> None:
    generator = np.random.default_rng(0)
    target = generator.normal(size=(40, 1))
    outputs = np.stack([target + generator.normal(size=(40, 1)), target, target * 0.5])
    assert fit_weights(outputs, target).tolist() == [0.0, 1.0, 0.0]


def test_members_without_any_error_share_the_weight() -> None:
    target = np.ones((4, 1))
    assert fit_weights(np.ones((4, 4, 1)), target).tolist() == [0.25] * 4


def test_one_member_has_it_all() -> None:
    assert nearest_to_zero(np.array([[3.0]])).tolist() == [1.0]


def test_the_scale_of_the_labels_does_not_matter() -> None:
    matrix = products(1, 4, 9)
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(nearest_to_zero(matrix * scale), nearest_to_zero(matrix), atol=1e-9)


def test_squares_of_large_and_small_errors_are_no_trouble() -> None:
    generator = np.random.default_rng(4)
    outputs, target = generator.normal(size=(3, 20, 1)), generator.normal(size=(20, 1))
    expected = fit_weights(outputs, target)
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(fit_weights(outputs * scale, target * scale), expected, atol=1e-9)


def test_rows_count_by_their_weights() -> None:
    generator = np.random.default_rng(3)
    outputs, target = generator.normal(size=(3, 20, 2)), generator.normal(size=(20, 2))
    weight = generator.integers(0, 4, size=20)
    repeated = fit_weights(np.repeat(outputs, weight, axis=1), np.repeat(target, weight, axis=0))
    np.testing.assert_allclose(fit_weights(outputs, target, weight.astype(float)), repeated, atol=1e-12)
