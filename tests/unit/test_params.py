"""The table of parameters: its defaults, its sentences, and values from the command line."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import weald
from weald.params import GRADIENT_BOOSTING_PARAMETERS, PARAMETERS, Parameter, parameter_table, parse, validate
from weald.runtime.errors import InputError, NotSupportedError


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_default_passes_its_own_check(name: str) -> None:
    parameter = PARAMETERS[name]
    assert parameter.name == name
    assert parameter.help.endswith(".")
    parameter.check(parameter.default)


@pytest.mark.parametrize("estimator", [weald.BoostedTreesClassifier, weald.BoostedTreesRegressor])
def test_estimators_have_the_tables_names_and_defaults(estimator: type) -> None:
    for name, argument in inspect.signature(estimator).parameters.items():
        assert name in PARAMETERS
        assert argument.default == PARAMETERS[name].default


def test_gradient_boosting_has_its_tables_names_and_defaults() -> None:
    known: set[str] = set()
    for estimator in (weald.GradientBoostingClassifier, weald.GradientBoostingRegressor):
        for name, argument in inspect.signature(estimator).parameters.items():
            known.add(name)
            if name != "loss":
                assert argument.default == GRADIENT_BOOSTING_PARAMETERS[name].default
                GRADIENT_BOOSTING_PARAMETERS[name].check(argument.default)
    assert known == set(GRADIENT_BOOSTING_PARAMETERS)


def test_every_parameter_belongs_to_an_estimator() -> None:
    known: set[str] = set()
    for estimator in (weald.BoostedTreesClassifier, weald.BoostedTreesRegressor):
        known |= set(inspect.signature(estimator).parameters)
    assert known == set(PARAMETERS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("n_estimators", 2.0),
        ("n_estimators", True),
        ("n_estimators", "10"),
        ("learning_rate", 0),
        ("learning_rate", -0.1),
        ("learning_rate", math.nan),
        ("learning_rate", math.inf),
        ("subsample", 0.0),
        ("subsample", 1.1),
        ("max_bins", 65_536),
        ("max_bins", 1),
        ("max_leaves", 1),
        ("reg_lambda", -1),
        ("reg_alpha", None),
        ("growth", "level"),
        ("growth", None),
        ("precision", 3),
        ("warm_start", 1),
        ("verbose", 2),
    ],
)
def test_a_wrong_value_is_named_with_its_parameter(name: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        validate({name: value}, PARAMETERS)
    assert str(caught.value).startswith(f"{name} must be ")
    assert str(caught.value).endswith(f", not {value!r}.")


def test_numbers_of_numpy_are_numbers() -> None:
    validate(
        {"n_estimators": np.int64(5), "learning_rate": np.float32(0.5), "max_depth": np.int8(3)}, PARAMETERS
    )


def test_bounds_belong_to_the_range_where_they_are_not_open() -> None:
    validate({"subsample": 1.0, "max_bins": 255, "max_leaves": 2, "gamma": 0, "max_depth": None}, PARAMETERS)


@pytest.mark.parametrize("name", [name for name, known in PARAMETERS.items() if known.refused])
def test_a_refused_choice_says_what_to_use(name: str) -> None:
    for value, instead in PARAMETERS[name].refused:
        with pytest.raises(NotSupportedError) as caught:
            validate({name: value}, PARAMETERS)
        assert str(caught.value) == f"{name}={value!r} is not supported yet; use {instead}."
        assert any(repr(choice) in instead for choice in PARAMETERS[name].choices)


def test_a_parameter_to_come_takes_only_none() -> None:
    later = Parameter("later", "none", None, "Not supported yet.")
    later.check(None)
    with pytest.raises(NotSupportedError, match="later is not supported yet"):
        later.check([1, 0])


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({}, "a number"),
        ({"kind": "int"}, "a whole number"),
        ({"low": 0}, "a number of at least 0"),
        ({"low": 0, "open_low": True}, "a number above 0"),
        ({"high": 1}, "a number of at most 1"),
        ({"low": 2, "high": 255, "kind": "int"}, "a whole number of at least 2 and at most 255"),
        ({"low": 0, "high": 1, "open_low": True}, "a number above 0 and at most 1"),
        ({"low": 1, "optional": True}, "a number of at least 1 or None"),
    ],
)
def test_a_range_is_told_in_words(bounds: dict[str, Any], expected: str) -> None:
    values: dict[str, Any] = {"kind": "float", **bounds}
    assert Parameter(name="share", default=1, help="", **values).range_text == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("max_leaves", "63", 63),
        ("max_leaves", "None", None),
        ("max_leaves", "null", None),
        ("learning_rate", "0.05", 0.05),
        ("learning_rate", "1", 1.0),
        ("growth", "oblivious", "oblivious"),
        ("warm_start", "true", True),
        ("warm_start", "0", False),
        ("loss", "squared", "squared"),
        ("class_weight", "balanced", "balanced"),
        ("class_weight", '{"yes": 2.5}', {"yes": 2.5}),
        ("n_jobs", "2", 2),
        ("categorical_features", '["island", 3]', ["island", 3]),
    ],
)
def test_text_of_the_command_line_is_read_as_its_type(name: str, text: str, expected: Any) -> None:
    found = parse(name, text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_leaves", "1"),
        ("max_leaves", "3.5"),
        ("max_leaves", "many"),
        ("n_estimators", "none"),
        ("learning_rate", "nan"),
        ("subsample", "0"),
        ("growth", "Oblivious"),
        ("warm_start", "maybe"),
    ],
)
def test_wrong_text_is_refused_with_the_parameters_name(name: str, text: str) -> None:
    with pytest.raises(InputError, match=f"^{name} must be "):
        parse(name, text)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        parse("max_leafs", "3")
    assert str(caught.value) == "there is no parameter 'max_leafs'; did you mean 'max_leaves'?"


def test_a_name_like_no_other_lists_the_known() -> None:
    with pytest.raises(InputError, match="there is no parameter 'zzzzzz'; known are loss, "):
        parse("zzzzzz", "3")


def test_the_page_has_a_row_for_every_parameter() -> None:
    rows = [line for line in parameter_table().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [*PARAMETERS, *GRADIENT_BOOSTING_PARAMETERS]
