"""A team whose members hear of it when one of them fails, wherever that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.errors import InputError
from weald.runtime.team import Team

_Failure = tuple[type[InputError] | None, str]


class MemberFailedError(RuntimeError):
    """Another member of the team has failed; the message names it."""


class WatchedTeam:
    """A team that begins every meeting with one number: whether a member has failed since the last.

    Then all give up, with a sentence that names it, in place of waiting for one that will not come. `working` sees to it.

    >>> from weald.runtime.team import ALONE
    >>> team = WatchedTeam(ALONE)
    >>> with team.working():
    ...     team.gather("rows")
    ['rows']
    """

    def __init__(self, inner: Team) -> None:
        self._inner = inner
        self._is_over = False

    @property
    def rank(self) -> int:
        """The number of this member."""
        return self._inner.rank

    @property
    def size(self) -> int:
        """How many members there are."""
        return self._inner.size

    def name_of(self, rank: int) -> str:
        """What messages call a member."""
        return self._inner.name_of(rank)

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Team`."""
        self._meet()
        return self._inner.add(numbers)

    def most(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `Team`."""
        self._meet()
        return self._inner.most(numbers)

    def gather(self, part: Any) -> list[Any]:
        """See `Team`."""
        self._meet()
        return self._inner.gather(part)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work in which members meet; all must enter and leave it. An error of one is an error of all."""
        try:
            yield
        except Exception as error:
            if not self._is_over:
                self._meet(error)
            raise
        self._meet()

    def _meet(self, error: Exception | None = None) -> None:
        """Tell whether this member has failed, and raise where one has."""
        if not int(self._inner.add(np.array([error is not None], np.int64))[0]):
            return
        self._is_over = True
        failures: list[_Failure | None] = self._inner.gather(None if error is None else _described(error))
        if error is not None and all(failure == _described(error) for failure in failures):
            return  # all have failed alike, and each says so itself
        rank, (refusal, text) = next((rank, one) for rank, one in enumerate(failures) if one is not None)
        if refusal is not None:
            raise refusal(f"{self.name_of(rank)}: {text}") from error
        raise MemberFailedError(f"{self.name_of(rank)} failed: {text}") from error


def _described(error: Exception) -> _Failure:
    """What another member raises for an error: a refusal as it is, another as text."""
    if isinstance(error, InputError):
        return type(error), str(error)
    return None, f"{type(error).__name__}: {error}"
