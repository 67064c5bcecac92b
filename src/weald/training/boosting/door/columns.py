"""Weights of columns as a user writes them, checked against the columns of the table."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from weald.data import Schema, column_positions
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.parameters import BoostingParameters

WEIGHTS = "column_weights"


def column_weights(given: BoostingParameters, schema: Schema) -> tuple[float, ...] | None:
    """The weight of every column, or None where all are alike."""
    if given.column_weights is None:
        return None
    weights = _read(given.column_weights, schema)
    used = {weight for weight in weights if weight > 0.0}
    if not used:
        raise InputError(f"{WEIGHTS} has no weight above 0, so there is no column to use; give at least one.")
    if len(used) > 1 and min(given.colsample_bylevel, given.colsample_bynode) < 1.0:
        raise NotSupportedError(
            f"{WEIGHTS} are of the columns of a tree, and colsample_bylevel and colsample_bynode draw those of a tree alike; "
            "use colsample_bytree, or weights that are 0 and 1."
        )
    return None if weights == [weights[0]] * len(weights) else tuple(weights)


def _read(given: Any, schema: Schema) -> list[float]:
    columns: Iterable[Any] = range(schema.n_columns)
    if isinstance(given, Mapping):
        columns, values = list(given), list(given.values())
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            f"{WEIGHTS} must be a number a column or a dict from columns to numbers, not {given!r}."
        )
    else:
        values = list(given)
        if len(values) != schema.n_columns:
            raise InputError(
                f"{WEIGHTS} has {len(values)} numbers, but X has {schema.n_columns} columns; "
                "give one a column, or a dict from names to numbers."
            )
    weights = [1.0] * schema.n_columns
    for position, value in zip(column_positions(columns, schema.names, WEIGHTS), values, strict=True):
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not is_number or not np.isfinite(value) or value < 0:
            raise InputError(
                f"{WEIGHTS} of the column {schema.names[position]!r} must be a number of at least 0, not {value!r}."
            )
        weights[position] = float(value)
    return weights
