"""What an interface does not have: each has a reason that says what to do instead, in a table of the interface."""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn, ParamSpec, TypeVar

from weald.dialects.shared.door import Door
from weald.runtime.errors import NotSupportedError

Given = ParamSpec("Given")
Found = TypeVar("Found")
Class = TypeVar("Class", bound=type)
Reasons = Mapping[str, str]


class NoNameError(NotSupportedError, AttributeError):
    """A name that a module does not have, and why; `hasattr` knows it as missing."""


class NoImportError(NotSupportedError, ImportError):
    """The same where the name was to be imported."""


class Refusals:
    """The refusals of a module, in one sentence; ``door``: its own, through which they go."""

    def __init__(self, module: str, door: Door) -> None:
        self._module, self._door = module, door

    def error(self, name: str, reason: str) -> Exception:
        """The error of a name that is not there.

        >>> print(Refusals("weald.xgboost", Door(ValueError)).error("plot_tree", "use get_dump."))
        plot_tree is not supported by weald.xgboost: use get_dump.
        """
        return self._door.own(NotSupportedError(f"{name} is not supported by {self._module}: {reason}"))

    def function(self, name: str, reason: str) -> Callable[..., Any]:
        """A function or method of any arguments that is not there."""

        def refuse(*arguments: Any, **options: Any) -> NoReturn:
            raise self.error(name, reason)

        refuse.__doc__ = f"Refused: {reason}"
        return refuse

    def methods(self, reasons: Reasons) -> Callable[[Class], Class]:
        """A class decorator: these methods are not there."""

        def decorate(owner: Class) -> Class:
            for name, reason in reasons.items():
                setattr(owner, name, self.function(name, reason))
            return owner

        return decorate

    def arguments(self, reasons: Reasons) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
        """A decorator: these arguments may only have their defaults, or None, which ask for nothing."""

        def decorate(function: Callable[Given, Found]) -> Callable[Given, Found]:
            signature = inspect.signature(function)
            defaults = {name: signature.parameters[name].default for name in reasons}

            @functools.wraps(function)
            def checked(*args: Given.args, **kwargs: Given.kwargs) -> Found:
                given = signature.bind(*args, **kwargs).arguments
                for name, default in defaults.items():
                    if _asks(given.get(name), default):
                        raise self.error(name, reasons[name])
                return function(*args, **kwargs)

            return checked

        return decorate

    def names(self, reasons: Reasons, homes: Mapping[str, str] | None = None) -> Callable[[str], Any]:
        """The ``__getattr__`` of the module, which tells why it does not have a name.

        ``homes``: name -> the module that it is loaded from when it is asked for.
        """

        def of_module(name: str) -> Any:
            if homes is not None and name in homes:
                return getattr(import_module(homes[name]), name)
            if name in reasons:
                # Of an AttributeError "from module import name" would keep nothing but the name.
                kind = NoImportError if _is_import(sys._getframe(1)) else NoNameError
                raise self._door.own(kind(f"{self._module} has no {name}: {reasons[name]}"))
            raise AttributeError(f"module {self._module!r} has no attribute {name!r}")

        return of_module


def _is_import(frame: FrameType) -> bool:
    """Whether a frame is at "from module import name"."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM"


def _asks(value: Any, default: Any) -> bool:
    """Whether an argument asks for anything; tables are not compared."""
    return value is not None and not (isinstance(value, str | int | float) and value == default)
