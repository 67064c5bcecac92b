"""Constraints of columns, as the parameters of other systems write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from weald.dialects.shared.values import position_of
from weald.runtime.errors import InputError


def listed(name: str, value: Any) -> Any:
    """Lists written as text, "(1,-1)", "1,-1" or "[[0, 1], [2]]", as lists; anything else as it is.

    >>> listed("monotone_constraints", "(1,0,-1)")
    [1, 0, -1]
    >>> listed("interaction_constraints", "[0,1],[2]")
    [[0, 1], [2]]
    """
    if not isinstance(value, str):
        return list(value) if isinstance(value, tuple) else value
    text = value.strip().replace("(", "[").replace(")", "]").replace("'", '"')
    for candidate in (text or "[]", f"[{text}]"):
        try:
            parsed = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(parsed, list):
            return parsed or None
    raise InputError(f"{name}={value!r} cannot be read; write it as (1,-1,0) or [[0, 1], [2, 3]].")


def monotone_signs(value: Any, names: Sequence[str]) -> Any:
    """One sign a column from a list, text, or a dict by names or positions of columns; None: nothing is constrained."""
    if not isinstance(value, Mapping):
        return listed("monotone_constraints", value)
    signs = [0] * len(names)
    for column, sign in value.items():
        signs[position_of(column, names, "monotone_constraints")] = sign
    return signs


def interaction_groups(value: Any, names: Sequence[str]) -> list[list[int]] | None:
    """Positions of the columns that may meet on a path, from lists of names or positions, or text."""
    groups = listed("interaction_constraints", value)
    if not groups:
        return None
    return [[position_of(column, names, "interaction_constraints") for column in group] for group in groups]
