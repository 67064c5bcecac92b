"""Gradients as integers: one scale a round for all rows, and the choice between packed and wide.

Packed rounding is stochastic, from a hash of the round's key and the row's number: unbiased, so the error of a sum
grows with the square root of its terms. Wide rounding is to the nearest: 31 bits are more than a float32 has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from weald.runtime.jit import inlined, kernel, parallel_kernel
from weald.runtime.random import row_bits
from weald.tree.state import (
    PACKED_GRADIENT_LIMIT,
    PACKED_HESSIAN_LIMIT,
    WIDE_GRADIENT_LIMIT,
    WIDE_HESSIAN_LIMIT,
    Gradients,
)

SUMMARY_BLOCK = 65_536  # fixed, so that the mean does not depend on the number of tasks
PARALLEL_ROWS = 60_000

# Packed rounding leaves the average row at least this many steps; below, the round is wide. A heavy tail (one outlier
# sets the scale) and rare positives are what falls below.
FEWEST_STEPS = 16.0
# With fewer rows there are too few terms for rounding errors to average out, and wide costs next to nothing.
FEWEST_ROWS = 512


@kernel
def _summarise_block(gradient: Any, hessian: Any, begin: Any, end: Any, out: Any) -> None:
    largest_gradient, gradient_total = np.float32(0.0), 0.0
    largest_hessian, hessian_total = np.float32(0.0), 0.0
    for i in range(begin, end):
        size = abs(gradient[i])
        largest_gradient = max(largest_gradient, size)
        largest_hessian = max(largest_hessian, hessian[i])
        gradient_total += size
        hessian_total += hessian[i]
    out[0], out[1], out[2], out[3] = largest_gradient, gradient_total, largest_hessian, hessian_total


@kernel
def _summarise_serial(gradient: Any, hessian: Any, out: Any) -> None:
    for block in range(len(out)):
        begin = block * SUMMARY_BLOCK
        _summarise_block(gradient, hessian, begin, min(begin + SUMMARY_BLOCK, len(gradient)), out[block])


@parallel_kernel
def _summarise_parallel(gradient: Any, hessian: Any, out: Any) -> None:
    for index in prange(len(out)):
        begin = np.int64(index) * SUMMARY_BLOCK
        _summarise_block(
            gradient, hessian, begin, min(begin + SUMMARY_BLOCK, len(gradient)), out[np.int64(index)]
        )


@inlined
def _pack_range(
    gradient: Any,
    hessian: Any,
    rows: Any,
    begin: Any,
    end: Any,
    key: Any,
    gradient_scale: Any,
    hessian_scale: Any,
    entries: Any,
) -> None:
    for i in range(begin, end):
        row = np.uint32(rows[i]) if len(rows) else np.uint32(i)
        bits = row_bits(key, row)
        # Adding 8,192 makes truncation a floor.
        g = (
            np.int32(
                np.float64(gradient[row]) * gradient_scale
                + (bits & np.uint32(0xFFFF)) * (1.0 / 65536.0)
                + 8192.0
            )
            - 8192
        )
        h = np.int32(np.float64(hessian[row]) * hessian_scale + (bits >> np.uint32(16)) * (1.0 / 65536.0))
        entries[i] = (np.uint64(row) << np.uint64(32)) | np.uint64(np.uint32((g << 12) | h))


@inlined
def _widen_range(
    gradient: Any,
    hessian: Any,
    rows: Any,
    begin: Any,
    end: Any,
    gradient_scale: Any,
    hessian_scale: Any,
    wide: Any,
    entries: Any,
) -> None:
    for i in range(begin, end):
        row = np.uint32(rows[i]) if len(rows) else np.uint32(i)
        g = np.int64(np.floor(np.float64(gradient[row]) * gradient_scale + 0.5))
        h = np.int64(np.float64(hessian[row]) * hessian_scale + 0.5)
        wide[row] = np.uint64((g << 32) | h)
        entries[i] = np.uint64(row) << np.uint64(32)


@kernel
def _fill_range(
    gradient: Any,
    hessian: Any,
    rows: Any,
    begin: Any,
    end: Any,
    packed: Any,
    key: Any,
    scales: Any,
    wide: Any,
    entries: Any,
) -> None:
    if packed:
        _pack_range(gradient, hessian, rows, begin, end, key, scales[0], scales[1], entries)
    else:
        _widen_range(gradient, hessian, rows, begin, end, scales[0], scales[1], wide, entries)


@parallel_kernel
def _fill_tasks(
    gradient: Any,
    hessian: Any,
    rows: Any,
    count: Any,
    packed: Any,
    key: Any,
    scales: Any,
    tasks: Any,
    wide: Any,
    entries: Any,
) -> None:
    for index in prange(tasks):
        task = np.int64(index)
        _fill_range(
            gradient,
            hessian,
            rows,
            count * task // tasks,
            count * (task + 1) // tasks,
            packed,
            key,
            scales,
            wide,
            entries,
        )


def _is_packed(precision: str, n_rows: int, mean_steps: tuple[float, float]) -> bool:
    if precision != "packed":
        return precision == "packed_always"
    return n_rows >= FEWEST_ROWS and min(mean_steps) >= FEWEST_STEPS


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
    if n_rows < PARALLEL_ROWS:
        tasks = 1
    blocks = np.empty((-(-n_rows // SUMMARY_BLOCK), 4), np.float64)
    summarise = _summarise_serial if tasks == 1 else _summarise_parallel
    summarise(gradient, hessian, blocks)
    # Below every float32, and far enough from zero that squares of the units do not underflow.
    largest_gradient = max(float(blocks[:, 0].max()), 1e-60)
    largest_hessian = max(float(blocks[:, 2].max()), 1e-60)
    mean_steps = (
        math.fsum(blocks[:, 1]) / n_rows / largest_gradient * PACKED_GRADIENT_LIMIT,
        math.fsum(blocks[:, 3]) / n_rows / largest_hessian * PACKED_HESSIAN_LIMIT,
    )
    packed = _is_packed(precision, n_rows, mean_steps)
    gradient_limit = PACKED_GRADIENT_LIMIT if packed else WIDE_GRADIENT_LIMIT
    hessian_limit = PACKED_HESSIAN_LIMIT if packed else WIDE_HESSIAN_LIMIT
    scales = (gradient_limit / largest_gradient, hessian_limit / largest_hessian)
    count = len(rows) if len(rows) else n_rows
    row_key = np.uint32(key & 0xFFFFFFFF)
    if tasks == 1:
        _fill_range(gradient, hessian, rows, 0, count, packed, row_key, scales, wide, entries)
    else:
        _fill_tasks(gradient, hessian, rows, count, packed, row_key, scales, tasks, wide, entries)
    return Gradients(packed, wide, 1.0 / scales[0], 1.0 / scales[1])


def largest_values(gradients: Gradients) -> tuple[float, float]:
    """The largest absolute gradient and the largest hessian that the scales were made for."""
    if gradients.packed:
        return gradients.gradient_unit * PACKED_GRADIENT_LIMIT, gradients.hessian_unit * PACKED_HESSIAN_LIMIT
    return gradients.gradient_unit * WIDE_GRADIENT_LIMIT, gradients.hessian_unit * WIDE_HESSIAN_LIMIT
