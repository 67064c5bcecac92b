"""What a client asks of a cluster: partitions of tables, and teams of workers until one of them has finished."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from weald.dask.collections import Partitions, delayed_rows, length_of
from weald.dask.library import dask, distributed
from weald.dask.members import Attempt, Done, Lost, run_member
from weald.runtime.errors import InputError, NotSupportedError

_PATIENCE = "300s"  # how long a member waits for the others, and the client for workers
_FUTILE = 6  # teams in a row that break up before a new checkpoint
_GRACE = 0.5  # seconds that the other members of a broken team have to say what they know
_LOOK_UP = 2.0  # seconds between two looks at whether there are workers

#: for one member: partitions by name, and which rows of each
Brought = tuple[dict[str, list[Any]], dict[str, list[tuple[int, int]]]]


class TrainingLost(RuntimeError):
    """Workers were lost, again and again, or all of them, and training cannot go on."""


@dataclass(frozen=True)
class RowSet:
    """A table with labels, and weights perhaps, as the user gives them: collections of Dask."""

    name: str  # what messages call it: "" of the training, "eval_set[0]" of the first set
    X: Any
    y: Any
    weight: Any = None

    def named(self) -> list[tuple[str, Any]]:
        """What there is, by the names that members know."""
        every = [("X", self.X), ("y", self.y), ("weight", self.weight)]
        return [(name, value) for name, value in every if value is not None]

    def called(self, name: str) -> str:
        """What messages call a part of it."""
        spelled = "sample_weight" if name == "weight" else name
        return f"{spelled} of {self.name}" if self.name else spelled


class Teamwork:
    """Teams of the workers of a cluster, one after another, that do the same thing."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._name = f"weald-{secrets.token_hex(8)}"
        self._patience = dask.utils.parse_timedelta(dask.config.get("weald.patience", _PATIENCE))
        self._attempts = 0

    @property
    def topic(self) -> str:
        """Under which events of this training are told."""
        return self._name

    async def workers(self) -> list[str]:
        """The workers that there are; waits for the first."""
        try:
            await self._client._wait_for_workers(1, timeout=self._patience)
        except asyncio.TimeoutError:
            raise TrainingLost(f"The cluster has had no worker for {self._patience:.0f} s.") from None
        return sorted(await self._client.scheduler.ncores())

    async def partitions(self, given: RowSet) -> dict[str, Partitions]:
        """All partitions of a table, its labels and weights, computed; their lengths must add up to the same."""
        delayed = {name: delayed_rows(value, given.called(name)) for name, value in given.named()}
        computed = iter(self._client.compute([one for own in delayed.values() for one in own]))
        found = {}
        for name, own in delayed.items():
            futures = [next(computed) for _ in own]
            lengths = self._client.map(
                length_of, futures, key=f"weald_rows-{secrets.token_hex(8)}", pure=False
            )
            await self.settled(futures, given.called(name))
            found[name] = Partitions(given.called(name), futures, await self._client._gather(lengths))
        n_rows = found["X"].n_rows
        for one in found.values():
            if one.n_rows != n_rows:
                raise InputError(f"{one.name} has {one.n_rows} rows, but {given.called('X')} has {n_rows}.")
        return found

    def brought(self, found: Mapping[str, Partitions], size: int) -> list[Brought]:
        """For each member the partitions that its rows are in, and which rows of them they are."""
        every = []
        for begin, end in found["X"].shares(size):
            pieces = {name: own.pieces(begin, end) for name, own in found.items()}
            brought = {
                name: [found[name].futures[piece.partition] for piece in own] for name, own in pieces.items()
            }
            every.append(
                (brought, {name: [(piece.begin, piece.end) for piece in own] for name, own in pieces.items()})
            )
        return every

    async def until_done(
        self,
        work: Callable[..., Any],
        arguments: Callable[[Lost], Sequence[Sequence[Any]]],
        homes: Sequence[str],
        checkpoint: bytes | None = None,
        ready: Sequence[tuple[str, Sequence[Any]]] = (),
    ) -> Any:
        """What a team comes to; ``arguments``: of every member's work, where it goes on from a checkpoint.

        ``homes``: workers on which members would like to be; ``ready``: named futures that must be there before a team begins.
        """
        start, futile = Lost("", 0, checkpoint), 0
        while True:
            for name, futures in ready:
                await self.settled(futures, name)
            outcome = await self._attempt(work, arguments(start), homes)
            if isinstance(outcome, Done):
                return outcome.result
            futile = 0 if outcome.rounds > start.rounds else futile + 1
            start = max(start, outcome, key=lambda one: one.rounds)
            await self._client.log_event(self.topic, {"lost": outcome.reason, "goes on from": start.rounds})
            if futile >= _FUTILE:
                raise TrainingLost(
                    f"{futile} teams of workers have broken up one after another without a new round; "
                    f"the last: {outcome.reason}."
                )
            await self.workers()

    async def _attempt(
        self, work: Callable[..., Any], arguments: Sequence[Sequence[Any]], homes: Sequence[str]
    ) -> Done | Lost:
        """One team: what a member has come to, or what is left where it has broken up."""
        self._attempts += 1
        attempt = Attempt(
            f"{self._name}-{self._attempts}", len(arguments), secrets.token_bytes(32), self._patience
        )
        futures = [
            self._client.submit(
                run_member,
                attempt,
                rank,
                work,
                *own,
                key=f"weald_{work.__name__}-{attempt.name}-{rank}",
                workers=[home],
                allow_other_workers=True,
                pure=False,
            )
            for (rank, own), home in zip(enumerate(arguments), homes, strict=True)
        ]
        try:
            return await self._outcome(futures)
        finally:
            await self._client._cancel(futures, force=True)
            distributed.Variable(attempt.name, client=self._client).delete()

    async def _outcome(self, futures: Sequence[Any]) -> Done | Lost:
        """Of the member that is finished first; what one refuses is raised."""
        left, lost = list(futures), Lost("")
        while left:
            ended = await self._ended(left, _GRACE if lost.reason else None)
            if not ended:
                break
            for future in ended:
                left.remove(future)
                outcome = await _outcome_of(future)
                if isinstance(outcome, Done):
                    return outcome
                lost = outcome if outcome.rounds > lost.rounds or not lost.reason else lost
        return lost

    async def _ended(self, futures: Sequence[Any], seconds: float | None = None) -> list[Any]:
        """Those that are finished or have failed, when there are any; none after so many seconds.

        A cluster that has no workers for too long is an error.
        """
        while True:
            with suppress(asyncio.TimeoutError, distributed.CancelledError):
                await distributed.client._wait(
                    list(futures), timeout=seconds or _LOOK_UP, return_when="FIRST_COMPLETED"
                )
            ended = [one for one in futures if one.done()]
            if ended or seconds is not None:
                return ended
            await self.workers()

    async def settled(self, futures: Sequence[Any], name: str) -> None:
        """Wait until all are there; one that cannot be is named."""
        left = list(futures)
        while left:
            ended = await self._ended(left)
            left = [one for one in left if one not in ended]
            for future in ended:
                if future.status != "finished":
                    await _refuse(future, f"Partition {futures.index(future)} of {name}")


async def _refuse(future: Any, what: str) -> None:
    """Raise what became of a partition, in a sentence."""
    try:
        await future
    except InputError:
        raise
    except distributed.CancelledError:
        raise TrainingLost(
            f"{what} was in the memory of a worker that is lost, and cannot be computed again; pass a collection that is not "
            "scattered."
        ) from None
    except distributed.KilledWorker as error:
        raise TrainingLost(f"{what} has cost several workers their life: {error}") from error
    except Exception as error:
        raise InputError(f"{what} cannot be read: {error!r}") from error


async def _outcome_of(future: Any) -> Done | Lost:
    try:
        outcome: Done | Lost = await future
    except distributed.KilledWorker as error:
        return Lost(f"a worker was lost again and again: {error}")
    except distributed.CancelledError:
        return Lost("the scheduler has lost a member's task")
    return outcome


def check_client(client: Any) -> Any:
    """A client of a cluster; the current one where none is given."""
    if client is not None:
        if not hasattr(client, "scheduler"):
            raise NotSupportedError(f"client must be a dask.distributed.Client, not {type(client).__name__}.")
        return client
    try:
        return distributed.default_client()
    except ValueError:
        raise InputError("There is no Dask client; make one first: dask.distributed.Client().") from None
