"""Predictions for tables larger than memory, batch by batch."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.blocks.limits import BATCH_ROWS
from weald.blocks.sources import Source, open_source
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

METHODS: Final = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def predict_batches(
    model: Any,
    source: Any,
    *,
    method: str = "predict",
    drop: Sequence[str] = (),
    batch_rows: int = BATCH_ROWS,
) -> Iterator[NDArray[Any]]:
    """Predict a table that need not fit in memory.

    Parameters
    ----------
    model : a fitted classifier or regressor of Weald.
    source : what `weald.BlockStore.build` takes, but for tables in blocks; an iterator that can be read only once will do, too.
        Labels and weights that come with the batches are not looked at.
    method : "predict", "predict_proba", "predict_log_proba" or "decision_function".
    drop : columns of the source that are no features, such as the labels.
    batch_rows : rows of a batch, where the source lets them be chosen.

    Returns
    -------
    An iterator of the predictions of every batch.

    >>> import numpy as np
    >>> import weald
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = weald.BoostedTreesRegressor(n_estimators=5).fit(X, X[:, 0])
    >>> batches = list(predict_batches(model, X, batch_rows=40))
    >>> [len(batch) for batch in batches], bool((np.concatenate(batches) == model.predict(X)).all())
    ([40, 40, 20], True)
    """
    if method not in METHODS or not hasattr(model, method):
        known = ", ".join(repr(name) for name in METHODS if hasattr(model, name))
        raise InputError(f"method must be one of {known}, not {method!r}.")
    if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
        raise InputError(f"batch_rows must be a whole number of at least 1, not {batch_rows!r}.")
    again = (lambda: source) if isinstance(source, Iterator) else source
    return _predicted(getattr(model, method), open_source(again, drop=drop), batch_rows)


def predict_to_parquet(
    model: Any,
    source: Any,
    path: str | os.PathLike[str],
    *,
    method: str = "predict",
    drop: Sequence[str] = (),
    batch_rows: int = BATCH_ROWS,
) -> int:
    """Write the predictions that `predict_batches` gives to a Parquet file, whole or not at all; the number of rows.

    They are in the column "prediction", or in a column for each class ("probability_setosa") or output ("prediction_0").
    """
    file = Path(path)
    if not file.name.endswith((".parquet", ".pq")):
        raise InputError(f"path must name a Parquet file, such as 'predictions.parquet', not {str(path)!r}.")
    predictions = predict_batches(model, source, method=method, drop=drop, batch_rows=batch_rows)
    return _write(file, predictions, _names(model, method))


def _predicted(predict: Callable[[Any], NDArray[Any]], source: Source, rows: int) -> Iterator[NDArray[Any]]:
    with source.opened(Path(tempfile.gettempdir())) as ready:
        for part in ready.batches(rows):
            yield predict(part.X)


def _names(model: Any, method: str) -> Callable[[int], list[str]]:
    """The names of so many columns of predictions."""

    def named(count: int) -> list[str]:
        if method == "predict_proba":
            return [f"probability_{name}" for name in model.classes_.tolist()]
        return ["prediction"] if count == 1 else [f"prediction_{number}" for number in range(count)]

    return named


def _write(path: Path, predictions: Iterator[NDArray[Any]], names: Callable[[int], list[str]]) -> int:
    """Write predictions to a file that has its name when it is whole, and not before."""
    pyarrow = load_extra("pyarrow", "writing predictions to Parquet")
    parquet = load_extra("pyarrow.parquet", "writing predictions to Parquet")
    temporary = path.with_name(f".weald-{secrets.token_hex(8)}.tmp")
    n_rows, writer = 0, None
    try:
        for batch in predictions:
            columns = batch.reshape(len(batch), -1).T
            table = pyarrow.table(dict(zip(names(len(columns)), map(np.ascontiguousarray, columns), strict=True)))
            if writer is None:
                writer = parquet.ParquetWriter(temporary, table.schema)
            writer.write_table(table)
            n_rows += len(batch)
        if writer is None:
            raise InputError("The source has no rows to predict.")
        writer.close()
        os.replace(temporary, path)
    except OSError as error:
        raise type(error)(f"The predictions cannot be saved to {str(path)!r}: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return n_rows
