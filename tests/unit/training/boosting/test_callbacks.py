"""Callbacks by themselves: the best round, and the sentences for what cannot be watched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import weald
from weald.losses import make_loss
from weald.losses.metrics import METRICS
from weald.runtime.errors import InputError
from weald.training.boosting.callbacks import (
    Checkpoint,
    EarlyStopping,
    TimeBudget,
    best_round,
    watched_values,
)
from weald.training.boosting.plan import Plan, TreePlan
from weald.training.boosting.rounds import Evaluation, Round
from weald.training.boosting.session import Session
from weald.tree.rules import TreeRules

NAN = math.nan


def finished(curves: dict[str, dict[str, list[float]]], number: int = 0) -> Round:
    """A round after which the evaluation sets have these metrics."""
    evaluations = []
    for name, history in curves.items():
        metrics = [METRICS[metric] for metric in history]
        nothing: Any = None
        rows = np.zeros(2)
        evaluations.append(Evaluation(name, nothing, rows, None, metrics, np.zeros((1, 2)), history))
    nobody: Any = None
    plan = Plan(make_loss("squared"), TreePlan(TreeRules()))
    return Round(Session(plan, nobody, evaluations), number)


def stops(values: list[float], metric: str = "rmse", **settings: Any) -> bool:
    state = finished({"valid": {metric: values}})
    EarlyStopping(**settings)(state)
    return state.stopped


@pytest.mark.parametrize(
    ("values", "smallest", "largest"),
    [
        ([0.5], 0, 0),
        ([0.5, 0.3, 0.3, 0.4], 1, 0),
        ([0.2, 0.2, 0.2], 0, 0),
        ([0.1, 0.9, 0.9, 0.1], 0, 1),
        ([NAN, 0.5, 0.4, 0.6], 2, 3),
        ([NAN, NAN, 0.5], 2, 2),
        ([0.5, NAN, 0.4, NAN], 2, 0),
        ([NAN, NAN], 0, 0),
        ([math.inf, 1.0, -math.inf], 2, 0),
        ([NAN, math.inf, -math.inf], 2, 1),
    ],
)
def test_the_best_round_is_the_first_of_the_best_and_never_nan(
    values: list[float], smallest: int, largest: int
) -> None:
    assert best_round(values, greater_is_better=False) == smallest
    assert best_round(values, greater_is_better=True) == largest


@pytest.mark.parametrize("rounds", [0, -3])
def test_early_stopping_refuses_fewer_than_one_round(rounds: int) -> None:
    with pytest.raises(InputError, match=f"rounds must be a whole number of at least 1, not {rounds}"):
        EarlyStopping(rounds)


def test_early_stopping_refuses_a_negative_improvement() -> None:
    with pytest.raises(InputError, match=r"min_delta must be a number of at least 0, not -0\.1"):
        EarlyStopping(5, min_delta=-0.1)


@pytest.mark.parametrize("seconds", [0, -1.0, NAN])
def test_a_budget_refuses_no_time(seconds: float) -> None:
    with pytest.raises(InputError, match="seconds must be a number above 0"):
        TimeBudget(seconds)


def test_a_checkpoint_refuses_to_be_written_every_zeroth_round() -> None:
    with pytest.raises(InputError, match="every must be a whole number of at least 1, not 0"):
        Checkpoint("model.weald", every=0)


def test_a_checkpoint_outside_fit_says_where_it_belongs() -> None:
    with pytest.raises(InputError, match="only as one of fit's callbacks"):
        Checkpoint("model.weald")(finished({}))


def test_early_stopping_stops_after_exactly_its_rounds() -> None:
    values = [0.9, 0.8, 0.85, 0.8, 0.81]
    assert [stops(values[:length], rounds=3) for length in range(1, 6)] == [False] * 4 + [True]


def test_early_stopping_follows_larger_values_where_they_are_better() -> None:
    assert not stops([0.5, 0.6, 0.7], metric="auc", rounds=2)
    assert stops([0.7, 0.6, 0.5], metric="auc", rounds=2)


def test_an_improvement_must_be_larger_than_min_delta() -> None:
    values = [1.0, 0.95, 0.89, 0.84]
    assert not stops(values, rounds=2)
    assert stops(values, rounds=3, min_delta=0.2)
    assert not stops(values, rounds=2, min_delta=0.1)


def test_early_stopping_takes_nan_for_no_improvement() -> None:
    assert stops([0.5, NAN, NAN], rounds=2)
    assert stops([NAN, NAN], rounds=2)
    assert not stops([NAN, 0.5, NAN], rounds=2)


def test_without_an_evaluation_set_nothing_can_be_watched() -> None:
    with pytest.raises(InputError, match="early stopping needs an eval_set"):
        watched_values(finished({}), None, None)


def test_the_first_set_and_the_first_metric_are_watched_unless_told() -> None:
    curves = {
        "near": {"rmse": [1.0], "r2": [2.0]},
        "far": {"rmse": [3.0], "r2": [4.0]},
    }
    state = finished(curves)
    assert watched_values(state, None, None) == ([1.0], False)
    assert watched_values(state, "r2", None) == ([2.0], True)
    assert watched_values(state, None, "far") == ([3.0], False)
    assert watched_values(state, "r2", "far") == ([4.0], True)


def test_an_unknown_set_is_named_with_those_that_are_there() -> None:
    state = finished({"near": {"rmse": [1.0]}, "far": {"rmse": [1.0]}})
    with pytest.raises(InputError) as caught:
        watched_values(state, None, "test")
    assert str(caught.value) == "on='test' is not an evaluation set; there are 'near', 'far'."


def test_an_unknown_metric_is_named_with_those_that_are_evaluated() -> None:
    state = finished({"valid": {"rmse": [1.0], "mae": [1.0]}})
    with pytest.raises(InputError) as caught:
        watched_values(state, "auc", None)
    assert str(caught.value) == "metric='auc' is not evaluated; eval_metric has 'rmse', 'mae'."


def test_the_first_reason_to_stop_is_kept() -> None:
    state = finished({})
    assert not state.stopped
    state.stop("first")
    state.stop("second")
    assert (state.stopped, state.reason) == (True, "first")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EarlyStopping("5"), "rounds must be a whole number of at least 1, not '5'"),
        (lambda: EarlyStopping(2.5), "rounds must be a whole number of at least 1, not 2.5"),
        (lambda: EarlyStopping(5, min_delta="a"), "min_delta must be a number of at least 0, not 'a'"),
        (lambda: EarlyStopping(5, metric=3), "metric must be a name or None, not 3"),
        (lambda: EarlyStopping(5, on=0), "on must be a name or None, not 0"),
        (lambda: weald.OverfittingDetector("a"), "pvalue must be between 0 and 1, not 'a'"),
        (lambda: weald.OverfittingDetector(0.1, wait=None), "wait must be a whole number of at least 1, not None"),
        (lambda: TimeBudget("10"), "seconds must be a number above 0, not '10'"),
        (lambda: Checkpoint(3), "path must be the name of a file, not 3"),
        (lambda: Checkpoint("m", every="a"), "every must be a whole number of at least 1, not 'a'"),
        (lambda: weald.LearningRateScheduler(0.1), "rates must be a function .* or a list of rates, not 0.1"),
    ],
)
def test_arguments_of_wrong_types_get_one_sentence(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        (TimeBudget(1.0), "callbacks must be a list of functions of a round, not TimeBudget"),
        (5, "callbacks must be a list of functions of a round, not 5"),
        ("stop", "callbacks must be a list of functions of a round, not 'stop'"),
        ([None], "callbacks must be functions of a round, but one is None"),
        ([EarlyStopping], r"one is the class EarlyStopping; give an object, EarlyStopping\(\.\.\.\)"),
    ],
)
def test_what_is_no_list_of_callbacks_is_refused_before_training(callbacks: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        weald.BoostedTreesRegressor().fit(np.zeros((2, 1)), [0.0, 1.0], callbacks=callbacks)
