"""The best split of a node from its segments: a pass from left to right that sums gradients, hessians and rows.

The pass goes in chunks that stay in the first-level cache: gradients of a chunk are summed to prefixes, the prefixes at which
a split can be made are kept, and these are scored by the functions of the histogram engine, whose gains and ties are therefore
the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Int, Int64s, Uint64s
from weald.runtime.far import far, returns
from weald.runtime.jit import ONE, ZERO, inlined, inner_kernel
from weald.runtime.references import refer
from weald.tree.exact.candidates import CandidateScratch, propose_places
from weald.tree.exact.drawn import AFTER_REST, NOWHERE, draw_item, draw_run
from weald.tree.exact.segments import BEGIN, END, MIDDLE
from weald.tree.exact.state import ExactInput
from weald.tree.exact.sums import chunk_prefixes, missing_sums, sum_items
from weald.tree.histograms.prefixes import Scratch, draw_place, scan_numeric
from weald.tree.splits.constraints import Bounds
from weald.tree.splits.gain import NO_GAIN, clipped_pair
from weald.tree.splits.score import smallest_hessian
from weald.tree.splits.split import copy_candidate
from weald.tree.state import (
    BIN,
    FEATURE,
    LEFT_COUNT,
    LEFT_GRADIENT,
    LEFT_HESSIAN,
    MISSING_LEFT,
    Gradients,
    Rules,
)

CHUNK = 256  # items whose prefixes are scored together


class Segment(NamedTuple):
    """A node's column, to be scanned."""

    items: NDArray[np.uint64]
    places: NDArray[
        np.int64
    ]  # (3,): where its items begin, where they pass the rest's code, and where they end
    totals: tuple[int, int, int]  # the node's gradient, hessian and count
    bits: np.uint64  # random ones, by which a threshold is drawn


class ScanMemory(NamedTuple):
    """Memory for the scan of a column."""

    prefix: Scratch
    candidates: CandidateScratch
    trials: NDArray[np.int64]  # two candidates, with missing values on the right and on the left
    scores: NDArray[np.float64]  # (2,): theirs


@inlined
def put_place(
    items: Uint64s,
    begin: int,
    place: Int,
    middle: int,
    rest: tuple[Int, Int, Int],
    gradients: Gradients,
    prefix: Scratch,
) -> int:
    """Make the split at one place the only prefix, of which the number is returned: 0 where the place is NOWHERE.

    ``rest``: gradient, hessian and count of rows whose value is between the items before and from ``middle`` on.
    """
    if place == NOWHERE:
        return ZERO
    last = middle - 1 if place == AFTER_REST else place
    gradient, hessian = sum_items(items, begin, last + 1, gradients)
    count = last + 1 - begin
    if place == AFTER_REST or place >= middle:
        gradient, hessian, count = gradient + rest[0], hessian + rest[1], count + rest[2]
    prefix.gradient[0], prefix.hessian[0], prefix.rows[0], prefix.bins[0] = gradient, hessian, count, place
    return ONE


@inner_kernel
def _score_chunk(
    memory: ScanMemory,
    size: Int,
    missing: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> None:
    """Keep the best of the prefixes, with missing values on the right and, where there are any, on the left."""
    prefix, trials, scores = memory.prefix, memory.trials, memory.scores
    for side in range(2 if missing[2] > 0 else 1):
        scores[side] = scan_numeric(
            prefix,
            (ZERO, size),
            missing,
            side,
            totals,
            gradients,
            rules,
            bounds,
            trials[side],
            scores[side],
        )


@inlined
def _scan_range(
    segment: Segment,
    counted_from: int,
    span: tuple[Int, Int],
    before: tuple[Int, Int],
    missing: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    memory: ScanMemory,
) -> tuple[Int, Int]:
    """Score the splits after the items span[0]..span[1]; the sums up to the last are returned."""
    begin, end = span
    for first in range(begin, end, CHUNK):
        size, before = chunk_prefixes(
            segment.items, counted_from, first, min(first + CHUNK, end), end, before, gradients, memory.prefix
        )
        _score_chunk(memory, size, missing, segment.totals, gradients, rules, bounds)
    return before


@inlined
def _scan_numbers(
    segment: Segment, gradients: Gradients, rules: Rules, bounds: Bounds, memory: ScanMemory, best: Int64s
) -> float:
    """Thresholds from left to right, missing values on the right and, where there are any, on the left."""
    items, totals, scores = segment.items, segment.totals, memory.scores
    begin, end = segment.places[BEGIN], segment.places[END]
    missing = missing_sums(items, begin, end, totals, gradients)
    scores[0], scores[1] = NO_GAIN, NO_GAIN  # with missing values on the right, on the left
    none = (np.int64(0), np.int64(0))
    if rules.extra_trees:
        place = draw_item(items, begin, end, end, ZERO, missing[2], totals, rules, segment.bits)
        size = put_place(items, begin, place, end, (ZERO, ZERO, ZERO), gradients, memory.prefix)
        _score_chunk(memory, size, missing, totals, gradients, rules, bounds)
    else:
        _scan_range(segment, begin, (begin, end), none, missing, gradients, rules, bounds, memory)
    side = np.int64(scores[1] > scores[0])
    copy_candidate(memory.trials[side], best)
    if missing[2] == 0:
        # No missing value has been seen here: send those to come where most rows go.
        best[MISSING_LEFT] = np.int64(2 * best[LEFT_COUNT] >= totals[2])
    return scores[side]


@inlined
def _scan_both_sides(
    segment: Segment,
    rest: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    memory: ScanMemory,
) -> None:
    """Score the splits below the middle, right after the rest's value, and from there on."""
    begin, middle, end = segment.places[BEGIN], segment.places[MIDDLE], segment.places[END]
    prefix, missing = memory.prefix, (np.int64(0), np.int64(0), np.int64(0))
    before: tuple[Int, Int] = (np.int64(0), np.int64(0))
    before = _scan_range(segment, begin, (begin, middle), before, missing, gradients, rules, bounds, memory)
    if rest[2] > 0:
        before = (before[0] + rest[0], before[1] + rest[1])
        prefix.gradient[0], prefix.hessian[0] = before
        prefix.rows[0], prefix.bins[0] = middle - begin + rest[2], AFTER_REST
        _score_chunk(memory, np.int64(1), missing, segment.totals, gradients, rules, bounds)
    counted_from = begin - rest[2]
    _scan_range(segment, counted_from, (middle, end), before, missing, gradients, rules, bounds, memory)


@returns(types.float64)
@inner_kernel
def _scan_around_rest(
    segment: Segment, gradients: Gradients, rules: Rules, bounds: Bounds, memory: ScanMemory, best: Int64s
) -> float:
    """The same where the rows without an item have a value of their own, between the items before and from the middle on."""
    items, totals = segment.items, segment.totals
    begin, middle, end = segment.places[BEGIN], segment.places[MIDDLE], segment.places[END]
    rest = missing_sums(items, begin, end, totals, gradients)
    missing = (np.int64(0), np.int64(0), np.int64(0))
    memory.scores[0] = NO_GAIN
    if rules.extra_trees:
        place = draw_item(items, begin, middle, end, rest[2], ZERO, totals, rules, segment.bits)
        size = put_place(items, begin, place, middle, rest, gradients, memory.prefix)
        _score_chunk(memory, size, missing, totals, gradients, rules, bounds)
    else:
        _scan_both_sides(segment, rest, gradients, rules, bounds, memory)
    copy_candidate(memory.trials[0], best)
    best[MISSING_LEFT] = np.int64(2 * best[LEFT_COUNT] >= totals[2])
    return memory.scores[0]


@returns(types.float64)
@inner_kernel
def _scan_candidates(
    segment: Segment,
    is_value: bool,
    buckets: int,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    memory: ScanMemory,
    best: Int64s,
) -> float:
    """The same for the thresholds that the node proposes; there are no more than fit in one chunk.

    ``is_value``: the rows without an item have a value of their own; otherwise they are missing values.
    """
    items, totals, prefix, candidates = segment.items, segment.totals, memory.prefix, memory.candidates
    begin, end = segment.places[BEGIN], segment.places[END]
    if begin == end:
        return NO_GAIN
    middle = segment.places[MIDDLE] if is_value else begin
    missing = missing_sums(items, begin, end, totals, gradients)
    rest: tuple[Int, Int, Int] = (np.int64(0), np.int64(0), np.int64(0))
    if is_value:
        rest, missing = missing, rest
    size = propose_places(items, begin, middle, end, (rest[1], rest[2]), gradients, buckets, candidates)
    shift = np.int64(rest[2] > 0)
    gradient, hessian, count, done = np.int64(0), np.int64(0), np.int64(0), begin
    for k in range(size):
        place = candidates.places[k]
        behind = shift * np.int64(place >= middle)  # 1: the rest is on the left
        if behind == 1 and count == done - begin:
            gradient += rest[0]
            hessian += rest[1]
            count += rest[2]
        last = place - behind
        sums = sum_items(items, done, last + 1, gradients)
        gradient += sums[0]
        hessian += sums[1]
        count += last + 1 - done
        done = last + 1
        prefix.gradient[k], prefix.hessian[k], prefix.rows[k] = gradient, hessian, count
        prefix.bins[k] = AFTER_REST if behind == 1 and place == middle else last
    score, first = NO_GAIN, ZERO
    if rules.extra_trees:
        first = far(draw_place, (prefix, size, missing[2], totals, refer(rules), segment.bits))
        size = min(first + 1, size)
    for with_missing in range(2 if missing[2] > 0 else 1):
        score = scan_numeric(
            prefix, (first, size), missing, with_missing, totals, gradients, rules, bounds, best, score
        )
    if missing[2] == 0:
        best[MISSING_LEFT] = np.int64(2 * best[LEFT_COUNT] >= totals[2])
    return score


@inlined
def _try_category(
    sums: tuple[Int, Int, Int],
    place: Int,
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    best: Int64s,
    best_score: float,
) -> float:
    """One category against all the rest."""
    smallest = smallest_hessian(rules, gradients)
    fewest = max(1, rules.min_samples_leaf)
    gradient, hessian, count = sums
    if min(count, totals[2] - count) < fewest or min(hessian, totals[1] - hessian) < smallest:
        return best_score
    score = clipped_pair(gradient, hessian, count, totals, gradients, rules, bounds)
    if score <= best_score:
        return best_score
    best[BIN], best[MISSING_LEFT] = place, np.int64(place == NOWHERE)
    best[LEFT_GRADIENT], best[LEFT_HESSIAN], best[LEFT_COUNT] = gradient, hessian, count
    return score


@returns(types.float64)
@inner_kernel
def _scan_categories(
    segment: Segment, gradients: Gradients, rules: Rules, bounds: Bounds, prefix: Scratch, best: Int64s
) -> float:
    """Every category, and "missing" at last, against all the rest: the differences of neighbouring prefixes."""
    items, totals = segment.items, segment.totals
    begin, end = segment.places[BEGIN], segment.places[END]
    score = NO_GAIN
    if rules.extra_trees:
        first, last = draw_run(items, begin, end, totals, rules, segment.bits)
        if last < first:
            return score
        gradient, hessian = sum_items(items, first, last, gradients)
        if first == last:
            own, last = missing_sums(items, begin, end, totals, gradients), np.int64(NOWHERE + 1)
        else:
            own = (gradient, hessian, last - first)
        return _try_category(own, last - 1, totals, gradients, rules, bounds, best, score)
    before: tuple[Int, Int] = (np.int64(0), np.int64(0))
    done = (np.int64(0), np.int64(0), np.int64(0))
    for first in range(begin, end, CHUNK):
        size, before = chunk_prefixes(
            items, begin, first, min(first + CHUNK, end), end, before, gradients, prefix
        )
        for k in range(size):
            upto = np.int64(prefix.gradient[k]), np.int64(prefix.hessian[k]), prefix.rows[k]
            own = upto[0] - done[0], upto[1] - done[1], upto[2] - done[2]
            score = _try_category(own, prefix.bins[k], totals, gradients, rules, bounds, best, score)
            done = upto
    missing = totals[0] - before[0], totals[1] - before[1], totals[2] - (end - begin)
    return _try_category(missing, np.int64(NOWHERE), totals, gradients, rules, bounds, best, score)


@inlined
def scan_segment(
    segment: Segment,
    data: ExactInput,
    feature: int,
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    memory: ScanMemory,
    best: Int64s,
) -> float:
    """Best score of one column; the split goes to ``best``, with the place of its last left item for a bin."""
    is_value = data.rest[feature] < data.n_bins[feature]
    if data.categorical[feature]:
        score = far(_scan_categories, (segment, gradients, rules, bounds, memory.prefix, best))
    elif data.buckets > 0:
        given = (segment, is_value, data.buckets, gradients, rules, bounds, memory, best)
        score = far(_scan_candidates, given)
    elif is_value:
        score = far(_scan_around_rest, (segment, gradients, rules, bounds, memory, best))
    else:
        score = _scan_numbers(segment, gradients, rules, bounds, memory, best)
    best[FEATURE] = feature
    return score
