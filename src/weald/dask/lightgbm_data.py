"""LightGBM's data set of the rows that one member of a team has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.lightgbm.columns import ColumnFacts, facts_of
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.shared.tables import Float64s, take_rows
from weald.dialects.shared.team_rows import TeamRows
from weald.runtime.errors import NotSupportedError
from weald.runtime.team import Team, labels_of_team


class MemberDataset(Dataset):
    """The parts that a member has, one behind the other; columns are those of the first."""

    def __init__(self, parts: Sequence[Dataset], team: Team) -> None:
        first = parts[0]
        if first.coded or any(one.categories != first.categories for one in parts):
            raise NotSupportedError(
                "columns of categories must have no order, and the same categories in all partitions; call .categorize() of the "
                "dataframe, or use weald.dask.BoostedTrees*."
            )
        self.__dict__.update(first.__dict__)
        self._members, self._team = parts, team
        counts = np.zeros(team.size, np.int64)
        counts[team.rank] = sum(one.n_rows for one in parts)
        counts = team.add(counts)
        self._first, self._here = int(counts[: team.rank].sum()), int(counts[team.rank])
        self._shape = (int(counts.sum()), first.n_columns)
        self._label = np.concatenate([one.labels for one in parts])
        weights = [one.weights for one in parts if one.weights is not None]
        self._weight = np.concatenate(weights) if weights else None
        self._of_all = labels_of_team(team, self._label, self._weight)

    def weigh(self, weight: Float64s | None) -> None:
        """Give the rows of all members other weights."""
        self._weight = self.own(weight)
        self._of_all = self._of_all[0], weight

    def table_by(self, params: Mapping[str, Any]) -> Any:
        """All parts, as the engine bins them."""
        return TeamRows([one.table_by(params) for one in self._members], self._team)

    @property
    def all_labels(self) -> NDArray[Any]:
        """The labels of all members' rows."""
        return self._of_all[0]

    @property
    def all_weights(self) -> Float64s | None:
        """The weights of all members' rows."""
        return self._of_all[1]

    def own(self, values: Float64s | None) -> Float64s | None:
        """Of numbers of all rows those of this member's."""
        return None if values is None else values[self._first : self._first + self._here]

    def facts(self, rows: int) -> ColumnFacts:
        """Those of the rows that one process would look at, wherever they are."""
        wanted = np.arange(self.n_rows)
        if self.n_rows > rows:
            wanted = np.linspace(0, self.n_rows - 1, rows).astype(np.int64)
        found, first = [], self._first
        for part in self._members:
            here = wanted[(wanted >= first) & (wanted < first + part.n_rows)] - first
            if len(here):
                found.append(facts_of(take_rows(part.source, here), rows, self.categories))
            first += part.n_rows
        every = [one for member in self._team.gather(found) for one in member]
        return ColumnFacts(
            _together(min, [one.low for one in every]),
            _together(max, [one.high for one in every]),
            [any(column) for column in zip(*(one.holes for one in every), strict=True)],
            self.categories,
        )


def _together(way: Any, values: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The least or the greatest of every column; None where a column has no values."""
    found: list[float | None] = []
    for column in zip(*values, strict=True):
        known = [one for one in column if one is not None]
        found.append(way(known) if known else None)
    return found
