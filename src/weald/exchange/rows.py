"""Which slots a member of a model reads for its own columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weald.data import Column, Schema
from weald.data.missing import Missing
from weald.exchange.model import Builder, Lookup, Slots
from weald.runtime.errors import NotSupportedError


@dataclass(frozen=True)
class Row:
    """A table as a member is given it: columns, and the slot of each."""

    columns: tuple[Column, ...]
    named: bool
    slots: Slots

    def take(self, places: Sequence[int]) -> Row:
        """Some of the columns; one that is taken twice leaves them without names."""
        columns = tuple(self.columns[place] for place in places)
        named = self.named and len(set(places)) == len(places)
        return Row(columns, named, tuple(self.slots[place] for place in places))

    def beside(self, other: Row) -> Row:
        """These columns and then others, without names."""
        return Row(self.columns + other.columns, False, self.slots + other.slots)


def row_of(builder: Builder) -> Row:
    """The whole table."""
    return Row(builder.schema.columns, builder.schema.named, builder.columns)


def numbers_row(slots: Slots) -> Row:
    """What steps have made, as a table of numbers."""
    return Row(tuple(Column(f"x{place}", "numeric") for place in range(len(slots))), False, slots)


def reads_for(builder: Builder, row: Row, schema: Schema) -> Slots:
    """The slots that a model with this schema reads; codes of another dictionary are looked up."""
    order: Sequence[int] = range(schema.n_columns)
    if row.named and schema.named:
        places = {column.name: place for place, column in enumerate(row.columns)}
        order = [places[name] for name in schema.names]
    return tuple(
        _read(builder, row.columns[place], row.slots[place], column)
        for place, column in zip(order, schema.columns, strict=True)
    )


def _read(builder: Builder, given: Column, slot: int, wanted: Column) -> int:
    if given.kind == wanted.kind and given.categories == wanted.categories:
        return slot
    if given.kind != wanted.kind:
        raise NotSupportedError(
            f"Column {wanted.name!r} is {given.kind} to one member and {wanted.kind} to another; such a model cannot be exported."
        )
    codes = [wanted.codes[category] for category in given.categories]
    known = np.flatnonzero(~np.isnan(codes))
    cells = np.array(codes)[known][None]
    (found,) = builder.add(
        Lookup((slot,), (len(codes) + 1,), known.astype(np.int64), cells, np.array([np.nan]))
    )
    return found


def united(schemas: Sequence[Schema]) -> Schema:
    """The columns of several members, with the categories of all of them."""
    first = schemas[0]
    columns = list(first.columns)
    for schema in schemas[1:]:
        if schema.n_columns != first.n_columns:
            raise NotSupportedError("Members with different columns cannot be exported together.")
        by_name = {column.name: column for column in schema.columns}
        named = first.named and schema.named
        for place, column in enumerate(columns):
            other = by_name.get(column.name, schema.columns[place]) if named else schema.columns[place]
            new = tuple(one for one in other.categories if one not in set(column.categories))
            if new:
                columns[place] = replace(column, categories=column.categories + new)
    return Schema(tuple(columns), first.named)


def one_missing(found: Sequence[Missing]) -> Missing:
    """What counts as missing, which must be the same for all members."""
    kinds = set(found) or {"nan"}
    if len(kinds) > 1:
        raise NotSupportedError(
            "Members that take different numbers for missing (bins=weald.Bins(missing=...)) cannot be exported together."
        )
    return next(iter(kinds))
