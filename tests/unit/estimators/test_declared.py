"""The parameters of classical and combined estimators: signature, checks and docstring come from one declaration."""

from __future__ import annotations

import inspect
from dataclasses import MISSING
from typing import Any

import pytest

import weald
from weald.params import declared

#: class -> its positional parameters, and defaults that differ from those of its family
FAMILIES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "DecisionTreeClassifier": ([], {"criterion": "gini", "max_features": None}),
    "DecisionTreeRegressor": ([], {"criterion": "squared_error", "max_features": None}),
    "RandomForestClassifier": (
        ["n_estimators"],
        {"criterion": "gini", "max_features": "sqrt", "bootstrap": True},
    ),
    "RandomForestRegressor": (
        ["n_estimators"],
        {"criterion": "squared_error", "max_features": 1.0, "bootstrap": True},
    ),
    "ExtraTreesClassifier": (
        ["n_estimators"],
        {"criterion": "gini", "max_features": "sqrt", "bootstrap": False},
    ),
    "ExtraTreesRegressor": (
        ["n_estimators"],
        {"criterion": "squared_error", "max_features": 1.0, "bootstrap": False},
    ),
    "BaggingClassifier": (["estimator", "n_estimators"], {"n_estimators": 10}),
    "BaggingRegressor": (["estimator", "n_estimators"], {"n_estimators": 10}),
    "AdaBoostClassifier": (["estimator"], {"n_estimators": 50, "reweight": "weights"}),
    "AdaBoostRegressor": (["estimator"], {"n_estimators": 50, "reweight": "resample"}),
    "GradientBoostingClassifier": ([], {"loss": "log_loss"}),
    "GradientBoostingRegressor": ([], {"loss": "squared_error"}),
    "VotingClassifier": (["estimators"], {"verbose": False}),
    "VotingRegressor": (["estimators"], {"verbose": False}),
    "StackingClassifier": (["estimators", "final_estimator"], {"refit": True}),
    "StackingRegressor": (["estimators", "final_estimator"], {"refit": True}),
    "BlendingClassifier": (["estimators", "final_estimator"], {"refit": False}),
    "BlendingRegressor": (["estimators", "final_estimator"], {"refit": False}),
    "TargetStatisticsEncoder": (["kind"], {"kind": "ordered"}),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_signature_is_the_declaration(name: str) -> None:
    positional, defaults = FAMILIES[name]
    arguments = inspect.signature(getattr(weald, name)).parameters
    kinds = {key: argument.kind for key, argument in arguments.items()}
    assert [key for key, kind in kinds.items() if kind is not inspect.Parameter.KEYWORD_ONLY] == positional
    assert list(arguments) == list(declared(getattr(weald, name)))
    assert {key: arguments[key].default for key in defaults} == defaults
    for key, parameter in declared(getattr(weald, name)).items():
        default = arguments[key].default
        if parameter.default is MISSING:
            assert key == "estimators" and default is inspect.Parameter.empty
        else:
            assert default == parameter.default
            parameter.check(default)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_docstring_lists_every_parameter(name: str) -> None:
    text = inspect.getdoc(getattr(weald, name)) or ""
    assert text.count("Parameters\n----------\n") == 1
    listed = text.split("Parameters\n----------\n")[1].split("\n\n")[0].splitlines()
    for line, (key, parameter) in zip(listed[::2], declared(getattr(weald, name)).items(), strict=True):
        assert line.startswith(f"{key} : ")
        assert line.endswith(f", default {parameter.default!r}") or parameter.default is MISSING
