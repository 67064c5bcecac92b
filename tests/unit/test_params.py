"""Declared parameters: their defaults, their sentences, and values from the command line."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import weald
from weald.pages import parameter_page
from weald.params import Parameter, validate
from weald.params.choice import Choice
from weald.params.declare import declared
from weald.params.settings import parse_setting
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.parameters import FAMILIES

PARAMETERS = declared(weald.BoostedTreesClassifier)
OBJECTS: list[type[Choice]] = [choice for family in FAMILIES.values() for choice in family.classes]
DECLARED = [(owner, name) for owner in (weald.BoostedTreesClassifier, *OBJECTS) for name in declared(owner)]


def parse(name: str, text: str) -> Any:
    """The value that a text is on the command line."""
    return parse_setting(weald.BoostedTreesClassifier, name, text, {})[name]


@pytest.mark.parametrize(("owner", "name"), DECLARED)
def test_a_default_passes_its_own_check(owner: type, name: str) -> None:
    parameter = declared(owner)[name]
    assert parameter.name == name
    assert parameter.help.endswith(".")
    parameter.check(parameter.default)


@pytest.mark.parametrize("choice", OBJECTS)
def test_a_choice_without_arguments_is_valid_and_documented(choice: type[Choice]) -> None:
    choice().validate()
    assert list(inspect.signature(choice).parameters) == list(declared(choice))
    text = inspect.getdoc(choice) or ""
    assert text.endswith(repr(choice())) or ">>> " in text
    for name, parameter in declared(choice).items():
        assert f"\n{name} : " in text and parameter.help in text


@pytest.mark.parametrize("estimator", [weald.BoostedTreesClassifier, weald.BoostedTreesRegressor])
def test_estimators_have_the_declared_names_and_defaults(estimator: type) -> None:
    arguments = inspect.signature(estimator).parameters
    assert {name: argument.default for name, argument in arguments.items()} == {
        name: parameter.default for name, parameter in declared(estimator).items()
    }
    assert next(iter(arguments)) == "loss"
    kinds = [argument.kind for argument in arguments.values()]
    assert kinds == [inspect.Parameter.POSITIONAL_OR_KEYWORD] + [inspect.Parameter.KEYWORD_ONLY] * (
        len(kinds) - 1
    )


def test_the_classifier_has_what_the_regressor_has_and_the_weights_of_classes() -> None:
    assert PARAMETERS.keys() - declared(weald.BoostedTreesRegressor).keys() == {
        "class_weight",
        "scale_pos_weight",
    }
    assert declared(weald.BoostedTreesRegressor).keys() <= PARAMETERS.keys()


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
        ("learning_rate", 10**400),
        ("min_samples_leaf", 10**400),
        ("subsample", 0.0),
        ("subsample", 1.1),
        ("bins", 65_536),
        ("bins", 1),
        ("max_leaves", 1),
        ("reg_lambda", -1),
        ("reg_alpha", None),
        ("growth", "level"),
        ("growth", None),
        ("warm_start", 1),
        ("verbose", -2),
    ],
)
def test_a_wrong_value_is_named_with_its_parameter(name: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        validate(weald.BoostedTreesClassifier(**{name: value}))
    assert str(caught.value).startswith(f"{name} must be ")
    assert str(caught.value).endswith(f", not {value!r}.")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bins__max_bins", 65_536),
        ("bins__use_missing", 0),
        ("split_finder__precision", 3),
        ("sampling__frequency", 0),
        ("leaves__iterations", 1.5),
        ("splits__noise", math.nan),
        ("booster__parallel_trees", True),
    ],
)
def test_a_wrong_field_is_named_with_its_path(field: str, value: Any) -> None:
    model = weald.BoostedTreesClassifier().set_params(**{field: value})
    with pytest.raises(InputError) as caught:
        model.resolved()
    assert str(caught.value).startswith(f"{field.replace('__', '.')} must be ")
    assert str(caught.value).endswith(f", not {value!r}.")


def test_numbers_of_numpy_are_numbers() -> None:
    validate(
        weald.BoostedTreesClassifier(
            n_estimators=np.int64(5),  # type: ignore[arg-type]
            learning_rate=np.float32(0.5),  # type: ignore[arg-type]
            max_depth=np.int8(3),  # type: ignore[arg-type]
        )
    )


def test_bounds_belong_to_the_range_where_they_are_not_open() -> None:
    validate(weald.BoostedTreesClassifier(subsample=1.0, bins=255, max_leaves=2, gamma=0, max_depth=None))


@pytest.mark.parametrize(
    ("name", "value", "instead"), [("booster", "forest", "averaging"), ("sampling", "bootstrap", "bayesian")]
)
def test_a_refused_choice_says_what_to_use(name: str, value: str, instead: str) -> None:
    with pytest.raises(NotSupportedError) as caught:
        validate(weald.BoostedTreesClassifier(**{name: value}))
    assert str(caught.value) == f"{name}={value!r} is not supported; use {name}={instead!r}."
    validate(weald.BoostedTreesClassifier(**{name: instead}))


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
        ("bins", "63", 63),
        ("bins", "auto", "auto"),
        ("booster", "dart", "dart"),
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
        ("bins", "1"),
        ("booster", "trees"),
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
    rows = [line for line in parameter_page().splitlines() if line.startswith("| `")]
    fields = [name for choice in OBJECTS for name in declared(choice)]
    friedman = declared(weald.GradientBoostingRegressor)
    assert [row.split("`")[1] for row in rows] == [*PARAMETERS, *fields, *friedman]
