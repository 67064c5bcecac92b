"""Small tables in every form that a store takes, and what a model of them is in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import weald
from weald.estimators.shared.persistence import to_bytes

pa = pytest.importorskip("pyarrow", reason="stores read files with pyarrow, which is not installed")
datasets = pytest.importorskip("pyarrow.dataset")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N = 1300
BATCH = 317


def numbers(n_rows: int = N, n_columns: int = 5, seed: int = 3) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers with missing values, and a last column that is mostly 0."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(n_rows, n_columns))
    values[generator.random(n_rows) < 0.1, 1] = np.nan
    values[generator.random(n_rows) < 0.95, -1] = 0.0
    return values


X = numbers()
Y = X[:, 0] * 2.0 + np.nan_to_num(X[:, 1]) ** 2 + X[:, -1]
TOWNS = np.array(["Ulm", "Linz", "Graz", "Wels"])[np.random.default_rng(1).integers(0, 4, N)]
CLASSES = np.where(Y > 1.0, "high", np.where(Y > 0.0, "mid", "low"))
WEIGHT = np.random.default_rng(6).integers(0, 3, N).astype(float)


def frame() -> pd.DataFrame:
    """Numbers, a column of text, labels of three kinds, and weights."""
    table = pd.DataFrame(X, columns=list("abcde"))
    table["town"] = TOWNS.astype(object)
    return table.assign(y=Y, kind=CLASSES.astype(object), weight=WEIGHT)


def regressor(**settings: Any) -> Any:
    return weald.BoostedTreesRegressor(n_estimators=4, max_leaves=7, n_jobs=1, categories="partition", **settings)


def classifier(**settings: Any) -> Any:
    return weald.BoostedTreesClassifier(n_estimators=3, max_leaves=7, n_jobs=1, categories="partition", **settings)


def bytes_of(model: Any) -> bytes:
    """A fitted model as it is saved."""
    return to_bytes(model, model._model)


def in_memory() -> bytes:
    """The model of all rows at once."""
    table = frame()
    return bytes_of(regressor().fit(table.drop(columns=["y", "kind", "weight"]), table["y"]))


def _pieces(table: Any) -> Iterator[Any]:
    for first in range(0, len(table), BATCH):
        yield table[first : first + BATCH]


def _parquet(folder: Path) -> Any:
    for number, piece in enumerate(_pieces(frame())):
        parquet.write_table(pa.Table.from_pandas(piece), folder / f"rows-{number}.parquet", row_group_size=100)
    return folder


def _arrow(folder: Path) -> Any:
    for number, piece in enumerate(_pieces(frame())):
        feather.write_feather(pa.Table.from_pandas(piece), folder / f"rows-{number}.feather", chunksize=90)
    return str(folder / "*.feather")


def _csv(folder: Path) -> Any:
    files = []
    for number, piece in enumerate(_pieces(frame())):
        files.append(folder / f"rows-{number}.csv")
        piece.to_csv(files[-1], index=False)
    return files


def _dataset(folder: Path) -> Any:
    return datasets.dataset(_parquet(folder))


def _lazy(folder: Path) -> Any:
    import polars as pl

    return pl.from_pandas(frame()).lazy()


def _frames(folder: Path) -> Any:
    return lambda: _pieces(frame())


def _dicts(folder: Path) -> Any:
    return [{name: values.to_numpy() for name, values in piece.items()} for piece in _pieces(frame())].__iter__


SOURCES: dict[str, Callable[[Path], Any]] = {
    "folder of Parquet": _parquet,
    "pattern of Arrow files": _arrow,
    "list of CSV files": _csv,
    "dataset of pyarrow": _dataset,
    "LazyFrame": _lazy,
    "function that gives frames": _frames,
    "function that gives dicts": _dicts,
    "data frame": lambda folder: frame(),
    "Arrow table": lambda folder: pa.Table.from_pandas(frame()),
}

ARRAYS: dict[str, Callable[[], Any]] = {
    "array": lambda: X,
    "float32": lambda: X.astype(np.float32),
    "sparse by rows": lambda: sparse.csr_array(np.nan_to_num(X)),
    "sparse by columns": lambda: sparse.csc_matrix(np.nan_to_num(X)),
}
