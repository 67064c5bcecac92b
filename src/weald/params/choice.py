"""Choices: parameters that belong together, as one small object, and families of them that are chosen by name or by object.

A choice is a dataclass whose fields are declared by `number`, `whole`, `flag`, `one_of`, `anything` and `part`::

    @documented
    @dataclass(repr=False, eq=False)
    class Dart(BoosterChoice):
        rate_drop: Annotated[float, number("Share of the earlier trees that a round drops.", 0, 1)] = 0.1

    BOOSTERS: Family[BoosterChoice] = Family("booster", {"plain": Plain, "dart": Dart})

It is a scikit-learn parameter in every respect: ``clone``, nested ``get_params`` and ``set_params``, searches, pickle.
"""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

import numpy as np

from weald.params.declare import (
    anything,
    declared,
    documented,
    flag,
    listed_words,
    number,
    one_of,
    values_text,
    whole,
)
from weald.params.parameter import Parameter
from weald.params.settable import Settable
from weald.runtime.errors import InputError, NotSupportedError

__all__ = [
    "Choice",
    "Family",
    "Part",
    "anything",
    "declared",
    "documented",
    "flag",
    "number",
    "one_of",
    "part",
    "plain_values",
    "resolve_parameters",
    "same",
    "values_text",
    "whole",
]

AnyChoice = TypeVar("AnyChoice")


class Choice(Settable):
    """Base of all choices; a subclass is a ``@dataclass(repr=False, eq=False)`` of declared fields."""

    def validate(self, path: str | None = None) -> None:
        """Refuse, in one sentence that names the field, what a field may not be; ``path``: what the choice is a parameter as."""
        path = type(self).__name__ if path is None else path
        resolve_parameters(self, path)
        self.check_together(path)

    def check_together(self, path: str) -> None:
        """Refuse what two fields may not be together; each of them is valid by itself."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return same(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in declared(type(self)).items()
            if not same(getattr(self, name), parameter.default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


@dataclass(frozen=True)
class Part(Parameter):
    """A parameter that is a choice of a family, by name or as an object."""

    family: Family[Any] | None = None

    def check(self, value: Any) -> None:
        """Raise an InputError when ``value`` names no choice, or is one that is not valid."""
        self.resolve(value)

    def resolve(self, value: Any) -> Any:
        """The valid choice that a value stands for."""
        assert self.family is not None
        return self.family.resolve(value, self.name)

    def parse(self, text: str) -> Any:
        """The name, or number, that a text on the command line is."""
        assert self.family is not None
        value: Any = text
        if self.family.of_number is not None and text.lstrip("+-").isdigit():
            value = int(text)
        self.check(value)
        return value


def part(help: str, family: Family[Any]) -> Parameter:
    """A choice of a family, by name or as an object."""
    return Part("", "part", None, help, choices=tuple(family.names), family=family)


def resolve_parameters(owner: Any, path: str = "") -> dict[str, Any]:
    """The values of all declared fields, checked, with choices as objects; ``path``: what messages put before a field's name."""
    values = {}
    for name, parameter in declared(type(owner)).items():
        values[name] = value = getattr(owner, name)
        named = replace(parameter, name=f"{path}.{name}") if path else parameter
        if isinstance(named, Part):
            values[name] = named.resolve(value)
        else:
            named.check(value)
    return values


def plain_values(owner: Any, kind: type | None = None) -> dict[str, Any]:
    """The values of all declared fields, unchecked, NumPy's numbers and truth values as Python's own, choices as copies.

    ``kind``: the class whose fields are meant, that of ``owner`` when None.
    """
    values = {}
    for name, parameter in declared(type(owner) if kind is None else kind).items():
        values[name] = value = getattr(owner, name)
        if isinstance(value, Choice):
            values[name] = type(value)(**plain_values(value))
        elif parameter.kind in ("int", "float", "bool") and isinstance(value, np.generic):
            values[name] = value.item()
    return values


class Family(Generic[AnyChoice]):
    """Choices by their names: what one parameter of an estimator may be.

    name       the parameter
    choices    from names to classes, or to a class with the fields that the name stands for
    names_only names that no choice belongs to; they, and functions where these are allowed, stay as they are
    of_number  the field of the first class that a plain whole number is the value of
    of_rest    names that may have more behind a colon, which is the value of a field: "opencl:0,1"
    instead    names that are not known, and the one to use in their place
    """

    def __init__(
        self,
        name: str,
        choices: Mapping[str, type[AnyChoice] | tuple[type[AnyChoice], Mapping[str, Any]]],
        *,
        names_only: tuple[str, ...] = (),
        functions: bool = False,
        of_number: str | None = None,
        of_rest: Mapping[str, str] | None = None,
        instead: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._presets = {
            key: choice if isinstance(choice, tuple) else (choice, cast("Mapping[str, Any]", {}))
            for key, choice in choices.items()
        }
        self._names_only = names_only
        self._functions = functions
        self.of_number = of_number
        self._of_rest = dict(of_rest or {})
        self._instead = dict(instead or {})
        self.classes = tuple(dict.fromkeys(choice for choice, _ in self._presets.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """All names, those without a choice behind them first."""
        return tuple(dict.fromkeys((*self._names_only, *self._presets)))

    def resolve(self, value: Any, path: str | None = None) -> AnyChoice:
        """The valid choice that a name, number or object stands for; ``path``: what messages call the parameter."""
        path = self.name if path is None else path
        if isinstance(value, str) and value in self._presets:
            choice, preset = self._presets[value]
            return choice(**preset)
        if isinstance(value, str) and value in self._names_only:
            return cast("AnyChoice", value)
        if isinstance(value, str) and value.partition(":")[0] in self._of_rest:
            name, _, rest = value.partition(":")
            choice, preset = self._presets[name]
            found = choice(**preset, **{self._of_rest[name]: rest})
            cast("Choice", found).validate(path)
            return found
        if type(value) in self.classes:
            value.validate(path)
            return cast("AnyChoice", value)
        if isinstance(value, type) and value in self.classes:
            raise InputError(
                f"{path} is the class {value.__name__}; pass an object, such as {value.__name__}(), "
                f"or the name {self.names_of(value)[0]!r}."
            )
        if self._functions and callable(value) and not isinstance(value, type):
            return cast("AnyChoice", value)
        if self.of_number is not None and _is_whole(value):
            return self._of_number(value, path)
        raise self._unknown(value, path)

    def _of_number(self, value: Any, path: str) -> AnyChoice:
        assert self.of_number is not None
        replace(declared(self.classes[0])[self.of_number], name=path).check(value)
        return self.classes[0](**{self.of_number: int(value)})

    def shortest(self, choice: AnyChoice) -> AnyChoice | str | int:
        """The name, or the number, that stands for a choice; one that has none stays an object.

        >>> from weald.training.boosting.parameters import BOOSTERS, Dart
        >>> BOOSTERS.shortest(Dart()), BOOSTERS.shortest(Dart(rate_drop=0.5))
        ('dart', Dart(rate_drop=0.5))
        """
        for name, (kind, preset) in self._presets.items():
            if kind(**preset) == choice:
                return name
        if self.of_number is not None:
            number_of_it = getattr(choice, self.of_number)
            if self.classes[0](**{self.of_number: number_of_it}) == choice:
                return cast("int", number_of_it)
        return choice

    def names_of(self, kind: type) -> list[str]:
        """The names that stand for objects of a class."""
        return [name for name, (choice, _) in self._presets.items() if choice is kind]

    def _unknown(self, value: Any, path: str) -> InputError:
        if isinstance(value, str) and value in self._instead:
            return NotSupportedError(
                f"{path}={value!r} is not supported; use {path}={self._instead[value]!r}."
            )
        known = [*map(repr, self.names), *(["a function"] if self._functions else [])]
        if self.of_number is not None:
            known.append("a whole number")
        objects = listed_words([choice.__name__ for choice in self.classes])
        near = difflib.get_close_matches(value, self.names, n=1) if isinstance(value, str) else []
        question = f"; did you mean {near[0]!r}?" if near else "."
        return InputError(
            f"{path} must be {listed_words(known)}, or an object of {objects}, not {value!r}{question}"
        )


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal; arrays by what they hold."""
    if first is second:
        return True
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return type(first) is type(second) and np.array_equal(first, second)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and type(first) is type(second):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)
