"""Tables with room for derived columns behind some of their own: where statistics are put, in one memory or in blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.mapper import BinMapper, DenseBins
from weald.binning.sharded import Block, ShardedBins
from weald.binning.statistic_kernels import put_in_both

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class WidenedBlock:
    """Some columns of a block, and derived ones behind them, which are kept a byte a row."""

    block: Block
    kept: NDArray[np.int64]
    derived: Bytes  # (derived columns, rows)
    dtype: np.dtype[Any]

    @property
    def n_rows(self) -> int:
        """How many rows they are."""
        return self.block.n_rows

    def read(self, columns: NDArray[np.int64] | None = None) -> NDArray[np.unsignedinteger[Any]]:
        """The bins of all columns, or of some."""
        n_kept = len(self.kept)
        wanted = np.arange(n_kept + len(self.derived)) if columns is None else columns
        found = np.empty((len(wanted), self.n_rows), self.dtype)
        own = wanted < n_kept
        if own.any():
            found[own] = self.block.read(self.kept[wanted[own]])
        found[~own] = self.derived[wanted[~own] - n_kept]
        return found


def widened(
    bins: DenseBins | ShardedBins, kept: NDArray[np.int64], mapper: BinMapper
) -> DenseBins | ShardedBins:
    """A table with the kept columns, and room for the others that ``mapper`` has."""
    n_derived = len(mapper.n_bins) - len(kept)
    if isinstance(bins, DenseBins):
        columns = np.zeros((len(mapper.n_bins), bins.n_rows), mapper.dtype)
        columns[: len(kept)] = bins.columns[kept]
        return DenseBins(columns, np.ascontiguousarray(columns.T).reshape(-1), mapper)
    derived = bins.memory.zeros((n_derived, bins.n_rows), np.uint8)
    blocks, first = [], 0
    for block in bins.blocks:
        blocks.append(WidenedBlock(block, kept, derived[:, first : first + block.n_rows], mapper.dtype))
        first += block.n_rows
    return replace(bins, mapper=mapper, blocks=blocks)


def put_column(table: DenseBins | ShardedBins, column: int, codes: Bytes) -> None:
    """Write the bins of a derived column, (rows,)."""
    if isinstance(table, DenseBins):
        put_in_both(codes, column, table.n_columns, table.columns, table.rows)
        return
    first = 0
    for block in table.blocks:
        assert isinstance(block, WidenedBlock)
        here = block.derived[column - len(block.kept)]
        here[...] = codes[first : first + block.n_rows]
        table.memory.release(here)
        first += block.n_rows
