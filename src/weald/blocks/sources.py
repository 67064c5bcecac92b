"""Where the rows of a store come from: anything that gives the same batches again and again, in one order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from weald.binning.parts import Part
from weald.data.containers import is_frame, is_sparse
from weald.runtime.errors import InputError, InputTypeError


class Source(Protocol):
    """Rows in batches, which can be read several times."""

    def batches(self, rows: int) -> Iterator[Part]:
        """All batches from the first, of about so many rows where that can be chosen; labels are None where there are none."""

    def identity(self) -> dict[str, Any]:
        """What tells this source from others, as plain JSON data: a build that goes on must have the same."""

    def opened(self, folder: Path) -> AbstractContextManager[Source]:
        """The source, ready to be read several times; what that needs on disk is written to the folder."""


class ReadySource:
    """A source that needs nothing before it is read."""

    def opened(self, folder: Path) -> AbstractContextManager[Any]:
        """The source itself."""
        return nullcontext(self)


@dataclass(frozen=True)
class Targets:
    """Labels and weights: names of columns, or arrays beside a table in memory; and columns that are left out."""

    target: Any = None
    weight: Any = None
    drop: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns that are no features."""
        return [name for name in (self.target, self.weight, *self.drop) if isinstance(name, str)]

    def split(self, table: Any) -> Part:
        """A batch whose labels and weights are columns of it; missing ones stay None."""
        if not self.names:
            return Part(table, None)
        found = {name: _column(table, name) for name in self.names}
        y = found[self.target] if isinstance(self.target, str) else None
        weight = found[self.weight] if isinstance(self.weight, str) else None
        return Part(_without(table, self.names), y, weight)


@dataclass(frozen=True)
class TableSource(ReadySource):
    """A table in memory: an array, a data frame, a sparse matrix, a dict of columns."""

    table: Any
    targets: Targets

    def batches(self, rows: int) -> Iterator[Part]:
        """Slices of the table."""
        y, weight = (
            None if isinstance(one, str) else one for one in (self.targets.target, self.targets.weight)
        )
        n_rows = _n_rows(self.table)
        for name, one in (("target", y), ("weight", weight)):
            if one is not None and _n_rows(one) != n_rows:
                raise InputError(f"{name} has {_n_rows(one)} values, but the table has {n_rows} rows.")
        for first in range(0, max(1, n_rows), rows):
            here = slice(first, min(first + rows, n_rows))
            part = self.targets.split(_rows_of(self.table, here))
            yield Part(
                part.X,
                part.y if y is None else _rows_of(y, here),
                part.weight if weight is None else _rows_of(weight, here),
            )

    def identity(self) -> dict[str, Any]:
        """Its size; a build that goes on compares the labels themselves."""
        return {"kind": "table", "rows": _n_rows(self.table)}


@dataclass(frozen=True)
class BatchSource(ReadySource):
    """A function that gives a new iterator of batches whenever it is called, or an object that can be iterated again.

    A batch is ``(X, y)``, ``(X, y, weight)``, or a table whose columns ``target`` and ``weight`` name.
    """

    make: Callable[[], Iterable[Any]]
    targets: Targets

    def batches(self, rows: int) -> Iterator[Part]:
        """The batches as they come."""
        batches = self.make()
        if not isinstance(batches, Iterable):
            raise InputTypeError(f"source must give an iterator of batches when it is called, not {batches!r}.")
        for batch in batches:
            if isinstance(batch, tuple) and len(batch) in (2, 3):
                yield Part(*batch)
            else:
                yield self.targets.split(batch)

    def identity(self) -> dict[str, Any]:
        """Nothing is known of it; a build that goes on compares the labels."""
        return {"kind": "batches"}


def open_source(source: Any, target: Any = None, weight: Any = None, drop: Sequence[str] = ()) -> Source:
    """The source of what a user gives: see `weald.BlockStore.build`."""
    targets = Targets(target, weight, tuple(drop))
    if isinstance(source, str | os.PathLike) or _is_paths(source):
        from weald.blocks.arrow_sources import open_files

        _check_names(targets)
        return open_files(source, targets)
    if _is_of(source, "pyarrow.dataset", "pyarrow._dataset"):
        from weald.blocks.arrow_sources import DatasetSource

        _check_names(targets)
        return DatasetSource(source, targets)
    if _is_of(source, "polars.lazyframe"):
        from weald.blocks.arrow_sources import LazySource

        _check_names(targets)
        return LazySource(source, targets)
    if is_sparse(source):
        return TableSource(source.tocsr(), targets)
    if is_frame(source) or isinstance(source, np.ndarray | dict | list):
        return TableSource(source, targets)
    if callable(source):
        _check_names(targets)
        return BatchSource(source, targets)
    if isinstance(source, Iterator):
        raise InputTypeError(
            f"source is a {type(source).__name__}, which can be read only once, and a store reads its rows three times: pass "
            "the function that makes it, without calling it."
        )
    if isinstance(source, Iterable):
        _check_names(targets)
        return BatchSource(lambda: source, targets)
    raise InputTypeError(
        "source must be a folder or files of Parquet, Arrow or CSV, a dataset of pyarrow, a LazyFrame, a function that gives "
        f"batches, or a table, not {type(source).__name__}."
    )


def _check_names(targets: Targets) -> None:
    for name, value in (("target", targets.target), ("weight", targets.weight)):
        if value is not None and not isinstance(value, str):
            raise InputTypeError(f"{name} must be the name of a column of this source, not {type(value).__name__}.")


def _is_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(one, str | os.PathLike) for one in source)


def _is_of(value: Any, *modules: str) -> bool:
    """Whether a value's class is of one of these modules, none of which is imported to find out."""
    return any(kind.__module__.startswith(modules) for kind in type(value).__mro__)


def _n_rows(table: Any) -> int:
    if isinstance(table, dict):
        return len(next(iter(table.values()))) if table else 0
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _rows_of(table: Any, here: slice) -> Any:
    """Some rows of a table, or of a column, of any kind."""
    if isinstance(table, dict):
        return {name: _rows_of(values, here) for name, values in table.items()}
    if hasattr(table, "iloc"):
        return table.iloc[here]
    if hasattr(table, "slice") and not isinstance(table, np.ndarray):
        return table.slice(here.start, here.stop - here.start)
    return table[here]


def _column(table: Any, name: str) -> Any:
    if isinstance(table, dict):
        names = list(table)
    elif is_frame(table):
        frame = _frame(table)
        names = list(frame.columns)
    else:
        raise InputError(
            f"The column {name!r} is asked for by name, but rows come as {type(table).__name__}, whose columns have no names; "
            "give labels beside it."
        )
    if name not in names:
        raise InputError(f"The source has no column {name!r}; its columns are {', '.join(map(str, names[:20]))}.")
    return table[name] if isinstance(table, dict) else frame[name].to_native()


def _without(table: Any, names: list[str]) -> Any:
    if isinstance(table, dict):
        return {name: values for name, values in table.items() if name not in names}
    return _frame(table).drop(names).to_native()


def _frame(table: Any) -> Any:
    import narwhals as nw

    return nw.from_native(table, eager_only=True)
