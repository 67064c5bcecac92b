"""Names, options, targets, initial scores and links."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import reference_losses as reference
from weald.losses import LINKS, LOSSES, METRICS, make_loss, scores_of
from weald.losses.count import ZERO_MEAN_FLOOR
from weald.losses.means import compensated_dot, compensated_sum, weighted_mean
from weald.runtime.errors import InputError, NotSupportedError

CLASSES = {"softmax": {"n_classes": 3}, "one_vs_rest": {"n_classes": 3}}


def test_an_unknown_loss_is_refused_with_the_known_names_and_the_nearest() -> None:
    with pytest.raises(
        NotSupportedError, match=r"loss='poison'.*squared, .*softmax.*Did you mean 'poisson'\?"
    ):
        make_loss("poison")
    with pytest.raises(NotSupportedError, match="not known"):
        make_loss("reg:squarederror")


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("huber", {"huber_delta": 0.0}, "huber_delta must be a finite number above 0, not 0.0"),
        ("pseudo_huber", {"huber_delta": -1.0}, "huber_delta must be a finite number above 0, not -1.0"),
        (
            "quantile",
            {"quantile_alpha": 1.0},
            "quantile_alpha must be between 0 and 1, both excluded, not 1.0",
        ),
        ("quantile", {"quantile_alpha": [0.5, 2]}, "quantile_alpha must be between 0 and 1.* not 2"),
        ("quantile", {"quantile_alpha": []}, "quantile_alpha must name at least one quantile"),
        ("quantile", {"quantile_alpha": "half"}, "quantile_alpha must be between 0 and 1.* not 'half'"),
        ("tweedie", {"tweedie_power": 2.0}, "tweedie_power must lie between 1 and 2.*loss='gamma'"),
        ("softmax", {}, "needs n_classes of 2 or more"),
        ("one_vs_rest", {"n_classes": 1}, "loss='one_vs_rest' needs n_classes of 2 or more, not 1"),
        ("fair", {"fair_scale": 0.0}, "fair_scale must be a finite number above 0, not 0.0"),
        ("squared", {"huber_delta": 1.0}, "loss='squared' has no option 'huber_delta'; it takes none"),
        ("huber", {"delta": 1.0}, "has no option 'delta'; it takes huber_delta"),
    ],
)
def test_a_wrong_option_is_named_with_what_would_be_right(
    name: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        make_loss(name, **options)


@pytest.mark.parametrize(
    ("name", "labels", "sentence"),
    [
        ("squared", [0.0, np.nan], "row 1 has nan"),
        ("absolute", [0.0, 1e39], "within ±1e\\+38, but row 1 has 1e\\+39"),
        ("poisson", [1.0, -1.0], "0 or more .*'poisson', but row 1 has -1.0"),
        ("poisson", [0.0, 0.0], "at least one count above 0"),
        ("gamma", [1.0, 0.0], "above 0 .*'gamma', but row 1 has 0.0"),
        ("tweedie", [1.0, np.inf], "0 or more .*'tweedie', but row 1 has inf"),
        ("logistic", [1.0, 0.3], "0 or 1 .*'logistic', but row 1 has 0.3"),
        ("hinge", [1.0, 2.0], "0 or 1 .*'hinge', but row 1 has 2.0"),
        ("cross_entropy", [1.0, 1.5], "from 0 to 1 .*, but row 1 has 1.5"),
        ("squared_log", [0.0, -1.0], "above -1 .*, but row 1 has -1.0"),
        ("pseudo_huber", [0.0, np.inf], "row 1 has inf"),
        ("softmax", [2.0, 3.0], "from 0 to 2 .*'softmax', but row 1 has 3.0"),
        ("softmax", [2.0, 0.5], "but row 1 has 0.5"),
        ("one_vs_rest", [0.0, -1.0], "from 0 to 2 .*'one_vs_rest', but row 1 has -1.0"),
        ("fair", [0.0, np.inf], "row 1 has inf"),
        ("mape", [0.0, np.nan], "row 1 has nan"),
    ],
)
def test_a_label_that_a_loss_cannot_use_is_refused_with_its_row(
    name: str, labels: list[float], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        make_loss(name, **CLASSES.get(name, {})).check_target(np.array(labels))


def test_usable_labels_pass() -> None:
    for name in LOSSES:
        make_loss(name, **CLASSES.get(name, {})).check_target(np.array([1.0, 1.0]))
    make_loss("tweedie").check_target(np.zeros(2))


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_rebuilt_from_its_name_and_options_and_survives_pickling(name: str) -> None:
    loss = make_loss(name, **CLASSES.get(name, {}))
    assert repr(make_loss(loss.name, **loss.options)) == repr(loss)
    assert repr(pickle.loads(pickle.dumps(loss))) == repr(loss)
    assert loss.default_metric in METRICS


@pytest.mark.parametrize("name", LOSSES)
def test_the_initial_score_is_the_best_constant(name: str) -> None:
    generator = np.random.default_rng(3)
    loss = make_loss(name, **CLASSES.get(name, {}))
    y = generator.integers(0, max(2, loss.n_outputs), 200).astype(np.float64)
    if loss.task == "regression" and name != "cross_entropy":
        y = generator.gamma(2.0, size=200)
    weight = generator.uniform(0.5, 2.0, 200)
    parameter = float(next(iter(loss.options.values()), 0.0))
    best = loss.initial_score(y, weight)

    def total(score: np.ndarray[Any, Any]) -> float:
        scores = np.repeat(score[:, None], 200, axis=1)
        return float(np.sum(weight * reference.loss_of_score(name, scores, y, parameter)))

    # Huber losses start at the median and fair at the mean, which are only near their best constant, and a hinge at 0.
    slack = 2.0 if name in ("huber", "pseudo_huber", "fair", "hinge") else 1e-9
    for k in range(loss.n_outputs):
        for step in (-1e-2, 1e-2):
            moved = best.copy()
            moved[k] += step
            assert total(best) <= total(moved) + slack


def test_initial_scores_of_constant_targets_stay_finite() -> None:
    assert make_loss("logistic").initial_score(np.ones(5), None)[0] == pytest.approx(34.5, abs=0.1)
    assert make_loss("logistic").initial_score(np.zeros(5), None)[0] == pytest.approx(-34.5, abs=0.1)
    assert np.all(np.isfinite(make_loss("softmax", n_classes=3).initial_score(np.zeros(5), None)))
    assert make_loss("tweedie").initial_score(np.zeros(5), None)[0] == pytest.approx(np.log(ZERO_MEAN_FLOOR))
    assert make_loss("poisson").initial_score(np.array([1e-20, 0.0]), None)[0] == pytest.approx(np.log(5e-21))


@pytest.mark.parametrize("name", LOSSES)
def test_initial_scores_treat_an_integer_weight_like_copies(name: str) -> None:
    generator = np.random.default_rng(4)
    loss = make_loss(name, **CLASSES.get(name, {}))
    y = generator.integers(0, max(2, loss.n_outputs), 60).astype(np.float64)
    if loss.task == "regression":
        y = generator.gamma(2.0, size=60)
    counts = generator.integers(0, 4, 60)
    weighted = loss.initial_score(y, counts.astype(np.float64))
    repeated = loss.initial_score(np.repeat(y, counts), None)
    if name == "log_cosh":  # a root that is sought, not a formula
        assert weighted == pytest.approx(repeated, rel=1e-12)
        return
    assert weighted.tobytes() == repeated.tobytes()


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_exact_sums_rounded_once_even_where_terms_cancel(weighted: bool) -> None:
    generator = np.random.default_rng(7)
    values = generator.normal(size=501) * 10.0 ** generator.integers(-8, 9, 501)
    values = np.concatenate((values, -values[:400]))
    weight = generator.integers(1, 9, 901).astype(np.float64) if weighted else None
    got = compensated_sum(values) if weight is None else compensated_dot(values, weight)
    want = reference.exact_sum(values, weight)
    # Twice the working precision: one ulp of the result as long as the cancellation is below 1e16.
    assert abs(got - want) <= np.spacing(abs(want))


def test_a_mean_without_weight_or_rows_is_refused() -> None:
    with pytest.raises(InputError, match="sample_weight must add up to more than 0"):
        weighted_mean(np.ones(2), np.zeros(2))
    with pytest.raises(InputError, match="at least one row"):
        weighted_mean(np.ones(0), None)


def test_predictions_are_the_inverse_link_of_the_scores() -> None:
    scores = np.array([[-800.0, -1.0, 0.0, 2.0, 800.0]])
    with np.errstate(over="ignore"):
        means = np.minimum(np.exp(scores[0]), np.finfo(np.float64).max)  # the largest number in place of infinity
        np.testing.assert_allclose(make_loss("poisson").respond(scores), means, rtol=1e-15)
        np.testing.assert_allclose(
            make_loss("logistic").respond(scores), 1 / (1 + np.exp(-scores[0])), rtol=1e-15
        )
    assert make_loss("squared").respond(scores).tolist() == scores[0].tolist()
    probabilities = make_loss("softmax", n_classes=3).respond(
        np.array([[0.0, 900.0], [1.0, 0.0], [2.0, -900.0]])
    )
    want = np.exp([0.0, 1.0, 2.0]) / np.exp([0.0, 1.0, 2.0]).sum()
    np.testing.assert_allclose(probabilities, [want, [1.0, 0.0, 0.0]], rtol=1e-15)


def test_one_vs_rest_probabilities_add_up_to_one_where_every_class_is_denied() -> None:
    scores = np.array([[0.5, 900.0, -900.0, -3.0], [-1.0, 900.0, -901.0, 2.0], [2.0, -900.0, -903.0, -800.0]])
    probabilities = make_loss("one_vs_rest", n_classes=3).respond(scores)
    with np.errstate(over="ignore"):
        sigmoids = 1.0 / (1.0 + np.exp(-scores))
    np.testing.assert_allclose(LINKS["sigmoids"](scores), sigmoids.T, rtol=1e-14)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-15)
    few = np.exp([0.0, -1.0, -3.0])  # far below 0 a sigmoid is an exponential
    want = [sigmoids[:, 0] / sigmoids[:, 0].sum(), [0.5, 0.5, 0.0], few / few.sum()]
    np.testing.assert_allclose(probabilities[:3], want, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("link", ["softmax", "one_vs_rest", "sigmoids"])
def test_the_links_of_several_classes_are_inverse_to_their_predictions(link: str) -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(LINKS[link](scores_of(link, probabilities)), probabilities, rtol=1e-14)


def test_predictions_do_not_share_memory_with_the_scores() -> None:
    scores = np.zeros((1, 3))
    make_loss("squared").respond(scores)[0] = 5.0
    assert scores[0, 0] == 0.0


def test_a_loss_with_newton_leaves_refuses_to_refit_them() -> None:
    nothing = np.zeros(0)
    with pytest.raises(NotSupportedError, match="does not refit"):
        make_loss("squared").refit_leaves(
            nothing, nothing, None, np.zeros(0, np.int64), np.zeros(1, np.int64), nothing
        )
