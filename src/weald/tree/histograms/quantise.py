"""Gradients as integers: one scale a round for all rows, and the choice between packed and wide.

Packed rounding is stochastic, from a hash of the round's key and the row's number: unbiased, so the error of a sum
grows with the square root of its terms. Wide rounding is to the nearest: 31 bits are more than a float32 has.

What decides the scale and the choice, the largest values and the sum of all in whole steps of them, does not depend on the order
of the rows: parts of a table may be asked one by one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Float32s, Int64s, Uint32s, Uint64s
from weald.runtime.errors import InputError
from weald.runtime.jit import inlined
from weald.runtime.random import row_bits
from weald.runtime.tasks import part, shared_kernel
from weald.tree.state import (
    PACKED_GRADIENT_LIMIT,
    PACKED_HESSIAN_LIMIT,
    WIDE_GRADIENT_LIMIT,
    WIDE_HESSIAN_LIMIT,
    Gradients,
)

PARALLEL_ROWS = 8_000
SIZE_STEPS = 2.0**20  # of a value between 0 and the largest: sums of 2**43 rows fit

# Packed rounding leaves the average row at least this many steps; below, the round is wide. A heavy tail (one outlier
# sets the scale) and rare positives are what falls below.
FEWEST_STEPS = 16.0
# With fewer rows there are too few terms for rounding errors to average out, and wide costs next to nothing.
FEWEST_ROWS = 512
# Below every float32, and far enough from zero that squares of the units do not underflow.
SMALLEST = 1e-60


class Rounding(NamedTuple):
    """How the gradients of some rows become integers."""

    packed: bool  # otherwise wide
    gradient_scale: float  # steps of the integer gradient in 1.0
    hessian_scale: float
    key: np.uint32  # of packed rounding
    first: np.uint32  # the number, in the whole table, of the first row


@shared_kernel
def _largest(task: int, tasks: int, gradient: Float32s, hessian: Float32s, out: Float32s) -> None:
    largest_gradient, largest_hessian = np.float32(0.0), np.float32(0.0)
    begin, end = part(len(gradient), task, tasks)
    for i in range(begin, end):
        largest_gradient = max(largest_gradient, abs(gradient[i]))
        largest_hessian = max(largest_hessian, hessian[i])
    out[task, 0], out[task, 1] = largest_gradient, largest_hessian


def largest_of(
    gradient: NDArray[np.float32], hessian: NDArray[np.float32], tasks: int
) -> tuple[float, float]:
    """The largest absolute gradient and the largest hessian, 0 of no rows."""
    found = np.empty((_shared(tasks, len(gradient)), 2), np.float32)
    _largest(len(found), gradient, hessian, found)
    largest = found.max(axis=0)
    return float(largest[0]), float(largest[1])


def _shared(tasks: int, n_rows: int) -> int:
    return tasks if n_rows >= PARALLEL_ROWS else 1


@shared_kernel
def _sum_sizes(
    task: int,
    tasks: int,
    gradient: Float32s,
    hessian: Float32s,
    gradient_scale: float,
    hessian_scale: float,
    out: Int64s,
) -> None:
    gradient_total, hessian_total = np.int64(0), np.int64(0)
    begin, end = part(len(gradient), task, tasks)
    for i in range(begin, end):
        # By way of 32 bits, which a CPU converts several at a time.
        gradient_total += np.int32(np.float64(abs(gradient[i])) * gradient_scale + 0.5)
        hessian_total += np.int32(np.float64(hessian[i]) * hessian_scale + 0.5)
    out[task, 0], out[task, 1] = gradient_total, hessian_total


def sum_sizes(
    gradient: NDArray[np.float32], hessian: NDArray[np.float32], largest: tuple[float, float], tasks: int
) -> tuple[int, int]:
    """Sums of absolute gradients and of hessians, each row's rounded to whole `SIZE_STEPS` of the largest of all rows."""
    scales = (SIZE_STEPS / max(largest[0], SMALLEST), SIZE_STEPS / max(largest[1], SMALLEST))
    found = np.empty((_shared(tasks, len(gradient)), 2), np.int64)
    _sum_sizes(len(found), gradient, hessian, *scales, found)
    sizes = found.sum(axis=0)
    return int(sizes[0]), int(sizes[1])


@inlined
def _pack_range(
    gradient: Float32s,
    hessian: Float32s,
    rows: Uint32s,
    begin: int,
    end: int,
    rounding: Rounding,
    entries: Uint64s,
) -> None:
    for i in range(begin, end):
        row = np.uint32(rows[i]) if len(rows) else np.uint32(i)
        bits = row_bits(rounding.key, np.uint32(row + rounding.first))
        # Adding 8,192 makes truncation a floor.
        g = (
            np.int32(
                np.float64(gradient[row]) * rounding.gradient_scale
                + (bits & np.uint32(0xFFFF)) * (1.0 / 65536.0)
                + 8192.0
            )
            - 8192
        )
        h = np.int32(
            np.float64(hessian[row]) * rounding.hessian_scale + (bits >> np.uint32(16)) * (1.0 / 65536.0)
        )
        entries[i] = (np.uint64(row) << np.uint64(32)) | np.uint64(np.uint32((g << 12) | h))


@inlined
def _widen_range(
    gradient: Float32s,
    hessian: Float32s,
    rows: Uint32s,
    begin: int,
    end: int,
    rounding: Rounding,
    wide: Uint64s,
    entries: Uint64s,
) -> None:
    for i in range(begin, end):
        row = np.uint32(rows[i]) if len(rows) else np.uint32(i)
        g = np.int64(np.floor(np.float64(gradient[row]) * rounding.gradient_scale + 0.5))
        h = np.int64(np.float64(hessian[row]) * rounding.hessian_scale + 0.5)
        wide[row] = np.uint64((g << 32) | h)
        entries[i] = np.uint64(row) << np.uint64(32)


@shared_kernel
def _fill(
    task: int,
    tasks: int,
    gradient: Float32s,
    hessian: Float32s,
    rows: Uint32s,
    rounding: Rounding,
    wide: Uint64s,
    entries: Uint64s,
) -> None:
    count = len(rows) if len(rows) else len(gradient)
    begin, end = count * task // tasks, count * (task + 1) // tasks
    if rounding.packed:
        _pack_range(gradient, hessian, rows, begin, end, rounding, entries)
    else:
        _widen_range(gradient, hessian, rows, begin, end, rounding, wide, entries)


def needs_sizes(precision: str, n_rows: int) -> bool:
    """Whether the choice between packed and wide depends on the gradients of a table of so many rows."""
    return precision == "packed" and n_rows >= FEWEST_ROWS


def choose_rounding(
    precision: str, n_rows: int, largest: tuple[float, float], sizes: tuple[int, int], key: int
) -> Rounding:
    """The rounding of a table of so many rows; ``largest`` and ``sizes``: `largest_of` and `sum_sizes` of all of them.

    Raises:
        InputError: when a gradient or a hessian, times its row's weight, is beyond float32.
    """
    if not math.isfinite(largest[0]) or not math.isfinite(largest[1]):
        raise InputError(
            "A gradient times its row's weight is beyond 3e38, the largest float32; use smaller weights, such as "
            "sample_weight / max(sample_weight), or smaller labels."
        )
    packed = precision == "packed_always"
    if needs_sizes(precision, n_rows):
        limits = (PACKED_GRADIENT_LIMIT, PACKED_HESSIAN_LIMIT)
        packed = all(
            total * limit >= FEWEST_STEPS * SIZE_STEPS * n_rows
            for total, limit in zip(sizes, limits, strict=True)
        )
    gradient_limit = PACKED_GRADIENT_LIMIT if packed else WIDE_GRADIENT_LIMIT
    hessian_limit = PACKED_HESSIAN_LIMIT if packed else WIDE_HESSIAN_LIMIT
    scales = (gradient_limit / max(largest[0], SMALLEST), hessian_limit / max(largest[1], SMALLEST))
    return Rounding(packed, *scales, np.uint32(key & 0xFFFFFFFF), np.uint32(0))


def fill_entries(
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    rows: NDArray[np.uint32],
    rounding: Rounding,
    tasks: int,
    wide: NDArray[np.uint64],
    entries: NDArray[np.uint64],
) -> Gradients:
    """Fill ``entries`` with the sampled rows (all when ``rows`` is empty) and say what the integers mean."""
    _fill(_shared(tasks, len(gradient)), gradient, hessian, rows, rounding, wide, entries)
    return meaning_of(rounding, wide)


def meaning_of(rounding: Rounding, wide: NDArray[np.uint64]) -> Gradients:
    """What the integers of a rounding mean; ``wide``: where those of a wide round are."""
    return Gradients(rounding.packed, wide, 1.0 / rounding.gradient_scale, 1.0 / rounding.hessian_scale)


def quantise(
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    rows: NDArray[np.uint32],
    key: int,
    precision: str,
    tasks: int,
    wide: NDArray[np.uint64],
    entries: NDArray[np.uint64],
) -> Gradients:
    """Fill ``entries`` with the sampled rows (all when ``rows`` is empty) and say what the integers mean.

    ``gradient``, ``hessian``: float32 (n,); ``wide``: uint64 (n,) scratch, filled only when the round is wide.
    """
    n_rows = len(gradient)
    largest = largest_of(gradient, hessian, tasks)
    sizes = sum_sizes(gradient, hessian, largest, tasks) if needs_sizes(precision, n_rows) else (0, 0)
    rounding = choose_rounding(precision, n_rows, largest, sizes, key)
    return fill_entries(gradient, hessian, rows, rounding, tasks, wide, entries)


def largest_values(gradients: Gradients) -> tuple[float, float]:
    """The largest absolute gradient and the largest hessian that the scales were made for."""
    if gradients.packed:
        return gradients.gradient_unit * PACKED_GRADIENT_LIMIT, gradients.hessian_unit * PACKED_HESSIAN_LIMIT
    return gradients.gradient_unit * WIDE_GRADIENT_LIMIT, gradients.hessian_unit * WIDE_HESSIAN_LIMIT
