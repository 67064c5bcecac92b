"""Matching a later table to the schema of the training table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from weald.data.schema import Column, Kind, Schema
from weald.data.tables import Table
from weald.data.warned import warn_of_data
from weald.runtime.errors import InputError

_NAMES_SHOWN = 5


def match_columns(table: Table, schema: Schema, owner: str, by_position: bool = False) -> Sequence[int]:
    """The position in ``table`` of each column of the schema; what does not fit is refused by name.

    ``by_position``: names do not matter, of the two tables or of one.
    """
    order: Sequence[int] = range(schema.n_columns)
    if by_position:
        check_count(len(table.names), schema.named, schema, owner)
    elif table.named and schema.named:
        if table.names != schema.names:
            order = _order_by_name(table.names, schema.names)
    else:
        check_count(len(table.names), table.named, schema, owner)
    kinds = table.kinds()
    for column, position in zip(schema.columns, order, strict=True):
        if column.kind == "numeric" and kinds[position] == "categorical" and not table.all_missing(position):
            raise InputError(
                f"Column {column.name!r} was numeric in training, but now holds strings or categories: "
                "convert it to numbers."
            )
        if _lost_its_text(column, kinds[position]) and not table.all_missing(position):
            warn_of_data(
                f"Column {column.name!r} held text in training, but now holds numbers, none of which is "
                "a category of it, so that all "
                "count as missing: turn them to the text that they were in training."
            )
    return order


def _lost_its_text(column: Column, kind: Kind) -> bool:
    if column.kind == "numeric" or kind == "categorical" or not column.categories:
        return False
    return all(isinstance(category, str) for category in column.categories)


def check_count(n_columns: int, named: bool, schema: Schema, owner: str) -> None:
    """Refuse another number of columns than in training; warn when only one of the two tables has names."""
    if n_columns != schema.n_columns:
        raise InputError(
            f"X has {n_columns} features, but {owner} is expecting {schema.n_columns} features as input."
        )
    if named and not schema.named:
        _warn(f"X has feature names, but {owner} was fitted without feature names")
    if schema.named and not named:
        _warn(f"X does not have valid feature names, but {owner} was fitted with feature names")


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=5)  # the caller of the estimator's method


def _order_by_name(names: tuple[str, ...], expected: tuple[str, ...]) -> list[int]:
    positions = {name: position for position, name in enumerate(names)}
    unseen = sorted(set(names) - set(expected))
    missing = sorted(set(expected) - set(names))
    if not unseen and not missing:
        return [positions[name] for name in expected]
    # The wording is scikit-learn's, whose users and tools know it.
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += f"Feature names unseen at fit time:\n{_listed(unseen)}"
    if missing:
        message += f"Feature names seen at fit time, yet now missing:\n{_listed(missing)}"
    raise InputError(message)


def _listed(names: list[str]) -> str:
    lines = "".join(f"- {name}\n" for name in names[:_NAMES_SHOWN])
    return lines + (f"- ... ({len(names)} in all)\n" if len(names) > _NAMES_SHOWN else "")
