"""What runs on the workers: tasks that make shards of the rows, and the members of a team that trains on them."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weald.binning.parts import Part, Weigh, sharded_table_of, table_without_rows, training_rows
from weald.binning.sharded_table import ShardedTable
from weald.binning.shared import BinWishes
from weald.dask.collections import joined, length_of, rows_of
from weald.dask.library import distributed
from weald.dask.links import MemberLost
from weald.dask.meeting import Place, met
from weald.dask.socket_team import SocketTeam
from weald.runtime.errors import NotSupportedError
from weald.runtime.team import ALONE
from weald.runtime.threads import count_tasks
from weald.training.boosting.callbacks import Checkpoint
from weald.training.boosting.rounds import Round
from weald.workers.estimators import stops_with
from weald.workers.parameters import Parallel

_WORKING = ("executing", "long-running")  # the states of a task that somebody wants
_GROWTH = 1.05  # a checkpoint is made when there are so many times as many rounds as in the last: at most 5% are lost
_PROGRESS_EVERY = 0.25  # seconds
TOPIC = "weald"  # of the events that tell how far training is


#: "X", "y" and "weight", where there are weights -> partitions
Brought = Mapping[str, Sequence[Any]]
#: the same -> which rows of each partition are meant
Cuts = Mapping[str, Sequence[tuple[int, int]]]


def parts_of(brought: Brought, cuts: Cuts) -> list[Part]:
    """Some neighbouring rows as `weald.binning.parts` takes them: a part for each of the table's partitions.

    Labels and weights may have other partitions than the table.
    """
    rows = {
        name: [rows_of(one, *cut) for one, cut in zip(own, cuts[name], strict=True)]
        for name, own in brought.items()
    }
    y, weight = joined(rows["y"]), joined(rows["weight"]) if "weight" in rows else None
    found, first = [], 0
    for X in rows["X"]:
        last = first + length_of(X)
        own = None if weight is None else rows_of(weight, first, last)
        found.append(Part(X, rows_of(y, first, last), own))
        first = last
    return found


@dataclass(frozen=True)
class Attempt:
    """What the members of one team have in common."""

    name: str
    size: int
    secret: bytes
    patience: float  # seconds


@dataclass(frozen=True)
class Lost:
    """What a member leaves whose team has broken up: why, and the last checkpoint."""

    reason: str
    rounds: int = 0
    checkpoint: bytes | None = None


@dataclass(frozen=True)
class Done:
    """What a member has come to."""

    result: Any


class _Board:
    """A variable of the scheduler."""

    def __init__(self, attempt: Attempt) -> None:
        self._variable = distributed.Variable(attempt.name, client=distributed.get_client())

    def post(self, address: Sequence[Any]) -> None:
        """Say where the first member waits."""
        self._variable.set(list(address))

    def look(self, seconds: float) -> Sequence[Any] | None:
        """Where it waits."""
        try:
            found: Sequence[Any] = self._variable.get(timeout=seconds)
        except asyncio.TimeoutError:
            return None
        return found


@contextmanager
def _team(attempt: Attempt, rank: int) -> Iterator[SocketTeam]:
    worker, key = distributed.get_worker(), distributed.worker.thread_state.key
    address = worker.address
    if address.startswith("tls"):
        raise NotSupportedError(
            "the cluster's workers speak TLS, but members of a team send each other plain bytes; use a cluster without."
        )

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state in _WORKING

    host = "127.0.0.1" if address.startswith("inproc") else address.rpartition("://")[2].rpartition(":")[0]
    place = Place(rank, attempt.size, host.strip("[]"), attempt.secret, attempt.patience, is_wanted)
    with met(place, _Board(attempt)) as links:
        yield SocketTeam(links, f"worker {address}")


def run_member(attempt: Attempt, rank: int, work: Callable[..., Any], *arguments: Any) -> Done | Lost:
    """Do ``work(team, *arguments)`` as a member of a team.

    The task leaves the worker's pool of threads, so that members that are on one worker find room.
    """
    distributed.secede()
    lost = LastCheckpoint()
    try:
        with _team(attempt, rank) as team:
            return Done(work(team, lost, *arguments))
    except MemberLost as error:
        return Lost(f"member {rank}: {error}", *lost.read())
    finally:
        lost.remove()


def shape_of(
    team: SocketTeam,
    _: LastCheckpoint,
    brought: Brought,
    cuts: Cuts,
    wishes: BinWishes,
    owner: str,
    seed: int,
    weigh: Weigh | None,
) -> ShardedTable:
    """Schema, cuts and classes of all rows."""
    return table_without_rows(parts_of(brought, cuts), wishes, owner, seed, worker_threads(None), team, weigh)


def shard_of(brought: Brought, cuts: Cuts, whole: ShardedTable, owner: str) -> ShardedTable:
    """The rows of one member, binned."""
    return training_rows(parts_of(brought, cuts), whole, owner, worker_threads(None))


def evaluated_shard_of(brought: Brought, cuts: Cuts, whole: ShardedTable, owner: str) -> ShardedTable:
    """The rows of an evaluation set that one member has, binned like the training table."""
    return sharded_table_of(
        parts_of(brought, cuts), whole.wishes, owner, tasks=worker_threads(None), like=whole
    )


def train(
    team: SocketTeam,
    last: LastCheckpoint,
    estimator: Any,
    parallel: Parallel,
    table: ShardedTable,
    sets: Sequence[ShardedTable],
    options: Mapping[str, Any],
    checkpoint: bytes | None,
    told: tuple[str, int | None],
) -> bytes:
    """The bytes of the model."""
    estimator.set_params(n_jobs=worker_threads(estimator.n_jobs), verbose=0)
    callbacks = [*(options.get("callbacks") or ()), last.listen()]
    if parallel.needs_all_rows:
        callbacks.insert(-1, stops_with(team))
    if team.rank == 0:
        callbacks.append(_Reporter(*told))
    estimator.fit(
        _of_team(table, team, parallel),
        eval_set=[_of_team(one, team, parallel) for one in sets] or None,
        eval_names=options.get("eval_names"),
        callbacks=callbacks,
        resume_from=None if checkpoint is None else last.begin(checkpoint),
    )
    model: bytes = estimator._to_bytes()
    return model


def train_forest(
    team: SocketTeam, _: LastCheckpoint, estimator: Any, parallel: Parallel, table: ShardedTable, *rest: Any
) -> bytes:
    """The same of a forest, which has neither evaluation sets nor rounds to go on from."""
    estimator.set_params(n_jobs=worker_threads(estimator.n_jobs), verbose=0)
    model: bytes = estimator.fit(_of_team(table, team, parallel))._to_bytes()
    return model


def _of_team(table: ShardedTable, team: SocketTeam, parallel: Parallel) -> ShardedTable:
    """The same rows, as those of a member."""
    own = ALONE if parallel.needs_all_rows else team
    return replace(table, bins=replace(table.bins, team=own, sharing=parallel.sharing(team)))


def worker_threads(n_jobs: int | None) -> int:
    """As many as were asked for; otherwise as many as the worker has."""
    return int(distributed.get_worker().state.nthreads) if n_jobs is None else count_tasks(n_jobs)


class LastCheckpoint:
    """A checkpoint on the worker's disk, made now and then; what is left when the team breaks up."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="weald-", dir=distributed.get_worker().local_directory
        )
        self._path = Path(self._folder.name) / "checkpoint.weald"
        self._rounds = _Rounds(self._path)

    def begin(self, checkpoint: bytes) -> Path:
        """The file of the checkpoint that training goes on from."""
        self._path.write_bytes(checkpoint)
        return self._path

    def listen(self) -> Checkpoint:
        """The callback that writes it."""
        return self._rounds

    def read(self) -> tuple[int, bytes | None]:
        """How many rounds it has, and its bytes."""
        if not os.path.exists(self._path):
            return 0, None
        return self._rounds.last, self._path.read_bytes()

    def remove(self) -> None:
        """Delete it."""
        self._folder.cleanup()


class _Rounds(Checkpoint):
    """A checkpoint after 1, 2, 3, … rounds, and the rarer the more there are: in all, training writes a few models' worth."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, every=1)
        self.last = 0

    def __call__(self, state: Round) -> None:
        if state.number + 1 >= _GROWTH * self.last:
            super().__call__(state)
            self.last = state.number + 1


class _Reporter:
    """Tells the scheduler, and through it the client and the dashboard, how far training is."""

    def __init__(self, topic: str, every: int | None) -> None:
        self._topics = [TOPIC, topic]
        self._every = every
        self._next = 0.0

    def __call__(self, state: Round) -> None:
        done, now = state.number + 1, time.monotonic()
        is_due = now >= self._next if self._every is None else done % self._every == 0
        if not is_due and done < state.n_rounds and not state.stopped:
            return
        self._next = now + _PROGRESS_EVERY
        metrics = {
            f"{name} {metric}": values[-1]
            for name, own in state.history.items()
            for metric, values in own.items()
            if values
        }
        distributed.get_worker().log_event(
            self._topics, {"round": done, "of": state.n_rounds, "metrics": metrics}
        )
