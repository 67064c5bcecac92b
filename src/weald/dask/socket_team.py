"""A team whose members are processes that are connected with each other."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dask.links import Links

# Bytes of an array from which each member adds up a part of it for all, instead of everybody adding up everything.
_LARGE = 32_768


class SocketTeam:
    """One member, as `weald.runtime.team.Team` has it."""

    def __init__(self, links: Links, name: str) -> None:
        self._links = links
        self.rank = links.rank
        self.size = links.size
        self._others = [other for other in range(self.size) if other != self.rank]
        self._names: list[str] = self.gather(name)

    def name_of(self, rank: int) -> str:
        """By the address of its worker."""
        return self._names[rank]

    def gather(self, part: Any) -> list[Any]:
        """What every member gives."""
        message = pickle.dumps(part, protocol=5)
        found = self._to_all(message)
        return [part if member == self.rank else pickle.loads(found[member]) for member in range(self.size)]

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of all members' arrays: two messages to every other member, of one part of the array each."""
        if self.size == 1:
            return numbers
        numbers = np.ascontiguousarray(numbers)
        flat = numbers.reshape(-1)
        if self.size == 2 or flat.nbytes < _LARGE:
            return self._sum(flat, self._to_all(flat.data)).reshape(numbers.shape)
        cuts = [len(flat) * member // self.size for member in range(self.size + 1)]
        parts = [flat[begin:end] for begin, end in pairwise(cuts)]
        own = self._sum(
            parts[self.rank], self._links.exchange({other: parts[other].data for other in self._others})
        )
        sums = self._to_all(own.data)
        total = np.empty_like(flat)
        for member, (begin, end) in enumerate(pairwise(cuts)):
            total[begin:end] = own if member == self.rank else np.frombuffer(sums[member], np.int64)
        return total.reshape(numbers.shape)

    def most(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greatest of all members' numbers."""
        most: NDArray[np.float64] = np.max(self.gather(numbers), axis=0)
        return most

    def _to_all(self, message: bytes | memoryview) -> dict[int, bytearray]:
        return self._links.exchange(dict.fromkeys(self._others, message))

    def _sum(self, own: NDArray[np.int64], found: Mapping[int, bytearray]) -> NDArray[np.int64]:
        total = own.copy()
        for message in found.values():
            total += np.frombuffer(message, np.int64)
        return total
