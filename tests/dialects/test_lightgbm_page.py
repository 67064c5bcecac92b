"""The table of LightGBM's parameters knows every parameter of LightGBM under all its names."""

from __future__ import annotations

import inspect

import pytest

import weald.lightgbm as lgb
from weald.params.lightgbm import LIGHTGBM_PARAMETERS


def test_every_parameter_of_lightgbm_is_in_the_table_with_its_other_names_in_order() -> None:
    basic = pytest.importorskip("lightgbm.basic")
    for name, names in basic._ConfigAliases._get_all_param_aliases().items():
        assert name in LIGHTGBM_PARAMETERS
        assert (name, *LIGHTGBM_PARAMETERS[name].aliases) == tuple(names)


def test_the_estimators_have_lightgbms_parameters_and_defaults() -> None:
    for name in inspect.signature(lgb.LGBMModel).parameters:
        assert name == "kwargs" or LIGHTGBM_PARAMETERS.own_name(name) in LIGHTGBM_PARAMETERS
    theirs = pytest.importorskip("lightgbm", minversion="4.0")
    for kind in ("LGBMModel", "LGBMClassifier", "LGBMRegressor"):
        assert getattr(theirs, kind)().get_params() == getattr(lgb, kind)().get_params()
        for method in ("fit", "predict"):
            want, got = (
                inspect.signature(getattr(getattr(module, kind), method)).parameters
                for module in (theirs, lgb)
            )
            assert set(want) <= set(got)


def test_train_and_cv_take_what_lightgbms_take() -> None:
    theirs = pytest.importorskip("lightgbm", minversion="4.0")
    for name in (
        "train",
        "cv",
        "Dataset",
        "early_stopping",
        "log_evaluation",
        "plot_importance",
        "plot_metric",
    ):
        want, got = (inspect.signature(getattr(module, name)).parameters for module in (theirs, lgb))
        assert list(want) == list(got), name
        for parameter in want.values():
            assert parameter.default == got[parameter.name].default, (name, parameter.name)
    for name in theirs.__all__:
        if "Rank" not in name and "Dask" not in name:
            assert hasattr(lgb, name), name
    for kind in ("Booster", "Dataset", "CVBooster"):
        for method in dir(getattr(theirs, kind)):
            assert method.startswith("_") or hasattr(getattr(lgb, kind), method), method
