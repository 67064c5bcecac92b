"""A binned table some of whose columns are target statistics: one table for every order of time.

The columns are those of the training table that are split as they are, then the statistics of every other categorical
column by itself, then *slots* for combinations of categorical columns, which change from round to round. All tables
have the same columns in the same bins; they differ in the statistics of the rows, which depend on the order.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

import numpy as np

from weald.binning.mapper import BinMapper, DenseBins
from weald.binning.sharded import ShardedBins
from weald.binning.statistic_kernels import bin_cells
from weald.binning.widened import put_column, widened
from weald.encoding.cells import CELLS, cell_bins, count_cells
from weald.encoding.combinations import Projection
from weald.encoding.tables import Codes, StatisticTable
from weald.encoding.training import TrainingStatistics
from weald.runtime.arrays import Float64s, Int64s, Ints, Uint8s
from weald.runtime.team import ALONE

REMEMBERED_BYTES = 512 * 2**20  # of combinations that left their slots and may come back


@dataclass(frozen=True)
class StatisticColumn:
    """One derived column: a statistic of a projection."""

    projection: Projection  # of categorical columns, by their places among these
    place: int  # among the statistics of a projection


@dataclass(frozen=True)
class _Filled:
    """A projection, ready to be put into a slot."""

    bins: Uint8s | None  # (orders, statistics, rows here); None: not kept
    bin_of_cell: Uint8s  # (statistics, CELLS)
    cuts: list[Float64s]
    table: StatisticTable


    @property
    def nbytes(self) -> int:
        """What is kept."""
        rows = 0 if self.bins is None else self.bins.nbytes
        return rows + self.table.cells.nbytes + self.table.keys.nbytes


@dataclass
class OtherRows:
    """An evaluation set in the bins of a `StatisticBins`, which keeps it up to date."""

    bins: DenseBins | ShardedBins
    codes: Codes


class StatisticBins:
    """The training table in every order of time; ``kept``: the columns that are split as they are.

    ``first``: the number of the first derived column in the model, where others come before it. A table in blocks keeps the bins
    of derived columns a byte a row and order, in its own memory, and remembers no others.
    """

    def __init__(
        self,
        bins: DenseBins | ShardedBins,
        kept: Int64s,
        statistics: TrainingStatistics,
        single: list[Projection],
        n_slots: int,
        most_bins: int,
        first: int | None = None,
    ) -> None:
        self._statistics = statistics
        self._most_bins = most_bins
        self._per = len(statistics.columns)
        self._n_kept, self._first = len(kept), bins.n_columns if first is None else first
        self.slots: list[Projection | None] = [None] * (len(single) + n_slots)
        self.n_single = len(single)
        self._remembered: OrderedDict[Projection, _Filled] = OrderedDict()
        self._team = bins.team if isinstance(bins, ShardedBins) else ALONE
        self._forgets = isinstance(bins, ShardedBins)
        self._catalogue: dict[StatisticColumn, int] = {}
        self._others: list[OtherRows] = []
        #: what was put into slots so far, in that order
        self.fills: list[tuple[int, Projection]] = []
        n_derived = self._per * len(self.slots)
        self.mapper = _extended(bins.mapper, kept, n_derived, most_bins)
        #: the number of a column in the model; derived columns come behind the table's own
        self.features = np.concatenate([kept, np.full(n_derived, -1)]).astype(np.int32)
        self.tables = [widened(bins, kept, self.mapper) for _ in statistics.orders]
        for slot, projection in enumerate(single):
            self.fill(slot, projection)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.tables[0].n_rows

    @property
    def n_columns(self) -> int:
        """The number of columns, slots included."""
        return len(self.features)

    @property
    def columns(self) -> Int64s:
        """The columns that may be split: all but empty slots."""
        return np.flatnonzero(self.features >= 0)

    @property
    def derived(self) -> list[StatisticColumn]:
        """The derived columns that there were so far, in the order of their numbers in the model."""
        return list(self._catalogue)

    def signs_of_columns(self, signs: tuple[int, ...]) -> tuple[int, ...]:
        """Monotone constraints of the user's columns as those of this table's; derived columns have none."""
        moved = [signs[column] for column in self.features[: self._n_kept]]
        return (*moved, *[0] * (self.n_columns - len(moved)))

    def table_of(self, projection: Projection) -> StatisticTable:
        """What a model looks up for a projection."""
        return self._filled(projection).table

    def other(
        self, bins: DenseBins | ShardedBins, kept: Int64s, codes: Codes
    ) -> DenseBins | ShardedBins:
        """Other rows, binned by the mapper of the training table, in these columns; slots are kept up to date."""
        own = OtherRows(widened(bins, kept, self.mapper), codes)
        self._others.append(own)
        for slot, projection in enumerate(self.slots):
            if projection is not None:
                self._put_other(own, slot, self._filled(projection))
        return own.bins

    def projections_of(self, columns: Ints) -> list[Projection]:
        """The projections whose statistics are in some of the columns."""
        slots = np.unique((columns[columns >= self._n_kept] - self._n_kept) // self._per)
        return [projection for slot in slots if (projection := self.slots[slot]) is not None]

    def fill(self, slot: int, projection: Projection) -> None:
        """Put a projection's statistics into a slot of all tables."""
        filled = self._filled(projection, with_rows=True)
        assert filled.bins is not None
        self.slots[slot] = projection
        self.fills.append((slot, projection))
        cuts = list(self.mapper.cuts)
        for place in range(self._per):
            column = self._n_kept + slot * self._per + place
            cuts[column] = filled.cuts[place]
            key = StatisticColumn(projection, place)
            number = self._catalogue.setdefault(key, self._first + len(self._catalogue))
            self.features[column] = number
            for table, own in zip(self.tables, filled.bins, strict=True):
                put_column(table, column, own[place])
        self.mapper = replace(self.mapper, cuts=tuple(cuts))
        self.tables = [replace(table, mapper=self.mapper) for table in self.tables]
        for other in self._others:
            self._put_other(other, slot, filled)

    def _filled(self, projection: Projection, with_rows: bool = False) -> _Filled:
        """A projection's statistics, remembered or made anew; ``with_rows``: with the bins of the training rows."""
        found = self._remembered.pop(projection, None)
        if found is None or (with_rows and found.bins is None):
            found = self._new(projection)
        kept = self._remembered[projection] = replace(found, bins=None) if self._forgets else found
        while len(self._remembered) > 1 and kept.nbytes * len(self._remembered) > REMEMBERED_BYTES:
            self._remembered.popitem(last=False)
        return found

    def _new(self, projection: Projection) -> _Filled:
        cells, table = self._statistics.of(projection)
        bins = np.empty(cells.shape, np.uint8)
        bin_of_cell = np.empty((self._per, CELLS), np.uint8)
        cuts: list[Float64s] = []
        for place in range(self._per):
            counts = np.zeros(CELLS, np.int64)
            count_cells(cells[0, place], counts)
            counts = self._team.add(counts)
            cell_bins(counts, self._most_bins, bin_of_cell[place])
            # A cell's bin is the number of cuts below it.
            cuts.append((np.flatnonzero(np.diff(bin_of_cell[place])) + 0.5).astype(np.float64))
            for own, out in zip(cells, bins, strict=True):
                bin_cells(own[place], bin_of_cell[place], out[place])
        return _Filled(bins, bin_of_cell, cuts, table)

    def _put_other(self, other: OtherRows, slot: int, filled: _Filled) -> None:
        cells = filled.table.look_up(other.codes)
        bins = np.empty(cells.shape[1], np.uint8)
        for place in range(self._per):
            bin_cells(cells[place], filled.bin_of_cell[place], bins)
            put_column(other.bins, self._n_kept + slot * self._per + place, bins)


def _extended(mapper: BinMapper, kept: Int64s, n_derived: int, most_bins: int) -> BinMapper:
    """The mapper of the kept columns and of as many numeric ones as there are derived, with no cuts yet."""
    return BinMapper(
        (*(mapper.cuts[column] for column in kept), *([np.zeros(0)] * n_derived)),
        np.concatenate([mapper.n_bins[kept], np.full(n_derived, most_bins)]),
        np.concatenate([mapper.categorical[kept], np.zeros(n_derived, np.bool_)]),
        np.concatenate([mapper.n_categories[kept], np.zeros(n_derived, np.int64)]),
    )
