"""What kind of container a table or a column comes in, and whether its shape is that of a table.

narwhals and SciPy are asked only about what could be theirs: loading the two takes longer than training on a small array.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from weald.runtime.errors import InputError

_PLAIN = (np.ndarray, np.generic, list, tuple, Mapping, str, int, float, type(None))


def is_frame(X: Any) -> bool:
    """Whether it is an eager data frame that narwhals knows."""
    if isinstance(X, _PLAIN):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def is_series(values: Any) -> bool:
    """Whether it is a column of a data frame."""
    if isinstance(values, _PLAIN):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_series(values))


def is_sparse(X: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices or arrays; there is none before SciPy's module is imported."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def check_shape(shape: tuple[int, ...], least_rows: int = 1) -> None:
    """Refuse what is not a table of so many rows, and at least one column."""
    if len(shape) < 2:
        found = "1D" if len(shape) == 1 else "scalar"
        raise InputError(
            f"Expected 2D array, got {found} array instead. Reshape your data with X.reshape(-1, 1) if it "
            "has a single feature, or with X.reshape(1, -1) if it is a single sample."
        )
    if len(shape) > 2:
        raise InputError(f"Found array with dim {len(shape)}, while dim <= 2 is required for X.")
    for size, least, unit in zip(shape, (least_rows, 1), ("sample(s)", "feature(s)"), strict=True):
        if size < least:
            raise InputError(
                f"Found array with {size} {unit} (shape={tuple(shape)}) while a minimum of {least} is required."
            )
