"""A parameter is declared where it is a field: ``rate: Annotated[float, number("Share of the trees.", 0, 1)] = 0.1``.

The helpers build what stands in ``Annotated``; `declared` reads a class's fields as `Parameter` records, from which validation,
documentation and the command line are made.
"""

from __future__ import annotations

import functools
import inspect
import math
import typing
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields, replace
from typing import Any, TypeVar

from weald.params.parameter import Parameter

_Class = TypeVar("_Class", bound=type)


def number(
    help: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    optional: bool = False,
    choices: Iterable[str] = (),
) -> Parameter:
    """A number; ``choices``: words that may stand in its place.

    >>> number("Share of rows.", 0, 1, open_low=True).range_text
    'a number above 0 and at most 1'
    """
    return Parameter("", "float", None, help, low, high, open_low, tuple(choices), optional=optional)


def whole(
    help: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    optional: bool = False,
    choices: Iterable[str] = (),
) -> Parameter:
    """A whole number; ``choices``: words that may stand in its place."""
    return Parameter("", "int", None, help, low, high, False, tuple(choices), optional=optional)


def flag(help: str) -> Parameter:
    """True or False."""
    return Parameter("", "bool", None, help)


def one_of(help: str, *choices: str, optional: bool = False) -> Parameter:
    """One of several words."""
    return Parameter("", "choice", None, help, choices=choices, optional=optional)


def anything(help: str) -> Parameter:
    """A value that is checked where it is used."""
    return Parameter("", "any", None, help)


def declared(owner: type) -> dict[str, Parameter]:
    """The parameters that a dataclass declares, by name, in the order of its fields."""
    return _declared(owner)


@functools.cache
def _declared(owner: type) -> dict[str, Parameter]:
    hints = typing.get_type_hints(owner, include_extras=True)
    return {field.name: _parameter(owner, field, hints[field.name]) for field in fields(owner)}


def _parameter(owner: type, field: Field[Any], hint: Any) -> Parameter:
    for entry in getattr(hint, "__metadata__", ()):
        if isinstance(entry, Parameter) and field.default is not MISSING:
            return replace(entry, name=field.name, default=field.default)
    raise TypeError(f"{owner.__name__}.{field.name} needs a declaration and a default.")


def documented(owner: _Class) -> _Class:
    """A class decorator, above ``@dataclass``: signature and docstring say what the declarations do.

    The parameters are listed before the examples. Signatures show plain types in place of whole declarations.
    """
    hints = typing.get_type_hints(owner)
    parameters = declared(owner)
    owner.__init__.__annotations__ = {name: hints[name] for name in parameters} | {"return": None}  # type: ignore[misc]
    if owner.__doc__ is not None and parameters:
        text, heading, examples = inspect.cleandoc(owner.__doc__).partition("Examples\n--------\n")
        lines = ["Parameters", "----------"]
        for parameter in parameters.values():
            lines += [
                f"{parameter.name} : {values_text(parameter)}, default {parameter.default!r}",
                f"    {parameter.help}",
            ]
        listed = "\n".join(lines)
        owner.__doc__ = f"{text.rstrip()}\n\n{listed}\n\n{heading}{examples}".rstrip() + "\n"
    return owner


def values_text(parameter: Parameter) -> str:
    """The values that a parameter may have, in words.

    >>> values_text(one_of("Which trees are dropped.", "uniform", "weighted"))
    "'uniform' or 'weighted'"
    """
    if parameter.kind in ("int", "float"):
        return parameter.range_text
    if parameter.kind == "bool":
        return "True or False"
    if parameter.choices:
        words = [*map(repr, parameter.choices), *(["None"] if parameter.optional else [])]
        return listed_words(words) + (", or an object" if parameter.kind == "part" else "")
    return "see its meaning"


def listed_words(words: Iterable[str], conjunction: str = "or") -> str:
    """Words as a list in a sentence.

    >>> listed_words(["'plain'", "'dart'", "'linear'"])
    "'plain', 'dart' or 'linear'"
    """
    *most, last = words
    return f"{', '.join(most)} {conjunction} {last}" if most else last
