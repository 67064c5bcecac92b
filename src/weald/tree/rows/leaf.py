"""Leaf values from exact sums, and their way into the scores.

Splits are chosen from coarse integers; a leaf's value comes from the gradients themselves, summed in 64-bit fixed point:
integer sums again, so they do not depend on the order of the rows or the number of tasks.

Every row is told its leaf first (a scattered write of a byte or four); sums and scores then pass over the rows in order
instead of gathering gradients and scores leaf by leaf.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weald.runtime.arrays import Float32s, Float64s, Int64s, Ints, Uint64s
from weald.runtime.fixed_point import fixed_point
from weald.runtime.jit import kernel
from weald.runtime.tasks import part, shared_kernel

PARALLEL_ROWS = 8_000

_HALF = np.uint64(32)

LeafNumbers = NDArray[np.integer[Any]]  # one a row, uint8 or int32


class LeafPlaces(NamedTuple):
    """Where the rows of every leaf are, in the order of their place."""

    side: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]


@shared_kernel
def _assign(
    task: int, tasks: int, entries: Uint64s, leaves: LeafPlaces, n_rows: int, leaf_of_row: Ints
) -> None:
    begin, end = n_rows * task // tasks, n_rows * (task + 1) // tasks
    for leaf in range(len(leaves.begin)):
        source = entries[leaves.side[leaf]]
        for i in range(max(begin, leaves.begin[leaf]), min(end, leaves.end[leaf])):
            leaf_of_row[source[np.uint64(i)] >> _HALF] = leaf


def assign_leaves(
    entries: NDArray[np.uint64], leaves: LeafPlaces, n_rows: int, tasks: int, leaf_of_row: LeafNumbers
) -> None:
    """Write every entry's leaf to ``leaf_of_row``, by row number; other rows keep what they have."""
    _assign(tasks if n_rows >= PARALLEL_ROWS else 1, entries, leaves, n_rows, leaf_of_row)


@shared_kernel
def _sum(
    task: int,
    tasks: int,
    leaf_of_row: Ints,
    gradient: Float32s,
    hessian: Float32s,
    scales: tuple[float, float],
    sums: Int64s,
) -> None:
    own = sums[task]
    own[:] = 0
    begin, end = part(len(leaf_of_row), task, tasks)
    for i in range(begin, end):
        leaf = np.uint64(leaf_of_row[i])
        own[leaf, 0] += np.int64(np.float64(gradient[i]) * scales[0])
        own[leaf, 1] += np.int64(np.float64(hessian[i]) * scales[1])


def leaf_sums(
    leaf_of_row: LeafNumbers,
    n_leaves: int,
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    largest: tuple[float, float],
    tasks: int,
) -> NDArray[np.float64]:
    """Sums of gradients and hessians a leaf, float64 (n_leaves, 2), exact to about 2**-61 of the largest possible.

    Rows whose leaf is ``n_leaves`` are left out. ``largest``: bounds of the absolute gradient and of the hessian, which
    set the fixed point.
    """
    scales = fixed_scales(largest, len(leaf_of_row))
    total: NDArray[np.float64] = whole_leaf_sums(
        leaf_of_row, n_leaves, gradient, hessian, scales, tasks
    ) / np.array(scales)
    return total


def fixed_scales(largest: tuple[float, float], n_rows: int) -> tuple[float, float]:
    """The fixed point of the gradients and of the hessians of a table of so many rows."""
    return fixed_point(largest[0], n_rows), fixed_point(largest[1], n_rows)


def whole_leaf_sums(
    leaf_of_row: LeafNumbers,
    n_leaves: int,
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
    scales: tuple[float, float],
    tasks: int,
) -> NDArray[np.int64]:
    """`leaf_sums` as they are summed: integers, (n_leaves, 2), in fixed point."""
    tasks = tasks if len(leaf_of_row) >= PARALLEL_ROWS else 1
    sums = np.empty((tasks, n_leaves + 1, 2), np.int64)
    _sum(tasks, leaf_of_row, gradient, hessian, scales, sums)
    total: NDArray[np.int64] = sums.sum(axis=0)[:n_leaves]
    return total


def fixed_total(values: NDArray[np.float32], rows: NDArray[np.uint32], largest: float) -> float:
    """The sum of the values of the rows (empty: all), in the fixed point of a leaf's; ``largest``: their bound."""
    scale = fixed_point(largest, len(values))
    own = values[rows] if len(rows) else values
    return int((own.astype(np.float64) * scale).astype(np.int64).sum()) / scale


@shared_kernel
def _add(task: int, tasks: int, leaf_of_row: Ints, values: Float64s, score: Float64s) -> None:
    begin, end = part(len(score), task, tasks)
    for i in range(begin, end):
        score[i] += values[np.uint64(leaf_of_row[i])]


def add_leaf_values(
    leaf_of_row: LeafNumbers, values: NDArray[np.float64], tasks: int, score: NDArray[np.float64]
) -> None:
    """Add to every row's score the value of its leaf."""
    _add(tasks if len(score) >= PARALLEL_ROWS else 1, leaf_of_row, values, score)


@kernel
def leaf_rows(entries: NDArray[np.uint64], leaves: LeafPlaces, rows: NDArray[np.uint32]) -> None:
    """Row numbers, leaf after leaf, for losses that refit their leaves."""
    for leaf in range(len(leaves.begin)):
        source = entries[leaves.side[leaf]]
        for i in range(leaves.begin[leaf], leaves.end[leaf]):
            rows[i] = source[i] >> _HALF
