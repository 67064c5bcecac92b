"""What a table looked like in training: names, kinds and category dictionaries; saved with the model."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import ModelFileError

Category = str | int | float | bool
Kind = Literal["numeric", "categorical"]


class Codes(dict[Any, float]):
    """Category -> its code as a float; what is not in the dictionary, missing values included, is NaN."""

    def __missing__(self, category: Any) -> float:
        if isinstance(category, numbers.Number) and not isinstance(category, (int, float)):
            # A Decimal or an extended float was entered in the dictionary as the float nearest to it.
            return self.get(float(category), math.nan)  # type: ignore[arg-type]
        return math.nan


@dataclass(frozen=True)
class Column:
    """One column of the training table.

    ``categories`` is the dictionary of a categorical column, most frequent first; a category's code is its
    position. Values match by equality: ``1``, ``1.0`` and ``True`` are one category, ``"1"`` is another.

    >>> Column("color", "categorical", ("red", "blue")).codes["blue"]
    1.0
    """

    name: str
    kind: Kind
    categories: tuple[Category, ...] = ()

    @cached_property
    def codes(self) -> Codes:
        """The dictionary turned round: category -> code, NaN for anything else."""
        return Codes({category: float(code) for code, category in enumerate(self.categories)})

    def __reduce__(self) -> tuple[Any, ...]:
        # The cached codes would double a pickle and make it depend on what was predicted before.
        return Column, (self.name, self.kind, self.categories)


@dataclass(frozen=True)
class Schema:
    """The columns of the training table, in their order.

    ``named`` is true when the names came from the user's table, and false when they are ``x0``, ``x1``, …
    (an array) or stand for labels that are not strings.

    >>> city = Column("city", "categorical", ("Ulm", "Linz"))
    >>> schema = Schema((Column("age", "numeric"), city), named=True)
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]
    named: bool

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @cached_property
    def categorical_mask(self) -> NDArray[np.bool_]:
        """One boolean a column: whether it is categorical (a read-only array)."""
        mask = np.array([column.kind == "categorical" for column in self.columns], dtype=np.bool_)
        mask.flags.writeable = False
        return mask

    @cached_property
    def dates(self) -> tuple[str, ...]:
        """The columns of dates whose parts are columns of this table (`weald.data.dates.date_parts`)."""
        return tuple(
            name.removesuffix(".days")
            for name in self.names
            if self.named and name.endswith(".days") and f"{name.removesuffix('.days')}.weekday" in self.names
        )

    @cached_property
    def has_categories(self) -> bool:
        """Whether any column is categorical."""
        return any(column.kind == "categorical" for column in self.columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema, (self.columns, self.named)

    def to_json(self) -> dict[str, Any]:
        """The schema as plain JSON data; `from_json` reads it back."""
        columns: list[dict[str, Any]] = []
        for column in self.columns:
            entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
            if column.kind == "categorical":
                entry["categories"] = [_category_to_json(category) for category in column.categories]
            columns.append(entry)
        return {"named": self.named, "columns": columns}

    @staticmethod
    def from_json(obj: object) -> Schema:
        """Read what `to_json` wrote; anything else raises a `ModelFileError` that says what is wrong."""
        if not isinstance(obj, Mapping) or set(obj) != {"named", "columns"}:
            raise ModelFileError("The schema must be an object with the fields 'named' and 'columns' only.")
        if not isinstance(obj["named"], bool):
            raise ModelFileError(f"The schema's 'named' must be true or false, not {obj['named']!r}.")
        if not isinstance(obj["columns"], (list, tuple)) or not obj["columns"]:
            raise ModelFileError("The schema's 'columns' must be a list of at least one column.")
        columns = tuple(_column_from_json(entry, position) for position, entry in enumerate(obj["columns"]))
        if len({column.name for column in columns}) != len(columns):
            raise ModelFileError("The schema's column names must differ from each other.")
        return Schema(columns, obj["named"])


def _column_from_json(entry: object, position: int) -> Column:
    where = f"Column {position} of the schema"
    if not isinstance(entry, Mapping) or not {"name", "kind"} <= set(entry) <= {"name", "kind", "categories"}:
        raise ModelFileError(f"{where} must be an object with the fields 'name', 'kind' and 'categories'.")
    if not isinstance(entry["name"], str):
        raise ModelFileError(f"{where} must have a string as its name, not {entry['name']!r}.")
    if entry["kind"] == "numeric":
        if "categories" in entry:
            raise ModelFileError(f"{where} is numeric and must not have categories.")
        return Column(entry["name"], "numeric")
    if entry["kind"] != "categorical":
        raise ModelFileError(f"{where} must be 'numeric' or 'categorical', not {entry['kind']!r}.")
    if not isinstance(entry.get("categories"), (list, tuple)):
        raise ModelFileError(f"{where} is categorical and must have a list of categories.")
    categories = tuple(_category_from_json(value, where) for value in entry["categories"])
    if len(set(categories)) != len(categories):
        raise ModelFileError(f"{where} has a category twice.")
    return Column(entry["name"], "categorical", categories)


def _category_to_json(category: Category) -> Any:
    # JSON has no infinities; they are categories only when a numeric column was declared categorical.
    if isinstance(category, float) and math.isinf(category):
        return {"float": "inf" if category > 0 else "-inf"}
    return category


def _category_from_json(value: object, where: str) -> Category:
    if value == {"float": "inf"}:
        return math.inf
    if value == {"float": "-inf"}:
        return -math.inf
    if isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ModelFileError(
        f"{where} has the category {value!r}, which is neither a string nor a finite number."
    )
