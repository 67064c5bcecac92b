"""Choices and families: declarations, validation, equality, scikit-learn's rules, and names."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from sklearn.base import clone

from weald.params.choice import (
    Choice,
    Family,
    Part,
    anything,
    declared,
    documented,
    flag,
    number,
    one_of,
    part,
    whole,
)
from weald.params.choice_page import choice_table, family_page
from weald.params.stored import from_json, to_json
from weald.runtime.errors import InputError, ModelFileError, NotSupportedError


@documented
@dataclass(repr=False, eq=False)
class Still(Choice):
    """Nothing is done."""


@documented
@dataclass(repr=False, eq=False)
class Drop(Choice):
    """Something is dropped.

    Examples
    --------
    >>> 1 + 1
    2
    """

    rate: Annotated[float, number("Share that is dropped.", 0, 1)] = 0.1
    most: Annotated[int | None, whole("Most that is dropped.", 1, optional=True)] = None
    always: Annotated[bool, flag("Drop in every round.")] = False
    how: Annotated[str, one_of("Which are dropped.", "uniform", "weighted")] = "uniform"
    columns: Annotated[Any, anything("Which columns.")] = None

    def check_together(self, path: str) -> None:
        if self.always and self.rate == 0.0:
            raise InputError(f"{path}.always=True needs a {path}.rate above 0.")


WAYS: Family[Choice] = Family(
    "way",
    {"still": Still, "drop": Drop, "weighted": (Drop, {"how": "weighted"})},
    instead={"omit": "drop"},
)


@documented
@dataclass(repr=False, eq=False)
class Outer(Choice):
    """A choice that holds another."""

    way: Annotated[str | Choice, part("What is done.", WAYS)] = "still"
    size: Annotated[int, whole("How many.", 1)] = 3


OUTERS: Family[Outer] = Family("outer", {"auto": Outer}, of_number="size")


def test_a_field_is_its_declaration() -> None:
    parameters = declared(Drop)
    assert list(parameters) == ["rate", "most", "always", "how", "columns"]
    rate = parameters["rate"]
    assert (rate.name, rate.kind, rate.default, rate.help) == ("rate", "float", 0.1, "Share that is dropped.")
    assert parameters["most"].optional and parameters["how"].choices == ("uniform", "weighted")
    assert declared(Drop) is parameters
    assert isinstance(declared(Outer)["way"], Part)


def test_a_field_without_a_declaration_or_default_is_a_mistake() -> None:
    @dataclass(repr=False, eq=False)
    class Bare(Choice):
        rate: float = 0.1

    with pytest.raises(TypeError, match=r"Bare\.rate needs a declaration"):
        declared(Bare)


def test_signature_and_docstring_come_from_the_declarations() -> None:
    assert str(inspect.signature(Drop)).startswith(
        "(rate: float = 0.1, most: int | None = None, always: bool"
    )
    text = inspect.getdoc(Drop)
    assert text is not None
    assert text.index("Parameters\n----------") < text.index("Examples\n--------")
    assert "rate : a number of at least 0 and at most 1, default 0.1\n    Share that is dropped." in text
    assert "way : 'still', 'drop' or 'weighted', or an object, default 'still'" in (
        inspect.getdoc(Outer) or ""
    )
    assert "Parameters" not in (inspect.getdoc(Still) or "")


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (Drop(rate=2), "Drop.rate must be a number of at least 0 and at most 1, not 2."),
        (Drop(most=0), "Drop.most must be a whole number of at least 1 or None, not 0."),
        (Drop(always=1), "Drop.always must be True or False, not 1."),  # type: ignore[arg-type]
        (Drop(how="all"), "Drop.how must be one of 'uniform', 'weighted', not 'all'."),
        (Drop(rate=0.0, always=True), "Drop.always=True needs a Drop.rate above 0."),
        (Outer(way=Drop(rate=-1)), "Outer.way.rate must be a number of at least 0 and at most 1, not -1."),
    ],
)
def test_validate_names_the_field(choice: Choice, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        choice.validate()
    assert str(error.value) == sentence


def test_values_are_equal_by_class_and_fields() -> None:
    assert Drop(rate=0.2) == Drop(rate=0.2) != Drop(rate=0.3)
    assert Drop() != Still()
    assert Outer(way=Drop(rate=0.2)) == Outer(way=Drop(rate=0.2))
    columns = {"a": np.arange(3), "b": [1, 2]}
    assert Drop(columns=columns) == Drop(columns=copy.deepcopy(columns))
    assert Drop(columns=columns) != Drop(columns={"a": np.arange(3), "b": [1, 3]})
    assert Drop(columns=np.arange(3)) != Drop(columns=[0, 1, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(Drop())


def test_repr_shows_what_was_changed() -> None:
    assert repr(Drop()) == "Drop()"
    assert repr(Outer(way=Drop(rate=0.2, how="weighted"))) == "Outer(way=Drop(rate=0.2, how='weighted'))"
    assert repr(Drop(columns=np.arange(2))) == "Drop(columns=array([0, 1]))"


@pytest.mark.parametrize(
    "copied", [clone, copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_copies_are_equal_and_others(copied: Any) -> None:
    original = Outer(way=Drop(rate=0.2))
    other = copied(original)
    assert other == original and other is not original
    assert vars(other).keys() == {"way", "size"}


def test_parameters_are_nested() -> None:
    outer = Outer(way=Drop())
    assert outer.get_params()["way__rate"] == 0.1
    outer.set_params(way__rate=0.5, size=4)
    assert outer == Outer(way=Drop(rate=0.5), size=4)
    with pytest.raises(ValueError, match="Drop has no parameter 'rat'; did you mean 'rate'"):
        outer.set_params(way__rat=0.5)


def test_init_does_not_look_at_values() -> None:
    value = object()
    assert Drop(rate=value).rate is value  # type: ignore[arg-type, comparison-overlap]


def test_a_family_resolves_names_and_objects() -> None:
    assert WAYS.resolve("drop") == Drop()
    assert WAYS.resolve("weighted") == Drop(how="weighted")
    assert WAYS.resolve("drop") is not WAYS.resolve("drop")
    given = Drop(rate=0.3)
    assert WAYS.resolve(given) is given
    assert WAYS.names == ("still", "drop", "weighted") and WAYS.classes == (Still, Drop)
    assert WAYS.names_of(Drop) == ["drop", "weighted"]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            3,
            "way must be 'still', 'drop' or 'weighted', or an object of Still or Drop, not 3.",
        ),
        (
            "dorp",
            "way must be 'still', 'drop' or 'weighted', or an object of Still or Drop, not 'dorp'; did you mean 'drop'?",
        ),
        (None, "way must be 'still', 'drop' or 'weighted', or an object of Still or Drop, not None."),
        (Outer(), "way must be 'still', 'drop' or 'weighted', or an object of Still or Drop, not Outer()."),
        (Drop, "way is the class Drop; pass an object, such as Drop(), or the name 'drop'."),
        (Drop(rate=2), "way.rate must be a number of at least 0 and at most 1, not 2."),
    ],
)
def test_a_family_refuses_in_one_sentence(value: Any, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        WAYS.resolve(value)
    assert str(error.value) == sentence


def test_a_family_knows_what_to_use_instead() -> None:
    with pytest.raises(NotSupportedError, match=r"^way='omit' is not supported; use way='drop'\.$"):
        WAYS.resolve("omit")


def test_a_number_stands_for_a_field() -> None:
    assert OUTERS.resolve(5) == OUTERS.resolve(np.int64(5)) == Outer(size=5)
    with pytest.raises(InputError, match=r"^outer must be a whole number of at least 1, not 0\.$"):
        OUTERS.resolve(0)
    with pytest.raises(
        InputError, match=r"^outer must be 'auto' or a whole number, or an object of Outer, not True"
    ):
        OUTERS.resolve(True)
    assert OUTERS.shortest(Outer(size=5)) == 5
    assert OUTERS.shortest(Outer()) == "auto"


def test_names_without_a_choice_and_functions_stay() -> None:
    family: Family[Any] = Family("way", {"drop": Drop}, names_only=("auto", "drop"), functions=True)
    assert family.names == ("auto", "drop")
    assert family.resolve("auto") == "auto" and family.resolve("drop") == Drop()
    assert family.resolve(len) is len
    with pytest.raises(InputError, match="'auto', 'drop' or a function, or an object of Drop, not <class"):
        family.resolve(Still)


def test_the_shortest_spelling_is_a_name() -> None:
    assert WAYS.shortest(Drop(how="weighted")) == "weighted"
    assert WAYS.shortest(Drop(rate=0.2)) == Drop(rate=0.2)


def _unchanged(value: Any) -> Any:
    return value


@pytest.mark.parametrize("value", [Still(), Drop(rate=0.2), Outer(way=Drop(how="weighted")), "drop", 3, None])
def test_json_and_back(value: Any) -> None:
    data = to_json(value, _unchanged)
    assert from_json(data, [WAYS, OUTERS], _unchanged) == value


def test_json_holds_all_fields() -> None:
    assert to_json(Outer(way=Still()), _unchanged) == {
        "choice": "Outer",
        "params": {"way": {"choice": "Still", "params": {}}, "size": 3},
    }


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"choice": "Drop"}, "must have a name and parameters"),
        ({"choice": 3, "params": {}}, "must have a name and parameters"),
        ({"choice": "Drop", "params": []}, "must have a name and parameters"),
        ({"choice": "Drop", "params": {}, "more": 1}, "must have a name and parameters"),
        ({"choice": "Outer", "params": {}}, "the choice 'Outer', which is not known"),
        ({"choice": "os.system", "params": {}}, "the choice 'os.system', which is not known"),
        ({"choice": "Drop", "params": {"rat": 1}}, "the parameter 'rat', which is not known"),
        ({"choice": "Drop", "params": {"rate": 2}}, r"not valid: Drop\.rate must be a number"),
        ({"choice": "Drop", "params": {"rate": {"choice": "Still", "params": {}}}}, r"Drop\.rate must be"),
    ],
)
def test_json_that_is_no_choice_is_refused(data: Any, sentence: str) -> None:
    with pytest.raises(ModelFileError, match=sentence):
        from_json(data, [WAYS], _unchanged)


def test_a_table_for_the_documentation() -> None:
    lines = choice_table(Outer).splitlines()
    assert lines[0] == "| parameter | default | values | meaning |"
    assert lines[2] == (
        "| `way` | `'still'` | `'still'`, `'drop'`, `'weighted'`, or an object of `Still`, `Drop` | What is done. |"
    )
    assert "| `how` | `'uniform'` | `'uniform'`, `'weighted'` | Which are dropped. |" in choice_table(Drop)
    assert choice_table(Still) == ""


def test_a_page_for_a_family() -> None:
    page = family_page(WAYS)
    assert page.startswith("## way\n\n### Still\n\n`'still'`: Nothing is done.\n\nIt has no parameters.\n")
    assert "### Drop\n\n`'drop'`, `'weighted'`: Something is dropped.\n\n| parameter |" in page
