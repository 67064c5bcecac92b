"""Forced splits as a user writes them, nested dicts, checked against the columns of the table."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from weald.data import Column, Schema, column_positions
from weald.runtime.errors import InputError
from weald.tree.splits.forced import ForcedSplit

FORCED = "splits.forced"
_FIELDS = ("feature", "threshold", "left", "right")


def read_forced_splits(
    forced: Any, schema: Schema, groups: Sequence[Sequence[int]] = ()
) -> tuple[ForcedSplit, ...]:
    """The splits by position, level by level; what names no column or no number, or breaks a constraint, is refused.

    ``groups``: those of interaction constraints, by position.

    >>> from weald.data import Column
    >>> schema = Schema((Column("age", "numeric"), Column("city", "categorical", ("Ulm", "Linz"))), named=True)
    >>> read_forced_splits({"feature": "age", "threshold": 40, "right": {"feature": 1, "threshold": "Linz"}}, schema)
    (ForcedSplit(column=0, threshold=40.0, left=-1, right=1), ForcedSplit(column=1, threshold=1.0, left=-1, right=-1))
    """
    if forced is None or forced == {}:
        return ()
    waiting: list[tuple[Any, frozenset[int]]] = [(forced, frozenset())]
    splits: list[ForcedSplit] = []
    while len(splits) < len(waiting):
        node, path = waiting[len(splits)]
        column, threshold = _read_split(node, schema)
        path |= {column}
        _check_path(path, schema, groups)
        children = []
        for side in ("left", "right"):
            child = node.get(side)
            if child is None or child == {}:
                children.append(-1)
            else:
                children.append(len(waiting))
                waiting.append((child, path))
        splits.append(ForcedSplit(column, threshold, *children))
    return tuple(splits)


def _read_split(node: Any, schema: Schema) -> tuple[int, float]:
    """The column and the threshold of one split."""
    if not isinstance(node, Mapping):
        raise InputError(
            f"{FORCED} must be a dict with 'feature', 'threshold', and 'left' and 'right' for the splits below, not {node!r}."
        )
    for field in node:
        if field not in _FIELDS:
            raise InputError(
                f"{FORCED} has the field {field!r}; a split has 'feature', 'threshold', 'left' and 'right'."
            )
    for field in _FIELDS[:2]:
        if field not in node:
            raise InputError(f"{FORCED} has a split without {field!r}: {dict(node)!r}.")
    position = column_positions([node["feature"]], schema.names, FORCED)[0]
    return position, _threshold(node["threshold"], schema.columns[position])


def _threshold(threshold: Any, column: Column) -> float:
    """The number, or the code of the category, at which a column is split."""
    if column.kind == "categorical":
        try:
            code = column.codes[threshold]
        except TypeError:  # a list has no place in a dictionary
            code = math.nan
        if math.isnan(code):
            raise InputError(
                f"{FORCED} splits off {threshold!r}, which is no category of the column {column.name!r}."
            )
        return code
    if isinstance(threshold, bool) or not isinstance(threshold, numbers.Real) or math.isnan(threshold):
        raise InputError(f"{FORCED} must split the column {column.name!r} at a number, not at {threshold!r}.")
    return float(threshold)


def _check_path(path: frozenset[int], schema: Schema, groups: Sequence[Sequence[int]]) -> None:
    if groups and len(path) > 1 and not any(path <= set(group) for group in groups):
        names = ", ".join(repr(schema.names[column]) for column in sorted(path))
        raise InputError(f"{FORCED} puts {names} on one path, which interaction_constraints do not allow.")
