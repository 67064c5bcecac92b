"""Kernels that cut a column by other rules than quantiles: equal counts, equal distances, both, or greedy sums of logarithms.

They are the border types of CatBoost (Dorogush and others 2018), and the cuts are the same. They are apart from
`weald.binning.quantile`, so that a fit that does not ask for them does not compile them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from weald.binning.quantile import (
    CutScratch,
    cut_between,
    fill_keys,
    merge_equal,
    merge_light,
    sort_keys,
    value_of_key,
)
from weald.runtime.arrays import Float64s, Int, Int64s, Words
from weald.runtime.jit import ZERO, inlined, kernel
from weald.runtime.mathlib import log
from weald.runtime.tasks import shared_kernel

MEDIAN, UNIFORM, BOTH, GREEDY = 1, 2, 3, 4
BORDER_KINDS: Final = {
    "median": MEDIAN,
    "uniform": UNIFORM,
    "uniform_and_quantiles": BOTH,
    "greedy_log_sum": GREEDY,
}
_TINY: Final = 1e-8  # added to a weight before its logarithm is taken, as CatBoost does


class Segments(NamedTuple):
    """Memory of the tasks: the stretches of values that greedy cutting has made so far, and a heap of them."""

    sums: Float64s  # (tasks, n): what the values up to each weigh together
    score: Float64s  # (tasks, bins): what the best cut of a segment is worth
    place: (
        Int64s  # (tasks, 5, bins): first value, end, best cut, the segment behind, and the heap of segments
    )


def new_segments(tasks: int, n: int, max_bins: int) -> Segments:
    """Memory for so many tasks, and columns of ``n`` values."""
    return Segments(
        np.empty((tasks, n)), np.empty((tasks, max_bins)), np.empty((tasks, 5, max_bins), np.int64)
    )


@kernel
def _even_cut(low: float, high: float, step: int, steps: Int) -> float:
    """The end of the first ``step`` of ``steps`` equal parts of the way from low to high.

    In the arithmetic of float32 where both are such numbers, as in CatBoost: a cut is often on a value, and which side
    of it is a matter of rounding.
    """
    low_single, high_single = np.float32(low), np.float32(high)
    if np.float64(low_single) == low and np.float64(high_single) == high:
        single = low_single + np.float32(step) * (high_single - low_single) / np.float32(steps)
        if low <= np.float64(single) < high:
            return np.float64(single)
    width = high - low
    if np.isinf(width):
        share = step / steps
        return low * (1.0 - share) + high * share
    return low + step * width / steps


@kernel
def _finite_range(keys: Words, distinct: int) -> tuple[float, float]:
    """The least and the greatest finite value; the same number twice where there are none."""
    low, high = np.inf, -np.inf
    for i in range(min(distinct, 2)):
        value = value_of_key(keys[i], keys.itemsize)
        low = value if not np.isinf(value) and np.isinf(low) else low
        value = value_of_key(keys[distinct - 1 - i], keys.itemsize)
        high = value if not np.isinf(value) and np.isinf(high) else high
    return (low, high) if low < high else (0.0, 0.0)


@kernel
def _spread_ends(
    keys: Words, sums: Float64s, distinct: int, by_count: Int, by_distance: Int, snaps: bool, ends: Int64s
) -> int:
    """Last values of the bins that so many cuts by count and by distance make together; how many.

    The cut number t by count goes before the first value up to which the values weigh more than t shares of the total.
    A cut by distance lies where it lies; if it ``snaps``, one on a value goes before the value.
    """
    low, high = _finite_range(keys, distinct)
    if low == high:
        by_distance = 0
    total = sums[distinct - 1]
    step_count, step_distance, found = 1, 1, 0
    for j in range(distinct):
        is_cut = False
        while step_count <= by_count and step_count * total < sums[j] * (by_count + 1):
            step_count += 1
            is_cut = True
        value = value_of_key(keys[j], keys.itemsize)
        while step_distance <= by_distance:
            cut = _even_cut(low, high, step_distance, by_distance + 1)
            if not (cut < value or (snaps and cut == value)):
                break
            step_distance += 1
            is_cut = True
        if is_cut and j > 0:
            ends[found] = j - 1
            found += 1
    return found


@kernel
def _gain(left: float, right: float) -> float:
    """How much the sum of the logarithms of the bins' weights grows when one bin becomes two."""
    return log(left + _TINY) + log(right + _TINY) - log(left + right + _TINY)


@kernel
def _weigh_segment(sums: Float64s, place: Int64s, score: Float64s, segment: int) -> None:
    """Find the better cut of a segment: before or behind the value at half of its weight; -1 for a single value."""
    begin, end = place[0, segment], place[1, segment]
    place[2, segment], score[segment] = -1, -np.inf
    if end - begin < 2:
        return
    before = sums[begin - 1] if begin > 0 else 0.0
    total = sums[end - 1] - before
    first, last = begin, end - 1
    while first < last:
        middle = (first + last) // 2
        if 2.0 * (sums[middle] - before) > total:
            last = middle
        else:
            first = middle + 1
    for cut in range(max(first, begin + 1), min(first + 1, end - 1) + 1):
        left = sums[cut - 1] - before
        gain = _gain(left, total - left)
        if gain > score[segment]:
            place[2, segment], score[segment] = cut, gain


@kernel
def _push(heap: Int64s, score: Float64s, count: int, segment: int) -> None:
    """Add a segment to a heap of ``count``; a parent stays above an equal child."""
    child = count
    while child > 0 and score[heap[(child - 1) // 2]] < score[segment]:
        heap[child] = heap[(child - 1) // 2]
        child = (child - 1) // 2
    heap[child] = segment


@kernel
def _drop_top(heap: Int64s, score: Float64s, count: int) -> None:
    """Take the best of ``count`` segments off the heap; of equal children the first goes up."""
    last, hole = heap[count - 1], 0
    while 2 * hole + 1 < count - 1:
        child = 2 * hole + 1
        if child + 1 < count - 1 and score[heap[child]] < score[heap[child + 1]]:
            child += 1
        if score[heap[child]] < score[last]:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = last


@kernel
def _greedy_ends(
    sums: Float64s, distinct: int, most: Int, score: Float64s, place: Int64s, ends: Int64s
) -> int:
    """Last values of the bins that up to ``most`` cuts make, each the best at its time; how many.

    Equal segments are cut in the order that the heap gives; it is CatBoost's, which keeps them in a heap too.
    """
    following, heap = place[3], place[4]
    place[0, 0], place[1, 0], following[0] = 0, distinct, -1
    _weigh_segment(sums, place, score, ZERO)
    heap[0] = 0
    count = 1
    while count <= most and place[2, heap[0]] >= 0:
        segment = heap[0]
        _drop_top(heap, score, count)
        place[0, count], place[1, count], following[count] = (
            place[2, segment],
            place[1, segment],
            following[segment],
        )
        place[1, segment], following[segment] = place[2, segment], count
        _weigh_segment(sums, place, score, segment)
        _push(heap, score, count - 1, segment)
        _weigh_segment(sums, place, score, count)
        _push(heap, score, count, count)
        count += 1
    segment = ZERO
    for i in range(count - 1):
        ends[i] = place[1, segment] - 1
        segment = following[segment]
    return count - 1


@inlined
def _place(
    keys: Words,
    totals: Float64s,
    distinct: int,
    kind: int,
    max_bins: Int,
    least: float,
    task: int,
    segments: Segments,
    ends: Int64s,
    cuts: Float64s,
) -> int:
    """Write the cuts between ascending distinct keys that weigh ``totals``; their number is returned."""
    sums, total = segments.sums[task], 0.0
    for i in range(distinct):
        total += totals[i]
        sums[i] = total
    if least > 0.0:
        max_bins = max(1, min(max_bins, np.int64(total / least)))
    most = max_bins - 1
    if kind == GREEDY:
        n_cuts = _greedy_ends(sums, distinct, most, segments.score[task], segments.place[task], ends)
    else:
        by_distance = most if kind == UNIFORM else most // 2 if kind == BOTH else 0
        n_cuts = _spread_ends(keys, sums, distinct, most - by_distance, by_distance, kind == BOTH, ends)
    if least > 0.0:
        n_cuts = merge_light(totals[:distinct], least, ends, n_cuts)
    lowest, highest = _finite_range(keys, distinct)
    step = 1
    for i in range(n_cuts):
        low = value_of_key(keys[ends[i]], keys.itemsize)
        cuts[i] = cut_between(low, value_of_key(keys[ends[i] + 1], keys.itemsize))
        if kind == UNIFORM:
            while _even_cut(lowest, highest, step, most + 1) < low:
                step += 1
            cuts[i] = _even_cut(lowest, highest, step, most + 1)
    return n_cuts


class Wanted(NamedTuple):
    """What borders are to be found."""

    kind: int  # one of `BORDER_KINDS`
    limits: Int64s  # (columns,), the most bins of every column, 0: no cuts
    least: float  # what the values of a bin must weigh


@shared_kernel
def find_borders(
    task: int,
    tasks: int,
    bits: Words,
    weight: Float64s,
    wanted: Wanted,
    scratch: CutScratch,
    segments: Segments,
    cuts: Float64s,
    counts: Int64s,
) -> None:
    """`weald.binning.quantile.find_cuts` by another rule."""
    keys, order, totals = scratch.keys[task], scratch.order[task], scratch.totals[task]
    for column in range(task, len(bits), tasks):
        counts[column] = 0
        if wanted.limits[column] == 0:
            continue
        count = fill_keys(bits[column], keys[0], order[0])
        if count == 0:
            continue
        sorted_keys, sorted_order = sort_keys(
            keys[0], keys[1], order[0], order[1], count, scratch.tallies[task]
        )
        distinct = merge_equal(sorted_keys, sorted_order, weight, count, totals)
        counts[column] = _place(
            sorted_keys, totals, distinct, wanted.kind, wanted.limits[column], wanted.least, task, segments,
            scratch.ends[task], cuts[column],
        )  # fmt: skip
