"""Kernels that bin the stored cells of a sparse table; the cells that are not stored are counted, not written out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weald.binning.quantile import CutScratch, fill_keys, merge_equal, place_cuts, sort_keys
from weald.runtime.arrays import Float64s, Floats, Int, Int64s, Ints, Uint32s, Words
from weald.runtime.jit import ZERO, inlined, kernel
from weald.runtime.tasks import shared_kernel


@inlined
def _insert_zero(keys: Words, totals: Float64s, distinct: int, weight: float) -> int:
    """Give the number 0.0 its weight among the distinct keys; their new number is returned."""
    zero = np.uint64(1) << np.uint64(8 * keys.itemsize - 1)  # its key, see `fill_keys`
    place = distinct
    while place > 0 and keys[place - 1] >= zero:
        place -= 1
    if place < distinct and keys[place] == zero:
        totals[place] += weight
        return distinct
    for i in range(distinct, place, -1):
        keys[i] = keys[i - 1]
        totals[i] = totals[i - 1]
    keys[place] = zero
    totals[place] = weight
    return distinct + 1


class StoredBits(NamedTuple):
    """The stored cells of a table, column after column."""

    starts: Int64s  # (columns + 1,)
    rows: Uint32s
    bits: Words  # uint32 or uint64: those of the values


class Counted(NamedTuple):
    """The rows that count."""

    position: Int64s  # (rows,): a row's place among them, -1 for others; empty: all rows count
    number: int
    weight: Float64s  # (number,); empty: all are 1
    total: float  # of the weights
    least: float  # what the values of a bin must weigh
    zeros: bool  # whether a cell that is not stored is 0.0


class Kept(NamedTuple):
    """Memory of the tasks for a column's cells of the rows that count."""

    bits: Words  # (tasks, longest)
    weight: Float64s  # (tasks, longest), or (tasks, 0) where nothing has a weight


@kernel
def _find_column(
    bits: Words,
    rows: Uint32s,
    counted: Counted,
    max_bins: int,
    task: int,
    scratch: CutScratch,
    kept: Kept,
    cuts: Float64s,
) -> int:
    keys, order, totals = scratch.keys[task], scratch.order[task], scratch.totals[task]
    kept_bits, kept_weight = kept.bits[task], kept.weight[task]
    weighted, sampled = len(counted.weight) > 0, len(counted.position) > 0
    stored, stored_weight = 0, 0.0
    for i in range(len(bits)):
        place = counted.position[rows[i]] if sampled else np.int64(rows[i])
        if place < 0:
            continue
        kept_bits[stored] = bits[i]
        if weighted:
            kept_weight[stored] = counted.weight[place]
            stored_weight += counted.weight[place]
        stored += 1
    count = fill_keys(kept_bits[:stored], keys[0], order[0])
    distinct = 0
    sorted_keys = keys[0]
    if count > 0:
        sorted_keys, sorted_order = sort_keys(
            keys[0], keys[1], order[0], order[1], count, scratch.tallies[task]
        )
        distinct = merge_equal(sorted_keys, sorted_order, kept_weight, count, totals)
    if counted.zeros and stored < counted.number:
        # Exact, as all sums of the weights are: see `fit_bins`.
        left = counted.total - stored_weight if weighted else np.float64(counted.number - stored)
        distinct = _insert_zero(sorted_keys, totals, distinct, left)
    if distinct == 0:
        return 0
    return place_cuts(sorted_keys, totals, distinct, max_bins, counted.least, scratch.ends[task], cuts)


@shared_kernel
def find_sparse_cuts(
    task: int,
    tasks: int,
    stored: StoredBits,
    counted: Counted,
    limits: Int64s,
    first: int,
    scratch: CutScratch,
    kept: Kept,
    cuts: Float64s,
    counts: Int64s,
) -> None:
    """Cuts of the columns ``first``, ``first + 1``, … of a sparse table, one for every entry of ``counts``.

    limits: int64 (d,), the most bins of every column of the table, 0: no cuts.
    scratch: for one value more than the longest column has.
    cuts: float64 (columns, limit - 1); counts: int64 (columns,), how many.
    """
    for j in range(task, len(counts), tasks):
        begin, end = stored.starts[first + j], stored.starts[first + j + 1]
        counts[j] = 0
        if limits[first + j] == 0:
            continue
        bits, rows = stored.bits[begin:end], stored.rows[begin:end]
        counts[j] = _find_column(bits, rows, counted, limits[first + j], task, scratch, kept, cuts[j])


@inlined
def _bin_column(
    values: Floats, cuts: Float64s, begin: int, end: int, first: Int, count: int, missing: int, bins: Ints
) -> None:
    """The number of a column's cuts below each of its values, by a binary search without branches."""
    for i in range(np.uint64(begin), np.uint64(end)):
        value = np.float64(values[i])
        place, length = first, count
        while length > 0:
            half = length - (length >> 1)
            place += half * np.int64(cuts[np.uint64(place + half - 1)] < value)
            length -= half
        bins[i] = place - first if value == value else missing


@shared_kernel
def bin_entries(
    task: int,
    tasks: int,
    starts: Int64s,
    values: Floats,
    cuts: Float64s,
    cut_starts: Int64s,
    missing: Int64s,
    bins: Ints,
) -> None:
    """Bins of the stored cells: the number of cuts below the value, ``missing`` (int64, a bin a column) for NaN.

    cuts: float64, column after column from ``cut_starts``; exact for float32 values too. bins: one a cell, of any unsigned type.
    """
    for column in range(task, len(missing), tasks):
        first = cut_starts[column]
        _bin_column(
            values, cuts, starts[column], starts[column + 1], first, cut_starts[column + 1] - first,
            missing[column], bins,
        )  # fmt: skip


@kernel
def drop_default(starts: Int64s, rows: Uint32s, bins: Ints, default: Ints, kept_starts: Int64s) -> None:
    """Move the cells that are not in their column's default bin to the front, in place; where columns begin then."""
    kept = ZERO
    for column in range(len(default)):
        kept_starts[column] = kept
        for i in range(starts[column], starts[column + 1]):
            rows[kept] = rows[i]
            bins[kept] = bins[i]
            kept += np.int64(bins[i] != default[column])
    kept_starts[len(default)] = kept


@shared_kernel
def gather_bins(
    task: int,
    tasks: int,
    starts: Int64s,
    rows: Uint32s,
    bins: Ints,
    default: Ints,
    features: Int64s,
    first: int,
    last: int,
    out: Ints,
) -> None:
    """Bins of the rows first..last for chosen columns, row after row: (last - first) * len(features).

    default: (d,), the bin of a column's cells that are not stored.
    """
    begin, end = first + (last - first) * task // tasks, first + (last - first) * (task + 1) // tasks
    width = np.uint64(len(features))
    for row in range(begin, end):
        for j in range(len(features)):
            out[np.uint64(row - first) * width + np.uint64(j)] = default[features[j]]
    for j in range(len(features)):
        place, last = starts[features[j]], starts[features[j] + 1]
        place += np.searchsorted(rows[place:last], np.uint32(begin))
        while place < last and rows[place] < end:
            out[np.uint64(rows[place] - first) * width + np.uint64(j)] = bins[place]
            place += 1
