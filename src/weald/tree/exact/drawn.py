"""One threshold of a segment, drawn at random: its place is found by the marks of values, and only then are rows summed."""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Int, Uint64s
from weald.runtime.jit import inlined
from weald.runtime.random import below
from weald.tree.exact.state import MARK
from weald.tree.state import Rules

NOWHERE = -1  # the place of a split that sends no item of its column to the left
AFTER_REST = -2  # that of one right after the value of the rows that have no item


@inlined
def is_candidate(items: Uint64s, last: Int, end: Int) -> bool:
    """Whether a split can be made before item ``last``: it has another value than the one before, or there is none."""
    return last == end or items[np.uint64(last)] >= MARK


@inlined
def _count_places(items: Uint64s, first: Int, last: Int, end: int) -> Int:
    """After how many of the items first..last of a stretch up to ``end`` a split can be made."""
    count = np.int64(0)
    for i in range(first, last):
        count += np.int64(is_candidate(items, i + 1, end))
    return count


@inlined
def _find_place(items: Uint64s, first: Int, end: int, number: Int) -> Int:
    """The item after which the split of this number, from 0, can be made."""
    i = first
    while True:
        if is_candidate(items, i + 1, end):
            if number == 0:
                return i
            number -= 1
        i += 1


@inlined
def draw_item(
    items: Uint64s,
    begin: int,
    middle: int,
    end: int,
    n_rest: Int,
    n_missing: Int,
    totals: tuple[Int, Int, Int],
    rules: Rules,
    bits: np.uint64,
) -> Int:
    """The place of one of the splits that leave both sides enough rows, missing values on either; NOWHERE: there is none.

    ``n_rest`` rows without an item have a value between the items before and from ``middle`` on.
    """
    fewest = max(1, rules.min_samples_leaf)
    # With so many rows on the left, of those whose value is known:
    least, most = max(fewest - n_missing, 1), totals[2] - fewest
    first, last = begin + least - 1, min(middle, begin + most)
    below_rest = _count_places(items, first, last, middle)
    at_rest = np.int64(n_rest > 0 and least <= middle - begin + n_rest <= most)
    first_above, last_above = max(middle, begin + least - 1 - n_rest), min(end, begin + most - n_rest)
    above_rest = _count_places(items, first_above, last_above, end)
    count = below_rest + at_rest + above_rest
    if count == 0:
        return np.int64(NOWHERE)
    number = below(bits, count)
    if number < below_rest:
        return _find_place(items, first, middle, number)
    if number < below_rest + at_rest:
        return np.int64(AFTER_REST)
    return _find_place(items, first_above, end, number - below_rest - at_rest)


@inlined
def draw_run(
    items: Uint64s, begin: int, end: int, totals: tuple[Int, Int, Int], rules: Rules, bits: np.uint64
) -> tuple[Int, Int]:
    """Where the items of one of the categories that leave both sides enough rows begin and end.

    An empty run is that of missing values; one that ends before it begins: there is none.
    """
    fewest, count, first = max(1, rules.min_samples_leaf), np.int64(0), begin
    most, n_missing = totals[2] - fewest, totals[2] - (end - begin)
    for i in range(begin, end):
        if is_candidate(items, i + 1, end):
            count += np.int64(fewest <= i + 1 - first <= most)
            first = i + 1
    count += np.int64(fewest <= n_missing <= most)
    if count == 0:
        return begin, begin - 1
    wanted, first = below(bits, count), begin
    for i in range(begin, end):
        if is_candidate(items, i + 1, end):
            if fewest <= i + 1 - first <= most:
                if wanted == 0:
                    return first, i + 1
                wanted -= 1
            first = i + 1
    return end, end
