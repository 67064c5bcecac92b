"""What an interface does not have: each has a sentence that says what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from weald.runtime.errors import NotSupportedError


def refused(sentence: str) -> Callable[..., Any]:
    """A function or method of any arguments that raises a sentence.

    >>> refused("there are no trees to draw.").__doc__
    'Refused: there are no trees to draw.'
    """

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise NotSupportedError(sentence)

    refuse.__doc__ = f"Refused: {sentence}"
    return refuse


def refuse_arguments(given: Mapping[str, Any], reasons: Mapping[str, str]) -> None:
    """Refuse those of a call's arguments that have a reason; None asks for nothing."""
    for name, reason in reasons.items():
        if given.get(name) is not None:
            raise NotSupportedError(f"{name} is refused: {reason}")


def refused_names(module: str, reasons: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that tells why it does not have a name.

    It raises no AttributeError, of which "from module import name" would keep nothing but the name.
    """

    def of_module(name: str) -> NoReturn:
        if name in reasons:
            raise NotSupportedError(f"{module} has no {name}: {reasons[name]}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return of_module
