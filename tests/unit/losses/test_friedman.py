"""The losses of Friedman's boosting: their conventions, their values, and the best step along a direction."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

import reference_losses as reference
from unit.losses.factories import fill, parameter, problem
from weald.losses import LOSSES, Loss, friedman_loss, make_loss, scores_of
from weald.losses.links import LINKS
from weald.losses.quantiles import LOWER, weighted_quantile
from weald.losses.steps import least_of_convex
from weald.runtime.errors import NotSupportedError

# scikit-learn's names, and ours of the problems that fit them
FRIEDMAN = {
    "squared_error": "squared",
    "absolute_error": "absolute",
    "huber": "huber",
    "quantile": "quantile",
    "exponential": "exponential",
}


@pytest.mark.parametrize("name", LOSSES)
def test_values_are_what_the_gradients_differentiate(name: str) -> None:
    loss, scores, y, _ = problem(name)
    expected = reference.loss_of_score(name, scores, y, parameter(name))
    np.testing.assert_allclose(loss.values(scores, y), expected, rtol=1e-13, atol=1e-13)


def test_values_of_runaway_scores_stay_finite_where_the_loss_is() -> None:
    scores, y = np.array([[1e4, -1e4]]), np.array([0.0, 0.0])
    assert make_loss("logistic").values(scores, y).tolist() == [1e4, 0.0]
    assert make_loss("softmax", n_classes=2).values(np.array([[1e4], [-1e4]]), np.ones(1)).tolist() == [2e4]


def test_a_loss_of_derivatives_only_says_that_it_has_no_values() -> None:
    loss = make_loss(lambda y, scores: (scores - y, np.ones_like(scores)))
    with pytest.raises(NotSupportedError, match="has no values"):
        loss.values(np.zeros((1, 2)), np.zeros(2))


@pytest.mark.parametrize("weighted", [False, True])
def test_precise_softmax_equals_the_naive_twin_bit_for_bit(weighted: bool) -> None:
    _, scores, y, weight = problem("softmax")
    used = weight if weighted else None
    expected = reference.precise_softmax(30.0 * scores, y, used)
    for tasks in (1, 2, 3):
        found = fill(friedman_loss("log_loss", n_classes=4), 30.0 * scores, y, used, tasks)
        assert found[0].tobytes() == expected[0].tobytes()
        assert found[1].tobytes() == expected[1].tobytes()


def test_precise_softmax_keeps_the_digits_of_a_well_predicted_row() -> None:
    scores = np.array([[20.0], [0.0], [0.0]])
    gradient, _ = fill(friedman_loss("log_loss", n_classes=3), scores, np.zeros(1), None)
    assert gradient[0, 0] == pytest.approx(-2.0 * np.exp(-20.0), rel=1e-6)


@pytest.mark.parametrize(("name", "slopes"), [("absolute_error", (1.0, -1.0)), ("quantile", (0.25, -0.75))])
def test_a_score_equal_to_its_label_counts_as_below_it(name: str, slopes: tuple[float, float]) -> None:
    _, scores, y, weight = problem("absolute")
    loss = friedman_loss(name, 0.75)
    expected = (np.where(scores[0] > y, *slopes) * weight).astype(np.float32)
    for tasks in (1, 2):
        assert np.array_equal(fill(loss, scores, y, weight, tasks)[0][0], expected)


def refitted(loss: Loss, residuals: NDArray[np.float64]) -> float:
    values = np.zeros(1)
    rows = np.arange(len(residuals), dtype=np.uint32)
    loss.refit_leaves(np.zeros(len(residuals)), residuals, None, rows, np.array([0, len(residuals)]), values)
    return float(values[0])


def test_of_two_medians_a_leaf_takes_the_lower_one() -> None:
    residuals = np.array([4.0, 1.0, 3.0, 2.0])
    assert refitted(friedman_loss("absolute_error"), residuals) == 2.0
    assert refitted(make_loss("absolute"), residuals) == 2.5
    assert refitted(friedman_loss("quantile", 0.25), residuals) == 1.0
    huber = friedman_loss("huber", 0.5)
    huber.begin_round(np.zeros((1, 4)), residuals, None)  # delta: the lower median of the sizes, 2
    assert refitted(huber, residuals) == 2.0 + np.mean([2.0, -1.0, 1.0, 0.0])


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.7, 0.9])
def test_the_lower_quantile_is_the_inverse_of_the_distribution(alpha: float) -> None:
    generator = np.random.default_rng(3)
    for size in (1, 2, 10, 11, 40, 70):
        values = generator.integers(0, 9, size).astype(np.float64)
        expected = np.quantile(
            values, round(alpha * size) / size if alpha * size % 1 < 1e-9 else alpha, method="inverted_cdf"
        )
        assert weighted_quantile(values, None, alpha * LOWER) == expected


def test_hubers_delta_follows_the_residuals_of_the_round() -> None:
    generator = np.random.default_rng(5)
    y, weight = generator.normal(size=200), generator.uniform(0.1, 2.0, 200)
    loss = friedman_loss("huber", 0.9)
    for scale in (1.0, 0.01):
        scores = np.full((1, 200), 0.3) * scale + (1 - scale) * y
        loss.begin_round(scores, y, weight)
        delta = weighted_quantile(np.abs(y - scores[0]), weight, 0.9)
        assert np.abs(fill(loss, scores, y, None)[0]).max() == np.float32(delta)


def means_of_groups(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every value replaced by its group's mean, as a tree would do it."""
    group = np.random.default_rng(1).integers(0, 8, len(values))
    means: NDArray[np.float64] = np.bincount(group, values) / np.bincount(group)
    return means[group]


@pytest.mark.parametrize("subset", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FRIEDMAN)
def test_the_best_step_is_the_minimum_that_scipy_finds(name: str, weighted: bool, subset: bool) -> None:
    _, scores, y, weight = problem(FRIEDMAN[name])
    loss = friedman_loss(name, 0.7)
    loss.begin_round(scores, y, weight)
    gradient, _ = fill(loss, scores, y, weight if weighted else None)
    direction = means_of_groups(-gradient[0].astype(np.float64))
    if subset:
        direction[::2] = 0.0
    used = weight if weighted else np.ones(len(y))

    def total(step: float) -> float:
        return float(np.sum(used * loss.values(scores + step * direction, y)))

    step = loss.best_step(scores, y, weight if weighted else None, 0, direction, 1)
    found = minimize_scalar(total, bracket=(0.0, 1.0), options={"xtol": 1e-10})
    assert step == pytest.approx(found.x, rel=2e-5)
    assert total(step) <= found.fun * (1.0 + 1e-12)
    assert total(step) < total(0.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_best_step_of_a_deviance_is_the_minimum_that_scipy_finds(classes: int) -> None:
    generator = np.random.default_rng(classes)
    loss = friedman_loss("log_loss", n_classes=classes)
    scores = generator.normal(size=(loss.n_outputs, 500))
    y = generator.integers(0, classes, 500).astype(np.float64)
    output = loss.n_outputs - 1
    gradient, _ = fill(loss, scores, y, None)
    direction = means_of_groups(-gradient[output].astype(np.float64))

    def total(step: float) -> float:
        moved = scores.copy()
        moved[output] += step * direction
        return float(np.sum(loss.values(moved, y)))

    found = minimize_scalar(total, bracket=(0.0, 1.0), options={"xtol": 1e-10})
    for tasks in (1, 2):
        step = loss.best_step(scores, y, None, output, direction, tasks)
        assert step == pytest.approx(found.x, rel=1e-5)


def test_a_direction_of_nothing_and_separable_rows_have_a_finite_step() -> None:
    scores, y = np.zeros((1, 4)), np.array([0.0, 0.0, 1.0, 1.0])
    for name in ("log_loss", "exponential"):
        loss = friedman_loss(name)
        assert loss.best_step(scores, y, None, 0, np.zeros(4), 1) == 0.0
        assert 10.0 < loss.best_step(scores, y, None, 0, 2.0 * y - 1.0, 1) < 100.0
    assert friedman_loss("absolute_error").best_step(scores, y, None, 0, np.zeros(4), 1) == 0.0


@pytest.mark.parametrize("root", [1e-6, 0.3, 1.0, 77.0, 1e9])
def test_the_minimum_of_a_convex_function_is_found_from_its_slope(root: float) -> None:
    assert least_of_convex(lambda x: x - root) == pytest.approx(root, rel=1e-12)
    assert least_of_convex(lambda x: np.arctan(x - root)) == pytest.approx(root, rel=1e-6)
    assert least_of_convex(lambda x: 1.0 if x > root else -1.0) == pytest.approx(root, rel=1e-9)
    assert least_of_convex(lambda x: x + root) == 0.0


@pytest.mark.parametrize("link", ["identity", "log", "logit", "half_logit", "softmax"])
def test_a_links_inverse_gives_the_predictions_back(link: str) -> None:
    generator = np.random.default_rng(2)
    prediction = generator.uniform(0.01, 0.99, 50)
    if link == "softmax":
        prediction = generator.dirichlet(np.ones(3), 50)
    scores = scores_of(link, prediction)
    assert scores.shape == (3 if link == "softmax" else 1, 50)
    np.testing.assert_allclose(LINKS[link](scores), prediction, rtol=1e-12)
