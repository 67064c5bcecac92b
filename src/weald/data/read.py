"""Any table -> `Dataset`: opening the container, settling kinds and dictionaries, matching a known schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.categories import CodesWithUnknown, dictionary
from weald.data.columns import ObjectColumn, open_values
from weald.data.containers import check_shape, is_frame, is_series, is_sparse
from weald.data.dataset import Dataset
from weald.data.dates import with_known_parts
from weald.data.matching import check_count, match_columns
from weald.data.missing import Missing, with_missing
from weald.data.schema import Codes, Column, Schema
from weald.data.sparse import SparseTable, Unstored
from weald.data.tables import ArrayTable, ColumnTable, Table, made_up_names
from weald.data.warned import warn_of_text
from weald.runtime.errors import InputError, InputTypeError

Categorical = Literal["auto"] | Sequence[str | int]
Unknown = Literal["missing", "coded"]


def read_table(
    X: Any,
    *,
    categorical: Categorical = "auto",
    schema: Schema | None = None,
    owner: str = "this model",
    unstored: Unstored = "zero",
    missing: Missing = "nan",
    unknown: Unknown = "missing",
    by_position: bool = False,
    least_rows: int = 1,
) -> Dataset:
    """Read a table of any kind: NumPy, pandas, polars, Arrow, SciPy sparse, lists of rows, name -> column.

    Strings, objects with strings among them, and the category types of data frames are categorical; numbers
    and booleans are numeric. None, NaN, pandas' NA and NaT, and null are missing; infinities are ordinary
    extremes. Integers become floats; a training table in which two of a column, beyond 2**53, become the same one is
    refused. Text that is mostly
    numbers or dates is warned of (`DataWarning`). The table is not copied: a data set
    converts a block at a time.

    Parameters
    ----------
    X
        The table. Sparse matrices keep their form. A data set that was read by the schema stays as it is.
    categorical
        "auto", or names and positions of columns that are categorical in addition. A numeric column named
        here gets its distinct values as categories. Not used when a schema is given.
    schema
        The schema of the training table, for prediction and evaluation: columns are then matched by name, in
        any order, where both tables have names, and by position otherwise. Unknown categories become NaN.
    owner
        The name of the class on whose behalf messages speak.
    unstored
        What a sparse matrix does not store: "zero", the number 0.0, or "missing". A zero that is stored is a number.
    missing
        Which numbers are missing: "nan"; "zero": zeros, stored or not, and NaN; "none": nothing is, NaN is the number 0.0.
    unknown
        What a category becomes that the schema does not know: "missing", NaN like a missing value, or "coded", the code after
        the last one of its column.
    by_position
        With a schema: columns are matched by position, whatever their names.
    least_rows
        A table of fewer rows is refused. Only rows to predict may be none.

    >>> import numpy as np
    >>> training = read_table([["red", 1.5], ["blue", 2.5]])
    >>> training.schema.columns[0].categories
    ('blue', 'red')
    >>> read_table([["green", 2.0], ["red", 3.0]], schema=training.schema).take(np.array([0, 1]))
    array([[nan,  2.],
           [ 1.,  3.]])
    """
    if isinstance(X, Dataset):
        assert X.schema is schema, "a data set is read anew by another schema"
        return X
    if schema is not None and schema.dates:
        X = with_known_parts(X, schema)
    if schema is not None and not schema.has_categories and _is_float_matrix(X):
        check_count(X.shape[1], schema.named and by_position, schema, owner)
        return Dataset(schema, with_missing(ArrayTable(X), schema, missing))
    table = open_table(X, unstored, least_rows)
    if schema is None:
        schema = _settle_schema(table, categorical)
        order: Sequence[int] = range(schema.n_columns)
    else:
        order = match_columns(table, schema, owner, by_position)
    coding = [_coding(column, unknown) if column.kind == "categorical" else None for column in schema.columns]
    return Dataset(schema, with_missing(table.source(order, coding), schema, missing))


def _coding(column: Column, unknown: Unknown) -> Codes:
    return column.codes if unknown == "missing" else CodesWithUnknown(column.codes)


def _is_float_matrix(X: Any) -> bool:
    """Whether a prediction can take the short way, which matters for single rows."""
    return (
        type(X) is np.ndarray and X.ndim == 2 and X.dtype.char in "fd" and X.dtype.isnative and X.shape[0] > 0
    )


def open_table(X: Any, unstored: Unstored = "zero", least_rows: int = 1) -> Table:
    """The container of a table, checked for its shape, without converting anything."""
    if is_frame(X):
        from weald.data.frames import open_frame

        return open_frame(X, least_rows)
    if is_sparse(X):
        return _open_sparse(X, unstored, least_rows)
    if is_series(X):
        check_shape((len(X),))
    if isinstance(X, Mapping):
        return _open_mapping(X, least_rows)
    if hasattr(X, "sharded_table"):
        raise InputError(
            f"X is a {type(X).__name__}, a table in blocks, which only the fit of BoostedTrees*, RandomForest*, ExtraTrees* and "
            "DecisionTree* takes; pass the rows themselves."
        )
    if hasattr(X, "collect"):
        raise InputError(f"X is a {type(X).__name__}, which is not computed yet: pass X.collect() instead.")
    return _open_array(_to_array(X), least_rows)


def _open_mapping(X: Mapping[Any, Any], least_rows: int) -> ColumnTable:
    arrays = {name: _to_array(values) for name, values in X.items()}
    for name, values in arrays.items():
        if not isinstance(name, str):
            raise InputTypeError(f"The columns of X must be named by strings, not by {name!r}.")
        if values.ndim != 1:
            raise InputError(f"Column {name!r} must be 1-dimensional, but its shape is {values.shape}.")
    lengths = sorted({len(values) for values in arrays.values()})
    if len(lengths) > 1:
        raise InputError(f"The columns of X must have the same length, but they have {lengths} values.")
    n_rows = lengths[0] if lengths else 0
    check_shape((n_rows, len(arrays)), least_rows)
    columns = [open_values(values, name) for name, values in arrays.items()]
    return ColumnTable(columns, n_rows, tuple(arrays), named=True)


def _open_sparse(X: Any, unstored: Unstored, least_rows: int) -> SparseTable:
    check_shape(X.shape, least_rows)
    if X.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is of type {X.dtype}.")
    if X.dtype.kind not in "biuf":
        raise InputError(f"A sparse X must hold numbers, but it is of type {X.dtype}.")
    return SparseTable(X if X.format in ("csr", "csc") else X.tocsr(), unstored=unstored)


def _to_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        holder = X.astype(np.float64 if X.dtype.kind in "biuf" else object)
        return np.asarray(np.ma.filled(holder, np.nan))
    try:
        array = np.asarray(X)
    except ValueError as error:
        lengths = sorted({len(row) for row in X if hasattr(row, "__len__")})
        raise InputError(
            f"The rows of X must have the same length, but they have {lengths} values."
        ) from error
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        # NumPy made strings of the numbers beside strings in a list: keep every cell as it is.
        array = np.array(X, dtype=object)
    return array


def _open_array(array: NDArray[Any], least_rows: int) -> ArrayTable | ColumnTable:
    kind = array.dtype.kind
    if array.dtype.names is not None:
        raise InputError(
            "X is a structured array: pass a data frame, or the result of "
            "numpy.lib.recfunctions.structured_to_unstructured(X)."
        )
    check_shape(array.shape, least_rows)
    if kind in "biuf":
        return ArrayTable(array)
    if kind in "OUT":
        names = made_up_names(array.shape[1])
        columns = [ObjectColumn(array[:, position], name) for position, name in enumerate(names)]
        return ColumnTable(columns, len(array), names, named=False)
    if kind == "c":
        raise InputError(f"Complex data not supported: X is of type {array.dtype}.")
    hint = "decode it with X.astype(str)" if kind == "S" else "convert it to numbers first"
    raise InputError(f"X is of type {array.dtype}, which is neither numbers nor strings: {hint}.")


def _settle_schema(table: Table, categorical: Categorical) -> Schema:
    marked, kinds = marked_positions(categorical, table.names), table.kinds()
    table.check_numbers(p for p, kind in enumerate(kinds) if kind == "numeric" and p not in marked)
    if not table.named and not marked and "categorical" not in kinds:
        unnamed = _unnamed_numbers(len(kinds))
        if table.names == unnamed.names:  # and not a frame's labels that are no strings
            return unnamed
    columns = []
    for position, (name, kind) in enumerate(zip(table.names, kinds, strict=True)):
        if kind == "numeric" and position not in marked:
            columns.append(Column(name, "numeric"))
        else:
            counts = table.counts(position)
            if position not in marked and table.is_text(position):
                warn_of_text(name, counts)
            columns.append(Column(name, "categorical", dictionary(counts)))
    return Schema(tuple(columns), table.named)


def has_columns(X: Any, schema: Schema, categorical: Categorical) -> bool:
    """Whether a table has a schema's columns, by name, order and kind, whatever their categories.

    >>> known = read_table([["red", 1.5], ["blue", 2.5]]).schema
    >>> has_columns([["green", 3.5]], known, "auto"), has_columns([[3.5, "green"]], known, "auto")
    (True, False)
    """
    table = open_table(X)
    marked = marked_positions(categorical, table.names)
    kinds = ["categorical" if place in marked else kind for place, kind in enumerate(table.kinds())]
    same_names = (table.named, table.names) == (schema.named, schema.names)
    return same_names and kinds == [column.kind for column in schema.columns]


@lru_cache(maxsize=8)
def _unnamed_numbers(n_columns: int) -> Schema:
    """The schema of a matrix of numbers; tens of thousands of columns take longer to write down than a short fit."""
    return Schema(tuple(Column(name, "numeric") for name in made_up_names(n_columns)), False)


def marked_positions(categorical: Categorical, names: tuple[str, ...]) -> set[int]:
    """The positions of the columns that are to be categorical whatever their type."""
    if isinstance(categorical, str):
        if categorical == "auto":
            return set()
        raise InputError(f"categorical must be 'auto' or a list of columns, not the string {categorical!r}.")
    try:
        wanted = list(categorical)
    except TypeError:
        raise InputError(f"categorical must be 'auto' or a list of columns, not {categorical!r}.") from None
    return set(column_positions(wanted, names, "categorical"))


def column_positions(columns: Iterable[Any], names: tuple[str, ...], argument: str) -> list[int]:
    """The positions of columns that are given by name or by position; ``argument`` is who asks, for the errors.

    >>> column_positions(["b", 0], ("a", "b"), "categorical")
    [1, 0]
    """
    places = {name: position for position, name in enumerate(names)}
    positions = []
    for column in columns:
        if isinstance(column, str):
            if column not in places:
                raise InputError(f"{argument} names the column {column!r}, which X does not have.")
            positions.append(places[column])
        elif isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if not 0 <= column < len(names):
                raise InputError(f"{argument} has the position {column}, but X has {len(names)} columns.")
            positions.append(int(column))
        else:
            raise InputError(f"{argument} must hold names or positions of columns, not {column!r}.")
    return positions
