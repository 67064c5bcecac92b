"""One training on a cluster, as the client sees it: shards of the rows, and teams that train on them."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weald.dask.members import Lost, evaluated_shard_of, shape_of, shard_of
from weald.dask.teamwork import Brought, RowSet, Teamwork
from weald.runtime.random import seed_of
from weald.workers.parameters import Parallel
from weald.workers.tables import weigher_of, wishes_of


@dataclass(frozen=True)
class Order:
    """What a client asks for."""

    estimator: Any  # to be fitted; a fresh one, of one process
    parallel: Parallel
    rows: RowSet
    sets: Sequence[RowSet]
    work: Callable[..., bytes]  # what members do with their shards: `train` or `train_forest`
    options: Mapping[str, Any]  # of ``fit``, beside the tables
    checkpoint: bytes | None = None  # that training goes on from
    every: int | None = None  # rounds after which progress is told; None: now and then


class Training(Teamwork):
    """One fit."""

    def __init__(self, client: Any, order: Order) -> None:
        super().__init__(client)
        self._order = order

    async def run(self) -> bytes:
        """The bytes of the model."""
        order, given = self._order, [self._order.rows, *self._order.sets]
        workers = await self.workers()
        found = [await self.partitions(one) for one in given]
        size = max(1, min(len(workers), found[0]["X"].n_rows))
        tables = [self.brought(own, size) for own in found]
        homes = await self._homes(tables[0], workers)
        whole = await self._shape(tables[0], homes)
        if order.parallel.needs_all_rows:
            tables = [self.brought(own, 1) * size for own in found]
        shards = [
            self._shards(evaluated_shard_of if place else shard_of, table, whole, homes)
            for place, table in enumerate(tables)
        ]
        ready = list(zip([one.name or "X" for one in given], shards, strict=True))
        for name, own in ready:
            await self.settled(own, name)
        found.clear()  # from here on the scheduler keeps partitions only as what shards can be made of again
        tables.clear()
        rows, *sets = shards
        fixed, told = (order.estimator, order.parallel), (self.topic, order.every)

        def arguments(start: Lost) -> list[tuple[Any, ...]]:
            return [
                (*fixed, own, [one[rank] for one in sets], order.options, start.checkpoint, told)
                for rank, own in enumerate(rows)
            ]

        model: bytes = await self.until_done(order.work, arguments, homes, order.checkpoint, ready)
        return model

    async def _shape(self, tables: Sequence[Brought], homes: Sequence[str]) -> Any:
        """Schema, cuts and classes, which the members find together."""
        estimator = self._order.estimator
        asked = (
            wishes_of(estimator),
            type(estimator).__name__,
            seed_of(copy.deepcopy(estimator.random_state)),
            weigher_of(estimator),
        )
        return await self.until_done(shape_of, lambda _: [(*table, *asked) for table in tables], homes)

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

    def _shards(
        self, make: Callable[..., Any], tables: Sequence[Any], whole: Any, homes: Sequence[str]
    ) -> list[Any]:
        """A future for every member: its rows, binned. What is lost of them, the scheduler makes anew."""
        owner = type(self._order.estimator).__name__
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
