"""A table as columns of numbers, as a linear model wants it: with all cells, or with those that are stored.

A missing value is an absent one: it adds nothing to a score, just as 0 does not. So NaN becomes 0 here, and a sparse
matrix, whose cells that are not stored add nothing either, is never filled up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset
from weald.data.sparse import Entries
from weald.linear.kernels import (
    BIAS,
    Steps,
    StoredNumbers,
    descend_dense,
    descend_stored,
    score_dense,
    score_stored,
    univariate_dense,
    univariate_stored,
)
from weald.runtime.errors import InputError

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Int64s = NDArray[np.int64]

# Rows, or stored cells, below which threads cost more than they save.
PARALLEL_ROWS = 60_000
PARALLEL_CELLS = 200_000


class NumberColumns(Protocol):
    """What coordinate descent asks of a table. The number of tasks never changes a result."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def n_columns(self) -> int:
        """The number of columns."""

    @property
    def n_cells(self) -> int:
        """How many cells a pass over all columns reads."""

    def largest(self) -> Float64s:
        """The largest absolute value of every column."""

    def descend(
        self,
        order: Int64s,
        steps: Steps,
        hessian: Float32s,
        tasks: int,
        gradient: Float32s,
        weights: Float64s,
    ) -> None:
        """Let the coordinates of ``order`` step one after another; see `kernels.descend_dense`. `BIAS` may be the first."""

    def univariate(
        self, steps: Steps, hessian: Float32s, tasks: int, gradient: Float32s, weights: Float64s
    ) -> Float64s:
        """The step that every column would take if it were the next."""

    def score(self, weights: Float64s, start: float, tasks: int, scores: Float64s) -> None:
        """Fill OUT scores, (rows,), with ``start`` plus the weighted columns, added in their order."""


class DenseColumns:
    """All cells, column after column, float32 or float64 without NaN."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values
        self.n_columns, self.n_rows = values.shape
        self.n_cells = values.size

    @cached_property
    def _ones(self) -> NDArray[Any]:
        return np.ones(self.n_rows, self.values.dtype)

    def _tasks(self, tasks: int) -> int:
        return tasks if self.n_rows >= PARALLEL_ROWS else 1

    def largest(self) -> Float64s:
        largest: Float64s = np.maximum(self.values.max(axis=1), -self.values.min(axis=1)).astype(np.float64)
        return largest

    def descend(
        self,
        order: Int64s,
        steps: Steps,
        hessian: Float32s,
        tasks: int,
        gradient: Float32s,
        weights: Float64s,
    ) -> None:
        descend_dense(self.values, self._ones, order, steps, hessian, self._tasks(tasks), gradient, weights)

    def univariate(
        self, steps: Steps, hessian: Float32s, tasks: int, gradient: Float32s, weights: Float64s
    ) -> Float64s:
        moves = np.empty(self.n_columns)
        univariate_dense(
            self.values, self._ones, steps, hessian, self._tasks(tasks), gradient, weights, moves
        )
        return moves

    def score(self, weights: Float64s, start: float, tasks: int, scores: Float64s) -> None:
        score_dense(self.values, weights, start, self._tasks(tasks), scores)


class SparseColumns:
    """The stored cells of a sparse table, column after column; whether the others are zeros or missing does not matter."""

    def __init__(self, entries: Entries) -> None:
        values = entries.values
        missing = np.isnan(values)
        if missing.any() or not values.flags.writeable:  # read-only: to Numba another type, to compile for
            values = np.where(missing, values.dtype.type(0), values)
        self.n_rows, self.n_columns = entries.n_rows, len(entries.starts) - 1
        self.n_cells = len(values)
        self._stored = StoredNumbers(entries.starts, entries.rows, values)
        self._bias = DenseColumns(np.empty((0, self.n_rows), np.float32))

    def largest(self) -> Float64s:
        largest = np.zeros(self.n_columns)
        filled = np.flatnonzero(np.diff(self._stored.starts))
        if len(filled):
            starts = self._stored.starts[filled]
            largest[filled] = np.maximum.reduceat(np.abs(self._stored.values), starts)
        return largest

    def descend(
        self,
        order: Int64s,
        steps: Steps,
        hessian: Float32s,
        tasks: int,
        gradient: Float32s,
        weights: Float64s,
    ) -> None:
        if len(order) and order[0] == BIAS:
            self._bias.descend(order[:1], steps, hessian, tasks, gradient, weights)
            order = order[1:]
        descend_stored(self._stored, order, steps, hessian, gradient, weights)

    def univariate(
        self, steps: Steps, hessian: Float32s, tasks: int, gradient: Float32s, weights: Float64s
    ) -> Float64s:
        moves = np.empty(self.n_columns)
        shared = tasks if self.n_cells >= PARALLEL_CELLS else 1
        univariate_stored(self._stored, steps, hessian, gradient, weights, shared, moves)
        return moves

    def score(self, weights: Float64s, start: float, tasks: int, scores: Float64s) -> None:
        score_stored(self._stored, weights, start, scores)


def over_outputs(
    action: Callable[[int, int], None], n_outputs: int, tasks: int, columns: NumberColumns
) -> None:
    """``action(output, tasks)`` for every output; with several, and enough to do, outputs share the threads."""
    if n_outputs == 1 or tasks == 1 or columns.n_cells < PARALLEL_CELLS:
        for output in range(n_outputs):
            action(output, tasks)
        return
    with ThreadPoolExecutor(min(tasks, n_outputs)) as pool:
        for done in [pool.submit(action, output, 1) for output in range(n_outputs)]:
            done.result()


def read_columns(dataset: Dataset, rows: Int64s | None = None) -> NumberColumns:
    """The columns of a table, or of some of its rows, for training; they must be finite numbers or missing."""
    chosen = dataset if rows is None else dataset.part(rows)
    columns: NumberColumns
    columns = SparseColumns(chosen.entries) if chosen.is_sparse else DenseColumns(_gathered(chosen))
    infinite = np.flatnonzero(np.isinf(columns.largest()))
    if len(infinite):
        name = dataset.schema.names[infinite[0]]
        raise InputError(
            f"Column {name!r} has an infinite value; booster='linear' takes finite and missing numbers only."
        )
    return columns


def _gathered(dataset: Dataset) -> NDArray[Any]:
    """All blocks as one array, column after column; float32 when the blocks are."""
    gathered: NDArray[Any] | None = None
    for first, block in dataset.blocks():
        if gathered is None:
            gathered = np.empty((dataset.n_columns, dataset.n_rows), block.dtype)
        gathered[:, first : first + len(block)] = block.T
    assert gathered is not None  # a table has rows
    return without_nan(gathered)


def without_nan(values: NDArray[Any]) -> NDArray[Any]:
    """The array itself, with 0 in place of NaN."""
    # The smallest of a column is NaN when any of its values is: one pass without a mask for complete columns.
    for j in np.flatnonzero(np.isnan(values.min(axis=1, initial=0.0))):
        values[j, np.isnan(values[j])] = 0.0
    return values
