"""Naive twins of the kernels in ``weald.binning.borders``: slow, plain, obviously right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_binning import cut_between, summable, without_light
from weald.runtime.mathlib import log


def find_borders(
    values: NDArray[np.floating],
    weight: Sequence[float] | None,
    max_bins: int,
    border_type: str,
    least: float = 0.0,
) -> list[float]:
    """Cuts of one column by a border type."""
    amounts = [1.0] * len(values) if weight is None else summable(weight)
    totals: dict[float, float] = {}
    for value, amount in zip(values.tolist(), amounts, strict=True):
        if not math.isnan(value) and amount > 0.0:
            totals[value + 0.0] = totals.get(value + 0.0, 0.0) + amount
    distinct = sorted(totals)
    weights = [totals[value] for value in distinct]
    if not distinct:
        return []
    if least > 0.0:
        max_bins = max(1, min(max_bins, int(sum(weights) / least)))
    most = max_bins - 1
    ends = {
        "median": lambda: by_count(weights, most),
        "uniform": lambda: by_distance(distinct, even_cuts(distinct, most)),
        "uniform_and_quantiles": lambda: (
            by_count(weights, most - most // 2) | snapped(distinct, even_cuts(distinct, most // 2))
        ),
        "greedy_log_sum": lambda: greedy(weights, most),
    }[border_type]()
    kept = sorted(ends)
    if least > 0.0:
        kept = without_light(weights, kept, least)
    if border_type == "uniform":
        cuts = even_cuts(distinct, most)
        return [next(cut for cut in cuts if cut >= distinct[end]) for end in kept]
    return [cut_between(distinct[end], distinct[end + 1]) for end in kept]


def by_count(weights: Sequence[float], most: int) -> set[int]:
    """Cuts in front of the values that reach beyond 1, 2, … of most + 1 shares of the weight."""
    total, ends = sum(weights), set()
    for share in range(1, most + 1):
        first = next(j for j in range(len(weights)) if sum(weights[: j + 1]) * (most + 1) > share * total)
        ends.add(first - 1)
    return ends - {-1}


def even_cuts(distinct: Sequence[float], most: int) -> list[float]:
    """The numbers that divide the way from the least to the greatest finite value into most + 1 equal parts."""
    finite = [value for value in distinct if math.isfinite(value)]
    if not finite or finite[0] == finite[-1]:
        return []
    low, high, cuts = finite[0], finite[-1], []
    for step in range(1, most + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            singles = np.float32(low), np.float32(high)
            single = singles[0] + np.float32(step) * (singles[1] - singles[0]) / np.float32(most + 1)
        if (float(singles[0]), float(singles[1])) == (low, high) and low <= float(single) < high:
            cuts.append(float(single))
        elif math.isinf(high - low):
            share = step / (most + 1)
            cuts.append(low * (1.0 - share) + high * share)
        else:
            cuts.append(low + step * (high - low) / (most + 1))
    return cuts


def by_distance(distinct: Sequence[float], cuts: Sequence[float]) -> set[int]:
    """The last values that are not above each cut."""
    ends = {sum(value <= cut for value in distinct) - 1 for cut in cuts}
    return ends - {-1, len(distinct) - 1}


def snapped(distinct: Sequence[float], cuts: Sequence[float]) -> set[int]:
    """The last values that are below each cut."""
    ends = {sum(value < cut for value in distinct) - 1 for cut in cuts}
    return ends - {-1, len(distinct) - 1}


class Segment(NamedTuple):
    """Values first, first + 1, … of which the last is end - 1, and where to cut them best."""

    first: int
    end: int
    gain: float
    cut: int


def segment_of(weights: Sequence[float], first: int, end: int) -> Segment:
    """A segment with its better cut: before or behind the value at half of the weight, of equals before it."""
    if end - first < 2:
        return Segment(first, end, -math.inf, -1)
    total = sum(weights[first:end])
    middle = next(j for j in range(first, end) if 2.0 * sum(weights[first : j + 1]) > total)
    best = Segment(first, end, -math.inf, -1)
    for cut in (middle, middle + 1):
        if not first < cut < end:
            continue
        parts = sum(weights[first:cut]), sum(weights[cut:end])
        gain = float(log(parts[0] + 1e-8)) + float(log(parts[1] + 1e-8)) - float(log(total + 1e-8))
        if gain > best.gain:
            best = Segment(first, end, gain, cut)
    return best


def greedy(weights: Sequence[float], most: int) -> set[int]:
    """Cut the segment that gains most until there are enough; which of equals is first a binary heap decides."""
    heap = [segment_of(weights, 0, len(weights))]
    ends: set[int] = set()
    while len(ends) < most and heap[0].cut >= 0:
        top = heap[0]
        ends.add(top.cut - 1)
        last = heap.pop()
        if heap:
            sift_down(heap, last)
        for part in ((top.first, top.cut), (top.cut, top.end)):
            heap.append(segment_of(weights, *part))
            sift_up(heap, len(heap) - 1)
    return ends


def sift_up(heap: list[Segment], child: int) -> None:
    """Exchange with the parent while that is less."""
    parent = (child - 1) // 2
    if child > 0 and heap[parent].gain < heap[child].gain:
        heap[parent], heap[child] = heap[child], heap[parent]
        sift_up(heap, parent)


def sift_down(heap: list[Segment], new: Segment, hole: int = 0) -> None:
    """Put ``new`` in place of the top: the greater child, of equals the first, goes up while it is not less than ``new``."""
    children = [child for child in (2 * hole + 1, 2 * hole + 2) if child < len(heap)]
    best = max(children, key=lambda child: heap[child].gain, default=None)
    if best is None or heap[best].gain < new.gain:
        heap[hole] = new
        return
    heap[hole] = heap[best]
    sift_down(heap, new, best)
