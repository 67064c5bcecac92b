"""Pieces of a long table, worked on by a few Python threads, each of which takes the next piece that is free.

For pieces that come from a disk or a device, one after another, and whose work is done by kernels, which release the GIL. A table
in memory is shared among the crew's threads by the kernels themselves (`weald.runtime.tasks`).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Piece = TypeVar("Piece")
Worked = TypeVar("Worked")

_pools: dict[str, ThreadPoolExecutor] = {}


def _pool(name: str, threads: int) -> ThreadPoolExecutor:
    """A pool of at least so many threads; the same one for every call."""
    pool = _pools.get(name)
    if pool is None or pool._max_workers < threads:
        pool = _pools[name] = ThreadPoolExecutor(threads, f"weald-{name}")
    return pool


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # a child of fork has none of its parent's threads


def in_turn(
    n_pieces: int,
    read: Callable[[int], Piece],
    work: Callable[[Iterator[tuple[int, Piece]]], Worked],
    threads: int,
    reads_ahead: bool = False,
) -> list[Worked]:
    """What ``work`` makes of its share of the pieces, a result a thread; which thread has which pieces is left to chance.

    ``read`` brings a piece; with ``reads_ahead`` another thread brings the next one while one is worked on.

    >>> sum(in_turn(10, lambda place: place * place, lambda pieces: sum(value for _, value in pieces), threads=2))
    285
    """
    threads = max(1, min(threads, n_pieces))
    places = itertools.count()
    readers = _pool("reader", threads) if reads_ahead else None

    def taken() -> Iterator[tuple[int, Any]]:
        while (place := next(places)) < n_pieces:
            yield place, readers.submit(read, place) if readers else None

    def pieces() -> Iterator[tuple[int, Piece]]:
        if readers is None:
            for place, _ in taken():
                yield place, read(place)
            return
        waiting: list[tuple[int, Future[Piece]]] = []
        for one in taken():
            waiting.append(one)
            if len(waiting) > 1:
                place, future = waiting.pop(0)
                yield place, future.result()
        for place, future in waiting:
            yield place, future.result()

    helpers = [_pool("worker", threads).submit(work, pieces()) for _ in range(threads - 1)]
    try:
        own = work(pieces())
    except BaseException:
        _exhaust(places, n_pieces)
        raise
    finally:
        wait(helpers)
    return [own, *(helper.result() for helper in helpers)]


def _exhaust(places: Iterator[int], n_pieces: int) -> None:
    """Leave nothing for the other threads."""
    while next(places) < n_pieces:
        pass
