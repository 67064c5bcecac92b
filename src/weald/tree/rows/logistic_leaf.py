"""Sums over leaves of the logistic loss's derivatives, at scores that the leaves' values have moved.

What `losses.kernels.logistic_gradients` and `leaf.leaf_sums` do one after the other, a block of rows at a time, without
passes for the moved scores and the largest gradient: several steps of a leaf ask for nothing but the sums.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weald.losses.kernels import HESSIAN_FLOOR
from weald.runtime.arrays import Float32s, Float64s, Int64s, Ints
from weald.runtime.fixed_point import fixed_point
from weald.runtime.jit import kernel
from weald.runtime.mathlib import sigmoid
from weald.runtime.tasks import shared_kernel
from weald.runtime.team import RowShare
from weald.tree.rows.leaf import PARALLEL_ROWS, LeafNumbers

_BLOCK = 512  # rows whose derivatives stay in the first-level cache


# A pass for each type: mixed with float64, the float32 sigmoids would fill half a vector.


@kernel
def _move(
    score: Float64s, y: Float64s, leaf_of_row: Ints, values: Float64s, towards: Float32s, direction: Float32s
) -> None:
    """Fill the scores towards the class that a row is not of, and that class's direction: 1 or -1."""
    for i in range(len(towards)):
        other = 1.0 - 2.0 * y[i]
        direction[i] = other
        towards[i] = (score[i] + values[np.uint64(leaf_of_row[i])]) * other


@kernel
def _differentiate(direction: Float32s, gradient: Float32s, hessian: Float32s) -> None:
    """Replace the scores in ``gradient`` by gradients, and fill the hessians."""
    one = np.float32(1.0)
    for i in range(len(gradient)):
        miss = sigmoid(gradient[i])
        curvature = miss * (one - miss)
        hessian[i] = HESSIAN_FLOOR if curvature < HESSIAN_FLOOR else curvature
        gradient[i] = miss * direction[i]


@kernel
def _multiply(weight: Float64s, gradient: Float32s, hessian: Float32s) -> None:
    for i in range(len(gradient)):
        gradient[i] *= np.float32(weight[i])
        hessian[i] *= np.float32(weight[i])


@kernel
def _add(
    leaf_of_row: Ints, gradient: Float32s, hessian: Float32s, scales: tuple[float, float], sums: Int64s
) -> None:
    for i in range(len(leaf_of_row)):
        leaf = np.uint64(leaf_of_row[i])
        sums[leaf, 0] += np.int64(np.float64(gradient[i]) * scales[0])
        sums[leaf, 1] += np.int64(np.float64(hessian[i]) * scales[1])


@shared_kernel
def _sum_logistic(
    task: int,
    tasks: int,
    score: Float64s,
    y: Float64s,
    weight: Float64s,
    leaf_of_row: Ints,
    values: Float64s,
    scales: tuple[float, float],
    sums: Int64s,
) -> None:
    own = sums[task]
    own[:] = 0
    begin, end = len(leaf_of_row) * task // tasks, len(leaf_of_row) * (task + 1) // tasks
    direction = np.empty(_BLOCK, np.float32)
    gradients = np.empty(_BLOCK, np.float32)
    hessians = np.empty(_BLOCK, np.float32)
    for start in range(begin, end, _BLOCK):
        stop = min(start + _BLOCK, end)
        leaves, gradient, hessian = (
            leaf_of_row[start:stop],
            gradients[: stop - start],
            hessians[: stop - start],
        )
        _move(score[start:stop], y[start:stop], leaves, values, gradient, direction)
        _differentiate(direction, gradient, hessian)
        if len(weight):
            _multiply(weight[start:stop], gradient, hessian)
        _add(leaves, gradient, hessian, scales, own)


def logistic_leaf_sums(
    score: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    leaf_of_row: LeafNumbers,
    values: NDArray[np.float64],
    heaviest: float,
    tasks: int,
    share: RowShare | None = None,
) -> NDArray[np.float64]:
    """Sums of gradients and hessians a leaf, float64 (leaves, 2), at ``score`` plus the values of the rows' leaves.

    As in `leaf_sums`; ``weight`` is empty where all are 1, and ``heaviest`` the largest of all rows. ``share``: which rows of the
    whole table these are; None: they are all.
    """
    n_rows, n_leaves = len(leaf_of_row), len(values)
    whole = share or RowShare.whole(n_rows)
    scales = (fixed_point(heaviest, whole.n_total), fixed_point(0.25 * heaviest, whole.n_total))
    tasks = tasks if n_rows >= PARALLEL_ROWS else 1
    sums = np.empty((tasks, n_leaves + 1, 2), np.int64)
    _sum_logistic(tasks, score, y, weight, leaf_of_row, np.append(values, 0.0), scales, sums)
    total: NDArray[np.float64] = whole.team.add(sums.sum(axis=0)[:n_leaves]) / np.array(scales)
    return total
