"""A parameter is declared where it is a field: ``rate: Annotated[float, number("Share of the trees.", 0, 1)] = 0.1``.

The helpers build what stands in ``Annotated``; `declared` reads a class's fields as `Parameter` records, from which validation,
documentation and the command line are made. A subclass that changes only a default says no more than type and default:
``rate: float = 0.3``.
"""

from __future__ import annotations

import functools
import inspect
import math
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, fields, replace
from typing import Annotated, Any, Literal, TypeVar

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


# What several estimators take and mean the same by.
CategoricalFeatures = Annotated[
    Literal["auto"] | Sequence[str | int],
    anything("'auto', or names and positions of columns to treat as categories too."),
]
RandomState = Annotated[Any, anything("Seed; None is 0, so that two fits agree.")]
Threads = Annotated[int | None, anything("Threads; None: all cores. Never changes the model.")]


def declared(owner: type) -> dict[str, Parameter]:
    """The parameters that a dataclass and its bases declare, by name, in the order of the signature."""
    return _declared(owner)


@functools.cache
def _declared(owner: type) -> dict[str, Parameter]:
    hints = [
        typing.get_type_hints(base, include_extras=True)
        for base in owner.__mro__
        if "__dataclass_fields__" in vars(base)
    ]
    in_order = sorted(fields(owner), key=lambda field: field.kw_only is True)
    return {field.name: _parameter(owner, field, hints) for field in in_order}


def _parameter(owner: type, field: Field[Any], hints: Iterable[dict[str, Any]]) -> Parameter:
    """The nearest declaration of a field, with the field's own default; `MISSING` where a value must be given."""
    for entry in (entry for each in hints for entry in getattr(each.get(field.name), "__metadata__", ())):
        if isinstance(entry, Parameter):
            return replace(entry, name=field.name, default=field.default)
    raise TypeError(f"{owner.__name__}.{field.name} needs a declaration.")


def validate(owner: Any) -> None:
    """Check every declared parameter by itself; what two of them may not be together is checked where they meet."""
    for name, parameter in declared(type(owner)).items():
        parameter.check(getattr(owner, name))


def documented(owner: _Class) -> _Class:
    """A class decorator, above ``@dataclass``: signature and docstring say what the declarations do.

    The parameters are listed before the examples. Signatures show plain types in place of whole declarations. An argument that
    is not declared is refused in a sentence.
    """
    hints = typing.get_type_hints(owner)
    parameters = declared(owner)
    owner.__init__.__annotations__ = {name: hints[name] for name in parameters} | {"return": None}  # type: ignore[misc]
    if owner.__doc__ is not None and parameters:
        text, heading, examples = inspect.cleandoc(owner.__doc__).partition("Examples\n--------\n")
        lines = ["Parameters", "----------"]
        for parameter in parameters.values():
            default = "" if parameter.default is MISSING else f", default {parameter.default!r}"
            lines += [f"{parameter.name} : {values_text(parameter)}{default}", f"    {parameter.help}"]
        listed = "\n".join(lines)
        owner.__doc__ = f"{text.rstrip()}\n\n{listed}\n\n{heading}{examples}".rstrip() + "\n"
    owner.__init__ = _refusing_others(owner, owner.__init__)  # type: ignore[misc]
    return owner


def _refusing_others(owner: type, initialise: Callable[..., None]) -> Callable[..., None]:
    """A dataclass's ``__init__`` with a sentence for arguments that nothing declares."""
    known = frozenset(declared(owner))

    @functools.wraps(initialise)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if not known.issuperset(kwargs):
            from weald.params.other_names import unknown_parameter  # needed for a mistake only

            raise unknown_parameter(owner, next(name for name in kwargs if name not in known))
        initialise(self, *args, **kwargs)

    return __init__


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
