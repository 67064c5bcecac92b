"""A dense table that is mostly zeros, such as one of one-hot columns, by its other cells alone.

Finding cuts and bins reads a dense table several times, cell by cell; of a sparse one it reads what is stored. To find the cells
other than zero takes two quick passes, one to count them and one to write them down, and the bins are the same.
"""

from __future__ import annotations

import numpy as np

from weald.binning.mapper import read_only
from weald.binning.sparse import DENSE_SHARE
from weald.data import Dataset
from weald.data.sparse import SparseTable
from weald.runtime.arrays import Floats, Index, Int32s, Int64s
from weald.runtime.jit import inlined
from weald.runtime.tasks import shared_kernel

# Cells of a table for which this is worth a look; below, either way takes some milliseconds.
LEAST_CELLS = 1_000_000
LOOKED_AT = 1_000  # rows that are looked at first


def without_zeros(dataset: Dataset, tasks: int) -> Dataset:
    """The same table as a sparse one, if it is an array of numbers that are mostly zeros; otherwise as it is."""
    block = dataset.whole
    if block is None or block.size < LEAST_CELLS or dataset.schema.categorical_mask.any():
        return dataset
    if not (block.flags.c_contiguous or block.flags.f_contiguous):
        return dataset
    n_rows, n_columns = block.shape
    some = block[np.linspace(0, n_rows - 1, min(LOOKED_AT, n_rows)).astype(np.int64)]
    if np.count_nonzero(some) > DENSE_SHARE * some.size:
        return dataset
    by_rows = block.flags.c_contiguous
    flat = read_only(block.reshape(-1) if by_rows else block.T.reshape(-1))
    row_stride, column_stride = (n_columns, 1) if by_rows else (1, n_rows)
    places = np.zeros((tasks, n_columns), np.int64)
    find_others(
        tasks, flat, row_stride, column_stride, n_rows, np.empty(0, np.int32), np.empty(0, flat.dtype), places
    )
    starts = np.concatenate(([0], np.cumsum(places.sum(axis=0))))
    if starts[-1] > DENSE_SHARE * block.size:
        return dataset
    from scipy.sparse import csc_array  # loaded for a table that is worth it

    places = starts[:-1] + np.cumsum(places, axis=0) - places
    rows, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], flat.dtype)
    find_others(tasks, flat, row_stride, column_stride, n_rows, rows, values, places)
    matrix = csc_array((values, rows, starts), shape=block.shape)
    matrix.has_canonical_format = True
    return Dataset(dataset.schema, SparseTable(matrix))


@inlined
def _note(value: float, row: Index, column: Index, rows: Int32s, values: Floats, places: Int64s) -> None:
    """Write a cell down, if it is not zero, and move on its column's place."""
    if value != 0.0:
        place = np.uint64(places[column])
        if len(rows) > 0:
            rows[place], values[place] = np.int32(row), value
        places[column] += 1


@shared_kernel
def find_others(
    task: int,
    tasks: int,
    flat: Floats,
    row_stride: int,
    column_stride: int,
    n_rows: int,
    rows: Int32s,
    values: Floats,
    all_places: Int64s,
) -> None:
    """Write the rows and values of the cells other than zero, or only count them.

    flat: the values, that of row r and column c at r * row_stride + c * column_stride, one of which is 1.
    rows: int32, values: of flat's type, column after column; both empty where cells are only counted.
    all_places: int64 (tasks, columns), where a task's next cell of each column goes: moved on.
    """
    places = all_places[task]
    first, last = n_rows * task // tasks, n_rows * (task + 1) // tasks
    if row_stride == 1:
        for column in range(len(places)):
            own = flat[column * column_stride :]
            for row in range(np.uint64(first), np.uint64(last)):
                _note(own[row], row, np.uint64(column), rows, values, places)
        return
    for row in range(first, last):
        own = flat[row * row_stride :]
        for column in range(np.uint64(len(places))):
            _note(own[column], row, column, rows, values, places)
