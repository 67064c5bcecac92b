"""Rows in batches: `DataIter`, and the matrix that keeps its rows on disk."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import narwhals as nw
import numpy as np
import scipy.sparse

from weald.blocks import BlockStore
from weald.dialects.shared.tables import is_frame
from weald.dialects.xgboost.paths import FromFile
from weald.dialects.xgboost.refusals import ITERATOR_METHODS, OF_MATRIX, REFUSALS
from weald.estimators.boosted.boosted import BoostedTreesRegressor
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.flat import from_flat

ReadBatch = Callable[[Any], tuple[Any, list[str] | None]]

_ROW_FIELDS = ("label", "weight", "base_margin")


@REFUSALS.methods(ITERATOR_METHODS)
class DataIter:
    """Rows in batches: subclass it, and let ``next`` hand over one batch after the other.

    Parameters
    ----------
    cache_prefix : where an `ExtMemQuantileDMatrix` keeps its rows: below the folder of this path; None: the temporary folder
    release_data, on_host, min_cache_page_bytes : nothing here depends on them: a batch is let go of when it was read, and its
        rows are on disk

    >>> class Two(DataIter):
    ...     def reset(self) -> None:
    ...         self._left = 2
    ...     def next(self, input_data) -> bool:
    ...         self._left -= 1
    ...         if self._left >= 0:
    ...             input_data(data=[[1.0 + self._left]], label=[0.0])
    ...         return self._left >= 0
    >>> from weald.xgboost import DMatrix
    >>> DMatrix(Two()).num_row()
    2
    """

    def __init__(
        self,
        cache_prefix: str | None = None,
        release_data: bool = True,
        *,
        on_host: bool = True,
        min_cache_page_bytes: int | None = None,
    ) -> None:
        self.cache_prefix = cache_prefix

    def next(self, input_data: Any) -> bool | int:
        """Call ``input_data(data=..., label=...)`` with the next batch; False where there is none."""
        raise NotImplementedError("a DataIter needs a method next(input_data).")

    def reset(self) -> None:
        """Go back to the first batch."""
        raise NotImplementedError("a DataIter needs a method reset().")


def batches_of(iterator: DataIter) -> Iterator[dict[str, Any]]:
    """What ``input_data`` is called with, from the first batch on."""
    given: list[dict[str, Any]] = []

    @REFUSALS.arguments(OF_MATRIX)
    def input_data(
        *,
        data: Any,
        label: Any = None,
        weight: Any = None,
        base_margin: Any = None,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_weights: Any = None,
    ) -> None:
        found = {"label": label, "weight": weight, "base_margin": base_margin}
        given.append({"data": data, "feature_names": feature_names, "feature_types": feature_types, **found})

    iterator.reset()
    while iterator.next(input_data):
        if not given:
            raise InputError("DataIter.next gave no batch, but said that there are more: call input_data(data=...) in it.")
        yield from given
        given.clear()


def put_together(iterator: DataIter) -> FromFile:
    """All batches as one table in memory."""
    batches = list(batches_of(iterator))
    if not batches:
        raise InputError("the DataIter has no batches: its next must call input_data(data=...) and return True.")
    fields = {}
    for name in _ROW_FIELDS:
        parts = [batch[name] for batch in batches]
        if any(part is not None for part in parts):
            if any(part is None for part in parts):
                raise InputError(f"some batches of the DataIter have {name} and others have none.")
            fields[name] = np.concatenate([np.asarray(part) for part in parts])
    first = batches[0]
    table = _stacked([batch["data"] for batch in batches])
    return FromFile(table, fields, first["feature_names"], first["feature_types"])


def _stacked(tables: Sequence[Any]) -> Any:
    if is_frame(tables[0]):
        return nw.to_native(nw.concat([nw.from_native(table, eager_only=True) for table in tables]))
    if scipy.sparse.issparse(tables[0]):
        return scipy.sparse.vstack(tables, format="csr")
    return np.concatenate([np.asarray(table) for table in tables])


@dataclass
class StoredRows:
    """Rows on disk, and what the iterator said of their columns."""

    store: BlockStore
    names: list[str] | None
    kinds: list[str] | None


def stored(iterator: DataIter, most_bins: int, read: ReadBatch, like: BlockStore | None) -> StoredRows:
    """All batches as a store, which is removed with the last reference to it; ``read``: table -> (with NaN, kinds or None)."""
    said: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="weald-", dir=_folder_of(iterator)))

    def source() -> Iterator[Any]:
        for batch in batches_of(iterator):
            if batch["base_margin"] is not None:
                _refuse("base_margin")
            table, kinds = read(batch["data"])
            kinds = kinds or batch["feature_types"]
            if "c" in (kinds or ()):
                _refuse("a column of categories")
            said.update(names=batch["feature_names"], kinds=kinds)
            if not is_frame(table) and not scipy.sparse.issparse(table):
                table = np.asarray(table)
            yield (table, batch["label"]) if batch["weight"] is None else (table, batch["label"], batch["weight"])

    try:
        estimator = None
        if like is None:
            estimator = BoostedTreesRegressor(**from_flat({"max_bins": most_bins, "unstored": "missing"}))
        store = BlockStore.build(source, folder / "store", estimator=estimator, like=like)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)
    schema = store.schema
    names = list(schema.names) if schema.named else said["names"]
    return StoredRows(store, None if names is None else list(names), None if said["kinds"] is None else list(said["kinds"]))


def _folder_of(iterator: DataIter) -> Path | None:
    if iterator.cache_prefix is None:
        return None
    folder = Path(iterator.cache_prefix).parent
    if not folder.is_dir():
        raise InputError(f"cache_prefix is {iterator.cache_prefix!r}, but there is no folder {str(folder)!r}.")
    return folder


def _refuse(what: str) -> NoReturn:
    raise NotSupportedError(f"{what} is not there for rows on disk; leave it out, or use QuantileDMatrix.")
