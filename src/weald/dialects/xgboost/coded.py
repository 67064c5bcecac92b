"""Categories as numbers: a table of codes for a model that was trained on a frame's categories, as XGBoost reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.dialects.shared.tables import frame_types, is_category, is_frame
from weald.dialects.shared.team_rows import TeamRows
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

if TYPE_CHECKING:
    from weald.dialects.xgboost.dmatrix import DMatrix

#: the categories of every column in the order of their codes; None of a column of numbers
Dictionaries = Sequence[Sequence[Any] | None]


class Categories:
    """The categories of columns, as `get_categories` gives them.

    >>> Categories(["size"], None, False).empty()
    True
    """

    def __init__(self, names: Sequence[str], dictionaries: Dictionaries | None, exported: bool) -> None:
        self._names = names
        self._dictionaries = dictionaries or [None] * len(names)
        self._exported = exported

    def empty(self) -> bool:
        """Whether no column has categories."""
        return all(values is None for values in self._dictionaries)

    def to_arrow(self) -> list[tuple[str, Any]]:
        """(name, Arrow array of the categories) of every column, None in place of the array where it has none."""
        if not self._exported:
            raise InputError("to_arrow needs get_categories(export_to_arrow=True).")
        arrow = load_extra("pyarrow", "to_arrow")
        return [
            (name, None if values is None else arrow.array(list(values)))
            for name, values in zip(self._names, self._dictionaries, strict=True)
        ]


def categories_of(frame: Any) -> list[list[Any] | None]:
    """The categories of a frame's columns in the order of their codes."""
    opened = nw.from_native(frame, eager_only=True)
    return [_values_of(column) if is_category(column.dtype) else None for column in opened.iter_columns()]


def _values_of(column: nw.Series[Any]) -> list[Any]:
    native: Any = column.to_native()
    if nw.dependencies.is_pandas_series(native):
        return list(native.cat.categories.tolist())
    if nw.dependencies.is_pyarrow_chunked_array(native):
        return list(native.unify_dictionaries().combine_chunks().dictionary.to_pylist())
    if isinstance(column.dtype, nw.Enum):
        return list(column.dtype.categories)
    return list(
        column.drop_nulls().unique(maintain_order=True).to_list()
    )  # polars' own codes are of the whole process


def table_by_names(matrix: DMatrix, categories: Dictionaries | None, names: Sequence[str]) -> Any:
    """A matrix's table with categories by name, where the model knows them from a frame.

    Numbers of an array are codes of them, and one that is none is missing. A frame must have categories where the model's had.
    """
    table = matrix.table
    if categories is None or all(values is None for values in categories) or isinstance(table, TeamRows):
        return table
    if is_frame(table):
        _check_kinds(table, categories)
        return table
    if table.shape[1] != len(categories):
        return table  # which is refused with the numbers of columns
    dense = _dense(table)
    return {
        name: dense[:, place] if values is None else _named(dense[:, place], values)
        for place, (name, values) in enumerate(zip(names, categories, strict=True))
    }


def _check_kinds(frame: Any, categories: Dictionaries) -> None:
    for (name, dtype), values in zip(frame_types(frame).items(), categories, strict=False):
        if values is not None and not is_category(dtype):
            raise InputError(
                f"Column {name!r} held categories in training, but now it is of type {dtype}; make it a category column."
            )


def _dense(table: Any) -> NDArray[Any]:
    if not scipy.sparse.issparse(table):
        return np.asarray(table)
    dense = np.full(table.shape, np.nan)
    stored = table.tocoo()
    dense[stored.row, stored.col] = stored.data
    return dense


def _named(codes: NDArray[Any], values: Sequence[Any]) -> NDArray[Any]:
    known = np.array([*values, None], dtype=object)
    numbers = np.asarray(codes, np.float64)
    inside = (numbers >= 0.0) & (numbers < len(values))
    return known[np.where(inside, numbers, len(values)).astype(np.int64)]
