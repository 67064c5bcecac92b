"""How workers share the growing of a tree, as choices.

Whatever is shared, every worker comes to the same model. What travels between them differs; docs/scaling.md has the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from weald.binning.sharded import Sharing
from weald.params.choice import Choice, Family, documented, whole
from weald.runtime.team import ALONE, Team


class Parallel(Choice):
    """What every worker has, and what travels."""

    #: Whether every worker has all rows, in place of rows of its own.
    needs_all_rows = False

    def sharing(self, team: Team) -> Sharing:
        """The same as a table in blocks carries it."""
        raise NotImplementedError


@documented
@dataclass(repr=False, eq=False)
class DataParallel(Parallel):
    """Every worker has some of the rows; histograms of all columns travel, and are added up.

    The usual way: the model is that of one process with all rows, byte for byte, whatever the number of workers.

    Examples
    --------
    >>> DataParallel()
    DataParallel()
    """

    def sharing(self, team: Team) -> Sharing:
        """Rows are shared out, which a table in blocks knows by its team."""
        return Sharing()


@documented
@dataclass(repr=False, eq=False)
class FeatureParallel(Parallel):
    """Every worker has all rows and searches some of the columns; only best splits travel.

    For tables of many columns that fit in every worker's memory. The model is that of one process, byte for byte.

    Examples
    --------
    >>> FeatureParallel()
    FeatureParallel()
    """

    needs_all_rows = True

    def sharing(self, team: Team) -> Sharing:
        """The team searches, and nobody's rows are missing."""
        return Sharing("feature", searchers=team)


@documented
@dataclass(repr=False, eq=False)
class VotingParallel(Parallel):
    """Every worker has some of the rows and votes for the columns that it would split by; histograms of those elected travel.

    For many columns and slow networks. It is the one way whose model depends on the number of workers and on which rows each
    has: a column that is best for all rows, but for no worker among its ``top_k`` best, is passed over. Two times ``top_k``
    columns are elected for every node. Meng et al., "A communication-efficient parallel algorithm for decision tree", 2016.

    Examples
    --------
    >>> VotingParallel(top_k=10)
    VotingParallel(top_k=10)
    """

    top_k: Annotated[int, whole("Columns that a worker votes for; twice as many are elected.", 1, 2**31)] = 20

    def sharing(self, team: Team) -> Sharing:
        """Rows are shared out, and so are votes."""
        return Sharing("voting", self.top_k)


PARALLEL: Family[Parallel] = Family(
    "parallel", {"data": DataParallel, "feature": FeatureParallel, "voting": VotingParallel}
)


def sharing_of(parallel: Parallel | str, team: Team = ALONE) -> tuple[Parallel, Sharing]:
    """The choice that a name or object stands for, and how a table carries it.

    >>> sharing_of("voting")[1].top_k
    20
    """
    chosen = PARALLEL.resolve(parallel)
    return chosen, chosen.sharing(team)
