"""One parameter of an estimator: its type, range, default and help, and how a value is checked."""

from __future__ import annotations

import json
import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from weald.runtime.errors import InputError, NotSupportedError


@dataclass(frozen=True)
class Parameter:
    """One parameter: what it may be and what it is for.

    kind      "int", "float", "bool", "choice", or "any" (checked where it is used)
    low, high bounds of a number; with ``open_low`` the lower one is itself not allowed
    choices   the values of a choice, or words that may stand in place of a number
    refused   values that are known but not available, and what to use instead
    optional  None is a value too
    """

    name: str
    kind: str
    default: Any
    help: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    choices: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    optional: bool = False

    def check(self, value: Any) -> None:
        """Raise an InputError that names the parameter when ``value`` is not allowed."""
        if value is None and self.optional:
            return
        if self.kind == "choice":
            self._check_choice(value)
        elif self.kind == "bool":
            if not isinstance(value, bool | np.bool_):
                raise InputError(f"{self.name} must be True or False, not {value!r}.")
        elif self.kind in ("int", "float"):
            self._check_number(value)
        elif self.kind == "none" and value is not None:
            raise NotSupportedError(f"{self.name} is not supported yet, but is {value!r}; leave it at None.")

    def _check_choice(self, value: Any) -> None:
        for refused, instead in self.refused:
            if value == refused:
                raise NotSupportedError(f"{self.name}={value!r} is not supported yet; use {instead}.")
        if value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            raise InputError(
                f"{self.name} must be {'one of ' if len(self.choices) > 1 else ''}{known}, not {value!r}."
            )

    def _check_number(self, value: Any) -> None:
        if isinstance(value, str) and value in self.choices:
            return
        wanted = numbers.Integral if self.kind == "int" else numbers.Real
        ok = not isinstance(value, bool) and isinstance(value, wanted) and _is_finite(value)
        if ok and self.low <= value <= self.high and not (self.open_low and value == self.low):
            return
        raise InputError(f"{self.name} must be {self.range_text}, not {value!r}.")

    @property
    def range_text(self) -> str:
        """The range in words.

        >>> Parameter("subsample", "float", 1.0, "Share of rows.", 0, 1, True).range_text
        'a number above 0 and at most 1'
        """
        words = "a whole number" if self.kind == "int" else "a number"
        low = (
            f" above {_bound(self.low)}"
            if self.open_low
            else f" of at least {_bound(self.low)}"
            if self.low > -math.inf
            else ""
        )
        high = f"{' and' if low else ' of'} at most {_bound(self.high)}" if self.high < math.inf else ""
        others = [*map(repr, self.choices), *(["None"] if self.optional else [])]
        return words + low + high + "".join(f" or {other}" for other in others)

    def parse(self, text: str) -> Any:
        """The value that a text on the command line stands for; checked."""
        value: Any = text
        if self.optional and text.lower() in ("none", "null"):
            value = None
        elif self.kind == "bool":
            value = {"true": True, "false": False, "1": True, "0": False}.get(text.lower(), text)
        elif self.kind in ("int", "float") and text not in self.choices:
            try:
                value = int(text) if self.kind == "int" else float(text)
            except ValueError:
                raise InputError(f"{self.name} must be {self.range_text}, not {text!r}.") from None
        elif self.kind == "any":
            try:
                value = json.loads(text)
            except ValueError:
                value = text
        self.check(value)
        return value


def _bound(number: float) -> str:
    """A bound in words; whole numbers whole: 2147483647, not 2.14748e+09."""
    return str(int(number)) if number == int(number) else f"{number:g}"


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False
