"""A team of threads in one process whose messages are counted, and whose clocks run as on machines of their own.

A member's clock is the processor time of its thread. When members meet, all clocks go on from the latest, after the time that the
message takes on a network of a given latency and bandwidth. So a few cores can play many machines: computing is real, the
network is not.
"""

from __future__ import annotations

import math
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")


@dataclass(frozen=True)
class Network:
    """Seconds of a message without content between two machines, and bytes a second."""

    latency: float = 0.0
    bandwidth: float = math.inf

    def adding(self, size: int, members: int) -> float:
        """Adding up arrays of so many bytes: to and fro in the steps of Rabenseifner's algorithm."""
        steps = math.ceil(math.log2(members)) if members > 1 else 0
        return 2 * steps * self.latency + 2 * size * (members - 1) / members / self.bandwidth

    def gathering(self, size: int, members: int) -> float:
        """So many bytes of each member to all others, in doubling steps."""
        steps = math.ceil(math.log2(members)) if members > 1 else 0
        return steps * self.latency + size * (members - 1) / self.bandwidth


@dataclass
class Ledger:
    """What a member has sent so far, and its clock."""

    messages: int = 0
    bytes: int = 0
    clock: float = 0.0
    computed: float = 0.0  # of the clock: computing of this member


@dataclass
class _Meeting:
    barrier: threading.Barrier
    network: Network
    parts: list[Any] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)


class CountedTeam:
    """A member, as `weald.runtime.team.Team` has it."""

    def __init__(self, rank: int, meeting: _Meeting) -> None:
        self.rank, self.size = rank, len(meeting.parts)
        self.ledger = Ledger()
        self._meeting = meeting
        self._since = time.thread_time()

    def name_of(self, rank: int) -> str:
        """By its number."""
        return f"member {rank}"

    def add(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of all members' arrays; each member adds up its share of them, as on machines of their own."""
        network = self._meeting.network
        found = self._exchange(numbers, numbers.nbytes, network.adding(numbers.nbytes, self.size))
        total: NDArray[np.int64] = np.sum(found, axis=0)
        self._since = time.thread_time()  # the adding of this one thread is not that of machines
        return total

    def most(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greatest of all members' numbers."""
        network = self._meeting.network
        found = self._exchange(numbers, numbers.nbytes, network.adding(numbers.nbytes, self.size))
        most: NDArray[np.float64] = np.max(found, axis=0)
        return most

    def gather(self, part: Any) -> list[Any]:
        """What every member gives."""
        message = pickle.dumps(part, protocol=5)
        cost = self._meeting.network.gathering(len(message), self.size)
        return [pickle.loads(one) for one in self._exchange(message, len(message), cost)]

    def tick(self) -> Ledger:
        """The ledger, with the clock as it is now."""
        now = time.thread_time()
        self.ledger.clock += now - self._since
        self.ledger.computed += now - self._since
        self._since = now
        return self.ledger

    def _exchange(self, part: Any, size: int, cost: float) -> list[Any]:
        self.tick()
        meeting, ledger = self._meeting, self.ledger
        meeting.parts[self.rank], meeting.clocks[self.rank] = part, ledger.clock + cost
        meeting.barrier.wait()
        found = list(meeting.parts)
        ledger.clock = max(meeting.clocks)
        meeting.barrier.wait()
        ledger.messages += 1
        ledger.bytes += size
        self._since = time.thread_time()
        return found


def run_members(
    size: int, job: Callable[[CountedTeam], Result], network: Network | None = None
) -> list[Result]:
    """What the job gives for every member."""
    barrier = threading.Barrier(size, timeout=600.0)
    meeting = _Meeting(barrier, network or Network(), [None] * size, [0.0] * size)

    def run(rank: int) -> Result:
        try:
            return job(CountedTeam(rank, meeting))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(run, range(size)))


@dataclass(frozen=True)
class TreeCosts:
    """Means of a tree, of the member that sent most; ``model``: fitted."""

    messages: float
    bytes: float
    seconds: float  # by the clocks
    computed: float  # of these, the most that one member computed
    model: Any


def measure_trees(
    make_model: Callable[[int], Any],
    X: NDArray[Any],
    y: NDArray[Any],
    members: int,
    parallel: Any,
    trees: int,
    network: Network | None = None,
) -> TreeCosts:
    """Train by a team, and take what trees cost after the first, in which memory is made."""
    from weald.workers.estimators import fit_member, rows_of
    from weald.workers.parameters import PARALLEL

    everything = PARALLEL.resolve(parallel).needs_all_rows
    cuts = np.linspace(0, len(y), members + 1).astype(int)

    def job(team: CountedTeam) -> tuple[list[Ledger], Any]:
        seen: list[Ledger] = []

        def note(_: Any) -> None:
            now = team.tick()
            seen.append(Ledger(now.messages, now.bytes, now.clock, now.computed))

        here = slice(None) if everything else slice(cuts[team.rank], cuts[team.rank + 1])
        rows = rows_of(X[here], y[here])
        return seen, fit_member(make_model(trees + 1), rows, team, parallel, callbacks=[note])

    found = run_members(members, job, network)
    spent = np.array(
        [
            [(getattr(seen[-1], name) - getattr(seen[0], name)) / trees for name in vars(seen[0])]
            for seen, _ in found
        ]
    ).max(axis=0)
    messages, sent, clock, computed = spent.tolist()
    return TreeCosts(messages, sent, clock, computed, found[0][1])
