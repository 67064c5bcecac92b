"""Random weights of the rows of a tree: the Bayesian bootstrap, and minimal variance sampling.

The Bayesian bootstrap (Rubin 1981) keeps all rows and gives each a weight of its own, (-log u)**temperature with u uniform.

Minimal variance sampling (Ibragimov and Gusev 2019) draws row i with the chance p_i = min(1, s_i / mu) and the weight 1 / p_i,
which leaves sums as they were on average. s_i = sqrt(sum of squared gradients + reg) is what a row can say about a split, and
mu is such that the chances add up to the share of the rows that is wanted.
"""

from __future__ import annotations

import numpy as np

from weald.runtime.arrays import Float32s, Float64s, Int, Int64s
from weald.runtime.fixed_point import fixed_point
from weald.runtime.jit import inlined
from weald.runtime.mathlib import exp, log
from weald.runtime.random import mix
from weald.runtime.tasks import part, shared_kernel
from weald.runtime.team import RowShare

PARALLEL_ROWS = 60_000
_BUCKETS = (
    0x7F800000 >> 18
)  # high bits of finite floats that are not negative; few enough for memory that is at hand
_LOW_BITS = np.uint32(18)
_BLOCK = 1_024  # rows at a time, so that loops over them can be simple ones
_LARGEST = 3e38  # what a float32 can hold
_MEASURE, _ADD_UP, _COUNT, _DRAW = range(4)


@shared_kernel
def _fill_bayesian(
    task: int, tasks: int, temperature: float, key: np.uint64, first: np.uint64, weights: Float32s
) -> None:
    begin, end = part(len(weights), task, tasks)
    for i in range(begin, end):
        bits = mix((i + first) ^ key) >> np.uint64(12)
        weight = -log((np.float64(bits) + 0.5) * 2.0**-52)
        weights[i] = weight if temperature == 1.0 else exp(temperature * log(weight))


def bayesian_weights(
    n_rows: int, temperature: float, key: int, tasks: int, whole: RowShare | None = None
) -> Float32s:
    """A weight for every row, float32 (rows,), of mean 1 where the temperature is 0 or 1.

    >>> weights = bayesian_weights(10_000, 1.0, key=7, tasks=1)
    >>> bool(0.97 < weights.mean() < 1.03), bool(0.95 < weights.std() < 1.05)
    (True, True)
    >>> bayesian_weights(3, 0.0, key=7, tasks=1).tolist()
    [1.0, 1.0, 1.0]
    """
    weights = np.empty(n_rows, np.float32)
    used = tasks if n_rows >= PARALLEL_ROWS else 1
    first = 0 if whole is None else whole.first
    _fill_bayesian(used, float(temperature), np.uint64(key), np.uint64(first), weights)
    return weights


@inlined
def _add_squares(gradient: Float32s, totals: Float64s) -> None:
    for i in range(len(gradient)):
        totals[i] += np.float64(gradient[i]) * np.float64(gradient[i])


@inlined
def _measure(gradient: Float32s, first: int, size: Float32s, largest: Int64s) -> None:
    """Fill the lengths of the rows' gradients, and the bits of the largest."""
    totals = np.empty(_BLOCK)
    bits = size.view(np.uint32)  # floats that are not negative are ordered as their bits are
    most = np.uint32(0)
    for start in range(0, len(size), _BLOCK):
        stop = min(start + _BLOCK, len(size))
        totals[:] = 0.0
        for output in range(gradient.shape[0]):
            _add_squares(gradient[output, first + start : first + stop], totals)
        for i in range(start, stop):
            size[i] = min(np.sqrt(totals[i - start]), _LARGEST)
        for i in range(start, stop):
            most = max(most, bits[i])
    largest[0] = most


@inlined
def _add_up(scale: float, size: Float32s, total: Int64s) -> None:
    total[0] = 0
    for i in range(len(size)):
        total[0] += np.int64(np.float64(size[i]) * scale)


@inlined
def _count(reg: float, scale: float, size: Float32s, counts: Int64s, sums: Int64s) -> None:
    """Add reg to the squared lengths; count and add up what they are then by their high bits."""
    for i in range(len(size)):
        length = np.float64(size[i])
        size[i] = min(np.sqrt(length * length + reg), _LARGEST)
    bits = size.view(np.uint32)
    for i in range(len(size)):
        bucket = np.uint64(bits[i] >> _LOW_BITS)
        counts[bucket] += 1
        sums[bucket] += np.int64(np.float64(size[i]) * scale)


@inlined
def _draw(mu: float, key: np.uint64, first: int, factor: Float32s) -> None:
    """Replace the sizes by what drawn rows are multiplied by; 0: a row is not drawn."""
    for i in range(len(factor)):
        size = np.float64(factor[i])
        point = np.float64(mix(np.uint64(first + i) ^ key) >> np.uint64(11)) * 2.0**-53
        if size >= mu:
            factor[i] = 1.0
        else:
            factor[i] = mu / size if point * mu < size else 0.0


@shared_kernel
def _pass(
    task: int,
    tasks: int,
    kind: Int,
    gradient: Float32s,
    number: float,
    scale: float,
    key: np.uint64,
    before: int,
    size: Float32s,
    counts: Int64s,
    sums: Int64s,
) -> None:
    """One of the passes over the rows, in one kernel."""
    begin, end = len(size) * task // tasks, len(size) * (task + 1) // tasks
    share = size[begin:end]
    if kind == _MEASURE:
        _measure(gradient, begin, share, sums[task])
    elif kind == _ADD_UP:
        _add_up(scale, share, sums[task])
    elif kind == _COUNT:
        _count(number, scale, share, counts[task], sums[task])
    else:
        _draw(number, key, begin + before, share)


class _Rows:
    """The sizes of the rows here, and passes over them on one thread or several; what they add up to is that of all rows."""

    def __init__(self, gradient: Float32s, tasks: int, whole: RowShare) -> None:
        self._gradient = gradient
        self.whole = whole
        self._tasks = tasks if gradient.shape[1] >= PARALLEL_ROWS else 1
        self.size = np.empty(gradient.shape[1], np.float32)

    def run(
        self, kind: int, buckets: int = 1, number: float = 0.0, scale: float = 0.0, key: int = 0
    ) -> tuple[Int64s, Int64s]:
        """Counts and sums of all rows, (buckets,)."""
        counts, sums = (np.zeros((self._tasks, buckets), np.int64) for _ in range(2))
        common = (np.int64(kind), self._gradient, float(number), float(scale), np.uint64(key))
        _pass(self._tasks, *common, self.whole.first, self.size, counts, sums)
        if kind == _MEASURE:
            return counts[0], self.whole.team.most(sums.max(axis=0).astype(np.float64)).astype(np.int64)
        both = self.whole.team.add(np.stack([counts.sum(axis=0), sums.sum(axis=0)]))
        return both[0], both[1]


def draw_by_variance(
    gradient: Float32s, share: float, reg: float | None, key: int, tasks: int, whole: RowShare | None = None
) -> Float32s:
    """What each row is multiplied by, float32 (rows,): 0 for those that are not drawn; gradients are (outputs, rows).

    About the ``share`` of the rows, below 1, is drawn, at least one. ``reg`` None: the squared mean length of the gradients.

    >>> gradient = np.array([[0.1, -9.0, 0.2, 8.0, 0.1, 0.3, 0.2, 0.1]], np.float32)
    >>> factor = draw_by_variance(gradient, 0.5, 0.0, key=5, tasks=1)
    >>> factor[[1, 3]].tolist(), bool(((factor == 0.0) | (factor >= 1.0)).all())
    ([1.0, 1.0], True)
    """
    whole = whole or RowShare.whole(gradient.shape[1])
    rows, n_rows = _Rows(gradient, tasks, whole), whole.n_total
    largest = float(rows.run(_MEASURE)[1].astype(np.uint32).view(np.float32)[0])
    if largest == 0.0:
        rows.size[...] = 1.0  # all rows are alike
        largest, reg = 1.0, 0.0
    if reg is None:
        scale = fixed_point(largest, n_rows)
        reg = (float(rows.run(_ADD_UP, scale=scale)[1][0]) / scale / n_rows) ** 2
    scale = fixed_point(min(float(np.sqrt(largest * largest + reg)), _LARGEST), n_rows)
    mu = _find_mu(rows, share * n_rows, reg, scale)
    rows.run(_DRAW, number=mu, key=key)
    if not whole.team.add(np.array([rows.size.any()], np.int64))[0]:
        only = key % n_rows - whole.first
        if 0 <= only < len(rows.size):
            rows.size[only] = 1.0
    return rows.size


def _find_mu(rows: _Rows, wanted: float, reg: float, scale: float) -> float:
    """The mu at which the chances min(1, size / mu) add up to ``wanted``.

    Where ``above`` sizes are not below mu, and the others add up to ``total``, the chances do to above + total / mu.
    """
    counts, sums = rows.run(_COUNT, _BUCKETS, reg, scale)
    buckets = np.flatnonzero(counts)
    above, total = rows.whole.n_total - np.cumsum(counts[buckets]), np.cumsum(sums[buckets])
    ends = (buckets.astype(np.uint32) + np.uint32(1) << _LOW_BITS).view(np.float32).astype(np.float64)
    reached = np.flatnonzero(above + total / scale / ends <= wanted)
    if len(reached) == 0:  # mu is beyond all sizes
        return float(total[-1] / scale / wanted)
    place = int(reached[0])
    here = rows.size[rows.size.view(np.uint32) >> _LOW_BITS == buckets[place]]
    near = np.sort(np.concatenate(rows.whole.team.gather(here))).astype(np.float64)
    inside = np.append(0, np.cumsum((near * scale).astype(np.int64)))
    above = above[place] + len(near) - np.arange(len(near) + 1)
    total = total[place] - inside[-1] + inside
    with np.errstate(divide="ignore", invalid="ignore"):  # sizes of 0
        reached = np.flatnonzero(above[:-1] + total[:-1] / scale / near <= wanted)
    last = int(reached[0]) if len(reached) else len(near)
    return float(total[last] / scale / (wanted - above[last]))


@shared_kernel
def _weigh(task: int, tasks: int, factor: Float32s, values: Float32s, weighed: Float32s) -> None:
    begin, end = part(len(factor), task, tasks)
    for i in range(begin, end):
        weighed[i] = values[i] * factor[i]


def weighed(factor: Float32s, values: Float32s, tasks: int) -> Float32s:
    """Values (outputs, rows), each row times its factor.

    >>> weighed(np.array([2.0, 0.0], np.float32), np.array([[1.5, 4.0]], np.float32), 1).tolist()
    [[3.0, 0.0]]
    """
    out = np.empty_like(values)
    for output in range(len(values)):
        _weigh(tasks if len(factor) >= PARALLEL_ROWS else 1, factor, values[output], out[output])
    return out
