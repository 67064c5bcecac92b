"""Leaf values by several steps: against leaves by themselves, the loss's minimum, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_leaf_steps as reference
from weald import BoostedTreesClassifier, BoostedTreesRegressor, Histogram, Leaves
from weald.losses import make_loss
from weald.losses.base import weight_or_empty
from weald.losses.parameters import Quantile
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.leaf_steps import LeafProblem, LeafSteps, estimate_leaves
from weald.tree.rows.logistic_leaf import logistic_leaf_sums

ROWS, LEAVES = 1_100, 7
rng = np.random.default_rng(8)
LEAF = rng.integers(0, LEAVES + 1, ROWS).astype(np.uint8)  # LEAVES: in none
LEAF[LEAF == 3] = 2  # a leaf without rows
SCORE = rng.standard_normal(ROWS)
WEIGHT = rng.uniform(0.1, 3.0, ROWS)
BINARY = (rng.random(ROWS) < 1.0 / (1.0 + np.exp(-LEAF + 3.0))).astype(np.float64)
LABELS: dict[str, Any] = {
    "logistic": BINARY,
    "squared": rng.standard_normal(ROWS) + LEAF,
    "poisson": rng.poisson(1.0 + 9.0 * LEAF).astype(np.float64),
}


def problem(name: str, weight: Any = None, **changes: Any) -> LeafProblem:
    fields: dict[str, Any] = {"loss": make_loss(name), "scores": SCORE[None], "y": LABELS.get(name)}
    fields |= {"weight": weight, "output": 0, "leaf_of_row": LEAF, "n_leaves": LEAVES, "tasks": 1}
    return LeafProblem(**(fields | changes))


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("numbers", [np.uint8, np.int32])
def test_sums_of_the_logistic_loss_equal_the_naive_twin_bit_for_bit(weight: Any, numbers: Any) -> None:
    values, heaviest = rng.standard_normal(LEAVES), 1.0 if weight is None else float(weight.max())
    leaf = LEAF.astype(numbers)
    found = logistic_leaf_sums(SCORE, BINARY, weight_or_empty(weight), leaf, values, heaviest, 1)
    assert found.tobytes() == reference.logistic_sums(SCORE, BINARY, weight, LEAF, values, heaviest).tobytes()


def test_sums_of_the_logistic_loss_are_the_same_for_any_number_of_tasks() -> None:
    many = np.resize(np.arange(70_001), 70_001)
    leaf, score, y = (np.resize(one, len(many)) for one in (LEAF, SCORE, BINARY))
    common = (score, y, weight_or_empty(None), leaf, np.linspace(-1.0, 1.0, LEAVES), 1.0)
    want = logistic_leaf_sums(*common, 1)
    assert all(logistic_leaf_sums(*common, tasks).tobytes() == want.tobytes() for tasks in (2, 3))


@pytest.mark.parametrize("iterations", [1, 2, 10])
@pytest.mark.parametrize("method", ["newton", "gradient"])
@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_every_leaf_goes_as_far_as_it_would_alone(
    name: str, method: str, iterations: int, weight: Any
) -> None:
    found = estimate_leaves(problem(name, weight), LeafSteps(method, iterations, reg_lambda=0.7))
    loss, used = make_loss(name), np.ones(ROWS) if weight is None else weight
    for leaf in range(LEAVES):
        own = leaf == LEAF

        def derivatives(value: np.ndarray, own: Any = own) -> tuple[np.ndarray, np.ndarray]:
            gradient, hessian = (np.zeros((1, int(own.sum())), np.float32) for _ in range(2))
            loss.gradients(SCORE[None, own] + value, LABELS[name][own], used[own], gradient, hessian, 1)
            return gradient, hessian if method == "newton" else used[own]

        assert found[leaf] == pytest.approx(
            reference.value_of_leaf(derivatives, iterations, 0.7), rel=1e-5, abs=1e-6
        )
    assert found[3] == 0.0


@pytest.mark.parametrize("name", ["poisson", "logistic"])
def test_many_steps_lead_to_the_minimum_that_one_misses(name: str) -> None:
    slopes = []
    for iterations in (1, 60):
        values = estimate_leaves(problem(name), LeafSteps(iterations=iterations, reg_lambda=0.5))
        moved = SCORE + np.append(values, 0.0)[LEAF]
        mean = np.exp(moved) if name == "poisson" else 1.0 / (1.0 + np.exp(-moved))
        slopes.append([np.abs((mean - LABELS[name])[leaf == LEAF].sum()) for leaf in range(LEAVES)])
    assert np.max(slopes[1]) < 1e-2 < np.max(slopes[0])


def test_a_step_across_the_minimum_to_a_steeper_place_is_halved() -> None:
    rows = problem("poisson", scores=np.full((1, ROWS), -1.0))
    one = estimate_leaves(rows, LeafSteps())
    assert one[6] > 50.0  # where the minimum is at about 5
    beyond = problem("poisson", scores=-1.0 + np.append(one, 0.0)[LEAF][None])
    assert estimate_leaves(beyond, LeafSteps())[6] == pytest.approx(-1.0)  # a second step would change little
    assert estimate_leaves(rows, LeafSteps(iterations=2))[6] == 0.5 * one[6]
    assert estimate_leaves(rows, LeafSteps(iterations=3))[6] == 0.25 * one[6]


def test_exact_leaves_are_the_medians_and_bounds_hold() -> None:
    rows = problem("absolute", y=LABELS["squared"])
    found = estimate_leaves(rows, LeafSteps("exact"))
    for leaf in (0, 1, 2, 6):
        assert found[leaf] == np.median((LABELS["squared"] - SCORE)[leaf == LEAF])
    assert found[3] == 0.0
    for method in ("exact", "newton"):
        bounded = estimate_leaves(
            rows, LeafSteps(method, 2), bound=lambda values: np.clip(values, -1.0, 1.0, out=values)
        )
        assert np.abs(bounded).max() == 1.0


X = rng.standard_normal((600, 4))
Y = X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.standard_normal(600)
SMALL: dict[str, Any] = {"n_estimators": 5, "n_jobs": 1}


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
@pytest.mark.parametrize(
    "loss",
    ["log_cosh", "normal", "cross_entropy", "huber", "poisson", "tweedie", "absolute", "quantile", "squared"],
)
def test_every_loss_of_regression_takes_several_steps(loss: str, growth: str) -> None:
    y = {"poisson": np.exp(0.3 * Y), "tweedie": np.exp(0.3 * Y), "cross_entropy": 1.0 / (1.0 + np.exp(-Y))}
    leaves = None if growth == "oblivious" else 8
    for method in ("newton", "gradient"):
        model = BoostedTreesRegressor(
            Quantile([0.2, 0.8]) if loss == "quantile" else loss,
            growth=growth,
            max_leaves=leaves,
            leaves=Leaves(method=method, iterations=3),
            **SMALL,
        ).fit(X, y.get(loss, Y), eval_set=[(X, y.get(loss, Y))])
        (curve,) = model.history_["valid_0"].values()
        assert curve[-1] < curve[0]


@pytest.mark.parametrize("loss", ["logistic", "softmax", "one_vs_rest", "exponential"])
def test_every_loss_of_classes_takes_several_steps(loss: str) -> None:
    classes = np.digitize(Y, [0.5, 1.2]) if loss in ("softmax", "one_vs_rest") else Y > 0.8
    losses = []
    for iterations in (1, 5):
        model = BoostedTreesClassifier(
            loss, growth="oblivious", leaves=Leaves(iterations=iterations), **SMALL
        )
        model.fit(X, classes, eval_set=[(X, classes)])
        losses.append(model.history_["valid_0"]["logloss"][-1])
    assert losses[1] <= losses[0]


def test_the_trees_of_a_round_do_not_see_each_others_scores() -> None:
    # Softmax is the same whatever its classes are called, so long as no output's steps see another's.
    classes = np.digitize(Y, [0.5, 1.2])
    settings: dict[str, Any] = {"n_estimators": 3, "n_jobs": 1}
    settings |= {"leaves": Leaves(iterations=4), "split_finder": Histogram(precision="wide")}
    one = BoostedTreesClassifier("softmax", **settings).fit(X, classes).predict_proba(X)
    other = BoostedTreesClassifier("softmax", **settings).fit(X, 2 - classes).predict_proba(X)
    assert np.allclose(one, other[:, ::-1], atol=1e-6)


def test_leaves_come_from_all_rows_when_the_tree_has_seen_a_sample() -> None:
    common: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0, "reg_lambda": 0.0, "n_jobs": 1}
    for sampling in ({"subsample": 0.5, "leaves": "newton"}, {"sampling": "bayesian"}):
        model = BoostedTreesRegressor(**common, **sampling).fit(X, Y)
        leaf = model.apply(X)[:, 0]
        assert len(np.unique(leaf)) > 5
        for number in np.unique(leaf):
            assert model.predict(X)[leaf == number][0] == pytest.approx(Y[leaf == number].mean(), rel=1e-5)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"leaves": "exact"}, "loss='squared' has none; use 'newton'"),
        (
            {"loss": "absolute", "leaves": Leaves(iterations=3)},
            r"leaves\.iterations=3 has no meaning for loss='absolute'",
        ),
        (
            {"loss": "quantile", "leaves": Leaves(method="exact", iterations=2)},
            r"leaves\.iterations=2 has no meaning with method='exact'",
        ),
        (
            {"leaves": Leaves(method="gradient", path_smooth=1.0)},
            r"leaves\.path_smooth=1\.0 averages .* method='gradient' does not take; leave path_smooth at 0",
        ),
        ({"leaves": Leaves(iterations=2, path_smooth=1.0)}, "leave path_smooth at 0"),
        (
            {"sampling": "bayesian", "leaves": Leaves(path_smooth=1.0)},
            r"which sampling=Bayesian\(\) does not take",
        ),
        (
            {"booster": "linear", "leaves": Leaves(iterations=2)},
            r"leaves=Leaves\(iterations=2\) belongs to trees",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NotSupportedError, match=sentence):
        BoostedTreesRegressor(**SMALL, **settings).fit(X, Y)


def test_monotone_bounds_hold_after_several_steps() -> None:
    model = BoostedTreesRegressor(monotone_constraints={0: 1}, leaves=Leaves(iterations=5), **SMALL).fit(X, Y)
    line = np.zeros((200, 4))
    line[:, 0] = np.linspace(-3.0, 3.0, 200)
    assert (np.diff(model.predict(line)) >= 0.0).all()


def test_a_first_class_without_a_split_leaves_the_others_their_scores() -> None:
    x = np.repeat([0.0, 1.0], 300)
    codes = np.where(np.arange(600) % 2 == 0, 1, 2 * x).astype(int)  # class 1 has half of both sides
    codes = np.choose(codes, [1, 0, 2])  # and is the first
    settings: dict[str, Any] = {"n_estimators": 20, "n_jobs": 1, "leaves": Leaves(iterations=3)}
    first = BoostedTreesClassifier(**settings).fit(x[:, None], codes).predict_proba(x[:, None])
    last = BoostedTreesClassifier(**settings).fit(x[:, None], 2 - codes).predict_proba(x[:, None])
    np.testing.assert_allclose(first, last[:, ::-1], atol=1e-3)
    np.testing.assert_allclose(first[[0, -1]], [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]], atol=0.02)
