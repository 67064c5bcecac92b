"""Target statistics of the training rows, in every order of time, and the tables that a model keeps of them.

The kinds are those of `formulas`. Rows of any other table are given the statistics of all training rows (holdout: of the
rows that are not trained on).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.encoding.cells import counter_cells, target_cells
from weald.encoding.combinations import Projection, keys_of, new_slots, number_keys
from weald.encoding.formulas import Sums, sums_before, sums_without_own, total_sums
from weald.encoding.tables import Cells, Codes, StatisticTable
from weald.runtime.team import RowShare

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class StatisticChoices:
    """Which statistics a projection has."""

    kind: str  # greedy, leave_one_out, holdout or ordered
    priors: tuple[float, ...] | None = None  # None: the mean of each target
    prior_weight: float = 1.0
    counters: bool = True


@dataclass(frozen=True)
class LabelledCodes:
    """Rows as statistics see them: codes of those that are here, targets of those of the whole team."""

    codes: Codes  # (categorical columns, rows here), a missing value behind the last category
    targets: NDArray[np.integer[Any]]  # (targets, rows), zeros and ones
    share: RowShare | None = None  # which of the rows are here; None: all

    @property
    def n_rows(self) -> int:
        """The number of rows, here and elsewhere."""
        return int(self.targets.shape[1])

    @property
    def here(self) -> slice:
        """Where the rows here are among all."""
        first = 0 if self.share is None else self.share.first
        return slice(first, first + self.codes.shape[1])

    def target(self, number: int) -> Int64s:
        """One target of all rows."""
        return np.asarray(self.targets[number], np.int64)

    def of_all(self, projection: Projection) -> Codes:
        """The codes of some columns of all rows, (columns, rows); members of a team hand theirs to each other."""
        first = projection[0]
        own = self.codes[first : first + 1] if len(projection) == 1 else self.codes[list(projection)]
        if self.share is None or self.share.team.size == 1:
            return own
        return np.concatenate(self.share.team.gather(own), axis=1)


@dataclass(frozen=True)
class TrainingStatistics:
    """What statistics are taken from, and for which rows.

    ``n_codes``: of every categorical column. ``orders``: row numbers, the oldest first, one for every order of time; a single
    one where the kind does not ask for it. ``source``: for holdout, the rows that give statistics; None: the rows themselves.
    """

    rows: LabelledCodes
    n_codes: Int64s
    orders: Sequence[NDArray[np.uint32]]
    choices: StatisticChoices
    source: LabelledCodes | None = None

    @cached_property
    def columns(self) -> list[tuple[int, float]]:
        """The statistics of a projection: (target, prior) each; a counter is (-1, 0)."""
        priors, targets = self.choices.priors, (self.source or self.rows).targets
        means = targets.sum(axis=1) / max(targets.shape[1], 1)
        chosen = [
            (target, float(prior))
            for target in range(len(targets))
            for prior in (priors if priors is not None else (means[target],))
        ]
        return chosen + [(-1, 0.0)] * self.choices.counters

    def of(self, projection: Projection) -> tuple[Cells, StatisticTable]:
        """The cells of the training rows here, (orders, statistics, rows), and the table for all other rows."""
        source, weight, columns = self.source or self.rows, self.choices.prior_weight, self.columns
        here, n_here = source.here, self.rows.codes.shape[1]
        groups, count, keys = self._groups_of(source.of_all(projection), projection)
        table = np.empty((len(columns), count), np.uint16)
        default = np.empty((len(columns), 1), np.uint16)
        seen: Cells = np.empty((len(self.orders), len(columns), n_here), np.uint16)
        none = np.zeros(1, np.int64)
        for place, (target, prior) in enumerate(columns):
            own_target = source.target(max(target, 0))
            all_rows = total_sums(groups, own_target, count)
            if target < 0:
                counter_cells(all_rows.counts, source.n_rows, table[place])
                counter_cells(none, source.n_rows, default[place])
                if self.source is None:
                    seen[:, place] = table[place][groups[here]]
                continue
            target_cells(*all_rows, prior, weight, table[place])
            target_cells(none, none, prior, weight, default[place])
            if self.source is None:
                for order, cells in zip(self.orders, seen[:, place], strict=True):
                    sums, counts = self._told(groups, all_rows, own_target, order)
                    target_cells(sums[here], counts[here], prior, weight, cells)
        made = StatisticTable(projection, tuple(range(len(columns))), keys, table, default[:, 0])
        if self.source is not None:
            seen[:] = made.look_up(self.rows.codes)
        return seen, made

    def _groups_of(self, codes: Codes, projection: Projection) -> tuple[Codes, int, NDArray[np.uint64]]:
        """Every row's group, the number of groups, and their keys where there are several columns; ``codes``: of these."""
        if len(projection) == 1:
            return codes[0], int(self.n_codes[projection[0]]), np.zeros(0, np.uint64)
        keys, n_rows = keys_of(codes, tuple(range(len(projection)))), codes.shape[1]
        groups, distinct = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint64)
        count = number_keys(keys, new_slots(n_rows), groups, distinct)
        return groups, int(count), distinct[:count].copy()

    def _told(
        self, groups: Codes, all_rows: Sums, target: Int64s, order: NDArray[np.uint32]
    ) -> tuple[Int64s, Int64s]:
        """Sum and count of the rows that every training row is told of."""
        if self.choices.kind == "ordered":
            return sums_before(groups, order, target, len(all_rows.sums))
        if self.choices.kind == "leave_one_out":
            return sums_without_own(groups, target, len(all_rows.sums))
        return all_rows.sums[groups], all_rows.counts[groups]
