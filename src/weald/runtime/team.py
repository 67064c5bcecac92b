"""Processes that train one model together, each on rows of its own: what they tell each other.

All members run the same training, on their own rows, and meet where a number of all rows is needed. They add up integers, which
add up to the same in any order, so that every member comes to the same model, and to that of one process with all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Team(Protocol):
    """Members with the numbers 0 to ``size - 1``; all of them call the same methods in the same order."""

    @property
    def rank(self) -> int:
        """The number of this member."""

    @property
    def size(self) -> int:
        """How many members there are."""

    def name_of(self, rank: int) -> str:
        """What messages call a member: "rank 2", say."""

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of all members' arrays, which have one shape; a new array, or ``numbers`` itself."""

    def most(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greatest of all members' numbers, place by place."""

    def gather(self, part: Any) -> list[Any]:
        """What every member gives, in the order of their numbers; anything that can be pickled."""


class Alone:
    """A team of one.

    >>> import numpy as np
    >>> ALONE.add(np.array([1, 2])).tolist(), ALONE.gather("rows")
    ([1, 2], ['rows'])
    """

    rank = 0
    size = 1

    def name_of(self, rank: int) -> str:
        """The only process there is."""
        return "this process"

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers themselves."""
        return numbers

    def most(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers themselves."""
        return numbers

    def gather(self, part: Any) -> list[Any]:
        """What this member gives."""
        return [part]


ALONE = Alone()


class RowShare(NamedTuple):
    """Which rows of a table this process has: neighbours, from the number ``first`` on, of ``n_total`` in all."""

    first: int
    n_total: int
    team: Team = ALONE

    @classmethod
    def whole(cls, n_rows: int) -> RowShare:
        """All rows of a table."""
        return cls(0, n_rows)


def labels_of_team(
    team: Team, y: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Labels and weights of all members' rows, in the order of the members; a member's own where it is alone."""
    if team.size == 1:
        return y, weight
    found = team.gather((np.asarray(y), None if weight is None else np.asarray(weight)))
    weights = [own for _, own in found if own is not None]
    return np.concatenate([own for own, _ in found]), np.concatenate(weights) if weights else None
