"""Every loss against its naive twin and against finite differences of its loss."""

from __future__ import annotations

import numpy as np
import pytest

import reference_losses as reference
from unit.losses.factories import OPTIONS, fill, parameter, problem
from weald.losses import LOSSES, make_loss

SMOOTH = [
    "squared",
    "pseudo_huber",
    "fair",
    "squared_log",
    "cross_entropy",
    "poisson",
    "gamma",
    "tweedie",
    "logistic",
    "exponential",
    "softmax",
    "one_vs_rest",
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_gradient_and_hessian_equal_the_naive_twin_bit_for_bit(name: str, weighted: bool) -> None:
    loss, scores, y, weight = problem(name)
    used = weight if weighted else None
    gradient, hessian = fill(loss, scores, y, used)
    want_gradient, want_hessian = reference.gradients(name, scores, y, used, parameter(name))
    # Adding 0 makes the two zeros alike: a residual of -0 is as good as one of 0.
    assert (gradient + 0).tobytes() == (want_gradient + 0).tobytes()
    assert hessian.tobytes() == want_hessian.tobytes()


@pytest.mark.parametrize("rows", [1, 2, 1_537])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_the_same_bytes_for_any_number_of_tasks(name: str, rows: int) -> None:
    loss, scores, y, weight = problem(name, rows)
    for used in (weight, None):
        serial = fill(loss, scores, y, used, tasks=1)
        for tasks in (2, 3):
            parallel = fill(loss, scores, y, used, tasks)
            assert serial[0].tobytes() == parallel[0].tobytes()
            assert serial[1].tobytes() == parallel[1].tobytes()


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_is_the_derivative_of_the_loss(name: str) -> None:
    loss, scores, y, weight = problem(name)
    step = 1e-5
    gradient, _ = fill(loss, scores, y, weight)
    for k in range(loss.n_outputs):
        up, down = scores.copy(), scores.copy()
        up[k] += step
        down[k] -= step
        above = reference.loss_of_score(name, up, y, parameter(name))
        below = reference.loss_of_score(name, down, y, parameter(name))
        kinks = 2.0 * y - 1.0 if name == "hinge" else y
        away_from_kinks = np.abs(scores[0] - kinks) > 2 * step
        want = weight * (above - below) / (2 * step)
        if (
            name == "normal" and k == 0
        ):  # the natural gradient: Fisher's information 1 / variance is divided out
            want *= np.exp(2.0 * scores[1])
        # Central differences are good to step**2 and 1e-16 / step, float32 to 6e-8 of the value.
        np.testing.assert_allclose(gradient[k][away_from_kinks], want[away_from_kinks], rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_hessian_is_the_second_derivative_of_the_loss(name: str) -> None:
    loss, scores, y, weight = problem(name)
    step = 1e-3
    _, hessian = fill(loss, scores, y, weight)
    factor = loss.n_outputs / (loss.n_outputs - 1) if name == "softmax" else 1.0
    for k in range(loss.n_outputs):
        up, down = scores.copy(), scores.copy()
        up[k] += step
        down[k] -= step
        middle = reference.loss_of_score(name, scores, y, parameter(name))
        above = reference.loss_of_score(name, up, y, parameter(name))
        below = reference.loss_of_score(name, down, y, parameter(name))
        want = factor * weight * ((above - middle) - (middle - below)) / step**2
        # The fair loss's curvature has a corner at the label.
        smooth = np.abs(scores[0] - y) > 2 * step if name == "fair" else np.ones(len(y), np.bool_)
        # Second differences are good to step**2 / 12 of the value and 1e-15 / step**2.
        np.testing.assert_allclose(hessian[k][smooth], want[smooth], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in LOSSES if name not in (*SMOOTH, "hinge", "normal")])
def test_a_loss_without_curvature_has_the_weight_as_hessian(name: str) -> None:
    loss, scores, y, weight = problem(name)
    assert np.array_equal(fill(loss, scores, y, weight)[1][0], weight.astype(np.float32))
    assert np.all(fill(loss, scores, y, None)[1] == 1.0)


def test_a_step_of_the_normal_losss_deviation_is_at_most_a_half() -> None:
    scores, y = np.array([[0.0, 0.0, 0.0], [-30.0, 0.0, 5.0]]), np.array([1.0, 1e6, 0.0])
    gradient, hessian = fill(make_loss("normal"), scores, y, None)
    assert np.all(np.isfinite(gradient)) and np.all(np.abs(gradient[1] / hessian[1]) <= 0.5)


@pytest.mark.parametrize("name", ["absolute", "mape", "quantile"])
def test_a_score_equal_to_its_label_has_no_gradient(name: str) -> None:
    gradient, _ = fill(make_loss(name), np.zeros((1, 3)), np.zeros(3), None)
    assert np.all(gradient == 0.0)


@pytest.mark.parametrize("name", ["logistic", "softmax", "one_vs_rest"])
def test_hessians_of_certain_rows_stay_above_zero(name: str) -> None:
    loss = make_loss(name, **OPTIONS.get(name, {}))
    scores = np.zeros((loss.n_outputs, 4))
    scores[0] = [1e6, -1e6, 500.0, -500.0]
    gradient, hessian = fill(loss, scores, np.array([1.0, 0.0, 0.0, 1.0]), None)
    assert np.all(hessian >= np.float32(1e-16))
    assert np.all(np.isfinite(gradient))


def test_logistic_gradients_of_swapped_classes_mirror_each_other_exactly() -> None:
    _, scores, y, weight = problem("logistic")
    gradient, hessian = fill(make_loss("logistic"), 10.0 * scores, y, weight)
    mirrored, same = fill(make_loss("logistic"), -10.0 * scores, 1.0 - y, weight)
    assert np.array_equal(gradient, -mirrored)
    assert np.array_equal(hessian, same)


@pytest.mark.parametrize("name", ["poisson", "gamma", "tweedie"])
def test_runaway_scores_under_a_log_link_keep_finite_gradients(name: str) -> None:
    gradient, hessian = fill(make_loss(name), np.array([[2000.0, -2000.0]]), np.array([1.0, 1.0]), None)
    assert np.all(np.isfinite(gradient))
    assert np.all(np.isfinite(hessian))


def test_tweedie_near_its_ends_approaches_poisson_and_gamma() -> None:
    _, scores, y, _ = problem("gamma")
    for end, power in (("poisson", 1.0 + 1e-9), ("gamma", 2.0 - 1e-9)):
        gradient, hessian = fill(make_loss("tweedie", tweedie_power=power), scores, y, None)
        want_gradient, want_hessian = fill(make_loss(end), scores, y, None)
        np.testing.assert_allclose(gradient, want_gradient, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(hessian, want_hessian, rtol=1e-6, atol=1e-6)


def test_several_quantiles_are_the_single_ones_side_by_side() -> None:
    _, scores, y, weight = problem("quantile")
    alphas = [0.1, 0.5, 0.9]
    several = make_loss("quantile", quantile_alpha=alphas)
    three = np.repeat(scores, 3, axis=0)
    gradient, hessian = fill(several, three, y, weight)
    start = several.initial_score(y, weight)
    for k, alpha in enumerate(alphas):
        single = make_loss("quantile", quantile_alpha=alpha)
        want_gradient, want_hessian = fill(single, scores, y, weight)
        assert gradient[k].tobytes() == want_gradient[0].tobytes()
        assert hessian[k].tobytes() == want_hessian[0].tobytes()
        assert start[k] == single.initial_score(y, weight)[0]
        assert several.of_output(k).options == single.options


def test_a_confident_hinge_row_weighs_next_to_nothing() -> None:
    gradient, hessian = fill(
        make_loss("hinge"), np.array([[2.0, -2.0, 0.5]]), np.array([1.0, 1.0, 1.0]), None
    )
    assert gradient[0].tolist() == [0.0, -1.0, -1.0]
    assert hessian[0].tolist() == [np.float32(1e-16), 1.0, 1.0]


def test_squared_log_scores_below_minus_one_keep_finite_gradients() -> None:
    gradient, hessian = fill(make_loss("squared_log"), np.array([[-5.0, 1e30]]), np.array([1.0, 1.0]), None)
    assert np.isfinite(gradient).all()
    assert (hessian > 0).all()
