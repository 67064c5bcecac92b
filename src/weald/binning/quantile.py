"""Kernels that find a column's cuts: sort, weigh the distinct values, group them to bins of like weight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weald.runtime.arrays import Bool, Float64s, Index, Int, Int64s, Uint32s, Words
from weald.runtime.jit import kernel
from weald.runtime.random import mix
from weald.runtime.tasks import shared_kernel

# Bits a pass of the radix sort: many for many keys (three passes for float32, six for float64), few where the
# buckets would outnumber the keys.
_FEW_BITS, _MANY_BITS = 8, 11
_MANY_KEYS = 8_192
_MOST_PASSES = 8


@kernel
def choose_rows(n_rows: int, key: np.uint64, chosen: Int64s) -> None:
    """One row from each of ``len(chosen)`` stretches of equal length, by a hash; int64, ascending."""
    count = len(chosen)
    for i in range(count):
        first, last = n_rows * i // count, n_rows * (i + 1) // count
        chosen[i] = first + np.int64(mix(key ^ mix(np.uint64(i))) % np.uint64(last - first))


@kernel
def cut_between(low: float, high: float) -> float:
    """A number c with low <= c < high, near the middle: a float32 where there is one there, else a float64.

    A float32 is what float32 data are compared with fastest. Next to an infinity there is no middle: c is
    then the float32 nearest to the finite side.
    """
    if np.isinf(low) or np.isinf(high):
        return _cut_beside_infinity(low, high)
    middle = 0.5 * low + 0.5 * high
    single = np.float64(np.float32(middle))
    if low <= single < high:
        return single
    return middle if low <= middle < high else low


@kernel
def _cut_beside_infinity(low: float, high: float) -> float:
    if low == -high:
        return 0.0
    if np.isinf(high):
        above = np.float32(low)
        if np.float64(above) < low:
            above = np.nextafter(above, np.float32(np.inf))
        return low if np.isinf(above) else np.float64(above)
    below = np.float32(high)
    if np.float64(below) >= high:
        below = np.nextafter(below, np.float32(-np.inf))
    return np.nextafter(high, -np.inf) if np.isinf(below) else np.float64(below)


@kernel
def fill_keys(bits: Words, keys: Words, order: Uint32s) -> int:
    """Keys that sort as the values do, without NaN, and (unless ``order`` is empty) their rows; how many."""
    width = np.uint64(8 * bits.itemsize)
    sign = np.uint64(1) << (width - np.uint64(1))
    infinity = np.uint64(0x7F800000) if bits.itemsize == 4 else np.uint64(0x7FF0000000000000)
    every = (sign - np.uint64(1)) | sign
    weighted = len(order) > 0
    count = 0
    for row in range(len(bits)):
        pattern = np.uint64(bits[row])
        magnitude = pattern & (sign - np.uint64(1))
        if magnitude > infinity:
            continue
        # The two zeros are one value.
        negative = pattern != magnitude and magnitude != np.uint64(0)
        keys[count] = magnitude ^ sign if not negative else pattern ^ every
        if weighted:
            order[count] = row
        count += 1
    return count


@kernel
def value_of_key(key: Index, itemsize: int) -> float:
    """The value whose key this is, in float64."""
    key = np.uint64(key)
    if itemsize == 4:
        sign = np.uint64(0x80000000)
        pattern = key ^ sign if key & sign else ~key
        return np.float64(np.uint32(pattern & np.uint64(0xFFFFFFFF)).view(np.float32))
    sign = np.uint64(0x8000000000000000)
    pattern = key ^ sign if key & sign else ~key
    return np.uint64(pattern).view(np.float64)


@kernel
def _count_digits(keys: Words, count: int, digit_bits: int, passes: int, tallies: Uint32s) -> None:
    mask = np.uint64((1 << digit_bits) - 1)
    tallies[:passes, : 1 << digit_bits] = 0
    for i in range(np.uint64(count)):
        key = np.uint64(keys[i])
        for j in range(passes):
            tallies[j, (key >> np.uint64(j * digit_bits)) & mask] += 1


@kernel
def sort_keys(
    keys: Words, spare: Words, order: Uint32s, spare_order: Uint32s, count: int, tallies: Uint32s
) -> tuple[Words, Uint32s]:
    """Stable radix sort of the first ``count`` keys and their rows; return the arrays that hold the result.

    A pass in which all keys have the same digit is left out: columns with few values need one or two.
    """
    digit_bits = _MANY_BITS if count > _MANY_KEYS else _FEW_BITS
    passes = (8 * keys.itemsize + digit_bits - 1) // digit_bits
    _count_digits(keys, count, digit_bits, passes, tallies)
    mask = np.uint64((1 << digit_bits) - 1)
    weighted = len(order) > 0
    for j in range(passes):
        tally = tallies[j]
        shift = np.uint64(j * digit_bits)
        if tally[(np.uint64(keys[0]) >> shift) & mask] == count:
            continue
        begin = 0
        for bucket in range(1 << digit_bits):
            size = tally[bucket]
            tally[bucket] = begin
            begin += size
        for i in range(np.uint64(count)):
            key = keys[i]
            digit = (np.uint64(key) >> shift) & mask
            place = np.uint64(tally[digit])
            tally[digit] += 1
            spare[place] = key
            if weighted:
                spare_order[place] = order[i]
        keys, spare = spare, keys
        order, spare_order = spare_order, order
    return keys, order


@kernel
def merge_equal(keys: Words, order: Uint32s, weight: Float64s, count: int, totals: Float64s) -> int:
    """Leave each distinct key once, in place, with its weight in ``totals``; return their number."""
    weighted = len(order) > 0
    distinct = -1
    for i in range(count):
        if i == 0 or keys[i] != keys[distinct]:
            distinct += 1
            keys[distinct] = keys[i]
            totals[distinct] = 0.0
        totals[distinct] += weight[order[i]] if weighted else 1.0
    return distinct + 1


@kernel
def _weigh(totals: Float64s, max_bins: Int) -> tuple[float, Int, float, int]:
    """The weight of a heavy value; the bins left for light values, their weight, and the runs of them."""
    total = 0.0
    for i in range(len(totals)):
        total += totals[i]
    heavy = total / max_bins
    light_bins, light_weight, runs = max_bins, 0.0, 0
    for i in range(len(totals)):
        if totals[i] >= heavy:
            light_bins -= 1
            continue
        light_weight += totals[i]
        runs += 1 if i == 0 or totals[i - 1] >= heavy else 0
    return heavy, light_bins, light_weight, runs


@kernel
def _group(totals: Float64s, max_bins: Int, least: float, ends: Int64s) -> int:
    """Group more distinct values than bins: ``ends`` gets the last value of each but the last one.

    A value that weighs at least a mean bin is heavy and has a bin of its own; the others fill bins up to the
    mean of what then remains, which is computed anew after each bin. In front of a heavy value a bin ends
    early: always if there are two bins or more for each run of light values, otherwise when it is at least
    half full. No bin ends before it weighs ``least``, which a heavy value always does.
    """
    heavy, light_bins, light_weight, runs = _weigh(totals, max_bins)
    bins, filled = 0, 0.0
    keeps_apart = 2 * runs <= light_bins
    mean = light_weight / max(light_bins, 1)
    for i in range(len(totals) - 1):
        is_heavy, before_heavy = totals[i] >= heavy, totals[i + 1] >= heavy
        filled += totals[i]
        if not is_heavy:
            light_weight -= totals[i]
            runs -= 1 if i == 0 or totals[i - 1] >= heavy else 0
        if is_heavy:
            closes: Bool = True
        elif before_heavy:
            closes = filled >= least and (keeps_apart or filled >= 0.5 * mean)
        else:
            # Bins that the runs to come and the rest of this one will need are not spent.
            closes = filled >= max(mean, least) and (not keeps_apart or light_bins >= runs + 2)
        if not closes:
            continue
        ends[bins] = i
        bins += 1
        if bins == max_bins - 1:
            break
        filled = 0.0
        if not is_heavy:
            light_bins -= 1
            mean = light_weight / light_bins if light_bins > 0 else np.inf
    return bins


class CutScratch(NamedTuple):
    """Memory of the tasks, made in Python: what a thread frees itself stays with that thread."""

    keys: Words  # (tasks, 2, n), of the bits' type
    order: Uint32s  # (tasks, 2, n), or n = 0 where nothing has a weight
    totals: Float64s  # (tasks, n)
    tallies: Uint32s  # (tasks, passes, buckets)
    ends: Int64s  # (tasks, bins)


def new_cut_scratch(tasks: int, n: int, n_weights: int, max_bins: int, dtype: np.dtype[Any]) -> CutScratch:
    """Memory for so many tasks, and columns of ``n`` values."""
    return CutScratch(
        np.empty((tasks, 2, n), dtype),
        np.empty((tasks, 2, n_weights), np.uint32),
        np.empty((tasks, n)),
        np.empty((tasks, _MOST_PASSES, 1 << _MANY_BITS), np.uint32),
        np.empty((tasks, max_bins), np.int64),
    )


@kernel
def merge_light(totals: Float64s, least: float, ends: Int64s, bins: int) -> int:
    """Leave out the ends of bins that weigh less than ``least``: the next bin takes their values, the last but one the last's."""
    kept, filled, begin = 0, 0.0, 0
    for b in range(bins):
        for i in range(begin, ends[b] + 1):
            filled += totals[i]
        begin = ends[b] + 1
        if filled >= least:
            ends[kept] = ends[b]
            kept += 1
            filled = 0.0
    for i in range(begin, len(totals)):
        filled += totals[i]
    return kept - 1 if kept > 0 and filled < least else kept


@kernel
def place_cuts(
    keys: Words, totals: Float64s, distinct: int, max_bins: Int, least: float, ends: Int64s, cuts: Float64s
) -> int:
    """Write the cuts between so many ascending distinct keys that weigh ``totals``; their number is returned.

    ``least``: what the values of a bin must weigh.
    """
    if least > 0.0:
        total = 0.0
        for i in range(distinct):
            total += totals[i]
        max_bins = max(1, min(max_bins, np.int64(total / least)))
    if distinct <= max_bins:
        n_cuts = distinct - 1
        for i in range(n_cuts):
            ends[i] = i
    else:
        n_cuts = _group(totals[:distinct], max_bins, least, ends) if max_bins > 1 else 0
    if least > 0.0:
        n_cuts = merge_light(totals[:distinct], least, ends, n_cuts)
    for i in range(n_cuts):
        low = value_of_key(keys[ends[i]], keys.itemsize)
        high = value_of_key(keys[ends[i] + 1], keys.itemsize)
        cuts[i] = cut_between(low, high)
    return n_cuts


@kernel
def _find(
    bits: Words, weight: Float64s, max_bins: int, least: float, task: int, scratch: CutScratch, cuts: Float64s
) -> int:
    keys, order, totals, ends = (
        scratch.keys[task],
        scratch.order[task],
        scratch.totals[task],
        scratch.ends[task],
    )
    count = fill_keys(bits, keys[0], order[0])
    if count == 0:
        return 0
    sorted_keys, sorted_order = sort_keys(keys[0], keys[1], order[0], order[1], count, scratch.tallies[task])
    distinct = merge_equal(sorted_keys, sorted_order, weight, count, totals)
    return place_cuts(sorted_keys, totals, distinct, max_bins, least, ends, cuts)


@shared_kernel
def find_cuts(
    task: int,
    tasks: int,
    bits: Words,
    weight: Float64s,
    limits: Int64s,
    least: float,
    scratch: CutScratch,
    cuts: Float64s,
    counts: Int64s,
) -> None:
    """Cuts of several columns.

    bits: uint32 or uint64 (c, n), the bits of float32 or float64 values, a column in each row.
    weight: float64 (n,), or empty when all are 1; limits: int64 (c,), the most bins of every column, 0: no cuts.
    least: float, what the values of a bin must weigh. cuts: float64 (c, limit - 1), ascending; counts: int64 (c,), how many.
    The weights of equal values are added in the order of the rows, so rows of weight 0 change nothing.
    """
    for column in range(task, len(bits), tasks):
        counts[column] = 0
        if limits[column] > 0:
            counts[column] = _find(bits[column], weight, limits[column], least, task, scratch, cuts[column])
