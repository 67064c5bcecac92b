"""Files of others, which may be hostile: bytes, JSON, and what is asked of a value before it is used.

What a file says is never trusted: types are checked before a value is used, nothing is executed, and no array is larger than a
small multiple of the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Sized
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import ModelFileError

Fields = Mapping[str, Any]
Kind = TypeVar("Kind")

# Longest text of a number in a list of numbers; Python itself takes time that grows with its square.
_LONGEST_NUMBER = 400
#: Largest number of columns, outputs and trees that a file may ask for.
MOST_COLUMNS = 2**24
MOST_OUTPUTS = 2**16


def json_of(data: bytes, what: str) -> Any:
    """The value of JSON text; nothing is executed, and what is no JSON is refused.

    >>> json_of(b'{"trees": [1, 2.5]}', "the file")
    {'trees': [1, 2.5]}
    """
    try:
        return json.loads(data.decode("utf-8"), parse_int=_whole)
    except RecursionError:
        raise ModelFileError(f"{what} is nested deeper than a model can be.") from None
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{what} is not valid JSON: {error}.") from None


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a whole number of {len(text)} digits")
    return int(text)


def field(fields: Any, name: str, kind: type[Kind], where: str) -> Kind:
    """A field of a JSON object, which must be there and of this type."""
    if not isinstance(fields, Mapping) or name not in fields:
        raise ModelFileError(f"{where} has no {name!r}.")
    value = fields[name]
    is_right = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if not is_right:
        raise ModelFileError(
            f"The {name!r} of {where} is of type {type(value).__name__}, not {kind.__name__}."
        )
    return value  # type: ignore[no-any-return]


def texts(values: Any, where: str) -> list[str]:
    """A list of strings."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ModelFileError(f"{where} must be a list of strings.")
    return values


def integers(values: Any, where: str, least: int = -(2**31), most: int = 2**31 - 1) -> NDArray[np.int64]:
    """A list or an array of whole numbers, none below ``least`` or above ``most``."""
    array = _numbers(values, where)
    if array.dtype.kind not in "iu":
        if array.size and not (np.isfinite(array) & (array == np.trunc(array))).all():
            raise ModelFileError(f"{where} must be whole numbers.")
        if array.size and (np.abs(array) > 2.0**62).any():
            raise ModelFileError(f"{where} must be within {least} and {most}.")
    if array.size and not (least <= array.min() and array.max() <= most):
        raise ModelFileError(f"{where} must be within {least} and {most}.")
    return array.astype(np.int64)


def floats(values: Any, where: str) -> NDArray[np.float64]:
    """A list or an array of numbers, none of which is NaN."""
    array = _numbers(values, where).astype(np.float64)
    if np.isnan(array).any():
        raise ModelFileError(f"{where} must be numbers, and one is NaN.")
    return array


def _numbers(values: Any, where: str) -> NDArray[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iuf":
        return values
    if not isinstance(values, list) or not all(type(value) in (int, float, bool) for value in values):
        raise ModelFileError(f"{where} must be a list of numbers.")
    try:
        return (
            np.array(values, np.float64)
            if not all(type(value) is int for value in values)
            else _whole_array(values)
        )
    except OverflowError:
        raise ModelFileError(f"{where} must be numbers within those of 64 bits.") from None


def _whole_array(values: Sequence[int]) -> NDArray[Any]:
    return np.array(values, np.int64)


def number_of(text: Any, where: str) -> float:
    """A number that a file has as text."""
    try:
        value = (
            float(text)
            if isinstance(text, str | int | float) and len(str(text)) < _LONGEST_NUMBER
            else float("nan")
        )
    except (ValueError, OverflowError):
        value = float("nan")
    if not np.isfinite(value):
        raise ModelFileError(f"{where} is {str(text)[:40]!r}, which is not a number.")
    return value


def whole_of(text: Any, where: str, least: int, most: int) -> int:
    """A whole number, perhaps as text, from ``least`` to ``most``."""
    value = number_of(text, where)
    if value != int(value) or not least <= value <= most:
        raise ModelFileError(
            f"{where} is {str(text)[:40]!r}; it must be a whole number from {least} to {most}."
        )
    return int(value)


def one_per(array: Sized, size: int, where: str) -> None:
    """Refuse an array that does not have so many entries."""
    if len(array) != size:
        raise ModelFileError(f"{where} must have {size} entries, but has {len(array)}.")
