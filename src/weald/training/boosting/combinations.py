"""Which combinations of categorical columns have a slot: found greedily, from what the trees so far were split by.

Whatever a tree was split by is worth a closer look: its statistics' columns are joined with one more categorical column, and the
combination may be split by in the next rounds. Every round tries one that is new, drawn at random, in the slot that no tree
has asked for for longest. (A faster change of combinations gave larger models that were no better.)

Combinations may be split by in every other round only. The rounds between tell with single columns what these can tell; else
the many chances of combinations, which all are tried on the same rows, would fit noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.statistics import StatisticBins
from weald.encoding.combinations import Projection
from weald.runtime.random import COMBINATIONS, stream_key

COMBINED_ROUNDS = 2  # of so many rounds one has combinations


class CombinationSearch:
    """Fills the slots of a table, round by round.

    ``first``: the table's first column of combinations; ``n_columns``: categorical columns; ``most``: of them in a combination.
    """

    def __init__(self, tables: StatisticBins, first: int, n_columns: int, most: int, seed: int) -> None:
        self._tables = tables
        self._first = first
        self._n_columns = n_columns
        self._most = most
        self._seed = seed
        self._asked = [-1] * len(tables.slots)  # the last round that split by a slot
        self._seen: list[NDArray[np.int64]] = []

    def columns(self, number: int) -> NDArray[np.int64]:
        """The columns that the trees of a round may be split by."""
        columns = self._tables.columns
        return columns if number % COMBINED_ROUNDS == 0 else columns[columns < self._first]

    def saw(self, columns: NDArray[np.integer[Any]]) -> None:
        """Take note of the columns that a tree of this round tests; -1 for a leaf."""
        self._seen.append(columns[columns >= 0].astype(np.int64))

    def renew(self, number: int) -> None:
        """Fill a slot with a combination of what the last round's trees were split by."""
        used = self._tables.projections_of(np.unique(np.concatenate([np.zeros(0, np.int64), *self._seen])))
        self._seen.clear()
        places = {projection: slot for slot, projection in enumerate(self._tables.slots) if projection}
        for projection in used:
            self._asked[places[projection]] = number
        fresh = self._proposals(used, set(places))
        if not fresh:
            return
        drawn = fresh[stream_key(self._seed, number, COMBINATIONS) % len(fresh)]
        slot = min(range(self._tables.n_single, len(self._asked)), key=lambda slot: (self._asked[slot], slot))
        self._tables.fill(slot, drawn)
        self._asked[slot] = number  # a chance of its own before it must go

    def state(self) -> dict[str, Any]:
        """What a search that goes on needs: when slots were asked for last, and what the last round has tested."""
        return {"asked": list(self._asked), "seen": np.concatenate([np.zeros(0, np.int64), *self._seen])}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        self._asked = [int(number) for number in state["asked"]]
        self._seen = [np.array(state["seen"], np.int64)]

    def _proposals(self, used: list[Projection], there: set[Projection]) -> list[Projection]:
        """The combinations of what was used with one more column that have no slot."""
        found = {
            tuple(sorted({*projection, column}))
            for projection in used
            if len(projection) < self._most
            for column in range(self._n_columns)
        }
        return sorted(found - there)
