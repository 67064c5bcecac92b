"""Naive twins of the kernels in ``binning/sketch.py``, and the exact ranks that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

Weighted = Sequence[tuple[int, int]]  # (value, weight), in any order


class Entry(NamedTuple):
    value: int
    weight: int
    lowest: int
    highest: int


def below(data: Weighted, y: float) -> int:
    """r-(y)."""
    return sum(weight for value, weight in data if value < y)


def up_to(data: Weighted, y: float) -> int:
    """r+(y)."""
    return sum(weight for value, weight in data if value <= y)


def build(data: Weighted) -> list[Entry]:
    values = sorted({value for value, weight in data if weight > 0})
    return [Entry(v, up_to(data, v) - below(data, v), below(data, v), up_to(data, v)) for v in values]


def bounds(summary: Sequence[Entry], y: float) -> tuple[int, int, int]:
    """What a summary says of any y: the weight below it at least, up to it at most, and of itself at least."""
    for entry in summary:
        if entry.value == y:
            return entry.lowest, entry.highest, entry.weight
    lower = [entry for entry in summary if entry.value < y]
    upper = [entry for entry in summary if entry.value > y]
    lowest = lower[-1].lowest + lower[-1].weight if lower else 0
    highest = upper[0].highest - upper[0].weight if upper else summary[-1].highest if summary else 0
    return lowest, highest, 0


def merge(first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    merged = []
    for value in sorted({entry.value for entry in [*first, *second]}):
        (low, high, weight), (more_low, more_high, more) = bounds(first, value), bounds(second, value)
        merged.append(Entry(value, weight + more, low + more_low, high + more_high))
    return merged


def query(summary: Sequence[Entry], rank: Fraction) -> int:
    """The place of the entry that the paper's function g(Q, d) gives."""
    middles = [Fraction(entry.lowest + entry.highest, 2) for entry in summary]
    if rank < middles[0]:
        return 0
    if rank >= middles[-1]:
        return len(summary) - 1
    i = max(place for place in range(len(summary)) if middles[place] <= rank)
    here, there = summary[i], summary[i + 1]
    return i if 2 * rank < here.lowest + here.weight + there.highest - there.weight else i + 1


def rank_of(part: int, parts: int, total: int) -> Fraction:
    """part / parts of the total, rounded down to halves."""
    return Fraction(2 * part * total // parts, 2)


def prune(summary: Sequence[Entry], most: int) -> list[Entry]:
    if len(summary) <= most:
        return list(summary)
    total = summary[-1].highest
    places = {query(summary, rank_of(part, most - 1, total)) for part in range(most)}
    return [summary[place] for place in sorted(places)]


def error(summary: Sequence[Entry]) -> int:
    """The widest bound at any value, or between any two neighbours."""
    points: list[float] = [entry.value for entry in summary]
    points += [(a + b) / 2 for a, b in pairwise(points)]
    widths = [highest - lowest - weight for lowest, highest, weight in (bounds(summary, y) for y in points)]
    return max(widths, default=0)


def propose(summary: Sequence[Entry], buckets: int) -> list[int]:
    """The values after which to cut."""
    last = len(summary) - 1
    if last < buckets:
        return [entry.value for entry in summary[:-1]]
    asked = [query(summary, rank_of(part, buckets, summary[-1].highest)) for part in range(1, buckets)]
    cuts: list[int] = []
    for place in range(last + 1):
        times = asked.count(place)
        if (times > 0 and place == last) or times > 1:
            cuts.append(place - 1)
        if times > 0 and place < last:
            cuts.append(place)
    return [summary[place].value for place in sorted(set(cuts)) if place >= 0]
