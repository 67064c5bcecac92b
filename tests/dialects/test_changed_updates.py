"""What changes between two updates counts: weights of classes, metrics, the objective; and a failed update leaves no trace."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weald.lightgbm as lgb
import weald.xgboost as xgb
from weald.runtime.errors import InputError

RNG = np.random.default_rng(5)
X = RNG.standard_normal((300, 3))
Y = (X[:, 0] + RNG.standard_normal(300) > 0).astype(float)
WEIGHT = RNG.integers(0, 3, 300).astype(float)
LOGISTIC = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
BINARY = {"objective": "binary", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}


def logistic(scores: Any, data: Any) -> Any:
    chance = 1.0 / (1.0 + np.exp(-scores))
    return chance - data.get_label(), chance * (1.0 - chance)


def same_as_a_copy(booster: Any, change: Any, step: Any, predict: Any) -> None:
    """A round of an open run is that of a copy, which has to open another."""
    change(booster)
    other = booster.copy() if hasattr(booster, "copy") else booster.__copy__()
    step(booster)
    step(other)
    assert predict(booster).tobytes() == predict(other).tobytes()


@pytest.mark.parametrize("objective", [None, logistic])
def test_xgboost_follows_another_weight_of_the_positive_class(objective: Any) -> None:
    data = xgb.DMatrix(X, label=Y, weight=WEIGHT)
    booster = xgb.Booster(LOGISTIC)
    booster.update(data, 0, fobj=objective)
    unchanged = booster.copy()
    unchanged.update(data, 1)
    same_as_a_copy(
        booster,
        lambda one: one.set_param({"scale_pos_weight": 20}),
        lambda one: one.update(data, 1),
        lambda one: one.predict(data, output_margin=True),
    )
    means = [one.predict(data, output_margin=True).mean() for one in (unchanged, booster)]
    assert means[0] < means[1]


def test_lightgbm_follows_another_weight_of_the_positive_class() -> None:
    data = lgb.Dataset(X, Y)
    booster = lgb.Booster(BINARY, data)
    booster.update()
    unchanged = booster.__copy__()
    unchanged.update()
    same_as_a_copy(
        booster,
        lambda one: one.reset_parameter({"scale_pos_weight": 20.0}),
        lambda one: one.update(),
        lambda one: one.predict(X, raw_score=True),
    )
    means = [one.predict(X, raw_score=True).mean() for one in (unchanged, booster)]
    assert means[0] < means[1]


@pytest.mark.parametrize("module", [xgb, lgb])
def test_a_function_after_an_objective_by_name_sees_rows_without_weight(module: Any) -> None:
    seen = []

    def objective(scores: Any, data: Any) -> Any:
        seen.append(len(scores))
        return logistic(scores, data)

    if module is xgb:
        data = xgb.DMatrix(X, label=Y, weight=WEIGHT)
        booster = xgb.Booster(LOGISTIC)
        booster.update(data, 0)
        booster.update(data, 1, fobj=objective)
    else:
        booster = lgb.Booster(BINARY, lgb.Dataset(X, Y, weight=WEIGHT))
        booster.update()
        booster.update(fobj=objective)
    assert seen == [len(Y)]


def test_metrics_that_a_callback_sets_are_evaluated_from_then_on() -> None:
    class Other(xgb.callback.TrainingCallback):
        def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            if epoch == 2:
                model.set_param({"eval_metric": "error"})
            return False

    found: dict[str, Any] = {}
    data = xgb.DMatrix(X, label=Y)
    xgb.train(
        LOGISTIC,
        data,
        5,
        evals=[(data, "train")],
        evals_result=found,
        callbacks=[Other()],
        verbose_eval=False,
    )
    assert {name: len(values) for name, values in found["train"].items()} == {"logloss": 2, "error": 3}


def test_labels_are_checked_against_another_objective() -> None:
    data = xgb.DMatrix(X, label=X[:, 0])
    booster = xgb.Booster({"nthread": 1})
    booster.update(data, 0)
    booster.set_param({"objective": "reg:gamma"})
    with pytest.raises(InputError, match="must be above 0"):
        booster.update(data, 1)


def test_an_update_that_failed_does_not_stand_in_the_way_of_the_next() -> None:
    data = xgb.DMatrix(X, label=X[:, 0])
    booster = xgb.Booster({"objective": "reg:gamma", "nthread": 1})
    for _ in range(2):
        with pytest.raises(InputError, match="must be above 0"):
            booster.update(data, 0)
    booster.set_param({"objective": "reg:squarederror"})
    booster.update(data, 0)
    assert booster.num_boosted_rounds() == 1


def test_lightgbm_takes_constraints_as_arrays() -> None:
    booster = lgb.Booster({**BINARY, "monotone_constraints": np.array([1, 0, 0])}, lgb.Dataset(X, Y))
    booster.update()
    booster.reset_parameter({"monotone_constraints": np.array([0, 1, 0])})
    booster.update()
    assert booster.current_iteration() == 2


def test_a_parameter_that_cannot_be_set_leaves_the_booster_as_it_was() -> None:
    data = xgb.DMatrix(X, label=Y)
    booster = xgb.Booster(LOGISTIC)
    booster.update(data, 0)
    for name, value in (("num_class", 3), ("booster", "dart"), ("base_score", 0.9)):
        with pytest.raises(InputError, match=name):
            booster.set_param(name, value)
    booster.set_param("booster", "gbtree")
    booster.update(data, 1)
    assert booster.predict(data).shape == (300,) and booster.num_boosted_rounds() == 2


@pytest.mark.parametrize("module", [xgb, lgb])
def test_updates_from_several_threads_take_turns(module: Any) -> None:
    rows = np.repeat(X, 10, axis=0)
    labels = np.repeat(Y, 10)
    if module is xgb:
        data = xgb.DMatrix(rows, label=labels)
        booster = xgb.Booster(LOGISTIC)
        booster.update(data, 0)
        update = lambda: booster.update(data, 0)  # noqa: E731
        rounds = booster.num_boosted_rounds
    else:
        booster = lgb.Booster(BINARY, lgb.Dataset(rows, labels))
        booster.update()
        update, rounds = booster.update, booster.current_iteration
    threads = [threading.Thread(target=lambda: [update() for _ in range(15)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rounds() == 46
