"""Gradient-based one-side sampling (Ke et al. 2017): rows of large gradients all count, of the others a sample.

Kept are the ``top`` share of the rows with the largest importance |gradient * hessian|, summed over the outputs, and a random
``other`` share of all rows from the rest, whose gradients and hessians grow by (1 - top) / other so that sums stay as
they were on average. Neither selection sorts. The rest is drawn by lot: those of the largest random numbers are kept. So
both selections look for the largest of 32-bit keys, and the last one that is kept is found in two passes of counting,
the high and the low half of its bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weald.runtime.arrays import Float32s, Float64s, Int, Int32s, Int64s, Uint32s
from weald.runtime.jit import inlined
from weald.runtime.random import row_bits
from weald.runtime.tasks import shared_kernel
from weald.runtime.team import RowShare, Team
from weald.sampling.rows import NO_ROWS

PARALLEL_ROWS = 60_000
_BUCKETS = 65_536
_BLOCK = 1_024  # rows at a time, so that loops over them can be simple ones
_HALF = np.uint32(16)
_HIGHEST = np.uint32(0xFFFFFFFF)  # above all importances and lots

Keys = Uint32s
Counts = Int64s  # (tasks,)
Buckets = Int32s  # (tasks, buckets)


# The loops below are over slices, and simple enough for the compiler to do several rows at once.


@inlined
def _add_importance(gradient: Float32s, hessian: Float32s, totals: Float64s) -> None:
    for i in range(len(gradient)):
        totals[i] += abs(np.float64(gradient[i]) * np.float64(hessian[i]))


@inlined
def _count_high(keys: Uint32s, counts: Int32s) -> None:
    for i in range(len(keys)):
        counts[np.uint64(keys[i] >> _HALF)] += np.int32(1)


@inlined
def _raise_ties(least: np.uint32, ties: int, keys: Uint32s) -> int:
    """Lift the first keys that equal the least above it; how many more may be lifted."""
    found = np.uint32(0)
    for i in range(len(keys)):
        found |= np.uint32(keys[i] == least)
    if found == 0 or ties == 0:
        return ties
    for i in range(len(keys)):
        if keys[i] == least and ties > 0:
            keys[i] = _HIGHEST
            ties -= 1
    return ties


@inlined
def _draw_lots(least: np.uint32, key: np.uint32, first: np.uint32, keys: Uint32s) -> None:
    """0 for the large rows, for the others a lot of at least 1."""
    for i in range(len(keys)):
        before = keys[i]
        lot = np.uint32((row_bits(key, first + np.uint32(i)) >> np.uint32(1)) + np.uint32(1))
        keys[i] = np.uint32(0) if before > least else lot


@inlined
def _grow_small(
    lots: Uint32s, least: np.uint32, factor: np.float32, values: Float32s, grown: Float32s
) -> None:
    for i in range(len(lots)):
        value = values[i]
        more = value * factor
        grown[i] = more if lots[i] > least else value


@inlined
def _append_kept(lots: Uint32s, least: np.uint32, first: np.uint32, kept: Uint32s) -> Int:
    """Write the rows that are kept, without a branch, which could not be guessed; how many they are."""
    count: Int = 0
    for i in range(len(lots)):
        kept[count] = first + np.uint32(i)
        count += np.int64((lots[i] > least) | (lots[i] == 0))
    return count


@inlined
def _bounds(n_rows: int, task: int, tasks: int) -> tuple[int, int]:
    return n_rows * task // tasks, n_rows * (task + 1) // tasks


@shared_kernel
def _measure(
    task: int, tasks: int, gradient: Float32s, hessian: Float32s, importance: Float32s, counts: Int32s
) -> None:
    """Fill the importance of rows, and count them by the high half of its bits."""
    keys = importance.view(np.uint32)  # floats that are not negative are ordered as their bits are
    totals = np.empty(_BLOCK)
    begin, end = _bounds(len(importance), task, tasks)
    for start in range(begin, end, _BLOCK):
        stop = min(start + _BLOCK, end)
        totals[:] = 0.0
        for output in range(gradient.shape[0]):
            _add_importance(gradient[output, start:stop], hessian[output, start:stop], totals)
        importance[start:stop] = totals[: stop - start]
        _count_high(keys[start:stop], counts[task])


@shared_kernel
def _count_low(task: int, tasks: int, keys: Uint32s, high: np.uint32, counts: Int32s) -> None:
    """Count the rows whose keys have a given high half by the low half."""
    begin, end = _bounds(len(keys), task, tasks)
    share, own = keys[begin:end], counts[task]
    for i in range(len(share)):
        if share[i] >> _HALF == high:
            own[np.uint64(share[i] & np.uint32(0xFFFF))] += np.int32(1)


@shared_kernel
def _draw_all_lots(
    task: int,
    tasks: int,
    least: np.uint32,
    ties: Int64s,
    key: np.uint32,
    first: np.uint32,
    keys: Uint32s,
    counts: Int32s,
) -> None:
    """Replace the keys, whose large ones are decided, by lots, and count these by their high half."""
    begin, end = _bounds(len(keys), task, tasks)
    left = ties[task]
    for start in range(begin, end, _BLOCK):
        block = keys[start : min(start + _BLOCK, end)]
        left = _raise_ties(least, left, block)
        _draw_lots(least, key, first + np.uint32(start), block)
        _count_high(block, counts[task])


class Lots(NamedTuple):
    """Who is drawn: the rows whose lot is above the least, and so many of those that have it."""

    keys: Uint32s  # (rows,)
    least: np.uint32
    factor: np.float32  # what the gradients of the rows that are drawn grow by


@shared_kernel
def _collect(
    task: int,
    tasks: int,
    lots: Lots,
    ties: Int64s,
    gradient: Float32s,
    hessian: Float32s,
    places: Int64s,
    draw: GradientDraw,
) -> None:
    """Write the kept rows, a task's from its place on, and all rows' gradients and hessians, those of the small ones grown."""
    least, factor, left, place = lots.least, lots.factor, ties[task], places[task]
    begin, end = _bounds(len(lots.keys), task, tasks)
    kept = np.empty(_BLOCK + 1, np.uint32)
    for start in range(begin, end, _BLOCK):
        stop = min(start + _BLOCK, end)
        block = lots.keys[start:stop]
        left = _raise_ties(least, left, block)
        for output in range(gradient.shape[0]):
            of_output = gradient[output, start:stop], hessian[output, start:stop]
            _grow_small(block, least, factor, of_output[0], draw.gradient[output, start:stop])
            _grow_small(block, least, factor, of_output[1], draw.hessian[output, start:stop])
        count = _append_kept(block, least, np.uint32(start), kept)
        draw.rows[place : place + count] = kept[:count]
        place += count


class _Largest(NamedTuple):
    """Where a selection of the largest keys ends: the least of them, and what each task takes."""

    least: np.uint32
    ties: Counts  # rows of the least key, the first ones
    taken: Counts  # rows in all


def _find_largest(keys: Keys, count: int, by_high: Buckets, tasks: int, team: Team) -> _Largest:
    """The ``count`` largest keys of all rows, of equal ones the first; ``by_high``: counts of those here by the high half."""
    if count == 0:
        return _Largest(_HIGHEST, np.zeros(tasks, np.int64), np.zeros(tasks, np.int64))
    high, above = _bucket_of(by_high, count, team)
    by_low = np.zeros((tasks, _BUCKETS), np.int32)
    _count_low(tasks, keys, np.uint32(high), by_low)
    low, nearly = _bucket_of(by_low, count - above, team)
    equal = by_low[:, low].astype(np.int64)
    before = np.cumsum(equal) - equal + sum(team.gather(int(equal.sum()))[: team.rank])
    ties = np.clip(count - above - nearly - before, 0, equal)
    taken = by_high[:, high + 1 :].sum(axis=1) + by_low[:, low + 1 :].sum(axis=1) + ties
    return _Largest(np.uint32(high << 16 | low), ties, taken)


def _bucket_of(counts: Buckets, count: int, team: Team) -> tuple[int, int]:
    """The bucket that the last of the ``count`` largest is in, and how many are in those above it."""
    from_the_top = np.cumsum(team.add(counts.sum(axis=0, dtype=np.int64))[::-1])
    place = int(np.searchsorted(from_the_top, count))
    return _BUCKETS - 1 - place, int(from_the_top[place - 1]) if place else 0


class GradientDraw(NamedTuple):
    """The kept rows, ascending, and gradients and hessians, (outputs, rows), of which the small rows' have grown."""

    rows: Uint32s
    gradient: Float32s
    hessian: Float32s


def draw_by_gradient(
    gradient: Float32s,
    hessian: Float32s,
    top: float,
    other: float,
    key: int,
    tasks: int,
    whole: RowShare | None = None,
) -> GradientDraw:
    """Keep the rows of large gradients and a sample of the rest; gradients and hessians are (outputs, rows).

    ``top`` and ``other`` are shares of all rows, together at most 1; each keeps at least one row, unless it is 0.

    >>> gradient = np.array([[0.1, -9.0, 0.2, 8.0, 0.1, 0.3, 0.2, 0.1]], np.float32)
    >>> draw = draw_by_gradient(gradient, np.ones_like(gradient), 0.25, 0.25, key=1, tasks=1)
    >>> len(draw.rows), bool(np.isin([1, 3], draw.rows).all()), draw.gradient[0, [1, 3]].tolist()
    (4, True, [-9.0, 8.0])
    >>> sorted(draw.hessian[0, draw.rows].tolist())  # 2 of 6 rows stand for all of them
    [1.0, 1.0, 3.0, 3.0]
    """
    n_rows = gradient.shape[1]
    first, n_total, team = whole or RowShare.whole(n_rows)
    tasks = tasks if n_rows >= PARALLEL_ROWS else 1
    n_large = _number_of(top, n_total)
    n_small = min(n_total - n_large, _number_of(other, n_total))
    importance, counts = np.empty(n_rows, np.float32), np.zeros((tasks, _BUCKETS), np.int32)
    _measure(tasks, gradient, hessian, importance, counts)
    keys = importance.view(np.uint32)
    large = _find_largest(keys, n_large, counts, tasks, team)
    counts[...] = 0
    row_key = np.uint32(key & 0xFFFFFFFF)
    _draw_all_lots(tasks, large.least, large.ties, row_key, np.uint32(first & 0xFFFFFFFF), keys, counts)
    small = _find_largest(keys, n_small, counts, tasks, team)
    factor = np.float32((n_total - n_large) / max(n_small, 1))
    kept = large.taken + small.taken
    rows = np.empty(int(kept.sum()), np.uint32) if kept.any() else NO_ROWS
    draw = GradientDraw(rows, np.empty_like(gradient), np.empty_like(hessian))
    lots = Lots(keys, small.least, factor)
    _collect(tasks, lots, small.ties, gradient, hessian, np.cumsum(kept) - kept, draw)
    return draw


def _number_of(share: float, n_rows: int) -> int:
    return max(1, int(share * n_rows)) if share > 0.0 else 0
