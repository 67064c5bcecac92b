"""The ranks of an MPI communicator as a team."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime.extras import load_extra
from weald.runtime.threads import available_cores, container_limit


class RankTeam:
    """A member, as `weald.runtime.team.Team` has it; ``comm``: of mpi4py, COMM_WORLD when None."""

    def __init__(self, comm: Any = None) -> None:
        self._mpi = load_extra("mpi4py.MPI", "weald.mpi")
        self._comm = self._mpi.COMM_WORLD if comm is None else comm
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()

    def name_of(self, rank: int) -> str:
        """By its number."""
        return f"rank {rank}"

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of all ranks' arrays."""
        return self._reduce(np.ascontiguousarray(numbers, np.int64), self._mpi.SUM)

    def most(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greatest of all ranks' numbers."""
        return self._reduce(np.ascontiguousarray(numbers, np.float64), self._mpi.MAX)

    def gather(self, part: Any) -> list[Any]:
        """What every rank gives."""
        found: list[Any] = self._comm.allgather(part)
        return found

    def threads(self) -> int:
        """The share of this machine's cores that a rank gets, where several are on one machine; all ranks call it."""
        here = self._comm.Split_type(self._mpi.COMM_TYPE_SHARED)
        own = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(available_cores()))
        cores = min(len(set().union(*here.allgather(own))), container_limit())
        n_here: int = here.Get_size()
        here.Free()
        return max(1, min(available_cores(), cores // n_here))

    def _reduce(self, numbers: NDArray[Any], operation: Any) -> NDArray[Any]:
        found = np.empty_like(numbers)
        self._comm.Allreduce(numbers, found, op=operation)
        return found
