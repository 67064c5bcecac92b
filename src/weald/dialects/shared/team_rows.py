"""The table of a data set of which this process has some rows, and the other members of a team the rest."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.parts import Part, sharded_table_of
from weald.binning.sharded_table import ShardedTable
from weald.data.read import open_table
from weald.runtime.random import seed_of
from weald.runtime.team import Team
from weald.runtime.threads import hire
from weald.training.boosting.parameters import BoostingParameters

Float64s = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TeamRows:
    """The parts of the table that this member has, neighbours in their order."""

    parts: Sequence[Any]
    team: Team

    def binned(
        self,
        given: BoostingParameters,
        owner: str,
        label: Float64s,
        weight: Float64s | None,
        like: ShardedTable | None = None,
    ) -> ShardedTable:
        """All members' rows as one table; ``like``: that of the training, where these rows are an evaluation set."""
        found, first = [], 0
        for part in self.parts:
            here = slice(first, first + open_table(part, least_rows=0).n_rows)
            found.append(Part(part, label[here], None if weight is None else weight[here]))
            first = here.stop
        seed, tasks = seed_of(copy.deepcopy(given.random_state)), hire(given.n_jobs)
        return sharded_table_of(found, given._reading(), owner, seed, tasks, self.team, like)
