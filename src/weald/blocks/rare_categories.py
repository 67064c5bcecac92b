"""Categories that share a bin: a store keeps their codes too, a byte of each a column, behind the columns of bins.

Target statistics tell all categories apart, bins of a column only as many as it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded import Block, Codes
from weald.data import Schema


@dataclass(frozen=True)
class CodeBytes:
    """Columns of a table some of whose categories share a bin, and how many bytes the codes of each take."""

    n_columns: int  # of the table
    categorical: tuple[int, ...]
    rare: tuple[tuple[int, int], ...]  # of these: place among the categorical ones, bytes

    @classmethod
    def of(cls, schema: Schema, n_bins: Sequence[int]) -> CodeBytes:
        """Those of a table.

        >>> from weald.data import Column
        >>> schema = Schema((Column("a", "numeric"), Column("b", "categorical", tuple("vwxyz"))), True)
        >>> CodeBytes.of(schema, [9, 3]).rare, CodeBytes.of(schema, [9, 5]).rare
        (((0, 1),), ())
        """
        categorical = tuple(np.flatnonzero(schema.categorical_mask).tolist())
        sizes = [len(schema.columns[column].categories) for column in categorical]
        rare = [
            (place, -(-size.bit_length() // 8))
            for place, (column, size) in enumerate(zip(categorical, sizes, strict=True))
            if size > n_bins[column]
        ]
        return cls(schema.n_columns, categorical, tuple(rare))

    def __len__(self) -> int:
        """How many columns of bytes there are."""
        return sum(count for _, count in self.rare)

    def names(self, schema: Schema) -> tuple[str, ...]:
        """The names of the table's columns, and for every column of bytes that of the column that it belongs to."""
        owners = [self.categorical[place] for place, count in self.rare for _ in range(count)]
        return (*schema.names, *(schema.names[column] for column in owners))

    def written(self, codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """The columns of bytes, (columns, rows); ``codes``: of all categorical columns."""
        parts = [codes[place] >> np.uint32(8 * byte) for place, count in self.rare for byte in range(count)]
        return np.array(parts, np.uint32).reshape(len(parts), codes.shape[1]).astype(np.uint8)

    def read(self, block: Block) -> NDArray[np.uint32]:
        """The codes of all categorical columns, as far as bins or bytes tell them."""
        codes = block.read(np.array(self.categorical, np.int64)).astype(np.uint32)
        stored = block.read(self.n_columns + np.arange(len(self)))
        first = 0
        for place, count in self.rare:
            codes[place] = sum(stored[first + byte].astype(np.uint32) << np.uint32(8 * byte) for byte in range(count))
            first += count
        return codes


@dataclass(frozen=True)
class StoredCategories:
    """The codes of the categorical columns of a block, as `ShardedTable.codes` has them."""

    block: Block
    bytes_of: CodeBytes

    @property
    def n_rows(self) -> int:
        """How many rows they are."""
        return self.block.n_rows

    def read(self, columns: NDArray[np.int64] | None = None) -> Codes:
        """The codes, (categorical columns, rows), of all or of some."""
        codes = self.bytes_of.read(self.block)
        return codes if columns is None else codes[columns]
