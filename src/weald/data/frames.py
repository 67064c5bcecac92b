"""Data frames of any library that narwhals knows, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from weald.data.columns import Rows
from weald.data.containers import check_shape
from weald.data.schema import Kind
from weald.data.series import decoded, open_series
from weald.data.tables import Coding, ColumnTable, row_steps
from weald.data.whole_numbers import first_collapse
from weald.runtime.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from weald.data.dataset import Source


class FrameTable:
    """Any eager data frame that narwhals knows; all of it at once where its columns are of like types."""

    def __init__(self, frame: nw.DataFrame[Any], names: tuple[str, ...], named: bool) -> None:
        self.n_rows = len(frame)
        self.names = names
        self.named = named
        self._frame = frame

    @cached_property
    def _by_column(self) -> ColumnTable:
        columns = zip(self._frame.iter_columns(), self.names, strict=True)
        opened = [open_series(series, name) for series, name in columns]
        return ColumnTable(opened, self.n_rows, self.names, self.named)

    @cached_property
    def _at_once(self) -> Callable[[Rows], NDArray[Any]] | None:
        """Rows -> floats for a frame without strings, in one call of its own library."""
        if self._frame.implementation.is_pandas():
            native = self._frame.to_native()
            types = set(native.dtypes)
            if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in types):
                single = types == {np.dtype(np.float32)}
                return lambda rows: native.iloc[rows].to_numpy(np.float32 if single else np.float64)
            return None  # its nullable types turn to objects together, and to floats one by one
        if set(self._frame.schema.values()) in ({nw.Float64()}, {nw.Float32()}):
            frame = self._frame  # and not self: a cycle would keep the rows until garbage is looked for
            return lambda rows: frame[rows, :].to_numpy()
        return None

    def kinds(self) -> list[Kind]:
        return self._by_column.kinds() if self._at_once is None else ["numeric"] * len(self.names)

    def all_missing(self, position: int) -> bool:
        return self._by_column.all_missing(position)

    def is_text(self, position: int) -> bool:
        return self._at_once is None and self._by_column.is_text(position)

    def check_numbers(self, positions: Iterable[int]) -> None:
        if self._at_once is not None:
            if not self._frame.implementation.is_pandas():
                return  # floats
            native = self._frame.to_native()
            blocks = (native.select_dtypes(dtype).to_numpy().ravel() for dtype in ("int64", "uint64"))
            if all(first_collapse(block) is None for block in blocks):
                return
        self._by_column.check_numbers(positions)

    def counts(self, position: int) -> dict[Any, int]:
        return self._by_column.counts(position)

    def source(self, order: Sequence[int], coding: Coding) -> Source:
        if self._at_once is None or any(codes is not None for codes in coding):
            return self._by_column.source(order, coding)
        return FrameSource(self._at_once, self.n_rows, order)


class FrameSource:
    """Blocks that a data frame converts at once, columns put in order afterwards."""

    whole = None

    def __init__(self, convert: Callable[[Rows], NDArray[Any]], n_rows: int, order: Sequence[int]) -> None:
        self.n_rows = n_rows
        self._convert = convert
        self._order = None if list(order) == sorted(order) else list(order)

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        for rows in row_steps(self.n_rows, step):
            yield rows.start, self.take(rows)

    def take(self, rows: Rows) -> NDArray[Any]:
        block = self._convert(rows)
        return block if self._order is None else block[:, self._order]


def eager_frame(X: Any) -> nw.DataFrame[Any]:
    """A data frame as narwhals has it; its columns must differ by name."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    try:
        frame: nw.DataFrame[Any] = nw.from_native(X, eager_only=True)
        list(frame.columns)
        repeated = len(set(names)) < len(names)
    except DuplicateError:
        repeated = True
    if repeated:
        label, count = Counter(names).most_common(1)[0]
        raise InputError(
            f"Column names must differ from each other, but {label!r} occurs {count} times: rename or drop "
            "columns."
        )
    return frame


def open_frame(X: Any, least_rows: int = 1) -> FrameTable:
    """The table of an eager data frame, checked for its shape and the names of its columns."""
    frame = eager_frame(X)
    labels: list[Any] = list(frame.columns)
    check_shape((len(frame), len(labels)), least_rows)
    types = sorted({type(label).__qualname__ for label in labels})
    named = all(isinstance(label, str) for label in labels)
    if not named and any(isinstance(label, str) for label in labels):
        raise InputTypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as column name types: convert them all, for example with X.columns = "
            "X.columns.astype(str)."
        )
    return FrameTable(frame, tuple(str(label) for label in labels), named)


def array_of_frame(values: Any) -> NDArray[Any]:
    """All columns of a frame as one array of strings, booleans or numbers."""
    frame = nw.from_native(values, eager_only=True)
    columns = [decoded(series).to_numpy() for series in frame.iter_columns()]
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))
