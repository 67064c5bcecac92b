"""Parameters from text, as ``--set booster=dart --set booster.rate_drop=0.1`` on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from weald.params.choice import Choice, Family, Part, declared
from weald.params.declare import listed_words
from weald.params.other_names import places_of
from weald.params.parameter import Parameter
from weald.runtime.errors import InputError


def parse_settings(
    owner: type, settings: Iterable[str], chosen: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The parameters that texts of the form name=value are, beside those already chosen; none may be given twice.

    A choice is set before its fields, in whatever order the two are given.
    """
    pairs = []
    values = dict(chosen or {})
    seen = set(values)
    for setting in settings:
        name, equals, text = (piece.strip() for piece in setting.partition("="))
        if not equals:
            raise InputError(f"--set is {setting!r}; write it as name=value")
        if name in seen:
            raise InputError(f"the parameter {name!r} is given twice; give it once")
        seen.add(name)
        pairs.append((name, text))
    for name, text in sorted(pairs, key=lambda pair: pair[0].count(".")):
        values = parse_setting(owner, name, text, values)
    return values


def parse_setting(owner: type, name: str, text: str, current: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with one more; ``name``: of a parameter of ``owner``, or of a field of a choice, as booster.rate_drop.

    >>> from weald.training.boosting.parameters import BoostingParameters
    >>> chosen = parse_setting(BoostingParameters, "booster", "dart", {})
    >>> parse_setting(BoostingParameters, "booster.rate_drop", "0.2", chosen)
    {'booster': Dart(rate_drop=0.2)}
    """
    first, dot, rest = name.partition(".")
    if first not in declared(owner):
        raise _unknown_of(owner, first)
    parameter = declared(owner)[first]
    if not dot:
        return {**current, first: parameter.parse(text)}
    return {
        **current,
        first: _with_field(parameter, current.get(first, parameter.default), rest, text, first),
    }


def _with_field(parameter: Parameter, value: Any, name: str, text: str, path: str) -> Choice:
    """A copy of a choice with one field set from text."""
    if not isinstance(parameter, Part) or parameter.family is None:
        raise InputError(f"{path} has no parameters of its own, so there is no {path + '.' + name!r}")
    choice = parameter.family.resolve(value, path)
    first, dot, rest = name.partition(".")
    if not isinstance(choice, Choice) or first not in declared(type(choice)):
        raise _no_field(parameter.family, choice, first, path)
    changed: Choice = clone(choice)
    field = replace(declared(type(choice))[first], name=f"{path}.{first}")
    if dot:
        setattr(changed, first, _with_field(field, getattr(choice, first), rest, text, field.name))
    else:
        setattr(changed, first, field.parse(text))
    return changed


def _no_field(family: Family[Any], choice: Any, name: str, path: str) -> InputError:
    """There is no such field: it is another choice's, or is spelt otherwise."""
    for other in family.classes:
        if name in declared(other) and family.names_of(other):
            asked = f"{path}={family.names_of(other)[0]}"
            is_now = choice if isinstance(choice, str) else type(choice).__name__
            return InputError(f"{path}.{name} belongs to {asked}, but {path} is {is_now}; set {asked} too")
    known = declared(type(choice)) if isinstance(choice, Choice) else {}
    return _unknown(known, name, f"{path}.{name}")


def _unknown_of(owner: type, name: str) -> InputError:
    """There is no such parameter: another system calls one so, a choice has it, or it is spelt otherwise."""
    places = dict.fromkeys(place.setting for place in places_of(owner, name))
    if places:
        return InputError(f"there is no parameter {name!r}; use {listed_words(places)}")
    return _unknown(declared(owner), name, name)


def _unknown(parameters: Mapping[str, Parameter], name: str, path: str) -> InputError:
    close = difflib.get_close_matches(name, parameters, n=1)
    if close:
        return InputError(
            f"there is no parameter {path!r}; did you mean {path.removesuffix(name) + close[0]!r}?"
        )
    known = f"known are {', '.join(parameters)}." if parameters else "it has none."
    return InputError(f"there is no parameter {path!r}; {known}")
