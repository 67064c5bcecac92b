"""Choices as JSON data, for model files, and back; what comes back is one of the given families' classes, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from weald.params.choice import Choice, Family, declared
from weald.runtime.errors import InputError, ModelFileError

_KEYS = {"choice", "params"}


def to_json(value: Any, plain: Callable[[Any], Any]) -> Any:
    """A choice as {"choice": name of its class, "params": all of its fields}; ``plain`` does what is no choice.

    >>> from weald.sampling.parameters import Goss
    >>> to_json(Goss(top_rate=0.3), plain=lambda value: value)
    {'choice': 'Goss', 'params': {'top_rate': 0.3, 'other_rate': 0.1}}
    """
    if not isinstance(value, Choice):
        return plain(value)
    fields = {name: to_json(getattr(value, name), plain) for name in declared(type(value))}
    return {"choice": type(value).__name__, "params": fields}


def from_json(data: Any, families: Iterable[Family[Any]], restored: Callable[[Any], Any]) -> Any:
    """The value of `to_json`; nothing but classes of the families is ever made. ``restored`` is the inverse of ``plain``."""
    classes = {choice.__name__: choice for family in families for choice in family.classes}
    return _from_json(data, classes, restored)


def _from_json(data: Any, classes: dict[str, type[Any]], restored: Callable[[Any], Any]) -> Any:
    if not isinstance(data, dict) or "choice" not in data:
        return restored(data)
    name, params = data["choice"], data.get("params")
    if set(data) != _KEYS or not isinstance(name, str) or not isinstance(params, dict):
        raise ModelFileError("A choice in the file must have a name and parameters.")
    if name not in classes:
        raise ModelFileError(f"The file has the choice {name!r}, which is not known.")
    unknown = set(params) - set(declared(classes[name]))
    if unknown:
        raise ModelFileError(
            f"{name} in the file has the parameter {sorted(unknown)[0]!r}, which is not known."
        )
    choice = classes[name](**{key: _from_json(value, classes, restored) for key, value in params.items()})
    try:
        choice.validate()
    except InputError as error:
        raise ModelFileError(f"A choice in the file is not valid: {error}") from None
    return choice
