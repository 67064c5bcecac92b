"""`ExtMemQuantileDMatrix`: rows that are read in batches, and kept on disk as bins."""

from __future__ import annotations

import math
from typing import Any

from weald.dialects.shared.tables import frame_types, is_frame
from weald.dialects.xgboost.batches import DataIter, stored
from weald.dialects.xgboost.dmatrix import (
    BYTE_BINS,
    DEFAULT_BINS,
    MOST_BINS,
    DMatrix,
    QuantileDMatrix,
    kind_of,
    without_value,
)
from weald.dialects.xgboost.positional import by_position
from weald.dialects.xgboost.refusals import OF_EXTERNAL, REFUSALS
from weald.runtime.errors import InputError, NotSupportedError


class ExtMemQuantileDMatrix(QuantileDMatrix):
    """A `QuantileDMatrix` of a `DataIter` whose rows are binned at once and kept on disk, below the iterator's cache_prefix.

    Training reads them from there (see docs/larger_than_memory.md). It has no rows to predict from: predict batch by batch.
    """

    @by_position
    @REFUSALS.arguments(OF_EXTERNAL)
    def __init__(
        self,
        data: DataIter,
        *,
        missing: float | None = None,
        nthread: int | None = None,
        max_bin: int | None = None,
        ref: DMatrix | None = None,
        enable_categorical: bool = False,
        max_quantile_batches: int | None = None,
        cache_host_ratio: float | None = None,
    ) -> None:
        if not isinstance(data, DataIter):
            raise InputError(f"data must be a DataIter, not {type(data).__name__}; use QuantileDMatrix.")
        if ref is not None and not isinstance(ref, ExtMemQuantileDMatrix):
            raise InputError(f"ref must be an ExtMemQuantileDMatrix, not {type(ref).__name__}.")
        own = ref.max_bin if max_bin is None and ref is not None else max_bin
        bins = own or DEFAULT_BINS
        most = BYTE_BINS if bins == BYTE_BINS + 1 else min(bins, MOST_BINS)
        keeps = missing is None or math.isnan(float(missing))

        def read(table: Any) -> tuple[Any, list[str] | None]:
            kinds = [kind_of(dtype) for dtype in frame_types(table).values()] if is_frame(table) else None
            return (table if keeps else without_value(table, float(missing or 0.0), kinds)), kinds

        found = stored(data, most, read, None if ref is None else ref.source)
        self.source = store = found.store
        self._shape = store.shape
        self.nthread, self.enable_categorical = nthread, enable_categorical
        self.categories = [None] * self.num_col() if store.schema.named else None  # as of a frame without any
        self._names, self._kinds = found.names, found.kinds
        rows = store.table()
        self._label, self._weight = rows.labels, rows.weight
        self.max_bin, self._ref = own, ref

    @property
    def categorical(self) -> list[int]:
        """None are declared."""
        return []

    def get_data(self) -> Any:
        """Refused: there are bins, and no values."""
        raise NotSupportedError("get_data is of values, but rows on disk are bins; use QuantileDMatrix.")

    def slice(self, rindex: Any, allow_groups: bool = False) -> DMatrix:
        """Refused: rows on disk are trained on together."""
        raise NotSupportedError("slice is not there for rows on disk; use QuantileDMatrix.")
