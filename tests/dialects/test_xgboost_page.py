"""The table of XGBoost's parameters knows every parameter of XGBoost's own classes."""

from __future__ import annotations

import inspect

import pytest

import weald.xgboost as xgb
from weald.dialects.xgboost.refusals import NAMES
from weald.params.xgboost import XGBOOST_PARAMETERS


def test_the_estimators_have_the_tables_names() -> None:
    for name in inspect.signature(xgb.XGBModel).parameters:
        if name != "kwargs":
            assert XGBOOST_PARAMETERS.own_name(name) in XGBOOST_PARAMETERS


def test_the_estimators_have_xgboosts_parameters_and_defaults() -> None:
    theirs = pytest.importorskip("xgboost", minversion="3.0")
    for kind in ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor"):
        want, got = getattr(theirs, kind)().get_params(), getattr(xgb, kind)().get_params()
        assert {**want, "missing": None} == {**got, "missing": None}


def test_the_module_and_its_classes_have_xgboosts_names() -> None:
    theirs = pytest.importorskip("xgboost", minversion="3.0")
    for name in theirs.__all__:
        assert name in NAMES or hasattr(xgb, name), name
    for kind in ("Booster", "DMatrix", "QuantileDMatrix", "XGBClassifier", "XGBRegressor", "XGBRFRegressor"):
        for method in dir(getattr(theirs, kind)):
            fitted = method.endswith("_")  # known after fit only
            assert method.startswith("_") or fitted or hasattr(getattr(xgb, kind), method), (kind, method)
    for name in ("train", "cv", "DMatrix", "QuantileDMatrix", "Booster", "plot_importance"):
        want, got = (inspect.signature(getattr(module, name)).parameters for module in (theirs, xgb))
        assert list(want) == list(got), name


def test_a_name_that_is_not_there_is_no_attribute_and_no_import() -> None:
    for name in NAMES:
        with pytest.raises(AttributeError, match=f"weald.xgboost has no {name}: "):
            getattr(xgb, name)
        with pytest.raises(ImportError, match=name):
            exec(f"from weald.xgboost import {name}")
