"""NaN and the infinities in JSON, which has no spelling for them.

They become ``{"float": "nan"}``, ``{"float": "inf"}`` and ``{"float": "-inf"}``. A dictionary that happens
to look like that, because its only key is "float", is wrapped once more, so decoding always gives back what
was encoded.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from weald.runtime.errors import InputError, ModelFileError

# Far more than any header needs, far less than Python's recursion limit.
MAXIMUM_DEPTH: Final = 100
_WRAPPER: Final = "float"
_NAMED_FLOATS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def encode_floats(value: Any) -> Any:
    """A copy of `value` that JSON can hold.

    It may hold dictionaries with text keys, lists, text, numbers, booleans and None. Tuples become lists
    and NumPy scalars become Python's own.

    Examples:
        >>> encode_floats({"loss": [0.5, float("nan")]})
        {'loss': [0.5, {'float': 'nan'}]}
    """
    return _encode(value, "header", 0)


def decode_floats(value: Any) -> Any:
    """The inverse of `encode_floats`.

    Examples:
        >>> decode_floats({"loss": [0.5, {"float": "-inf"}]})
        {'loss': [0.5, -inf]}
    """
    return _decode(value, 0)


def _encode(value: Any, name: str, depth: int) -> Any:
    if depth > MAXIMUM_DEPTH:
        raise InputError(f"header is nested more than {MAXIMUM_DEPTH} levels deep; a model file holds less.")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {_WRAPPER: str(float(value))}
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (list, tuple)):
        return [_encode(item, f"{name}[]", depth + 1) for item in value]
    if not isinstance(value, dict):
        allowed = "a model file holds only text, numbers, booleans, None, lists and dictionaries"
        raise InputError(f"{name} is a {type(value).__name__}; {allowed}.")
    for key in value:
        if not isinstance(key, str):
            raise InputError(f"{name} has the key {key!r}; the keys in a model file must be text.")
    encoded = {key: _encode(item, f"{name}.{key}", depth + 1) for key, item in value.items()}
    return {_WRAPPER: encoded} if encoded.keys() == {_WRAPPER} else encoded


def _decode(value: Any, depth: int) -> Any:
    if depth > MAXIMUM_DEPTH:
        raise ModelFileError("The model file's header is nested too deeply.")
    if isinstance(value, list):
        return [_decode(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() != {_WRAPPER}:
        return {key: _decode(item, depth + 1) for key, item in value.items()}
    wrapped = value[_WRAPPER]
    if isinstance(wrapped, str) and wrapped in _NAMED_FLOATS:
        return _NAMED_FLOATS[wrapped]
    if isinstance(wrapped, dict) and wrapped.keys() == {_WRAPPER}:
        return {_WRAPPER: _decode(wrapped[_WRAPPER], depth + 1)}
    raise ModelFileError("The model file's header holds a number that is none of 'nan', 'inf' and '-inf'.")
