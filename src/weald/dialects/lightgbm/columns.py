"""What a model remembers of its training table beside names and categories, for dumps and for arrays of a frame's codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.data import Schema
from weald.data.missing import Missing
from weald.dialects.shared.tables import is_category, is_frame, take_rows
from weald.estimators.shared.plain import plain
from weald.runtime.errors import ModelFileError

#: of every column of a frame its categories in their order, None where it has none; None: no frame
Categories = list[list[Any] | None] | None

_MOST_CELLS = 2**24  # a tenth of a second


@dataclass(frozen=True)
class ColumnFacts:
    """One entry a column: the least and largest number (None: there is none that is finite), and whether any was missing.

    ``categories``: of a frame's category columns its categories in their order, None of others; None: no frame.
    """

    low: list[float | None]
    high: list[float | None]
    holes: list[bool]
    categories: Categories

    @property
    def pandas_categorical(self) -> list[list[Any]] | None:
        """The categories of the frame's category columns alone."""
        return None if self.categories is None else [one for one in self.categories if one is not None]

    def missing_type(self, column: int, is_categorical: bool, missing: Missing) -> str:
        """LightGBM's word for what is missing in a column."""
        if missing == "none":
            return "None"
        if missing == "zero" and not is_categorical:
            return "Zero"
        return "NaN" if self.holes[column] else "None"

    def infos(self, names: list[str], schema: Schema) -> dict[str, dict[str, Any]]:
        """LightGBM's ``feature_infos``, with categories by name; columns of a single value have none."""
        found: dict[str, dict[str, Any]] = {}
        for name, column, low, high in zip(names, schema.columns, self.low, self.high, strict=True):
            if column.kind == "categorical":
                last = len(column.categories) - 1
                found[name] = {"min_value": -1, "max_value": last, "values": list(column.categories)}
            elif low != high:
                found[name] = {"min_value": low, "max_value": high, "values": []}
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {"low": self.low, "high": self.high, "holes": self.holes, "categories": self.categories}


def facts_of(table: Any, rows: int, categories: Categories = None) -> ColumnFacts:
    """The facts of a table, from at most so many of its rows, evenly spread; fewer of a wide table that is not sparse.

    ``categories``: those of a frame before its columns were made numbers.
    """
    n_rows = int(table.shape[0])
    if not scipy.sparse.issparse(table):
        rows = min(rows, max(1, _MOST_CELLS // int(table.shape[1])))
    if n_rows > rows:
        table = take_rows(table, np.linspace(0, n_rows - 1, rows).astype(np.int64))
    if is_frame(table):
        low, high, holes = _of_frame(table)
    else:
        low, high, holes = _of_sparse(table) if scipy.sparse.issparse(table) else _of_array(table)
    return ColumnFacts(_finite(low), _finite(high), holes.tolist(), categories)


def facts_from_json(stored: Any, n_columns: int) -> ColumnFacts:
    """The facts of a file's header, checked."""
    names = {"low", "high", "holes", "categories"}
    if not isinstance(stored, dict) or set(stored) != names:
        raise ModelFileError("The file's facts of columns must have low, high, holes and categories.")
    lists = [stored[name] for name in ("low", "high", "holes")]
    if not all(isinstance(values, list) and len(values) == n_columns for values in lists):
        raise ModelFileError("The file's facts of columns must be one a column.")
    categories = stored["categories"]
    if categories is not None and not (
        isinstance(categories, list)
        and len(categories) == n_columns
        and all(values is None or isinstance(values, list) for values in categories)
    ):
        raise ModelFileError("The file's categories of a frame must be lists, one a column.")
    low, high, holes = lists
    return ColumnFacts(low, high, holes, categories)


def as_trained(table: Any, schema: Schema, facts: ColumnFacts | None) -> Any:
    """A table for a model of a frame with category columns: in an array its numbers are codes of the frame's categories, and
    columns of a frame whose categories the model reads as numbers are made these.

    Other tables are given back as they are. Codes that the frame does not have, and missing ones, are missing.
    """
    shape: tuple[int, ...] = getattr(table, "shape", ())
    if facts is None or not facts.pandas_categorical or len(shape) != 2 or shape[1] != schema.n_columns:
        return table
    assert facts.categories is not None
    mask = schema.categorical_mask.tolist()
    if is_frame(table):
        numbers = [
            place for place, values in enumerate(facts.categories) if values is not None and not mask[place]
        ]
        return in_codes(table, numbers, facts.categories)
    if not any(mask) or not (
        isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype.kind in "biuf"
    ):
        return table
    columns: dict[str, Any] = {name: table[:, place] for place, name in enumerate(schema.names)}
    for place, categories in enumerate(facts.categories):
        if categories is None or not mask[place]:
            continue
        values = np.array([*categories, None], dtype=object)
        codes = table[:, place].astype(np.float64)
        known = (codes >= 0) & (codes < len(categories))
        columns[schema.names[place]] = values[np.where(known, codes, len(categories)).astype(np.int64)]
    return columns


def categories_of(table: Any) -> Categories:
    """Of a frame's category columns the categories, None of its others; None: the table is no frame."""
    if not is_frame(table):
        return None
    columns = nw.from_native(table, eager_only=True).iter_columns()
    return [_categories(column) if is_category(column.dtype) else None for column in columns]


def ordered_columns(table: Any) -> list[int]:
    """Positions of a frame's columns whose categories have an order."""
    columns = nw.from_native(table, eager_only=True).iter_columns() if is_frame(table) else ()
    types = [getattr(column.to_native(), "dtype", None) for column in columns]
    return [place for place, dtype in enumerate(types) if getattr(dtype, "ordered", False) is True]


def in_codes(table: Any, places: Sequence[int], categories: Categories) -> Any:
    """A frame with the codes of categories in place of these, in some columns; others' categories are missing."""
    if not places or categories is None:
        return table
    frame = nw.from_native(table, eager_only=True)
    changed = []
    for place in places:
        name, known = frame.columns[place], categories[place]
        if known is None or not is_category(frame[name].dtype):
            continue
        codes = _codes(frame[name], known)
        changed.append(nw.new_series(name, codes, nw.Float64(), backend=frame.implementation))
    return nw.to_native(frame.with_columns(*changed)) if changed else table


def _codes(column: nw.Series[Any], known: Sequence[Any]) -> NDArray[np.float64]:
    own = _categories(column)
    place = {value: code for code, value in enumerate(known)}
    new = np.array([*(place.get(value, np.nan) for value in own), np.nan])
    cells = getattr(getattr(column.to_native(), "cat", None), "codes", None)
    if cells is None:
        old = {value: code for code, value in enumerate(own)}
        cells = [len(own) if value is None else old[value] for value in column.to_list()]
    return new[np.asarray(cells, np.int64)]


def _of_frame(table: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    low, high, holes = [], [], []
    for column in nw.from_native(table, eager_only=True).iter_columns():
        if is_category(column.dtype):
            low.append(math.nan)
            high.append(math.nan)
            holes.append(bool(column.is_null().any()))
            continue
        values = column.to_numpy().astype(np.float64).reshape(-1, 1)
        one = _of_array(values)
        low.append(float(one[0][0]))
        high.append(float(one[1][0]))
        holes.append(bool(one[2][0]))
    return np.array(low), np.array(high), np.array(holes, np.bool_)


def _categories(column: nw.Series[Any]) -> list[Any]:
    """The categories in the order of their codes, which narwhals does not keep of pandas."""
    own = getattr(getattr(column.to_native(), "cat", None), "categories", None)
    return [
        plain(value) for value in (column.cat.get_categories().to_list() if own is None else own.tolist())
    ]


def _of_array(values: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    values = np.asarray(values)
    return np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0), (values != values).any(axis=0)


def _of_sparse(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    stored = matrix.tocsc()
    holes = np.zeros(matrix.shape[1], np.bool_)
    places = np.repeat(np.arange(matrix.shape[1]), np.diff(stored.indptr))
    holes[places[stored.data != stored.data]] = True
    low, high = (np.asarray(way(axis=0).todense()).ravel() for way in (stored.nanmin, stored.nanmax))
    return low, high, holes


def _finite(values: NDArray[Any]) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values.tolist()]
