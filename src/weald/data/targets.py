"""Labels and weights of any container -> checked arrays."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data.categories import is_missing, kind_of_type, numbers_of_cells
from weald.data.containers import is_frame, is_series, is_sparse
from weald.runtime.errors import InputError

# A classifier may have so many classes whatever its rows.
_MANY_CLASSES = 100
_insisted: ContextVar[bool] = ContextVar("many_classes", default=False)


def split_outputs(y: Any) -> list[Any]:
    """The labels of each output: the columns of a table of labels, or y itself where there is one label a row.

    >>> [column.tolist() for column in split_outputs([[1, 2], [3, 4], [5, 6]])]
    [[1, 3, 5], [2, 4, 6]]
    """
    if y is None or is_series(y):
        return [y]
    labels = _to_array(y, "y")
    return list(labels.T) if labels.ndim == 2 and labels.shape[1] > 1 else [y]


def read_regression_target(y: Any, n_rows: int, *, owner: str = "This model") -> NDArray[np.float64]:
    """The labels of a regression as float64: finite numbers, one a row.

    >>> read_regression_target([1, 2, 4], n_rows=3)
    array([1., 2., 4.])
    """
    labels = _read_labels(y, n_rows, owner)
    if labels.dtype.kind == "O":
        labels = _numbers_of_objects(labels, "y")
    if labels.dtype.kind not in "biuf":
        raise InputError(f"y must hold numbers for regression, but its type is {labels.dtype}.")
    target = np.ascontiguousarray(labels, dtype=np.float64)
    _check_finite(target)
    return target


def read_labels(y: Any, n_rows: int, *, owner: str = "This model") -> NDArray[Any]:
    """The labels of some rows as they are: finite numbers or booleans, or strings.

    >>> read_labels(["no", "yes"], n_rows=2).tolist(), read_labels([1, 2.5], n_rows=2).tolist()
    (['no', 'yes'], [1.0, 2.5])
    """
    labels = _read_labels(y, n_rows, owner)
    if labels.dtype.kind == "O":
        labels = _plain_labels(labels) if len(labels) else labels.astype(np.float64)
    if labels.dtype.kind not in "OUSTbiuf":
        raise InputError(f"Unknown label type: {labels.dtype}; y must hold numbers, strings or booleans.")
    if labels.dtype.kind == "f":
        _check_finite(labels)
    return labels


def read_classes(y: Any, n_rows: int, *, owner: str = "This model") -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The labels of a classification as (code of each row, the classes in sorted order).

    Strings, booleans, integers and integral floats can be classes; the classes keep the labels' type. A
    single class is returned like any other number of them.

    >>> codes, classes = read_classes(["no", "yes", "no"], n_rows=3)
    >>> codes, classes
    (array([0, 1, 0]), array(['no', 'yes'], dtype='<U3'))
    """
    labels = _read_labels(y, n_rows, owner)
    if labels.dtype.kind == "O":
        labels = _plain_labels(labels)
    if labels.dtype.kind in "OUST":
        return _classes_of_strings(labels)
    if labels.dtype.kind not in "biuf":
        raise InputError(f"Unknown label type: {labels.dtype}; y must hold strings, booleans or integers.")
    if labels.dtype.kind == "f":
        _check_finite(labels)
        broken = np.flatnonzero(labels != np.floor(labels))
        if len(broken) > 0:
            raise InputError(
                f"Unknown label type: continuous; y must hold classes, but row {broken[0]} is "
                f"{labels[broken[0]]}: use a regressor, or turn the labels to classes."
            )
    classes, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64, copy=False), classes


def read_several_classes(
    y: Any, n_rows: int, weight: NDArray[np.float64] | None, *, owner: str = "This model"
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """`read_classes` for models that cannot do with one class alone, or with one alone that has a weight."""
    codes, classes = read_classes(y, n_rows, owner=owner)
    check_number_of_classes(len(classes), n_rows)
    if len(classes) < 2:
        raise InputError(f"y has only one class, {classes.tolist()[0]!r}; a classifier needs at least two classes.")
    if weight is not None and len(present := np.unique(codes[weight > 0])) < 2:
        raise InputError(
            f"y has only one class with a positive weight, {classes.tolist()[present[0]]!r}; two are needed."
        )
    return codes, classes


@contextmanager
def many_classes(wanted: bool = True) -> Iterator[None]:
    """A block in which classifiers take any number of classes; ``wanted=False``: one in which they do not.

    Elsewhere more than 100 classes, more than half as many as there are rows, are refused: labels that tell rows apart are
    mostly numbers, or the wrong column, and training to them takes minutes.

    >>> import weald
    >>> names = [f"kind {number}" for number in range(150)]
    >>> with weald.many_classes():
    ...     model = weald.RandomForestClassifier(n_estimators=1).fit([[number] for number in range(150)], names)
    >>> len(model.classes_)
    150
    """
    token = _insisted.set(wanted)
    try:
        yield
    finally:
        _insisted.reset(token)


def too_many_classes(n_classes: int, n_rows: int) -> bool:
    """Whether labels tell rows apart rather than classes, and nobody insists."""
    return n_classes > _MANY_CLASSES and 2 * n_classes > n_rows and not _insisted.get()


def check_number_of_classes(n_classes: int, n_rows: int, *, who: str = "y has") -> None:
    """Refuse labels that tell rows apart, not classes: more than 100 classes, and more than half as many as there are rows.

    ``who`` has them.

    >>> check_number_of_classes(150, n_rows=1000)
    """
    if too_many_classes(n_classes, n_rows):
        raise InputError(
            f"{who} {n_classes:,} classes in {n_rows:,} rows, so most have a single row to learn from: "
            "use a regressor if y holds quantities, "
            "join rare classes to one, or leave their rows out; 'with weald.many_classes():' takes them nevertheless."
        )


def read_weights(w: Any, n_rows: int, *, may_be_zero: bool = False) -> NDArray[np.float64] | None:
    """The rows' weights as float64, or None for none; a single number stands for every row.

    ``may_be_zero``: all of them may be, as other rows of the table have weights.

    >>> read_weights([1, 0, 2.5], n_rows=3)
    array([1. , 0. , 2.5])
    >>> read_weights(None, n_rows=3) is None
    True
    """
    if w is None:
        return None
    is_scalar = isinstance(w, (numbers.Number, np.bool_))
    values = np.full(n_rows, w) if is_scalar else _to_array(w, "sample_weight")
    if values.ndim != 1:
        raise InputError(f"sample_weight must be 1D array or scalar, but its shape is {values.shape}.")
    if len(values) != n_rows:
        raise InputError(f"sample_weight has {len(values)} values, but X has {n_rows} rows: give one a row.")
    if values.dtype.kind == "O":
        values = _numbers_of_objects(values, "sample_weight")
    if values.dtype.kind not in "biuf":
        raise InputError(f"sample_weight must hold numbers, but its type is {values.dtype}.")
    weights = np.ascontiguousarray(values, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong) > 0:
        raise InputError(
            f"sample_weight must be finite and not negative, but row {wrong[0]} has {weights[wrong[0]]}."
        )
    if not may_be_zero and not weights.any():
        raise InputError("sample_weight is zero in every row: at least one weight must be positive.")
    return weights


def _read_labels(y: Any, n_rows: int, owner: str) -> NDArray[Any]:
    if y is None:
        raise InputError(f"{owner} requires y to be passed, but the target y is None.")
    labels = _to_array(y, "y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # scikit-learn loads pandas where it finds it

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,  # the caller of the estimator's fit
        )
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    if len(labels) != n_rows:
        sizes = [n_rows, len(labels)]
        raise InputError(f"Found input variables with inconsistent numbers of samples: {sizes}")
    if labels.dtype.kind == "c":
        raise InputError(f"Complex data not supported: y is of type {labels.dtype}.")
    return labels


def _to_array(values: Any, name: str) -> NDArray[Any]:
    if is_sparse(values):
        raise InputError(f"{name} is sparse: pass {name}.toarray().ravel() instead.")
    if is_series(values):
        from weald.data.series import array_of_series

        return array_of_series(values)
    if is_frame(values):
        from weald.data.frames import array_of_frame

        return array_of_frame(values)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} has masked values, but every row needs one.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must be one value a row, but its rows differ in length.") from error
    if array.dtype.kind in "US" and not hasattr(values, "dtype"):
        cells = np.asarray(values, dtype=object)
        if {kind_of_type(type(cell)) for cell in cells.ravel().tolist()} - {"string"}:
            return cells  # NumPy made strings of what was beside strings
    return array


def _numbers_of_objects(cells: NDArray[Any], name: str) -> NDArray[np.float64]:
    for row, cell in enumerate(cells.tolist()):
        if isinstance(cell, complex):
            raise InputError(f"Complex data not supported: {name} has {cell!r} in row {row}.")
        if kind_of_type(type(cell)) not in ("number", "missing"):
            raise InputError(f"{name} must hold numbers, but row {row} is {cell!r}.")
    return numbers_of_cells(cells.tolist(), name)


def _plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Object labels of one kind: strings stay objects, booleans and numbers get their NumPy type."""
    cells = labels.tolist()
    if any(is_missing(cell) for cell in cells):
        row = next(row for row, cell in enumerate(cells) if is_missing(cell))
        raise InputError(f"Input y contains NaN. Row {row} has no label.")
    types = set(map(type, cells))
    if any(issubclass(kind, (complex, np.complexfloating)) for kind in types):
        raise InputError("Complex data not supported: y holds complex numbers.")
    kinds = {"boolean" if issubclass(kind, (bool, np.bool_)) else kind_of_type(kind) for kind in types}
    if len(kinds) > 1 or kinds == {"other"}:
        named = ", ".join(sorted(kind.__name__ for kind in types))
        raise InputError(
            f"Unknown label type: y holds {named}; labels must be all strings, all numbers or all booleans."
        )
    if kinds == {"string"}:
        return labels
    plain = np.array(cells)
    return plain if plain.dtype.kind in "biuf" else _floats_of_classes(cells)


def _floats_of_classes(cells: list[Any]) -> NDArray[np.float64]:
    """Numbers that are neither int64 nor float64, as floats, where that keeps them apart."""
    floats: dict[Any, float] = {}
    for cell in set(cells):
        try:
            floats[cell] = float(cell)
        except OverflowError:
            raise InputError(f"y holds {str(cell)[:20]}..., which is too large for a number; use strings as labels.") from None
    if len(set(floats.values())) < len(floats):
        raise InputError(
            "y holds labels that are the same as float64, such as neighbouring large integers; use strings as labels."
        )
    return np.array([floats[cell] for cell in cells])


def _classes_of_strings(labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    cells = labels.tolist()
    distinct = sorted(set(cells))
    code_of = {label: code for code, label in enumerate(distinct)}
    codes = np.fromiter(map(code_of.__getitem__, cells), dtype=np.int64, count=len(cells))
    return codes, np.array(distinct, dtype=labels.dtype)


def _check_finite(y: NDArray[np.floating[Any]]) -> None:
    if np.isnan(y).any():
        raise InputError("Input y contains NaN.")
    if np.isinf(y).any():
        raise InputError(f"Input y contains infinity or a value too large for {y.dtype!r}.")
