"""`DMatrix`: a table with labels, weights, margins and names, as XGBoost has it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.binning import BinChoices, fit_bins
from weald.data import read_table
from weald.dialects.shared.rows import LabelledRows
from weald.dialects.shared.tables import (
    Float32s,
    Float64s,
    as_array,
    declared_numbers,
    frame_types,
    is_category,
    is_frame,
    single,
)
from weald.dialects.shared.values import names_of_columns
from weald.dialects.xgboost.batches import DataIter, put_together
from weald.dialects.xgboost.coded import Categories, categories_of
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.paths import FromFile, read_path, write_binary
from weald.dialects.xgboost.positional import by_position
from weald.dialects.xgboost.refusals import MATRIX_METHODS, MERGED, OF_MATRIX, REFUSALS
from weald.runtime.errors import InputError, NotSupportedError

MOST_BINS = 65_535
BYTE_BINS = 255  # of a cell of one byte, and the most that are proposed anew for a tree
DEFAULT_BINS = 256  # where no number is given
_MARGIN = 1e-5  # how far the outermost cuts of XGBoost's are from all values
_KINDS = ("q", "i", "int", "float", "c")


class DataSplitMode(IntEnum):
    """How a matrix is shared among machines."""

    ROW = 0
    COL = 1


@DOOR.owner
@REFUSALS.methods(MATRIX_METHODS)
class DMatrix(LabelledRows):
    """A table for `train` and `Booster.predict`.

    Parameters
    ----------
    data : array, pandas or polars frame, Arrow table, SciPy sparse matrix (what it does not store is missing), list of rows,
        or a path: of `save_binary`, or with ?format=libsvm or ?format=csv&label_column=0 (the file is read at once); or a
        `DataIter`, whose batches are put together
    label, weight, base_margin : one value a row; base_margin also one for every class
    feature_weights : one a column; colsample_bytree draws columns by them
    missing : the value that stands for a missing one, besides NaN
    feature_names, feature_types : one a column; the types are q, i, int, float, and c for categories
    enable_categorical : whether category types of frames are taken
    nthread, silent : nothing here asks for them: a table is read when a model is trained, by that model's threads, in silence

    >>> matrix = DMatrix([[1.0, 2.0], [3.0, 4.0]], label=[0, 1])
    >>> matrix.num_row(), matrix.num_col(), matrix.get_label()
    (2, 2, array([0., 1.], dtype=float32))
    """

    _title = "DMatrix"
    _start_name = "base_margin"
    #: how often every column is drawn beside the others
    feature_weights: Float64s | None = None

    @by_position
    @REFUSALS.arguments(OF_MATRIX)
    def __init__(
        self,
        data: Any,
        label: Any = None,
        *,
        weight: Any = None,
        base_margin: Any = None,
        missing: float | None = None,
        silent: bool = False,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        nthread: int | None = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_weights: Any = None,
        enable_categorical: bool = False,
        data_split_mode: Any = 0,
    ) -> None:
        if data_split_mode not in (DataSplitMode.ROW, None) and getattr(data_split_mode, "value", 1) != 0:
            raise NotSupportedError("data_split_mode must be ROW: weald.xgboost trains on one machine.")
        self.nthread = nthread
        self.enable_categorical = enable_categorical
        stored = put_together(data) if isinstance(data, DataIter) else None
        if isinstance(data, str | os.PathLike):
            stored = read_path(data)
        self._open(densified(data) if stored is None else stored.table)
        self._names: list[str] | None = None
        self._kinds: list[str] | None = None
        #: of a frame, the categories of every column in the order of their codes
        self.categories: list[list[Any] | None] | None = None
        if is_frame(self.source):
            self._read_columns()
        if stored is not None:
            self.set_info(**stored.fields, feature_names=stored.names, feature_types=stored.kinds)
        if missing is not None and not math.isnan(float(missing)):
            self.source = without_value(self.source, float(missing), self._kinds)
        self.set_info(
            label=label,
            weight=weight,
            base_margin=base_margin,
            feature_names=feature_names,
            feature_types=feature_types,
            feature_weights=feature_weights,
        )

    def _read_columns(self) -> None:
        """Take the names and kinds of a frame's columns."""
        types = frame_types(self.source)
        for name, dtype in types.items():
            if is_category(dtype) and not self.enable_categorical:
                raise InputError(f"Column {name!r} holds categories; set enable_categorical=True.")
        self._names, self._kinds = list(types), [kind_of(dtype) for dtype in types.values()]
        self.categories = categories_of(self.source)

    @property
    def is_sparse(self) -> bool:
        """Whether the table is a sparse matrix, whose cells that are not stored are missing."""
        return bool(scipy.sparse.issparse(self.source))

    @property
    def categorical(self) -> list[int]:
        """Positions of numeric columns that feature_types declares to be categories."""
        declared = (k for k, kind in enumerate(self._kinds or ()) if kind == "c")
        return declared_numbers(self.source, declared)

    @property
    def has_categories(self) -> bool:
        """Whether any column holds categories."""
        return "c" in (self._kinds or ())

    def num_row(self) -> int:
        """The number of rows."""
        return self.n_rows

    def num_col(self) -> int:
        """The number of columns."""
        return self.n_columns

    def get_categories(self, export_to_arrow: bool = False) -> Categories:
        """The categories of a frame's columns; `to_arrow` has them where ``export_to_arrow``."""
        names = self._names or [str(place) for place in range(self.num_col())]
        return Categories(names, self.categories, export_to_arrow)

    def num_nonmissing(self) -> int:
        """How many cells have a value."""
        if self.is_sparse:
            return int(np.count_nonzero(~np.isnan(self.source.data)))
        return int(sum(np.count_nonzero(~np.isnan(block)) for _, block in self._blocks()))

    def _blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        return read_table(self.source, categorical=self.categorical or "auto", least_rows=0).blocks()

    def get_data(self) -> Any:
        """The cells that have a value as a SciPy CSR matrix, of numbers only."""
        if self.is_sparse:
            return self.source.tocsr()
        dense = np.vstack([np.asarray(block, np.float32) for _, block in self._blocks()])
        rows, columns = np.nonzero(~np.isnan(dense))
        return scipy.sparse.csr_matrix((dense[rows, columns], (rows, columns)), shape=dense.shape)

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns, or None."""
        return None if self._names is None else list(self._names)

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        if names is not None:
            several = [names] if isinstance(names, str) else names
            names = names_of_columns("feature_names", several, self.num_col(), "[]<")
        self._names = names

    @property
    def feature_types(self) -> list[str] | None:
        """Kinds of the columns, or None."""
        return None if self._kinds is None else list(self._kinds)

    @feature_types.setter
    def feature_types(self, kinds: Sequence[str] | None) -> None:
        if kinds is None:
            self._kinds = None
            return
        chosen = [kinds] * self.num_col() if isinstance(kinds, str) else list(kinds)
        if len(chosen) != self.num_col():
            raise InputError(f"feature_types has {len(chosen)} types, but data has {self.num_col()} columns.")
        for kind in chosen:
            if kind not in _KINDS:
                raise InputError(f"feature_types must be of {', '.join(_KINDS)}, not {kind!r}.")
        self._kinds = chosen

    @by_position
    @REFUSALS.arguments(OF_MATRIX)
    def set_info(
        self,
        *,
        label: Any = None,
        weight: Any = None,
        base_margin: Any = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        feature_weights: Any = None,
    ) -> None:
        """Set labels, weights, margins, and names, types and weights of columns; None leaves them as they are."""
        if feature_names is not None:
            self.feature_names = feature_names
        if feature_types is not None:
            self.feature_types = feature_types
        if label is not None:
            self._label = _finite_labels(self._read_label(label))
        if weight is not None:
            self._weight = self._read_weight(weight)
        if base_margin is not None:
            self._start = self._read_start(base_margin)
        if feature_weights is not None:
            self.feature_weights = weights_of_columns(feature_weights, self.num_col())

    def parts(self) -> tuple[Any, ...]:
        """With the weights of columns."""
        return *super().parts(), self.feature_weights

    def save_binary(self, fname: str | os.PathLike[str], silent: bool = True) -> None:
        """Write the matrix to a file of Weald's own, which ``DMatrix(fname)`` reads; ``silent``: nothing is said anyhow.

        A file has numbers: categories of a frame are refused.
        """
        if any(values is not None for values in self.categories or ()):
            raise NotSupportedError(
                "save_binary writes numbers, but data has categories; save the data frame as parquet."
            )
        given = {"label": self._label, "weight": self._weight, "base_margin": self._start}
        fields = {name: np.asarray(values) for name, values in given.items() if values is not None}
        write_binary(fname, FromFile(self.get_data(), fields, self._names, self._kinds))

    def get_quantile_cut(self) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Where the values of each column begin, and the values: below the least, the cuts between bins, above the greatest."""
        bins = getattr(self, "max_bin", None) or DEFAULT_BINS
        dataset = read_table(self.source, categorical=self.categorical or "auto", unstored="missing")
        if dataset.schema.has_categories:
            raise NotSupportedError(
                "get_quantile_cut is of numbers, but data has categories, each of which has its own bin."
            )
        choices = BinChoices(max_bins=BYTE_BINS if bins == BYTE_BINS + 1 else min(bins, MOST_BINS))
        ends = self._ends()
        parts = [
            np.concatenate(([low - (abs(low) + _MARGIN)], cuts, [high + abs(high) + _MARGIN]))
            for cuts, (low, high) in zip(fit_bins(dataset, self._weight, choices).cuts, ends, strict=True)
        ]
        starts = np.cumsum([0, *map(len, parts)])
        return starts.astype(np.uint64), np.concatenate(parts).astype(np.float32)

    def _ends(self) -> list[tuple[float, float]]:
        """The least and the greatest value of every column; 0 where there is none."""
        columns = self.get_data().tocsc()
        cells = np.split(columns.data, columns.indptr[1:-1])
        return [(float(part.min()), float(part.max())) if len(part) else (0.0, 0.0) for part in cells]

    def set_label(self, label: Any) -> None:
        """Set the labels."""
        self.set_info(label=label)

    def set_weight(self, weight: Any) -> None:
        """Set the weights."""
        self.set_info(weight=weight)

    def set_base_margin(self, margin: Any) -> None:
        """Set the margins that scores start from."""
        self.set_info(base_margin=margin)

    def get_label(self) -> Float32s:
        """The labels."""
        return _single_or_none(self._label)

    def get_weight(self) -> Float32s:
        """The weights."""
        return _single_or_none(self._weight)

    def get_base_margin(self) -> Float32s:
        """The margins."""
        return _single_or_none(self._start)

    def get_float_info(self, field: str) -> Float32s:
        """One of label, weight, base_margin and feature_weights."""
        if field == "feature_weights":
            return _single_or_none(self.feature_weights)
        found: Float32s = self._field(field)
        return found

    def set_float_info(self, field: str, data: Any) -> None:
        """Set one of label, weight, base_margin and feature_weights."""
        self.get_float_info(field)
        self.set_info(**{field: data})

    def set_float_info_npy2d(self, field: str, data: Any) -> None:
        """Set one of label, weight and base_margin; the same as `set_float_info`."""
        self.set_float_info(field, data)

    def data_split_mode(self) -> DataSplitMode:
        """By rows, always."""
        return DataSplitMode.ROW

    def slice(self, rindex: Any, allow_groups: bool = False) -> DMatrix:
        """The chosen rows, by number or mask, as a DMatrix of their own; ``allow_groups``: accepted, as there are no groups."""
        rows = np.asarray(rindex)
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64)
        return self._take(rows)


@DOOR.owner
class QuantileDMatrix(DMatrix):
    """A `DMatrix` with a number of bins; the table itself is kept, and binned when a model is trained.

    >>> QuantileDMatrix([[1.0], [2.0]], label=[0, 1], max_bin=16).max_bin
    16
    """

    @by_position
    @REFUSALS.arguments(OF_MATRIX)
    def __init__(
        self,
        data: Any,
        label: Any = None,
        *,
        weight: Any = None,
        base_margin: Any = None,
        missing: float | None = None,
        silent: bool = False,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        nthread: int | None = None,
        max_bin: int | None = None,
        ref: DMatrix | None = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_weights: Any = None,
        enable_categorical: bool = False,
        max_quantile_batches: int | None = None,
        data_split_mode: Any = 0,
    ) -> None:
        if max_quantile_batches is not None:
            raise NotSupportedError(MERGED)
        if ref is not None and not isinstance(ref, DMatrix):
            raise InputError(f"ref must be a DMatrix, not {type(ref).__name__}.")
        super().__init__(
            data,
            label,
            weight=weight,
            base_margin=base_margin,
            missing=missing,
            silent=silent,
            feature_names=feature_names,
            feature_types=feature_types,
            feature_weights=feature_weights,
            nthread=nthread,
            enable_categorical=enable_categorical,
            data_split_mode=data_split_mode,
        )
        if ref is not None and ref.num_col() != self.num_col():
            raise InputError(f"ref has {ref.num_col()} columns, but data has {self.num_col()}.")
        own = ref.max_bin if max_bin is None and isinstance(ref, QuantileDMatrix) else max_bin
        self.max_bin: int | None = own
        self._ref = ref

    @property
    def ref(self) -> DMatrix | None:
        """The matrix whose number of bins this one has."""
        return self._ref


def _single_or_none(values: Float64s | None) -> Float32s:
    return np.empty(0, np.float32) if values is None else single(values)


def densified(data: Any) -> Any:
    """A pandas frame without sparse columns, whose cells that are not stored have a value: theirs. Any other table as it is."""
    if not nw.dependencies.is_pandas_dataframe(data):
        return data
    sparse = {name: dtype.subtype for name, dtype in data.dtypes.items() if hasattr(dtype, "fill_value")}
    return data.astype(sparse) if sparse else data


def weights_of_columns(given: Any, n_columns: int) -> Float64s:
    """One number of at least 0 a column."""
    weights: Float64s = as_array("feature_weights", given).reshape(-1)
    if len(weights) != n_columns:
        raise InputError(f"feature_weights has {len(weights)} numbers, but data has {n_columns} columns.")
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise InputError("feature_weights must be finite numbers of at least 0.")
    return weights


def _finite_labels(labels: Any) -> Any:
    if labels is not None and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise InputError(f"label must be finite, but row {row} has {labels[row]}.")
    return labels


def without_value(table: Any, missing: float, kinds: Sequence[str] | None) -> Any:
    """The table with missing values in place of a number; of a frame, in columns of numbers."""
    if kinds is not None:
        frame = nw.from_native(table, eager_only=True)
        numeric = [name for name, kind in zip(frame.columns, kinds, strict=True) if kind in ("int", "float")]
        return nw.to_native(
            frame.with_columns(
                nw.when(nw.col(name) == missing).then(None).otherwise(nw.col(name)).alias(name)
                for name in numeric
            )
        )
    changed = table.astype(np.result_type(table.dtype, np.float32), copy=True)
    if scipy.sparse.issparse(table):
        changed.data[changed.data == missing] = np.nan
    else:
        changed[table == missing] = np.nan
    return changed


def kind_of(dtype: Any) -> str:
    if is_category(dtype):
        return "c"
    if dtype == nw.Boolean:
        return "i"
    return "int" if dtype.is_integer() else "float"
