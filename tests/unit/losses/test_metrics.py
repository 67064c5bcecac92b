"""Every metric against scikit-learn's, and how one is chosen for a loss."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk
from scipy import stats
from scipy.special import rel_entr

from weald.losses import LOSSES, METRICS, Metric, make_loss, make_metric
from weald.runtime.errors import InputError, NotSupportedError

ROWS = 400
generator = np.random.default_rng(21)
REAL = generator.normal(size=ROWS)
POSITIVE = generator.gamma(2.0, size=ROWS) + 0.01
COUNTS = generator.poisson(1.0, ROWS).astype(np.float64)
BINARY = generator.integers(0, 2, ROWS).astype(np.float64)
CLASSES = generator.integers(0, 3, ROWS).astype(np.float64)
# Rounded to 2 digits: many ties, and some probabilities of exactly 0 and 1.
PROBABILITY = np.round(np.clip(generator.normal(0.5, 0.3, ROWS), 0.0, 1.0), 2)
PROBABILITIES = generator.dirichlet(np.ones(3), ROWS)
PREDICTED = generator.gamma(2.0, size=ROWS) + 0.01
SHARES = generator.uniform(size=ROWS)
OPEN_PROBABILITY = generator.uniform(0.01, 0.99, ROWS)
WEIGHT = generator.uniform(0.1, 3.0, ROWS)


def mean_huber(y: Any, p: Any, sample_weight: Any) -> Any:
    r = np.abs(y - p)
    return np.average(np.where(r <= 1.0, 0.5 * r * r, r - 0.5), weights=sample_weight)


def mean_pseudo_huber(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(np.sqrt(1.0 + (y - p) ** 2) - 1.0, weights=sample_weight)


def mean_log_cosh(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(np.log(np.cosh(y - p)), weights=sample_weight)


def minus_log_likelihood(distribution: Any) -> Any:
    def of(y: Any, p: Any, sample_weight: Any) -> Any:
        return -np.average(distribution(y, p), weights=sample_weight)

    return of


def mean_tweedie(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(p**0.5 / 0.5 - y * p**-0.5 / -0.5, weights=sample_weight)


def mean_fair(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(np.abs(y - p) - np.log1p(np.abs(y - p)), weights=sample_weight)


def mean_bounded_share(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(np.abs(y - p) / np.maximum(1.0, np.abs(y)), weights=sample_weight)


def mean_poisson(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(p - y * np.log(p), weights=sample_weight)


def mean_divergence(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(rel_entr(y, p) + rel_entr(1 - y, 1 - p), weights=sample_weight)


def mean_cross_entropy(y: Any, p: Any, sample_weight: Any) -> Any:
    return np.average(-y * np.log(p) - (1 - y) * np.log(1 - p), weights=sample_weight)


def interpolated_area(y: Any, p: Any, sample_weight: Any) -> Any:
    """Precision over recall in many small steps between the thresholds, as Davis and Goadrich draw it."""
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    points = [(0.0, 0.0)]
    for threshold in np.unique(p)[::-1]:
        chosen = p >= threshold
        points.append((weight[chosen & (y == 1)].sum(), weight[chosen & (y == 0)].sum()))
    area, total = 0.0, points[-1][0]
    for (hits, false), (more_hits, more_false) in itertools.pairwise(points):
        steps = hits + (np.arange(20_000) + 0.5) / 20_000 * (more_hits - hits)
        slope = (more_false - false) / (more_hits - hits) if more_hits > hits else 0.0
        precision = steps / np.maximum(steps + false + slope * (steps - hits), 1e-300)
        area += precision.mean() * (more_hits - hits) / total
    return area


CASES: list[tuple[str, Any, Any, Any]] = [
    ("rmse", REAL, PREDICTED, sk.root_mean_squared_error),
    ("mse", REAL, PREDICTED, sk.mean_squared_error),
    ("mae", REAL, PREDICTED, sk.mean_absolute_error),
    ("r2", REAL, PREDICTED, sk.r2_score),
    ("huber", REAL, PREDICTED, mean_huber),
    ("fair", REAL, PREDICTED, mean_fair),
    ("log_cosh", REAL, PREDICTED, mean_log_cosh),
    (
        "normal_nloglik",
        REAL,
        np.array([PREDICTED, np.log(POSITIVE)]),
        minus_log_likelihood(lambda y, scores: stats.norm.logpdf(y, scores[0], np.exp(scores[1]))),
    ),
    ("bounded_mape", REAL, PREDICTED, mean_bounded_share),
    ("pinball", REAL, PREDICTED, sk.mean_pinball_loss),
    ("pseudo_huber", REAL, PREDICTED, mean_pseudo_huber),
    ("rmsle", POSITIVE, PREDICTED, sk.root_mean_squared_log_error),
    ("mape", POSITIVE, PREDICTED, sk.mean_absolute_percentage_error),
    ("cross_entropy", SHARES, OPEN_PROBABILITY, mean_cross_entropy),
    ("kullback_leibler", SHARES, OPEN_PROBABILITY, mean_divergence),
    ("poisson_loss", COUNTS, PREDICTED, mean_poisson),
    ("poisson_nloglik", COUNTS, PREDICTED, minus_log_likelihood(stats.poisson.logpmf)),
    (
        "gamma_nloglik",
        POSITIVE,
        PREDICTED,
        minus_log_likelihood(lambda y, p: stats.gamma.logpdf(y, 1.0, scale=p)),
    ),
    ("tweedie_nloglik", COUNTS, PREDICTED, mean_tweedie),
    ("poisson_deviance", COUNTS, PREDICTED, sk.mean_poisson_deviance),
    ("gamma_deviance", POSITIVE, PREDICTED, sk.mean_gamma_deviance),
    (
        "tweedie_deviance",
        COUNTS,
        PREDICTED,
        lambda y, p, sample_weight: sk.mean_tweedie_deviance(y, p, power=1.5, sample_weight=sample_weight),
    ),
    ("logloss", BINARY, PROBABILITY, sk.log_loss),
    ("logloss", CLASSES, PROBABILITIES, sk.log_loss),
    ("auc", BINARY, PROBABILITY, sk.roc_auc_score),
    ("aucpr", BINARY, PROBABILITY, interpolated_area),
    ("average_precision", BINARY, PROBABILITY, sk.average_precision_score),
    (
        "accuracy",
        BINARY,
        PROBABILITY,
        lambda y, p, sample_weight: sk.accuracy_score(y, p > 0.5, sample_weight=sample_weight),
    ),
    (
        "accuracy",
        CLASSES,
        PROBABILITIES,
        lambda y, p, sample_weight: sk.accuracy_score(y, p.argmax(axis=1), sample_weight=sample_weight),
    ),
    (
        "error",
        BINARY,
        PROBABILITY,
        lambda y, p, sample_weight: sk.zero_one_loss(y, p > 0.5, sample_weight=sample_weight),
    ),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "y", "prediction", "oracle"), CASES)
def test_metric_agrees_with_scikit_learn(
    name: str, y: Any, prediction: Any, oracle: Any, weighted: bool
) -> None:
    weight = WEIGHT if weighted else None
    want = oracle(y, prediction, sample_weight=weight)
    precision = 1e-6 if name == "aucpr" else 1e-12  # its twin is a sum of small steps
    assert METRICS[name](y, prediction, weight) == pytest.approx(want, rel=precision, abs=1e-13)


def test_every_metric_is_compared() -> None:
    assert {case[0] for case in CASES} == set(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_an_integer_weight_counts_like_copies(name: str) -> None:
    y, prediction = next((y, p) for case, y, p, _ in CASES if case == name)
    counts = np.random.default_rng(1).integers(0, 3, ROWS)
    axis = 1 if METRICS[name].of_scores else 0
    repeated = METRICS[name](np.repeat(y, counts), np.repeat(prediction, counts, axis=axis), None)
    weighted = METRICS[name](y, prediction, counts.astype(np.float64))
    assert weighted == pytest.approx(repeated, rel=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_the_default_metric_of_every_loss_fits_it_and_takes_its_options(name: str) -> None:
    loss = make_loss(name, **({"n_classes": 3} if name in ("softmax", "one_vs_rest") else {}))
    assert make_metric(loss.default_metric, loss).name == loss.default_metric


def test_options_of_the_loss_reach_its_metric() -> None:
    one, zero = np.ones(1), np.zeros(1)
    assert make_metric("pinball", make_loss("quantile", quantile_alpha=0.9))(one, zero) == pytest.approx(0.9)
    assert make_metric("huber", make_loss("huber", huber_delta=0.1))(one, zero) == pytest.approx(0.095)
    fair = make_metric("fair", make_loss("fair", fair_scale=2.0))(one, zero)
    assert fair == pytest.approx(2.0 - 4.0 * math.log(1.5))
    tweedie = make_metric("tweedie_deviance", make_loss("tweedie", tweedie_power=1.2))
    want = sk.mean_tweedie_deviance(COUNTS, PREDICTED, power=1.2)
    assert tweedie(COUNTS, PREDICTED) == pytest.approx(want, rel=1e-12)
    assert make_metric("pinball", make_loss("squared"))(one, zero) == pytest.approx(0.5)


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(NotSupportedError, match=r"eval_metric='rsme'.*Did you mean 'rmse'"):
        make_metric("rsme", make_loss("squared"))


@pytest.mark.parametrize(
    ("metric", "loss"),
    [("logloss", "squared"), ("rmse", "logistic"), ("poisson_deviance", "squared"), ("auc", "softmax")],
)
def test_a_metric_that_does_not_fit_the_loss_is_refused_with_those_that_do(metric: str, loss: str) -> None:
    made = make_loss(loss, **({"n_classes": 3} if loss == "softmax" else {}))
    with pytest.raises(
        NotSupportedError, match=f"'{metric}' does not fit loss='{loss}'; use one of .*{made.default_metric}"
    ):
        make_metric(metric, made)


def test_any_metric_may_watch_a_custom_loss() -> None:
    loss = make_loss(lambda y, s: (s - y, np.ones_like(s)))
    assert all(make_metric(name, loss).name == name for name, one in METRICS.items() if not one.of_scores)


def test_a_function_becomes_a_metric_with_its_name_and_direction() -> None:
    def share_above(y: Any, prediction: Any, weight: Any) -> Any:
        return np.float32(np.mean(prediction > y))

    loss = make_loss("squared")
    for direction in (False, True, np.True_):
        share_above.greater_is_better = direction  # type: ignore[attr-defined]
        metric = make_metric(share_above, loss)
        assert (metric.name, metric.greater_is_better) == ("share_above", bool(direction))
        assert metric(np.zeros(2), np.array([1.0, -1.0])) == 0.5
    own = make_metric(Metric("own", lambda y, p: 1.0, greater_is_better=True), loss)
    assert own.greater_is_better and own(np.zeros(2), np.zeros(2)) == 1.0


def test_a_function_of_unknown_direction_is_refused_with_the_way_to_give_it() -> None:
    def gini(y: Any, prediction: Any) -> float:
        return 0.0

    with pytest.raises(InputError, match=r"'gini' does not say .* greater_is_better to True or False, or give"):
        make_metric(gini, make_loss("squared"))
    gini.greater_is_better = "yes"  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="greater_is_better of eval_metric 'gini' must be True or False, not 'yes'"):
        make_metric(gini, make_loss("squared"))


@pytest.mark.parametrize(
    ("function", "greater"),
    [
        (sk.roc_auc_score, True),
        (partial(sk.roc_auc_score, max_fpr=0.5), True),
        (sk.log_loss, False),
        (sk.brier_score_loss, False),
        (sk.max_error, False),
        (sk.mean_tweedie_deviance, False),
    ],
)
def test_the_direction_of_scikit_learns_functions_is_known(function: Any, greater: bool) -> None:
    assert make_metric(function, make_loss("squared")).greater_is_better is greater


def test_a_function_is_given_weights_where_it_takes_them() -> None:
    def auc(y: Any, prediction: Any) -> float:
        return 1.0

    def mae(y: Any, prediction: Any, *, beta: float = 2.0, sample_weight: Any = None) -> float:
        return beta if sample_weight is None else beta * float(sample_weight.sum())

    def rmse(y: Any, prediction: Any, beta: float = 3.0) -> float:
        return beta

    loss, zeros, weight = make_loss("squared"), np.zeros(2), np.array([2.0, 3.0])
    assert make_metric(auc, loss).greater_is_better and not make_metric(mae, loss).greater_is_better
    assert make_metric(mae, loss)(zeros, zeros, weight) == 10.0
    assert make_metric(mae, loss)(zeros, zeros) == 2.0
    assert make_metric(rmse, loss)(zeros, zeros) == 3.0
    for function in (auc, rmse):
        with pytest.raises(InputError, match="takes no weights, but the rows that it is to judge have some"):
            make_metric(function, loss)(zeros, zeros, weight)
    weighted = make_metric(sk.mean_absolute_error, loss)(zeros, np.array([1.0, 2.0]), weight)
    assert weighted == pytest.approx(8.0 / 5.0)


def test_a_function_that_returns_no_number_is_refused_by_name() -> None:
    def nothing(y: Any, prediction: Any, weight: Any) -> None:
        return None

    nothing.greater_is_better = False  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="eval_metric 'nothing' must return a number, not NoneType"):
        make_metric(nothing, make_loss("squared"))(np.zeros(1), np.zeros(1))
    with pytest.raises(InputError, match="must be a name, a Metric or a function, not 3"):
        make_metric(3, make_loss("squared"))  # type: ignore[arg-type]


def test_auc_of_a_single_class_is_not_a_number() -> None:
    assert math.isnan(METRICS["auc"](np.ones(3), np.array([0.1, 0.2, 0.3])))


@pytest.mark.parametrize("weighted", [False, True])
def test_auc_of_several_classes_is_each_against_the_rest_by_its_weight(weighted: bool) -> None:
    weight = WEIGHT if weighted else None
    shares = np.array([np.average(np.equal(CLASSES, k), weights=weight) for k in range(3)])
    areas = [
        sk.roc_auc_score(np.equal(CLASSES, k), PROBABILITIES[:, k], sample_weight=weight) for k in range(3)
    ]
    assert METRICS["auc"](CLASSES, PROBABILITIES, weight) == pytest.approx(
        shares @ np.array(areas), rel=1e-12
    )
    for name in ("aucpr", "average_precision"):
        assert 0.0 < METRICS[name](CLASSES, PROBABILITIES, weight) < 1.0


def test_the_pinball_loss_of_several_quantiles_is_the_mean_of_theirs() -> None:
    loss = make_loss("quantile", quantile_alpha=[0.2, 0.8])
    both = np.column_stack([PREDICTED, REAL])
    want = [sk.mean_pinball_loss(POSITIVE, both[:, k], alpha=a) for k, a in enumerate((0.2, 0.8))]
    assert make_metric("pinball", loss)(POSITIVE, both) == pytest.approx(np.mean(want), rel=1e-12)


def test_r2_of_a_constant_target_is_one_only_where_it_is_met() -> None:
    assert METRICS["r2"](np.ones(3), np.ones(3)) == 1.0
    assert METRICS["r2"](np.ones(3), np.zeros(3)) == 0.0


def test_predictions_that_underflow_to_zero_give_a_finite_deviance() -> None:
    for name in ("poisson_deviance", "gamma_deviance", "tweedie_deviance"):
        assert not math.isnan(METRICS[name](np.ones(2), np.array([0.0, 1.0])))


@pytest.mark.parametrize(
    ("name", "label"), [("poisson_deviance", -1.0), ("gamma_deviance", 0.0), ("tweedie_deviance", -2.0)]
)
def test_a_label_without_deviance_is_refused(name: str, label: float) -> None:
    with pytest.raises(InputError, match=f"metric {name}, but row 1 has {label}"):
        METRICS[name](np.array([1.0, label]), np.ones(2))
