"""The door of an interface: an error that passes it is the interface's own, too, so that users' `except` clauses catch it.

It keeps its class, message and traceback, and is an instance of the interface's error besides.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from sklearn.exceptions import NotFittedError

from weald.runtime.errors import InputError, ModelFileError

Guarded = TypeVar("Guarded", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

_OURS = (InputError, ModelFileError, NotFittedError, FileNotFoundError)
#: methods with underscores that take what users give
_TAKING = ("__init__", "__call__", "__getitem__", "__iter__", "__setstate__")
#: the classes of errors that are of two kinds
_BOTH: dict[tuple[type[Exception], type[ValueError]], Any] = {}


class Door:
    """Decorators of what an interface makes public; ``error``: the interface's own.

    >>> class PeerError(ValueError): ...
    >>> @Door(PeerError).function
    ... def train(rounds):
    ...     raise InputError("rounds must be at least 1.")
    >>> try:
    ...     train(0)
    ... except PeerError as error:
    ...     print(isinstance(error, InputError), error)
    True rounds must be at least 1.
    """

    def __init__(self, error: type[ValueError]) -> None:
        self._error = error
        self._guarded: set[Any] = set()

    def function(self, function: Guarded) -> Guarded:
        """A function whose errors are the interface's."""
        if function in self._guarded:
            return function
        guard = _guarding_rows if inspect.isgeneratorfunction(function) else _guarding
        own: Any = guard(function, _OURS, self.own)
        self._guarded.add(own)
        found: Guarded = own
        return found

    def owner(self, owner: Class) -> Class:
        """A class, every public method and property of which is such a function, those from its bases too."""
        for name in dir(owner):
            home = next((base for base in owner.__mro__ if name in base.__dict__), object)
            if home.__module__.startswith("weald.") and (name in _TAKING or not name.startswith("_")):
                part = home.__dict__[name]
                guarded = self._member(part)
                if guarded is not part:
                    setattr(owner, name, guarded)
        return owner

    def _member(self, part: Any) -> Any:
        if isinstance(part, staticmethod | classmethod):
            inner = self.function(part.__func__)
            return part if inner is part.__func__ else type(part)(inner)
        if isinstance(part, property) and part.fget is not None:
            getter = self.function(part.fget)
            return part if getter is part.fget else part.getter(getter)
        return self.function(part) if inspect.isfunction(part) else part

    def own(self, error: Exception) -> Exception:
        """An error as one of the interface's."""
        if isinstance(error, self._error):
            return error
        kind = _both(type(error), self._error)
        if type(error).__module__ != "builtins":
            error.__class__ = kind
            return error
        found: Exception = kind(*error.__reduce__()[1])
        return found.with_traceback(error.__traceback__)


def _guarding(function: Any, ours: Any, own: Any) -> Any:
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except ours as error:
            raise own(error) from error.__cause__

    return _in_place_of(function, guarded)


def _guarding_rows(function: Any, ours: Any, own: Any) -> Any:
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            yield from function(*args, **kwargs)
        except ours as error:
            raise own(error) from error.__cause__

    return _in_place_of(function, guarded)


def _in_place_of(function: Any, guarded: Any) -> Any:
    """The guard under the function's name, in its module: doctest runs the examples of functions that live there."""
    there = FunctionType(guarded.__code__, function.__globals__, function.__name__, None, guarded.__closure__)
    return functools.update_wrapper(there, function)


def _both(kind: type[Exception], error: type[ValueError]) -> Any:
    """The class of errors of a kind that are the interface's, too."""
    known = _BOTH.get((kind, error))
    if known is not None:
        return known

    def reduced(self: Exception) -> Any:
        plain = kind.__reduce__(self)
        values = plain if isinstance(plain, tuple) else ()
        return _made, (kind, error, values[1]), *values[2:]

    named = {"__module__": error.__module__, "__reduce__": reduced}
    return _BOTH.setdefault((kind, error), type(error.__name__, (kind, error), named))


def _made(kind: type[Exception], error: type[ValueError], args: tuple[Any, ...]) -> Exception:
    """An error that was pickled."""
    found: Exception = _both(kind, error)(*args)
    return found
