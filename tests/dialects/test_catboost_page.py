"""The table of CatBoost's parameters knows every parameter of CatBoost under all its names."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import weald.catboost as cb
from weald.dialects.catboost.fitting import prepared
from weald.params.catboost import CATBOOST_PARAMETERS

LONG: tuple[dict[str, Any], ...] = (
    {},
    {"iterations": 200, "depth": 1},
    {"iterations": 200, "depth": 1, "leaf_estimation_method": "Gradient"},
)
QUIET = {"iterations": 2, "verbose": False, "allow_writing_files": False, "thread_count": 1}


def test_every_parameter_of_catboost_is_in_the_table() -> None:
    theirs = pytest.importorskip("catboost", minversion="1.2")
    for kind in (theirs.CatBoostClassifier, theirs.CatBoostRegressor):
        for name in inspect.signature(kind).parameters:
            assert CATBOOST_PARAMETERS.own_name(name) in CATBOOST_PARAMETERS, name
    X = np.arange(60.0).reshape(-1, 2)
    for settings in ({}, {"boosting_type": "Ordered"}, {"loss_function": "Logloss"}):
        used = theirs.CatBoost({**QUIET, **settings}).fit(X, X[:, 0] > 30).get_all_params()
        assert set(used) <= set(CATBOOST_PARAMETERS)


def test_defaults_are_catboosts() -> None:
    theirs = pytest.importorskip("catboost", minversion="1.2")
    rng = np.random.default_rng(0)
    X = rng.random((120, 3))
    y = X[:, 0] + rng.random(120)
    labels = {
        "Logloss": y > 1,
        "CrossEntropy": y / 2,
        "MultiClass": np.digitize(y, [0.7, 1.3]),
        "MultiClassOneVsAll": np.digitize(y, [0.7, 1.3]),
        "Poisson": np.round(3 * y),
        "Tweedie:variance_power=1.5": y,
    }
    losses = (
        "RMSE",
        "MAE",
        "MAPE",
        "Quantile:alpha=0.3",
        "MultiQuantile:alpha=0.2,0.8",
        "Huber:delta=1",
        "LogCosh",
    )
    for loss in (*losses, "RMSEWithUncertainty", *labels):
        for more in LONG if loss in ("Logloss", "Poisson", "MultiClass") else LONG[:1]:
            params = {**QUIET, "loss_function": loss, **more}
            want = theirs.CatBoost(params).fit(X, labels.get(loss, y)).get_all_params()
            got = prepared("CatBoost", ("RMSE", None), params, (X, labels.get(loss, y), {}), None)[0].full
            for name, value in want.items():
                entry = CATBOOST_PARAMETERS[name]
                if entry.standing == "refused" or name in (
                    "class_names",
                    "classes_count",
                    "auto_class_weights",
                    "score_function",  # these two are our own choice
                    "leaf_estimation_iterations",
                ):
                    continue
                if isinstance(value, float):
                    assert got[name] == pytest.approx(value, rel=1e-4), (loss, more, name)
                elif name != "eval_metric":
                    assert got[name] == value, (loss, more, name)


def test_splits_and_leaves_are_newtons_by_default() -> None:
    X = np.random.default_rng(0).random((120, 3))
    full = prepared("CatBoostClassifier", ("Logloss", None), QUIET, (X, X[:, 0] > 0.5, {}), None)[0].full
    assert (full["score_function"], full["leaf_estimation_iterations"]) == ("NewtonL2", 1)


@pytest.mark.parametrize("loss", ["Huber:delta=1", "MultiClass", "MultiClassOneVsAll"])
def test_splits_ask_hessians_that_most_rows_do_not_have(loss: str) -> None:
    X = np.random.default_rng(0).random((120, 3))
    y = X[:, 0] if loss.startswith("Huber") else np.digitize(X[:, 0], [0.3, 0.6])
    given = {**QUIET, "loss_function": loss}
    full = prepared("CatBoost", (None, None), given, (X, y, {}), None)[0].full
    assert full["score_function"] == "L2"
    constrained = {**given, "monotone_constraints": [1, 0, 0]}
    assert prepared("CatBoost", (None, None), constrained, (X, y, {}), None)[0].full["score_function"] == "NewtonL2"


def test_min_data_in_leaf_of_symmetric_trees_is_an_error_or_says_nothing() -> None:
    X = np.random.default_rng(0).random((120, 3))
    plain = cb.CatBoostRegressor(**QUIET).fit(X, X[:, 0]).predict(X)
    with pytest.warns(UserWarning, match="min_data_in_leaf=9 changes nothing with grow_policy='SymmetricTree'"):
        limited = cb.CatBoostRegressor(**QUIET, min_data_in_leaf=9).fit(X, X[:, 0])
    np.testing.assert_array_equal(limited.predict(X), plain)


def test_classes_and_functions_take_what_catboosts_take() -> None:
    theirs = pytest.importorskip("catboost", minversion="1.2")
    for name in ("train", "cv"):
        want, got = (inspect.signature(getattr(module, name)).parameters for module in (theirs, cb))
        assert list(want) == list(got), name
        for parameter in want.values():
            assert parameter.default == got[parameter.name].default, (name, parameter.name)
    assert {*inspect.signature(theirs.Pool).parameters} - {*inspect.signature(cb.Pool).parameters} == {
        "data_can_be_none"
    }
    for kind in ("CatBoost", "CatBoostClassifier", "CatBoostRegressor"):
        for method in dir(getattr(theirs, kind)):
            assert (
                method.startswith("_")
                or hasattr(getattr(cb, kind), method)
                or method == "get_sklearn_estimator_xfail_checks"
            )
        for method in (
            "fit",
            "predict",
            "staged_predict",
            "virtual_ensembles_predict",
            "get_feature_importance",
        ):
            want, got = (
                inspect.signature(getattr(getattr(module, kind), method)).parameters
                for module in (theirs, cb)
            )
            assert set(want) <= set(got), (kind, method)
    for kind in ("CatBoostClassifier", "CatBoostRegressor"):
        assert getattr(theirs, kind)().get_params() == getattr(cb, kind)().get_params()
