"""A table as blocks of floats, the only form of the data that later stages see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data.columns import ROWS_PER_BLOCK
from weald.data.schema import Schema
from weald.data.sparse import Entries, SparseBlocks, SparseTable
from weald.data.tables import ArrayTable

_BLOCK_BYTES = 64 * 2**20


class Source(Protocol):
    """Where a data set's floats come from, columns in the schema's order."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def whole(self) -> NDArray[Any] | None:
        """The whole table when it is already a native float array, so that no block need be made."""

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first row, block) for every ``step`` rows in their order."""

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The chosen rows as one block."""


class Dataset:
    """A table that was read: its schema and its values as blocks of floats.

    Numbers stay as they are, with NaN for missing; a categorical column holds its dictionary codes, with NaN
    for missing and for categories that the schema does not know. `read_table` makes data sets.

    >>> import numpy as np
    >>> from weald.data import read_table
    >>> dataset = read_table(np.array([["red", 1], ["blue", 2], ["red", None]], dtype=object))
    >>> dataset.n_rows, dataset.n_columns, dataset.schema.columns[0].categories
    (3, 2, ('red', 'blue'))
    >>> [(first_row, block.tolist()) for first_row, block in dataset.blocks()]
    [(0, [[0.0, 1.0], [1.0, 2.0], [0.0, nan]])]
    """

    __slots__ = ("_source", "n_columns", "n_rows", "schema")

    def __init__(self, schema: Schema, source: Source) -> None:
        self.schema = schema
        self.n_rows = source.n_rows
        self.n_columns = schema.n_columns
        self._source = source

    @property
    def is_sparse(self) -> bool:
        """Whether the stored cells of a sparse matrix can be had alone; not with categories among its columns."""
        return isinstance(self._source, SparseTable) and self._source.is_sparse

    @property
    def entries(self) -> Entries:
        """The stored cells of a sparse table, column after column."""
        assert isinstance(self._source, SparseTable)
        return self._source.entries

    @property
    def whole(self) -> NDArray[Any] | None:
        """The table itself where it is an array of numbers, which `blocks` gives as one block."""
        return self._source.whole

    def blocks(self) -> Iterable[tuple[int, NDArray[Any]]]:
        """(first row, two-dimensional float32 or float64 block), in the order of the rows.

        A native float array without categorical columns comes whole, as it is, whatever its strides; anything
        else in blocks of 65,536 rows, fewer when that would take more than 64 MB. A block may be a view of
        the user's data: do not write to it. Those of a sparse table are `SparseBlocks`, which prediction asks for the
        columns that it needs.
        """
        if self._source.whole is not None:
            return iter(((0, self._source.whole),))
        if isinstance(self._source, SparseTable) and self._source.is_sparse:
            return SparseBlocks(self._source, rows_per_block(self.n_columns))
        return self._source.blocks(rows_per_block(self.n_columns))

    def at_once(self) -> Dataset:
        """The same table with its floats made once, as one array, if that takes no more than a block may.

        For a stage that reads the table several times: a data frame is otherwise converted each time.
        """
        if self.whole is not None or self.is_sparse or 8 * self.n_rows * self.n_columns > _BLOCK_BYTES:
            return self
        [(_, block)] = self._source.blocks(self.n_rows)
        return Dataset(self.schema, ArrayTable(block))

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The chosen rows, in the order asked for, as one block of the same floats."""
        if self._source.whole is not None:
            chosen: NDArray[Any] = self._source.whole[rows]
            return chosen
        return self._source.take(rows)

    def part(self, rows: NDArray[np.int64]) -> Dataset:
        """The chosen rows as a data set of their own, with the same schema; nothing is converted yet."""
        if isinstance(self._source, SparseTable):
            return Dataset(self.schema, self._source.part(rows))
        return Dataset(self.schema, _Part(self, rows))


class _Part:
    """Some rows of a data set as a source."""

    whole = None

    def __init__(self, dataset: Dataset, rows: NDArray[np.int64]) -> None:
        self.n_rows = len(rows)
        self._dataset = dataset
        self._rows = rows

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        for first in range(0, self.n_rows, step):
            yield first, self._dataset.take(self._rows[first : first + step])

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._dataset.take(self._rows[rows])


def rows_per_block(n_columns: int) -> int:
    """How many rows make a block: 65,536, or as many as fit in 64 MB of float64."""
    return max(1, min(ROWS_PER_BLOCK, _BLOCK_BYTES // (8 * n_columns)))
