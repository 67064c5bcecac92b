"""Which numbers of a table are missing: NaN, as a rule; zeros too; or none, and NaN is a zero. Categories stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from weald.data.schema import Schema
from weald.data.sparse import SparseTable

if TYPE_CHECKING:
    from weald.data.dataset import Source

#: What counts as a missing number: "nan"; "zero": zeros and NaN; "none": nothing, NaN is the number 0.0.
Missing = Literal["nan", "zero", "none"]


class MissingSource:
    """Another source whose numbers are changed to what a later stage is to take for missing."""

    whole = None

    def __init__(self, source: Source, is_number: NDArray[np.bool_], missing: Missing) -> None:
        self.n_rows = source.n_rows
        self._source = source
        self._is_number = is_number
        self._missing = missing

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first row, block) for every ``step`` rows in their order."""
        for first, block in self._source.blocks(step):
            yield first, self._changed(block)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The chosen rows as one block."""
        return self._changed(self._source.take(rows))

    def _changed(self, block: NDArray[Any]) -> NDArray[Any]:
        instead = block.dtype.type(np.nan if self._missing == "zero" else 0.0)
        changed = block == 0.0 if self._missing == "zero" else block != block
        return np.where(changed & self._is_number, instead, block)


def with_missing(source: Source, schema: Schema, missing: Missing) -> Source:
    """The source of a table with that schema in which missing numbers, and no others, are NaN; a sparse one stays sparse.

    >>> from weald.data import read_table
    >>> table = np.array([[0.0, np.nan], [3.0, 4.0]])
    >>> read_table(table, missing="zero").take(np.arange(2))
    array([[nan, nan],
           [ 3.,  4.]])
    >>> read_table(table, missing="none").take(np.arange(2))
    array([[0., 0.],
           [3., 4.]])
    """
    if missing == "nan":
        return source
    if isinstance(source, SparseTable) and source.is_sparse:
        return source.with_missing_zeros() if missing == "zero" else source.without_missing()
    return MissingSource(source, ~schema.categorical_mask, missing)
