"""A binned table whose rows are in blocks: in memory, on disk, on a device, and perhaps only some of a larger table's.

Trees on it are grown from shards (`weald.tree.shards`). A process holds neighbouring rows, in their order; the other rows of the
table, if there are any, are held by the other members of its team.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.binning.mapper import MOST_BYTE_BINS, BinMapper, DenseBins
from weald.runtime.once import computed_once
from weald.runtime.row_memory import IN_MEMORY, RowMemory
from weald.runtime.team import ALONE, RowShare, Team

BLOCK_ROWS = 131_072  # of a table in memory: a column of bytes fits in the cache of a core

Codes = NDArray[np.unsignedinteger[Any]]


class Block(Protocol):
    """Some neighbouring rows of a table."""

    @property
    def n_rows(self) -> int:
        """How many rows they are."""

    def read(self, columns: NDArray[np.int64] | None = None) -> Codes:
        """The bins, (columns, rows), column after column in memory: of all columns, or of those that are asked for.

        May be called from several threads at once.
        """


@dataclass(frozen=True)
class MemoryBlock:
    """Rows in memory; ``codes``: (columns, rows)."""

    codes: Codes

    @property
    def n_rows(self) -> int:
        """How many rows they are."""
        return int(self.codes.shape[1])

    def read(self, columns: NDArray[np.int64] | None = None) -> Codes:
        """The bins themselves, or a copy of some columns."""
        return self.codes if columns is None else self.codes[columns]


@dataclass(frozen=True)
class TakenBlock:
    """Some rows of a block, ascending."""

    block: Block
    rows: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """How many rows they are."""
        return len(self.rows)

    def read(self, columns: NDArray[np.int64] | None = None) -> Codes:
        """The bins of these rows."""
        return np.ascontiguousarray(self.block.read(columns)[:, self.rows])


@dataclass(frozen=True)
class Sharing:
    """What the members of a team do together while a tree grows: the choices of `weald.workers.parameters`.

    ``searchers``: the team, where every member has all rows and the columns to search are shared out ("feature").
    """

    mode: Literal["data", "feature", "voting"] = "data"
    top_k: int = 20  # columns that a member votes for
    searchers: Team = ALONE


@dataclass(frozen=True)
class ShardedBins:
    """The rows of a binned table that this process holds, in blocks.

    ``first``: the number of the first of them in the whole table, of ``n_total`` rows.

    >>> import numpy as np
    >>> from weald.binning import fit_bins
    >>> from weald.data import read_table
    >>> table = read_table(np.arange(10.0).reshape(-1, 1))
    >>> bins = ShardedBins.of(fit_bins(table, None).transform(table, tasks=1), sizes=[6, 4])
    >>> bins.n_rows, bins.n_total, bins.blocks[1].read().tolist()
    (10, 10, [[6, 7, 8, 9]])
    """

    mapper: BinMapper
    blocks: Sequence[Block]
    team: Team = ALONE
    memory: RowMemory = IN_MEMORY  # for what training keeps of every row
    reads_ahead: bool = False  # whether a thread brings the next block while one is worked on
    sharing: Sharing = Sharing()

    @cached_property
    def n_rows(self) -> int:
        """How many rows this process holds."""
        return sum(block.n_rows for block in self.blocks)

    @property
    def codes(self) -> np.dtype[Any]:
        """The type of the bins: bytes, or uint16 for all columns where one has more than 255."""
        return np.dtype(np.uint8 if self.mapper.n_bins.max() <= MOST_BYTE_BINS else np.uint16)

    def part(self, begin: int, end: int) -> ShardedBins:
        """Some neighbouring blocks, as a table of their own."""
        return ShardedBins(self.mapper, self.blocks[begin:end], ALONE, self.memory, self.reads_ahead)

    def take(self, rows: NDArray[np.int64]) -> ShardedBins:
        """Some of the rows here, ascending, as a table of their own; other members of the team take some of theirs."""
        taken, first = [], 0
        for block in self.blocks:
            begin, end = np.searchsorted(rows, [first, first + block.n_rows])
            taken.append(TakenBlock(block, rows[begin:end] - first))
            first += block.n_rows
        return replace(self, blocks=taken)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.mapper.n_bins)

    @computed_once
    def _rows_of_members(self) -> list[int]:
        own = np.zeros(self.team.size, np.int64)
        own[self.team.rank] = self.n_rows
        counts: list[int] = self.team.add(own).tolist()
        return counts

    @property
    def first(self) -> int:
        """The number of the first row here in the whole table."""
        return sum(self._rows_of_members[: self.team.rank])

    @property
    def n_total(self) -> int:
        """The number of rows of the whole table."""
        return sum(self._rows_of_members)

    @property
    def share(self) -> RowShare:
        """Which rows of the whole table are here."""
        return RowShare(self.first, self.n_total, self.team)

    @classmethod
    def of(cls, bins: DenseBins, team: Team = ALONE, sizes: Sequence[int] | None = None) -> ShardedBins:
        """A dense table, cut into blocks of so many rows; None: of `BLOCK_ROWS`."""
        if sizes is None:
            sizes = [min(BLOCK_ROWS, bins.n_rows - first) for first in range(0, bins.n_rows, BLOCK_ROWS)]
        ends = np.cumsum([0, *sizes]).tolist()
        parts = [bins.columns[:, begin:end] for begin, end in pairwise(ends)]
        return cls(bins.mapper, [MemoryBlock(np.ascontiguousarray(part)) for part in parts], team)
