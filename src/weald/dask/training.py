"""One training on a cluster, as the client sees it: partitions, shards, and teams until one of them finishes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from weald.dask.collections import Partitions, delayed_rows, length_of
from weald.dask.library import dask, distributed
from weald.dask.members import (
    Attempt,
    Done,
    Lost,
    evaluated_shard_of,
    run_member,
    shape_of,
    shard_of,
    train,
)
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.random import seed_of
from weald.workers.parameters import Parallel
from weald.workers.tables import weigher_of

_PATIENCE = "300s"  # how long a member waits for the others, and the client for workers
_FUTILE = 6  # teams in a row that break up before a new checkpoint
_GRACE = 0.5  # seconds that the other members of a broken team have to say what they know


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


@dataclass(frozen=True)
class Order:
    """What a client asks for."""

    estimator: Any  # to be fitted; a fresh one, of one process
    parallel: Parallel
    rows: RowSet
    sets: Sequence[RowSet]
    options: Mapping[str, Any]  # of ``fit``, beside the tables
    checkpoint: bytes | None = None  # that training goes on from
    every: int | None = None  # rounds after which progress is told; None: now and then


class Training:
    """One fit."""

    def __init__(self, client: Any, order: Order) -> None:
        self._client = client
        self._order = order
        self._name = f"weald-{secrets.token_hex(8)}"
        self._patience = dask.utils.parse_timedelta(dask.config.get("weald.patience", _PATIENCE))
        self._attempts = 0

    @property
    def topic(self) -> str:
        """Under which events of this training are told."""
        return self._name

    async def run(self) -> bytes:
        """The bytes of the model."""
        order, owner = self._order, type(self._order.estimator).__name__
        workers = await self._workers()
        given = [order.rows, *order.sets]
        found = [await self._partitions(one) for one in given]
        size = max(1, min(len(workers), found[0]["X"].n_rows))
        tables = [self._brought(own, size) for own in found]
        whole = await self._shape(tables[0], owner)
        homes = await self._homes(tables[0], workers)
        if order.parallel.needs_all_rows:
            tables = [[self._brought(own, 1)[0]] * size for own in found]
        shards = [
            self._shards(shard_of if place == 0 else evaluated_shard_of, table, whole, owner, homes)
            for place, table in enumerate(tables)
        ]
        for name, own in zip([one.name for one in given], shards, strict=True):
            await self._settled(own, name or "X")
        del (
            found,
            tables,
        )  # from here on the scheduler keeps partitions only as what shards can be made of again
        return await self._trained(shards)

    async def _workers(self) -> list[str]:
        """The workers that there are; waits for the first."""
        try:
            await self._client._wait_for_workers(1, timeout=self._patience)
        except asyncio.TimeoutError:
            raise TrainingLost(f"The cluster has had no worker for {self._patience:.0f} s.") from None
        return sorted(await self._client.scheduler.ncores())

    async def _partitions(self, given: RowSet) -> dict[str, Partitions]:
        """All partitions of a table, its labels and weights, computed; their lengths must add up to the same."""
        delayed = {name: delayed_rows(value, given.called(name)) for name, value in given.named()}
        computed = iter(self._client.compute([one for own in delayed.values() for one in own]))
        found = {}
        for name, own in delayed.items():
            futures = [next(computed) for _ in own]
            lengths = self._client.map(
                length_of, futures, key=f"weald_rows-{secrets.token_hex(8)}", pure=False
            )
            await self._settled(futures, given.called(name))
            found[name] = Partitions(given.called(name), futures, await self._client._gather(lengths))
        n_rows = found["X"].n_rows
        for one in found.values():
            if one.n_rows != n_rows:
                raise InputError(f"{one.name} has {one.n_rows} rows, but {given.called('X')} has {n_rows}.")
        return found

    def _brought(
        self, found: Mapping[str, Partitions], size: int
    ) -> list[tuple[dict[str, list[Any]], dict[str, list[tuple[int, int]]]]]:
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

    async def _homes(self, tables: Sequence[Any], workers: Sequence[str]) -> list[str]:
        """A worker for every member: of those that are left the one that has most of its partitions."""
        futures = [future for brought, _ in tables for future in brought["X"]]
        holders = await self._client.scheduler.who_has(keys=[future.key for future in futures])
        left, homes = list(workers), []
        for brought, _ in tables:
            has = {worker: sum(worker in holders.get(one.key, ()) for one in brought["X"]) for worker in left}
            best = max(left, key=lambda worker: has[worker])
            homes.append(best)
            left.remove(best)
        return homes

    async def _shape(self, tables: Sequence[Any], owner: str) -> Any:
        """Schema, cuts and classes, which the members find together."""
        estimator = self._order.estimator
        wishes, seed = estimator._reading(), seed_of(estimator.random_state)
        weigh = weigher_of(estimator)
        futile = 0
        while True:
            outcome = await self._attempt(
                shape_of, [(brought, cuts, wishes, owner, seed, weigh) for brought, cuts in tables]
            )
            if isinstance(outcome, Done):
                return outcome.result
            futile += 1
            self._give_up(futile, outcome)

    def _shards(
        self, make: Callable[..., Any], tables: Sequence[Any], whole: Any, owner: str, homes: Sequence[str]
    ) -> list[Any]:
        """A future for every member: its rows, binned. What is lost of them, the scheduler makes anew."""
        return [
            self._client.submit(
                make,
                *table,
                whole,
                owner,
                key=f"weald_shard-{secrets.token_hex(8)}",
                workers=[home],
                allow_other_workers=True,
                pure=False,
            )
            for table, home in zip(tables, homes, strict=True)
        ]

    async def _trained(self, shards: Sequence[Sequence[Any]]) -> bytes:
        """Teams, one after another, each from the last checkpoint on."""
        order = self._order
        rows, *sets = shards
        told = (self.topic, order.every)
        start, futile = Lost("", 0, order.checkpoint), 0
        given = (order.estimator, order.parallel)
        while True:
            for own, name in zip(shards, ["X", *(one.name for one in order.sets)], strict=True):
                await self._settled(own, name)
            outcome = await self._attempt(
                train,
                [
                    (*given, own, [one[rank] for one in sets], order.options, start.checkpoint, told)
                    for rank, own in enumerate(rows)
                ],
            )
            if isinstance(outcome, Done):
                model: bytes = outcome.result
                return model
            futile = 0 if outcome.rounds > start.rounds else futile + 1
            start = max(start, outcome, key=lambda one: one.rounds)
            self._client.log_event(self.topic, {"lost": outcome.reason, "goes on from": start.rounds})
            self._give_up(futile, outcome)
            await self._workers()

    def _give_up(self, futile: int, outcome: Lost) -> None:
        if futile >= _FUTILE:
            raise TrainingLost(
                f"{futile} teams of workers have broken up one after another without a new round; the last: {outcome.reason}."
            )

    async def _attempt(self, work: Callable[..., Any], arguments: Sequence[Sequence[Any]]) -> Done | Lost:
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
                pure=False,
            )
            for rank, own in enumerate(arguments)
        ]
        try:
            return await self._outcome(futures, work is shape_of)
        finally:
            await self._client._cancel(futures, force=True)
            distributed.Variable(attempt.name, client=self._client).delete()

    async def _outcome(self, futures: Sequence[Any], of_first: bool) -> Done | Lost:
        """Of the member that is finished first; what one refuses is raised."""
        left, lost = list(futures), Lost("")
        while left:
            try:
                await distributed.client._wait(
                    left, timeout=_GRACE if lost.reason else None, return_when="FIRST_COMPLETED"
                )
            except distributed.CancelledError:
                pass
            except asyncio.TimeoutError:
                break
            for future in [one for one in left if one.done()]:
                left.remove(future)
                outcome = await _outcome_of(future)
                if isinstance(outcome, Lost):
                    lost = outcome if outcome.rounds > lost.rounds or not lost.reason else lost
                elif not of_first or outcome.result is not None:
                    return outcome
        return lost if lost.reason else Lost("the first member's answer was lost")

    async def _settled(self, futures: Sequence[Any], name: str) -> None:
        """Wait until all are there; one that cannot be is named."""
        with suppress(distributed.CancelledError):
            await distributed.client._wait(list(futures))
        for number, future in enumerate(futures):
            if future.status == "finished":
                continue
            try:
                await future
            except InputError:
                raise
            except distributed.CancelledError:
                raise TrainingLost(
                    f"Partition {number} of {name} was in the memory of a worker that is lost, and cannot be computed again; "
                    "pass a collection that is not scattered."
                ) from None
            except distributed.KilledWorker as error:
                raise TrainingLost(
                    f"Partition {number} of {name} has cost several workers their life: {error}"
                ) from error
            except Exception as error:
                raise InputError(f"Partition {number} of {name} cannot be read: {error!r}") from error


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
