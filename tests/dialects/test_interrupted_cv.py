"""Cross-validation that is interrupted in a fold is over: the interrupt arrives, and nothing goes on in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weald.catboost as cb
import weald.lightgbm as lgb
import weald.xgboost as xgb

RNG = np.random.default_rng(2)
X = RNG.standard_normal((90, 3))
Y = X[:, 0] + 0.1 * RNG.standard_normal(90)
ROUNDS, FOLDS = 50, 3
# In the second fold of the third round.
PLACE = 2 * FOLDS + 1


class Interrupting:
    """Counts its calls, and raises in one of them."""

    def __init__(self, error: type[BaseException], at: int = PLACE) -> None:
        self.calls = 0
        self._error = error
        self._at = at

    def __call__(self) -> None:
        self.calls += 1
        if self.calls > self._at:
            raise self._error("enough")


def xgb_metric(count: Interrupting) -> Any:
    def metric(scores: Any, data: Any) -> Any:
        if len(scores) < 45:  # of the rows left out, once a fold and round
            count()
        return "own", 0.0

    return xgb.cv({"nthread": 1}, xgb.DMatrix(X, Y), ROUNDS, nfold=FOLDS, custom_metric=metric)


def xgb_objective(count: Interrupting) -> Any:
    def objective(scores: Any, data: Any) -> Any:
        count()
        return scores - data.get_label(), np.ones_like(scores)

    return xgb.cv({"nthread": 1}, xgb.DMatrix(X, Y), ROUNDS, nfold=FOLDS, obj=objective)


def xgb_callback(count: Interrupting) -> Any:
    class Callback(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            for _ in range(FOLDS):
                count()
            return False

    return xgb.cv({"nthread": 1}, xgb.DMatrix(X, Y), ROUNDS, nfold=FOLDS, callbacks=[Callback()])


def lgb_cv(**given: Any) -> Any:
    params = {"verbosity": -1, "num_threads": 1, "metric": "l2"}
    params["objective"] = given.pop("objective", "regression")
    return lgb.cv(params, lgb.Dataset(X, Y), ROUNDS, nfold=FOLDS, stratified=False, **given)


def lgb_metric(count: Interrupting) -> Any:
    def metric(scores: Any, data: Any) -> Any:
        count()
        return "own", 0.0, False

    return lgb_cv(feval=metric)


def lgb_objective(count: Interrupting) -> Any:
    def objective(scores: Any, data: Any) -> Any:
        count()
        return scores - data.get_label(), np.ones_like(scores)

    return lgb_cv(objective=objective)


def lgb_callback(count: Interrupting) -> Any:
    def callback(env: Any) -> None:
        for _ in range(FOLDS):
            count()

    return lgb_cv(callbacks=[callback])


class CatBoostMetric:
    """A metric that counts its calls for the rows left out."""

    def __init__(self, count: Interrupting) -> None:
        self._count = count

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> Any:
        if len(target) < 45:
            self._count()
        return 0.0, 1.0

    def is_max_optimal(self) -> bool:
        return False

    def get_final_error(self, error: float, weight: float) -> float:
        return error / weight


class CatBoostObjective:
    """Squared errors that count their calls."""

    def __init__(self, count: Interrupting) -> None:
        self._count = count

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> Any:
        self._count()
        return [(target - score, -1.0) for score, target in zip(approxes, targets, strict=True)]


def cb_cv(**more: Any) -> Any:
    params = {"loss_function": "RMSE", "iterations": ROUNDS, "verbose": False, "thread_count": 1, **more}
    return cb.cv(cb.Pool(X, Y), params, fold_count=FOLDS)


def cb_metric(count: Interrupting) -> Any:
    return cb_cv(eval_metric=CatBoostMetric(count))


def cb_objective(count: Interrupting) -> Any:
    return cb_cv(loss_function=CatBoostObjective(count), eval_metric="RMSE")


@pytest.fixture
def nothing_goes_on() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


CASES = [
    xgb_metric,
    xgb_objective,
    xgb_callback,
    lgb_metric,
    lgb_objective,
    lgb_callback,
    cb_metric,
    cb_objective,
]


@pytest.mark.usefixtures("nothing_goes_on")
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
@pytest.mark.parametrize("cross_validate", CASES)
def test_an_error_in_a_fold_ends_the_cross_validation(
    cross_validate: Callable[[Interrupting], Any], error: type[BaseException]
) -> None:
    count = Interrupting(error)
    with pytest.raises(error, match="enough"):
        cross_validate(count)
    assert count.calls == PLACE + 1


@pytest.mark.parametrize("cross_validate", CASES)
def test_without_an_interrupt_all_folds_are_trained(cross_validate: Callable[[Interrupting], Any]) -> None:
    count = Interrupting(KeyboardInterrupt, at=10**9)
    assert len(next(iter(dict(cross_validate(count)).values()))) == ROUNDS
    assert count.calls >= ROUNDS * FOLDS
