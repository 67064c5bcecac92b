"""Naive twins of the kernels in ``binning``: slow, plain, obviously right."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def bin_of(value: float, cuts: Sequence[float], missing: int) -> int:
    """The number of cuts below the value; NaN has a bin of its own."""
    if math.isnan(value):
        return missing
    return sum(1 for cut in cuts if float(cut) < float(value))


def cut_between(low: float, high: float) -> float:
    """A float32 near the middle where one separates the two, else a float64, else the lower of them."""
    if low == -math.inf and high == math.inf:
        return 0.0
    with np.errstate(over="ignore"):
        if high == math.inf:
            single = np.float32(low)
            if float(single) < low:
                single = np.nextafter(single, np.float32(math.inf))
            return float(single) if math.isfinite(single) else low
        if low == -math.inf:
            single = np.float32(high)
            if float(single) >= high:
                single = np.nextafter(single, np.float32(-math.inf))
            return float(single) if math.isfinite(single) else math.nextafter(high, -math.inf)
        middle = 0.5 * low + 0.5 * high
        candidates = [float(np.float32(middle)), middle, low]
    return next(cut for cut in candidates if low <= cut < high)


def find_cuts(values: NDArray[np.floating], weight: Sequence[float] | None, max_bins: int) -> list[float]:
    """Cuts of one column: distinct values, their weights, bins, and a cut between each bin and the next."""
    totals: dict[float, float] = {}
    for row, value in enumerate(values.tolist()):
        amount = 1.0 if weight is None else float(weight[row])
        if not math.isnan(value) and amount > 0.0:
            totals[value + 0.0] = totals.get(value + 0.0, 0.0) + amount
    distinct = sorted(totals)
    if len(distinct) <= max_bins:
        last_of_bin = list(range(len(distinct) - 1))
    else:
        last_of_bin = group([totals[value] for value in distinct], max_bins)
    return [cut_between(distinct[i], distinct[i + 1]) for i in last_of_bin]


def group(weights: Sequence[float], max_bins: int) -> list[int]:
    """The last value of every bin but the last one, for more values than bins."""
    total = 0.0
    for weight in weights:
        total += weight
    heavy = [weight >= total / max_bins for weight in weights]
    light_weight = 0.0
    for weight, is_heavy in zip(weights, heavy, strict=True):
        light_weight += 0.0 if is_heavy else weight
    run_starts = [not heavy[i] and (i == 0 or heavy[i - 1]) for i in range(len(weights))]
    light_bins = max_bins - sum(heavy)
    keeps_apart = 2 * sum(run_starts) <= light_bins
    mean = light_weight / max(light_bins, 1)
    last_of_bin: list[int] = []
    filled = 0.0
    for i in range(len(weights) - 1):
        filled += weights[i]
        light_weight -= 0.0 if heavy[i] else weights[i]
        runs_to_come = sum(run_starts[i + 1 :])
        if heavy[i]:
            closes = True
        elif heavy[i + 1]:
            closes = keeps_apart or filled >= 0.5 * mean
        elif keeps_apart:
            closes = filled >= mean and light_bins - 1 >= runs_to_come + 1
        else:
            closes = filled >= mean
        if closes and len(last_of_bin) < max_bins - 1:
            last_of_bin.append(i)
            filled = 0.0
            if not heavy[i]:
                light_bins -= 1
                mean = light_weight / light_bins if light_bins > 0 else math.inf
    return last_of_bin
