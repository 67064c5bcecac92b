"""Monotone and interaction constraints as a user writes them, checked against the columns of the table."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from weald.data import Schema, column_positions
from weald.runtime.errors import InputError
from weald.tree.splits.constraints import Constraints

MONOTONE, INTERACTION = "monotone_constraints", "interaction_constraints"


def read_constraints(monotone: Any, interaction: Any, schema: Schema) -> Constraints:
    """The constraints by position; what names no column, or a category where an order is needed, is refused.

    >>> from weald.data import Column
    >>> schema = Schema((Column("age", "numeric"), Column("city", "categorical", ("Ulm",))), named=True)
    >>> read_constraints({"age": 1}, [["age", "city"]], schema)
    Constraints(signs=(1, 0), groups=((0, 1),))
    """
    return Constraints(_signs(monotone, schema), _groups(interaction, schema))


def _signs(monotone: Any, schema: Schema) -> tuple[int, ...]:
    if monotone is None:
        return ()
    columns: Iterable[Any] = range(schema.n_columns)
    if isinstance(monotone, Mapping):
        columns, values = list(monotone), list(monotone.values())
    else:
        values = _listed(monotone, MONOTONE, "a number a column or a dict from columns to numbers")
        if len(values) != schema.n_columns:
            raise InputError(
                f"{MONOTONE} has {len(values)} numbers, but X has {schema.n_columns} columns; "
                "give one a column, or a dict from names to numbers."
            )
    signs = [0] * schema.n_columns
    seen = set()
    for position, value in zip(column_positions(columns, schema.names, MONOTONE), values, strict=True):
        column = schema.columns[position]
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value not in (-1, 0, 1):
            raise InputError(f"{MONOTONE} of the column {column.name!r} must be -1, 0 or 1, not {value!r}.")
        if value != 0 and column.kind == "categorical":
            raise InputError(
                f"{MONOTONE} of the column {column.name!r} must be 0, as its categories have no order, not {value}."
            )
        if position in seen:
            raise InputError(f"{MONOTONE} has the column {column.name!r} twice, by name and by position.")
        seen.add(position)
        signs[position] = int(value)
    return tuple(signs) if any(signs) else ()


def _groups(interaction: Any, schema: Schema) -> tuple[tuple[int, ...], ...]:
    if interaction is None:
        return ()
    wanted = "a list of groups, each a list of names or positions of columns"
    groups = []
    for group in _listed(interaction, INTERACTION, wanted):
        positions = column_positions(_listed(group, INTERACTION, wanted), schema.names, INTERACTION)
        if not positions:
            raise InputError(f"{INTERACTION} has a group without columns; leave it out.")
        groups.append(tuple(sorted(set(positions))))
    return tuple(groups)


def _listed(values: Any, argument: str, wanted: str) -> list[Any]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{argument} must be {wanted}, not {values!r}.")
    return list(values)
