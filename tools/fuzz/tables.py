"""Small tables that are valid, and nasty: what their columns hold, the container that they come in, and their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from numpy.typing import NDArray

from tools.fuzz.draws import Draws

ROW_COUNTS = (1, 2, 3, 5, 12, 40, 150, 600, 2_000)
ROW_WEIGHTS = (2, 2, 2, 4, 12, 30, 30, 15, 3)
Column = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """A table, and what labels and parameters must know of it."""

    X: Any
    n_rows: int
    n_columns: int
    names: list[Any]
    text_columns: list[int]
    kind: str  # of the container and of the columns, for reports


def _holes(draws: Draws, values: Column) -> Column:
    return np.where(draws.generator.random(len(values)) < 0.4, np.nan, values)


def _with_infinities(draws: Draws, values: Column) -> Column:
    kind = draws.generator.random(len(values))
    return np.where(kind < 0.2, np.inf, np.where(kind < 0.4, -np.inf, values))


#: numeric columns by name: (draws, n_rows) -> float64
NUMBERS: dict[str, Callable[[Draws, int], Column]] = {
    "normal": lambda draws, n: draws.generator.standard_normal(n),
    "few": lambda draws, n: draws.generator.integers(0, 4, n).astype(np.float64),
    "constant": lambda draws, n: np.full(n, draws.one([0.0, 1.0, -7.5, 1e300])),
    "missing": lambda draws, n: np.full(n, np.nan),
    "holes": lambda draws, n: _holes(draws, draws.generator.standard_normal(n)),
    "huge": lambda draws, n: draws.generator.standard_normal(n) * 1e300,
    "tiny": lambda draws, n: draws.generator.standard_normal(n) * 1e-308,
    "wide": lambda draws, n: 10.0 ** draws.generator.uniform(-300, 300, n),
    "infinite": lambda draws, n: _with_infinities(draws, draws.generator.standard_normal(n)),
    "zeros": lambda draws, n: np.where(draws.generator.random(n) < 0.9, 0.0, draws.generator.standard_normal(n)),
    "steps": lambda draws, n: np.arange(n, dtype=np.float64) + 2.0**53,
    "signed zeros": lambda draws, n: np.where(draws.generator.random(n) < 0.5, 0.0, -0.0),
}  # fmt: skip
_WORDS = ["a", "b", "", "nan", "None", "ä ö", "x" * 300, "0", "1.5", "\n", "[<]"]


def _columns(draws: Draws, n_rows: int) -> tuple[list[Column], list[str]]:
    columns: list[Column] = []
    kinds: list[str] = []
    for _ in range(draws.one([1, 2, 3, 5, 9], [2, 4, 4, 3, 1])):
        kind = draws.one([*NUMBERS, "copy"])
        if kind == "copy" and columns:
            columns.append(columns[draws.whole(0, len(columns) - 1)].copy())
        else:
            kind = kind if kind in NUMBERS else "normal"
            columns.append(NUMBERS[kind](draws, n_rows))
        kinds.append(kind)
    return columns, kinds


def _words(draws: Draws, n_rows: int) -> Column:
    if draws.chance(0.15):
        return np.array([f"row {row}" for row in range(n_rows)], dtype=object)
    words = np.array(draws.some(_WORDS, 6) or ["a"], dtype=object)
    column = words[draws.generator.integers(0, len(words), n_rows)]
    if draws.chance(0.3):
        column[draws.generator.random(n_rows) < 0.3] = None
    return column


def _odd_names(draws: Draws, count: int) -> list[Any]:
    """Names of a pandas frame, usual or not."""
    kind = draws.one(["letters", "numbers", "booleans", "tuples", "odd", "twice", "floats", "mixed", "none"])
    letters = [f"c{place}" for place in range(count)]
    if kind == "numbers":
        return list(range(10, 10 + count))
    if kind == "booleans":
        return [place % 2 == 0 for place in range(count)]
    if kind == "tuples":
        return [("c", place) for place in range(count)]
    if kind == "odd":
        return ["", "a,b", "[x]<", "ä\n", "x0", '"', "target", " ", "c" * 200][:count]
    if kind == "twice":
        return ["same"] * count
    if kind == "floats":
        return [place + 0.5 for place in range(count)]
    if kind == "mixed":
        return [place if place % 2 else letters[place] for place in range(count)]
    return [None, *letters[1:]] if kind == "none" else letters


def _is_hashable(cell: Any) -> bool:
    return not isinstance(cell, list | dict)


def _in_pandas(draws: Draws, columns: list[Column]) -> tuple[Any, list[Any]]:
    names = _odd_names(draws, len(columns)) if draws.chance(0.5) else [f"c{n}" for n in range(len(columns))]
    frame = pd.concat([pd.Series(column) for column in columns], axis=1)
    for place in range(len(columns)):
        if columns[place].dtype == object and draws.chance(0.5) and _is_hashable(columns[place][0]):
            frame[place] = frame[place].astype("category")
    frame.columns = pd.Index(names, tupleize_cols=draws.chance(0.5))
    if draws.chance(0.2):
        frame.index = pd.Index(draws.generator.permutation(len(frame)))
    return frame, names


#: containers that hold columns of text too: (draws, columns) -> (table, names)
CONTAINERS: dict[str, Callable[[Draws, list[Column]], tuple[Any, list[Any]]]] = {
    "pandas": _in_pandas,
    "polars": lambda draws, columns: _in(pl.DataFrame, columns),
    "arrow": lambda draws, columns: _in(pa.table, columns),
    "dict": lambda draws, columns: _in(dict, columns),
    "dict of lists": lambda draws, columns: _in(
        lambda named: {key: value.tolist() for key, value in named.items()}, columns
    ),
    "objects": lambda draws, columns: (_objects(columns), []),
    "lists": lambda draws, columns: (_objects(columns).tolist(), []),
    "tuples": lambda draws, columns: (list(map(tuple, _objects(columns).tolist())), []),
}


def _in(make: Callable[[dict[str, Column]], Any], columns: list[Column]) -> tuple[Any, list[Any]]:
    named = {f"c{place}": column for place, column in enumerate(columns)}
    return make(named), list(named)


def _objects(columns: list[Column]) -> NDArray[Any]:
    cells = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        cells[:, place] = column.tolist()
    return cells


#: containers of one array of numbers
ARRAYS: dict[str, Callable[[NDArray[np.float64]], Any]] = {
    "float64": lambda array: array,
    "float32": lambda array: array.astype(np.float32),
    "by columns": np.asfortranarray,
    "read-only": lambda array: _read_only(array),
    "every other": lambda array: np.repeat(array, 2, axis=0)[::2],
    "big-endian": lambda array: array.astype(">f8"),
    "whole": lambda array: np.nan_to_num(array, posinf=9, neginf=-9).clip(-1e15, 1e15).astype(np.int64),
    "booleans": lambda array: np.nan_to_num(array) > 0,
    "half": lambda array: array.astype(np.float16),
    "csr": lambda array: scipy.sparse.csr_matrix(np.nan_to_num(array, posinf=np.inf, neginf=-np.inf)),
    "csc": lambda array: scipy.sparse.csc_matrix(array),
    "coo": lambda array: scipy.sparse.coo_array(array),
}


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array = array.copy()
    array.flags.writeable = False
    return array


def draw_table(draws: Draws) -> Table:
    """A table of a few rows and columns."""
    n_rows = draws.one(ROW_COUNTS, ROW_WEIGHTS)
    columns, kinds = _columns(draws, n_rows)
    text: list[int] = []
    if draws.chance(0.55):
        container = draws.one(list(ARRAYS), [6, 3, 1, 1, 1, 1, 2, 1, 1, 2, 2, 1])
        with np.errstate(all="ignore"):
            X = ARRAYS[container](np.column_stack(columns))
        return Table(X, n_rows, len(columns), [], text, f"{container} of {', '.join(kinds)}")
    if draws.chance(0.5):
        for _ in range(draws.whole(1, 2)):
            text.append(len(columns))
            columns.append(_words(draws, n_rows))
            kinds.append("text")
    elif draws.chance(0.02):
        odd = np.empty(n_rows, dtype=object)
        odd[:] = [draws.one([(1, 2), {"a": 1}, [3], b"x", 1j])] * n_rows
        columns.append(odd)
        kinds.append("odd cells")
    container = draws.one(list(CONTAINERS))
    if "odd cells" in kinds and container in ("polars", "arrow"):
        container = "pandas"
    X, names = CONTAINERS[container](draws, columns)
    return Table(X, n_rows, len(columns), names, text, f"{container} of {', '.join(kinds)}")
