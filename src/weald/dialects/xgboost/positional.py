"""Arguments by position where XGBoost has keywords: it takes them with a warning, and so do functions here."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")


def by_position(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """A decorator: arguments that must be keywords may come by position, in their order, with a FutureWarning.

    >>> @by_position
    ... def area(width, *, height=1):
    ...     return width * height
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     area(2, 3), str(told[0].message)
    (6, 'Pass `height` as keyword args.')
    """
    entries = inspect.signature(function).parameters.values()
    n_plain = sum(entry.kind in (entry.POSITIONAL_ONLY, entry.POSITIONAL_OR_KEYWORD) for entry in entries)
    keywords = [entry.name for entry in entries if entry.kind == entry.KEYWORD_ONLY]

    @functools.wraps(function)
    def taking(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        extra: tuple[Any, ...] = args[n_plain:]
        if not extra or len(extra) > len(keywords):
            return function(*args, **kwargs)
        named = dict(zip(keywords, extra, strict=False))
        twice = sorted(named.keys() & kwargs.keys())
        if twice:
            raise TypeError(f"{function.__qualname__}() got multiple values for argument {twice[0]!r}")
        told = ", ".join(named)
        warnings.warn(f"Pass `{told}` as keyword args.", FutureWarning, stacklevel=3)
        everything: dict[str, Any] = {**kwargs, **named}
        return function(*args[:n_plain], **everything)  # type: ignore[arg-type]

    return taking
