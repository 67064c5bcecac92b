"""Predictions of Dask's collections, made when they are asked for, partition by partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weald.dask.collections import is_frame
from weald.dask.library import dask
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

#: ``predict(model, table)``: (rows,) or (rows, columns) of a table in memory
Predict = Callable[[Any, Any], Any]


def lazily(X: Any, model: Any, predict: Predict, columns: list[Any] | None = None) -> Any:
    """What ``predict`` says of every partition, as a collection with the same partitions.

    Of an array an array; of a dataframe a series, or a dataframe with ``columns``, with its index.
    """
    delayed = dask.delayed(model)
    if is_frame(X):
        meta = _of_frame(X._meta, model, predict, columns)
        return X.map_partitions(_of_frame, delayed, predict, columns, meta=meta)
    if X.ndim != 2:
        raise InputError(f"X must have two dimensions, not {X.ndim}.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    meta = predict(model, np.empty((0, X.shape[1]), X.dtype))
    if meta.ndim == 1:
        return X.map_blocks(_of_block, delayed, predict, drop_axis=1, meta=meta, dtype=meta.dtype)
    chunks = (X.chunks[0], (meta.shape[1],))
    return X.map_blocks(_of_block, delayed, predict, chunks=chunks, meta=meta, dtype=meta.dtype)


def _of_block(X: Any, model: Any, predict: Predict) -> Any:
    return predict(model, X)


def _of_frame(X: Any, model: Any, predict: Predict, columns: list[Any] | None) -> Any:
    pandas = load_extra("pandas", "a Dask dataframe")
    values = predict(model, X)
    if values.ndim == 1:
        return pandas.Series(values, index=X.index)
    return pandas.DataFrame(values, index=X.index, columns=columns)
