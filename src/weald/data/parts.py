"""One table that comes in parts, from several files or processes: each part says what it holds, and all become one schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weald.data.categories import dictionary
from weald.data.dataset import Dataset
from weald.data.missing import Missing, with_missing
from weald.data.read import Categorical, marked_positions, open_table
from weald.data.schema import Column, Kind, Schema
from weald.data.sparse import Unstored
from weald.data.tables import Table
from weald.data.warned import warn_of_text
from weald.runtime.errors import InputError

#: how often each value of some columns occurs, by the columns' positions
Counts = Mapping[int, Mapping[Any, int]]


@dataclass(frozen=True)
class Columns:
    """The columns of a part, or of several: their names, their kinds, and which of them are text."""

    names: tuple[str, ...]
    named: bool
    kinds: tuple[Kind, ...]
    is_text: tuple[bool, ...]


def open_part(X: Any, unstored: Unstored = "zero") -> Table:
    """A part, opened and not converted; it may have no rows."""
    return open_table(X, unstored, least_rows=0)


def columns_of(table: Table, categorical: Categorical) -> Columns:
    """What one part says of its columns; ``categorical``: those that are so whatever their type."""
    marked = marked_positions(categorical, table.names)
    if table.n_rows:
        own = table.kinds()
        table.check_numbers(
            place for place, kind in enumerate(own) if kind == "numeric" and place not in marked
        )
        text = tuple(place not in marked and table.is_text(place) for place in range(len(own)))
    else:  # any other part knows better
        own, text = ["numeric"] * len(table.names), (False,) * len(table.names)
    kinds: list[Kind] = ["categorical" if place in marked else kind for place, kind in enumerate(own)]
    return Columns(table.names, table.named, tuple(kinds), text)


def join_columns(parts: Sequence[Columns]) -> Columns:
    """The columns of all parts: categorical where they are so in any part.

    >>> first = Columns(("size", "city"), True, ("numeric", "numeric"), (False, False))
    >>> join_columns([first, Columns(("size", "city"), True, ("numeric", "categorical"), (False, True))]).kinds
    ('numeric', 'categorical')
    """
    first = parts[0]
    for number, part in enumerate(parts):
        if len(part.names) != len(first.names):
            raise InputError(
                f"Part {number} of X has {len(part.names)} columns, but part 0 has {len(first.names)}; all must have the same."
            )
        for own, other in zip(part.names, first.names, strict=True):
            if own != other:
                raise InputError(
                    f"Part {number} of X has the column {own!r} where part 0 has {other!r}; all must have the same, in one order."
                )
    kinds: list[Kind] = []
    for place in range(len(first.names)):
        kinds.append("categorical" if any(part.kinds[place] == "categorical" for part in parts) else "numeric")
    text = tuple(any(part.is_text[place] for part in parts) for place in range(len(kinds)))
    return Columns(first.names, any(part.named for part in parts), tuple(kinds), text)


def count_categories(table: Table, columns: Columns) -> Counts:
    """How often each value of the categorical columns occurs in one part."""
    if not table.n_rows:
        return {}
    return {place: table.counts(place) for place, kind in enumerate(columns.kinds) if kind == "categorical"}


def join_counts(parts: Sequence[Counts]) -> Counts:
    """The sums of all parts.

    >>> join_counts([{0: {"a": 2}}, {0: {"a": 1, "b": 1}}])
    {0: Counter({'a': 3, 'b': 1})}
    """
    total: dict[int, Counter[Any]] = {}
    for part in parts:
        for place, counts in part.items():
            total.setdefault(place, Counter()).update(counts)
    return total


def join_schema(columns: Columns, counts: Counts, warns: bool = True) -> Schema:
    """The schema of the whole table; ``warns``: of text that is mostly numbers or dates."""
    found = []
    for place, (name, kind) in enumerate(zip(columns.names, columns.kinds, strict=True)):
        if kind == "numeric":
            found.append(Column(name, "numeric"))
            continue
        own = counts.get(place, {})
        if warns and columns.is_text[place]:
            warn_of_text(name, own)
        found.append(Column(name, "categorical", dictionary(own)))
    return Schema(tuple(found), columns.named)


def read_part(table: Table, schema: Schema, missing: Missing = "nan") -> Dataset:
    """A part of the table that a schema was made of."""
    coding = [column.codes if column.kind == "categorical" else None for column in schema.columns]
    return Dataset(schema, with_missing(table.source(range(schema.n_columns), coding), schema, missing))
