"""SciPy's sparse matrices as tables: what is stored is read as it is, what is not stored is never written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.data.categories import count_numbers
from weald.data.schema import Kind
from weald.data.tables import ArrayTable, Coding, made_up_names, row_steps
from weald.data.whole_numbers import check_collapse, first_collapse

#: What the cells are that a sparse matrix does not store.
Unstored = Literal["zero", "missing"]

# A column-major matrix is turned to rows in at most this many parts: each part costs a pass over it.
_PARTS = 16
# Cells of a block of chosen columns: they stay in the cache between being filled and being read.
_CELLS_PER_BLOCK = 2**20


class Entries(NamedTuple):
    """The stored cells of a table column after column, each once, by ascending row."""

    starts: NDArray[np.int64]  # (columns + 1,)
    rows: NDArray[np.uint32]
    values: NDArray[Any]  # float32 or float64
    n_rows: int
    unstored: Unstored


class SparseTable:
    """A SciPy matrix or array in CSR or CSC form; what is not stored is 0.0, or missing."""

    named = False
    whole = None

    def __init__(self, matrix: Any, coding: Coding = (), unstored: Unstored = "zero") -> None:
        self.n_rows = int(matrix.shape[0])
        self.unstored: Unstored = unstored
        self._matrix = matrix
        self._coding = coding
        #: whether its columns are all numbers, so that later stages may read the stored cells alone
        self.is_sparse = all(codes is None for codes in coding)

    @property
    def names(self) -> tuple[str, ...]:
        return made_up_names(int(self._matrix.shape[1]))

    def kinds(self) -> list[Kind]:
        return ["numeric"] * int(self._matrix.shape[1])

    def all_missing(self, position: int) -> bool:
        return False  # numbers go with either kind anyway

    def is_text(self, position: int) -> bool:
        return False

    def check_numbers(self, positions: Iterable[int]) -> None:
        if first_collapse(self._matrix.data) is None:
            return
        for position in positions:
            check_collapse(first_collapse(self._matrix[:, [position]].tocoo().data), self.names[position])

    def counts(self, position: int) -> dict[Any, int]:
        column = self._matrix[:, [position]].tocoo()
        column.sum_duplicates()
        counts = Counter(count_numbers(column.data))
        if self.unstored == "zero":
            counts[0] += self.n_rows - len(column.data)
        return +counts  # without the zero when every row is stored

    def source(self, order: Sequence[int], coding: Coding) -> SparseTable:
        return SparseTable(self._matrix, coding, self.unstored)

    def part(self, rows: NDArray[np.int64]) -> SparseTable:
        """The chosen rows, in the order asked for."""
        return SparseTable(self._matrix[rows], self._coding, self.unstored)

    def with_missing_zeros(self) -> SparseTable:
        """The same table with zeros missing, stored or not."""
        matrix = self._matrix.copy()  # the user's matrix stays as it is
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return SparseTable(matrix, self._coding, "missing")

    def without_missing(self) -> SparseTable:
        """The same table with zeros in place of missing values."""
        matrix = self._matrix.copy()
        matrix.sum_duplicates()
        matrix.data[matrix.data != matrix.data] = 0
        return SparseTable(matrix, self._coding, "zero")

    @cached_property
    def entries(self) -> Entries:
        """The stored cells, column after column."""
        matrix = self._matrix.tocsc()
        if not matrix.has_canonical_format:
            if matrix is self._matrix:
                matrix = matrix.copy()  # the user's matrix stays as it is
            matrix.sum_duplicates()
        return Entries(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.uint32),
            _floats(matrix.data),
            self.n_rows,
            self.unstored,
        )

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        part = self.n_rows
        if self._matrix.format == "csc":
            part = step * -(-self.n_rows // (step * _PARTS))
        for rows_of_part in row_steps(self.n_rows, max(part, 1)):
            by_row = self._matrix[rows_of_part].tocsr()
            for rows in row_steps(by_row.shape[0], step):
                yield rows_of_part.start + rows.start, self._dense(by_row[rows])

    def blocks_of(self, columns: NDArray[np.integer]) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first row, floats of the chosen columns), in the order of the rows; the others are not looked at."""
        chosen = self._matrix[:, columns].tocsr()
        chosen.sum_duplicates()
        chosen.data = _floats(chosen.data)
        for rows in row_steps(self.n_rows, max(1, _CELLS_PER_BLOCK // len(columns))):
            yield rows.start, self._filled(chosen[rows])

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self._dense(self._matrix[rows])

    def _dense(self, matrix: Any) -> NDArray[Any]:
        dense = ArrayTable(self._filled(matrix), self._coding)
        return dense.whole if dense.whole is not None else dense.take(np.arange(dense.n_rows))

    def _filled(self, matrix: Any) -> NDArray[Any]:
        """A part of the matrix with all its cells."""
        if self.unstored == "zero":
            filled: NDArray[Any] = matrix.toarray()
            return filled
        stored = matrix.tocoo()
        stored.sum_duplicates()
        values = _floats(stored.data)
        block = np.full(matrix.shape, np.nan, values.dtype)
        block[stored.row, stored.col] = values
        return block


class SparseBlocks:
    """The blocks of a sparse table: of all columns when iterated over, or of those that somebody needs."""

    def __init__(self, table: SparseTable, step: int) -> None:
        self._table = table
        self._step = step

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]:
        return self._table.blocks(self._step)

    def of_columns(self, columns: NDArray[np.integer]) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first row, block of the chosen columns)."""
        return self._table.blocks_of(columns)


def _floats(values: NDArray[Any]) -> NDArray[Any]:
    """Float32 as it is, anything else as float64, as a dense array is read."""
    return values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)
