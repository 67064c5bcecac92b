"""Naive twins of the kernels in ``binning``: slow, plain, obviously right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

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


def find_cuts(
    values: NDArray[np.floating], weight: Sequence[float] | None, max_bins: int, least: float = 0.0
) -> list[float]:
    """Cuts of one column: distinct values, their weights, bins, and a cut between each bin and the next.

    ``least``: what the values of a bin must weigh.
    """
    totals: dict[float, float] = {}
    amounts = [1.0] * len(values) if weight is None else summable(weight)
    for row, value in enumerate(values.tolist()):
        amount = amounts[row]
        if not math.isnan(value) and amount > 0.0:
            totals[value + 0.0] = totals.get(value + 0.0, 0.0) + amount
    distinct = sorted(totals)
    if least > 0.0:
        max_bins = max(1, min(max_bins, int(sum(totals[value] for value in distinct) / least)))
    if len(distinct) <= max_bins:
        last_of_bin = list(range(len(distinct) - 1))
    else:
        last_of_bin = group([totals[value] for value in distinct], max_bins, least) if max_bins > 1 else []
    if least > 0.0:
        last_of_bin = without_light([totals[value] for value in distinct], last_of_bin, least)
    return [cut_between(distinct[i], distinct[i + 1]) for i in last_of_bin]


def summable(weights: Sequence[float]) -> list[float]:
    """Weights rounded to multiples of 2**-52 of their sum, more or less, so that sums of them are exact."""
    unit = 2.0 ** max(math.frexp(math.fsum(weights))[1] - 52, -1074)
    return [round(weight / unit) * unit for weight in weights]


def group(weights: Sequence[float], max_bins: int, least: float = 0.0) -> list[int]:
    """The last value of every bin but the last one, for more values than bins; a bin weighs at least ``least`` when it ends."""
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
        if closes and filled >= least and len(last_of_bin) < max_bins - 1:
            last_of_bin.append(i)
            filled = 0.0
            if not heavy[i]:
                light_bins -= 1
                mean = light_weight / light_bins if light_bins > 0 else math.inf
    return last_of_bin


def without_light(weights: Sequence[float], last_of_bin: Sequence[int], least: float) -> list[int]:
    """Bins from left to right, each taking the next ones until it weighs enough; what is left at the end joins the last."""
    kept: list[int] = []
    for last in last_of_bin:
        begin = kept[-1] + 1 if kept else 0
        if sum(weights[begin : last + 1]) >= least:
            kept.append(last)
    if kept and sum(weights[kept[-1] + 1 :]) < least:
        kept.pop()
    return kept


def cuts_with_forced(
    values: NDArray[np.floating],
    weight: Sequence[float] | None,
    forced: Sequence[float],
    max_bins: int,
    least: float = 0.0,
) -> list[float]:
    """Forced cuts, and those of the stretches between them, which share the other bins by what they weigh."""
    rows = [row for row, value in enumerate(values.tolist()) if not math.isnan(value)]
    amounts = [1.0 if weight is None else float(weight[row]) for row in range(len(values))]
    bounds = [-math.inf, *forced, math.inf]
    stretches = [
        [row for row in rows if (low < values[row] or low == -math.inf) and values[row] <= high]
        for low, high in pairwise(bounds)
    ]
    total = sum(amounts[row] for row in rows)
    free, before, cuts = max_bins - len(stretches), 0.0, list(forced)
    for stretch in stretches:
        after = before + sum(amounts[row] for row in stretch)
        share = 1 + math.floor(after * free / max(total, 1.0)) - math.floor(before * free / max(total, 1.0))
        if share > 1:
            cuts += find_cuts(values[stretch], [amounts[row] for row in stretch], share, least)
        before = after
    return sorted(cuts)


def category_bins(
    codes: NDArray[np.floating], n_categories: int, limit: int, rare: float, least: float
) -> int:
    """Bins of a categorical column: one for each category from the most frequent on, as long as it may, and one for the rest."""
    counts = [sum(1 for code in codes.tolist() if code == category) for category in range(n_categories)]
    kept = 0
    while kept < n_categories and sum(counts[kept:]) > rare * sum(counts) and counts[kept] >= least:
        kept += 1
    return max(1, min(limit, n_categories, kept + 1))
