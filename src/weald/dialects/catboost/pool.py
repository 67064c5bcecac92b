"""`Pool`: a table with labels, weights, first scores, names and categorical columns, as CatBoost has it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from weald.data import column_positions, read_weights
from weald.data.read import open_table
from weald.dialects.catboost.basic import DOOR
from weald.dialects.catboost.refusals import OF_POOL, POOL_METHODS, REFUSALS
from weald.dialects.shared.rows import LabelledRows
from weald.dialects.shared.tables import Float64s, column_of, is_frame, without_columns
from weald.dialects.shared.values import names_of_columns
from weald.runtime.errors import InputError, NotSupportedError


@DOOR.owner
@REFUSALS.methods(POOL_METHODS)
class Pool(LabelledRows):
    """A table for `fit` and `predict`; it is binned when a model is trained.

    Parameters
    ----------
    data : array, pandas or polars frame, Arrow table, SciPy sparse matrix or list of rows
    label : one value a row: numbers, or classes of any type
    cat_features : names or positions of the columns of categories; columns of text must be among them
    weight : one a row
    baseline : raw scores that rows start from, one a row, or one for every class
    feature_names : names of the columns; the frame's own, or 0, 1, …
    thread_count : accepted; a table is read as it is, and binned by the threads of a training

    >>> pool = Pool([["a", 1.0], ["b", 2.0]], label=[0, 1], cat_features=[0])
    >>> pool.shape, pool.get_cat_feature_indices(), pool.get_label()
    ((2, 2), [0], [0, 1])
    """

    _title = "Pool"
    _start_name = "baseline"

    @REFUSALS.arguments(OF_POOL)
    def __init__(
        self,
        data: Any,
        label: Any = None,
        cat_features: Sequence[str | int] | None = None,
        text_features: Any = None,
        embedding_features: Any = None,
        embedding_features_data: Any = None,
        column_description: Any = None,
        pairs: Any = None,
        graph: Any = None,
        delimiter: str = "\t",
        has_header: bool = False,
        ignore_csv_quoting: bool = False,
        weight: Any = None,
        group_id: Any = None,
        group_weight: Any = None,
        subgroup_id: Any = None,
        pairs_weight: Any = None,
        baseline: Any = None,
        timestamp: Any = None,
        feature_names: Sequence[str] | None = None,
        feature_tags: Any = None,
        thread_count: int = -1,
        log_cout: Any = None,
        log_cerr: Any = None,
    ) -> None:
        self._open(data, text=True)
        opened = open_table(self.source, least_rows=0)
        #: the columns' own names where the table is a frame, by which other frames are matched
        self.frame_names = list(opened.names) if is_frame(self.source) else None
        self._label = None if label is None else column_of("label", label, self.n_rows)
        self.set_feature_names(feature_names)
        self._categorical = categorical_positions(cat_features, self._names)
        for position, kind in enumerate(opened.kinds()):
            if kind == "categorical" and position not in self._categorical:
                raise InputError(
                    f"Column {self._names[position]!r} holds text or categories; name it in cat_features."
                )
        self.set_weight(weight)
        self.set_baseline(baseline)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._shape

    @property
    def is_empty_(self) -> bool:
        """Whether there are no rows."""
        return self.n_rows == 0

    def num_row(self) -> int:
        """The number of rows."""
        return self.n_rows

    def num_col(self) -> int:
        """The number of columns."""
        return self.n_columns

    def has_label(self) -> bool:
        """Whether there are labels."""
        return self._label is not None

    def is_quantized(self) -> bool:
        """False: bins are made when a model is trained."""
        return False

    def get_label(self) -> list[Any] | None:
        """The labels."""
        return None if self._label is None else self._label.tolist()

    def get_weight(self) -> list[float]:
        """The weights."""
        return [1.0] * self.n_rows if self._weight is None else self._weight.tolist()

    def get_baseline(self) -> Any:
        """The scores that rows start from, (rows, outputs), or an empty list."""
        return [] if self._start is None else self._start.reshape(self.n_rows, -1)

    def get_cat_feature_indices(self) -> list[int]:
        """Positions of the columns of categories."""
        return list(self._categorical)

    def get_text_feature_indices(self) -> list[int]:
        """Positions of the columns of text: there are none."""
        return []

    def get_embedding_feature_indices(self) -> list[int]:
        """Positions of the columns of embeddings: there are none."""
        return []

    def get_feature_names(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    def get_features(self) -> Float64s:
        """The table of numbers as an array."""
        if self._categorical:
            raise NotSupportedError("get_features is of numbers, but there are columns of categories.")
        table = self.table.toarray() if hasattr(self.table, "toarray") else self.table
        return np.asarray(
            nw.from_native(table, eager_only=True).to_numpy() if is_frame(table) else table, np.float64
        )

    def set_feature_names(self, feature_names: Sequence[str] | None) -> Pool:
        """Name the columns; None: the frame's own names, or 0, 1, …"""
        own = self.frame_names or [str(position) for position in range(self.n_columns)]
        names = own if feature_names is None else feature_names
        self._names = names_of_columns("feature_names", names, self.n_columns)
        return self

    def set_weight(self, weight: Any) -> Pool:
        """Set the rows' weights."""
        self._weight = read_weights(weight, self.n_rows)
        return self

    def set_baseline(self, baseline: Any) -> Pool:
        """Set the raw scores that rows start from."""
        self._start = self._read_start(baseline)
        return self

    def column(self, position: int) -> NDArray[Any]:
        """The values of a column."""
        if is_frame(self.source):
            frame = nw.from_native(self.source, eager_only=True)
            values: NDArray[Any] = frame[frame.columns[position]].to_numpy()
            return values
        cells = self.source[:, [position]]
        values = (cells.toarray() if hasattr(cells, "toarray") else cells)[:, 0]
        return values

    def without(self, positions: Sequence[int]) -> Pool:
        """The same rows with some columns that tell nothing."""
        part = copy.copy(self)
        part.source = without_columns(self.source, positions)
        return part

    def num_pairs(self) -> int:
        """0: there are no pairs."""
        return 0

    def slice(self, rindex: Any) -> Pool:
        """The chosen rows, by their numbers or as a mask with a truth value a row, as a Pool of their own."""
        return self._take(_row_numbers(np.asarray(rindex), self.n_rows))


def _row_numbers(rows: NDArray[Any], n_rows: int) -> NDArray[np.int64]:
    if rows.dtype == np.bool_:
        if rows.shape != (n_rows,):
            raise InputError(f"rindex is a mask of the shape {rows.shape}, but the Pool has {n_rows} rows.")
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise InputError(
            f"rindex must be numbers of rows, or a mask, not {rows.dtype} of the shape {rows.shape}."
        )
    numbers = rows.astype(np.int64)
    wrong = numbers[(numbers < 0) | (numbers >= n_rows)]
    if wrong.size:
        raise InputError(f"rindex has the row {wrong[0]}, but the Pool has {n_rows} rows.")
    return numbers


def as_pool(data: Any, label: Any = None, **more: Any) -> Pool:
    """A Pool as it is, or one of a table; what a Pool has already may not be given again."""
    if not isinstance(data, Pool):
        return Pool(data, label, **more)
    for name, value in {"y": label, **more}.items():
        if value is not None:
            raise InputError(f"X is a Pool, which has its own {name}; leave {name} out.")
    return data


def feature_positions(name: str, given: Any, names: Sequence[str]) -> list[int]:
    """The positions of columns that are given by names, positions, or text such as "0-3,7"."""
    if given is None:
        raise InputError(f"{name} must name columns; give names or positions.")
    entries = given.split(",") if isinstance(given, str) and given not in names else given
    entries = [entries] if isinstance(entries, str | int | np.integer) else list(entries)
    found: list[Any] = []
    for entry in entries:
        first, dash, last = str(entry).partition("-")
        is_range = isinstance(entry, str) and entry not in names and first.strip().isdigit()
        if is_range and (not dash or last.strip().isdigit()):
            found += range(int(first), int(last if dash else first) + 1)
        else:
            found.append(entry)
    return list(dict.fromkeys(column_positions(found, tuple(names), name)))


def categorical_positions(cat_features: Any, names: Sequence[str]) -> list[int]:
    """The positions of columns of categories that are given by names or positions, ascending."""
    if cat_features is None:
        return []
    if isinstance(cat_features, str):
        raise InputError(f"cat_features must be a list of names or positions, not {cat_features!r}.")
    return sorted(set(column_positions(list(cat_features), tuple(names), "cat_features")))
