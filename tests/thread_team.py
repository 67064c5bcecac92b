"""A team whose members are threads of this process: ``run_team(3, job)`` calls ``job(team)`` once for each."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")

_LIMIT = 20.0  # seconds that a member waits for the others


class _Meeting:
    """Where members lay down what they give, and take what all have given."""

    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=_LIMIT)
        self.parts: list[Any] = [None] * size


class ThreadTeam:
    """One member, as `weald.runtime.team.Team` has it."""

    def __init__(self, rank: int, meeting: _Meeting) -> None:
        self.rank = rank
        self.size = len(meeting.parts)
        self._meeting = meeting

    def name_of(self, rank: int) -> str:
        """Members are threads."""
        return f"thread {rank}"

    def gather(self, part: Any) -> list[Any]:
        """What every member gives, as it is now: a copy, as between processes."""
        meeting = self._meeting
        meeting.parts[self.rank] = pickle.dumps(part)
        meeting.barrier.wait()
        found = [pickle.loads(given) for given in meeting.parts]
        meeting.barrier.wait()
        return found

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of all members' arrays."""
        total: NDArray[np.int64] = np.sum(self.gather(numbers), axis=0)
        return total

    def most(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greatest of all members' numbers."""
        most: NDArray[np.float64] = np.max(self.gather(numbers), axis=0)
        return most


def run_team(size: int, job: Callable[[ThreadTeam], Result]) -> list[Result]:
    """What the job gives for every member; the first error of one is raised."""
    meeting = _Meeting(size)

    def run(rank: int) -> Result:
        try:
            return job(ThreadTeam(rank, meeting))
        except BaseException:
            meeting.barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(run, rank) for rank in range(size)]
        errors = [error for future in futures if (error := future.exception()) is not None]
    broken = [error for error in errors if not isinstance(error, threading.BrokenBarrierError)]
    for error in broken or errors:
        raise error
    return [future.result() for future in futures]
