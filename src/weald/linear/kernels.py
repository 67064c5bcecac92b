"""Coordinate descent on a second-order expansion: one weight after another takes its own Newton step.

A round of boosting has a gradient g and a hessian h for every row, fixed points of the loss's expansion. Along the weight
of a column x the expansion is a parabola with the slope sum(g x) and the curvature sum(h x x); after a step d of that
weight the gradients are g + h x d, and the next column finds its own parabola (Friedman, Hastie and Tibshirani 2010,
section 2; penalties as XGBoost's linear booster scales them).

What makes it exact: a column's sums run over blocks of `BLOCK` rows or stored cells. A block has its own sums, in an order
that does not depend on anything but the block, and blocks are added in their order. So the number of tasks that share
them cannot change a bit. In a table with all cells a block is summed in `LANES` interleaved sums, which is what a
processor does at once; the step of the column before is applied in the same pass, since both read the gradients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weald.runtime.arrays import Float32s, Float64s, Floats, Int64s, Uint32s
from weald.runtime.jit import inlined, inner_kernel, kernel
from weald.runtime.tasks import shared_kernel

LANES = 32
BLOCK = 4096  # a multiple of LANES
SCORE_BLOCK = 2048  # scores that stay in the first cache while all columns pass
BIAS = -1  # the coordinate that is 1 in every row
# Below this, XGBoost's limit, there is nothing left to curve, and the step is 0: rows that are fitted well enough have hessians
# next to 0, and a step would be their noise divided by that.
SMALLEST_CURVATURE = 1e-5


class Steps(NamedTuple):
    """How far a coordinate goes."""

    rate: float  # the share of the Newton step that is taken
    l1: float
    l2: float
    limits: Float64s  # (columns + 1,), the longest Newton step of each; the last is the bias's


class StoredNumbers(NamedTuple):
    """A table of which only some cells are stored, column after column; within a column rows ascend."""

    starts: Int64s  # (columns + 1,)
    rows: Uint32s
    values: Floats


@inlined
def newton_step(slope: float, curvature: float, weight: float, l1: float, l2: float) -> float:
    """The step of a weight to the least of its parabola plus l1 |weight| + l2 weight² / 2: a soft threshold."""
    step = 0.0
    if curvature >= SMALLEST_CURVATURE:
        slope = slope + l2 * weight
        curvature = curvature + l2
        if weight * curvature >= slope:
            step = max(-(slope + l1) / curvature, -weight)
        else:
            step = min(-(slope - l1) / curvature, -weight)
    return step


@inlined
def _taken(steps: Steps, coordinate: int, slope: float, curvature: float, weight: float) -> float:
    """The step that a coordinate takes; the bias has no penalty."""
    penalised = coordinate >= 0
    step = newton_step(
        slope, curvature, weight, steps.l1 if penalised else 0.0, steps.l2 if penalised else 0.0
    )
    limit = steps.limits[coordinate]
    return steps.rate * min(max(step, -limit), limit)


# --- tables with all cells ------------------------------------------------------------------------


@inner_kernel
def _pass_block(
    before: Floats,
    move: float,
    column: Floats,
    gradient: Float32s,
    hessian: Float32s,
    begin: int,
    end: int,
    lanes: Float64s,
) -> tuple[float, float]:
    """Apply the step of the column before to a block's gradients, then sum slope and curvature of this column."""
    slopes, curvatures = lanes[0], lanes[1]
    slopes[:] = 0.0
    curvatures[:] = 0.0
    whole = begin + (end - begin) // LANES * LANES
    for first in range(begin, whole, LANES):
        g, h = gradient[first : first + LANES], hessian[first : first + LANES]
        earlier, now = before[first : first + LANES], column[first : first + LANES]
        for lane in range(LANES):
            x, curved = np.float64(now[lane]), np.float64(h[lane])
            moved = np.float32(np.float64(g[lane]) + curved * np.float64(earlier[lane]) * move)
            g[lane] = moved
            slopes[lane] += np.float64(moved) * x
            curvatures[lane] += curved * x * x
    for i in range(whole, end):
        x, curved = np.float64(column[i]), np.float64(hessian[i])
        moved = np.float32(np.float64(gradient[i]) + curved * np.float64(before[i]) * move)
        gradient[i] = moved
        slopes[i - whole] += np.float64(moved) * x
        curvatures[i - whole] += curved * x * x
    slope, curvature = 0.0, 0.0
    for lane in range(LANES):
        slope += slopes[lane]
        curvature += curvatures[lane]
    return slope, curvature


@shared_kernel
def _pass_blocks(
    task: int,
    tasks: int,
    before: Floats,
    move: float,
    column: Floats,
    gradient: Float32s,
    hessian: Float32s,
    lanes: Float64s,
    sums: Float64s,
) -> None:
    n_blocks = len(sums)
    for block in range(n_blocks * task // tasks, n_blocks * (task + 1) // tasks):
        begin = block * BLOCK
        end = min(begin + BLOCK, len(gradient))
        sums[block, 0], sums[block, 1] = _pass_block(
            before, move, column, gradient, hessian, begin, end, lanes[task]
        )


@inlined
def _pass(
    before: Floats,
    move: float,
    column: Floats,
    gradient: Float32s,
    hessian: Float32s,
    tasks: int,
    lanes: Float64s,
    sums: Float64s,
) -> tuple[float, float]:
    """Slope and curvature of a column over all blocks, after the step of the column before."""
    _pass_blocks(tasks, before, move, column, gradient, hessian, lanes, sums)
    slope, curvature = 0.0, 0.0
    for block in range(len(sums)):
        slope += sums[block, 0]
        curvature += sums[block, 1]
    return slope, curvature


@inlined
def _column_of(columns: Floats, ones: Floats, coordinate: int) -> Floats:
    return columns[coordinate] if coordinate >= 0 else ones


@kernel
def descend_dense(
    columns: Floats,
    ones: Floats,
    order: Int64s,
    steps: Steps,
    hessian: Float32s,
    tasks: int,
    gradient: Float32s,
    weights: Float64s,
) -> None:
    """Let coordinates take their steps, one after another.

    columns  (columns, rows) float32 or float64, without NaN; ones: (rows,) of the same type
    order    int64, which coordinates; `BIAS` is the bias
    hessian  float32 (rows,)
    gradient float32 (rows,), in and out: on return that of the new weights
    weights  float64 (columns + 1,), in and out; the last is the bias
    """
    sums = np.empty(((len(gradient) + BLOCK - 1) // BLOCK, 2))
    lanes = np.empty((tasks, 2, LANES))
    before, move = ones, 0.0
    for place in range(len(order)):
        coordinate = order[place]
        column = _column_of(columns, ones, coordinate)
        slope, curvature = _pass(before, move, column, gradient, hessian, tasks, lanes, sums)
        move = _taken(steps, coordinate, slope, curvature, weights[coordinate])
        weights[coordinate] += move
        before = column
    _pass(before, move, before, gradient, hessian, tasks, lanes, sums)


@kernel
def univariate_dense(
    columns: Floats,
    ones: Floats,
    steps: Steps,
    hessian: Float32s,
    tasks: int,
    gradient: Float32s,
    weights: Float64s,
    moves: Float64s,
) -> None:
    """Fill OUT moves, (columns,): the step that each column would take if it were the next; nothing changes."""
    sums = np.empty(((len(gradient) + BLOCK - 1) // BLOCK, 2))
    lanes = np.empty((tasks, 2, LANES))
    for j in range(len(columns)):
        slope, curvature = _pass(ones, 0.0, columns[j], gradient, hessian, tasks, lanes, sums)
        moves[j] = _taken(steps, j, slope, curvature, weights[j])


@inner_kernel
def _score_block(
    columns: Floats, weights: Float64s, start: float, begin: int, end: int, scores: Float64s
) -> None:
    block = scores[begin:end]
    block[:] = start
    for j in range(len(columns)):
        weight = weights[j]
        if weight != 0.0:
            column = columns[j, begin:end]
            for i in range(len(block)):
                block[i] += weight * np.float64(column[i])


@shared_kernel
def _score(task: int, tasks: int, columns: Floats, weights: Float64s, start: float, scores: Float64s) -> None:
    begin, end = len(scores) * task // tasks, len(scores) * (task + 1) // tasks
    for first in range(begin, end, SCORE_BLOCK):
        _score_block(columns, weights, start, first, min(first + SCORE_BLOCK, end), scores)


def score_dense(columns: Floats, weights: Float64s, start: float, tasks: int, scores: Float64s) -> None:
    """Fill OUT scores, (rows,): start, and then, column by column, weight times value."""
    _score(tasks, columns, weights, start, scores)


# --- tables of which only some cells are stored ---------------------------------------------------


@inlined
def _stored_sums(
    table: StoredNumbers, coordinate: int, gradient: Float32s, hessian: Float32s
) -> tuple[float, float]:
    """Slope and curvature of a column, block of stored cells by block."""
    slope, curvature = 0.0, 0.0
    last = table.starts[coordinate + 1]
    for begin in range(table.starts[coordinate], last, BLOCK):
        block_slope, block_curvature = 0.0, 0.0
        for i in range(begin, min(begin + BLOCK, last)):
            row, x = table.rows[i], np.float64(table.values[i])
            block_slope += np.float64(gradient[row]) * x
            block_curvature += np.float64(hessian[row]) * x * x
        slope += block_slope
        curvature += block_curvature
    return slope, curvature


@kernel
def descend_stored(
    table: StoredNumbers, order: Int64s, steps: Steps, hessian: Float32s, gradient: Float32s, weights: Float64s
) -> None:
    """As `descend_dense`, for a table of stored cells and without the bias."""
    for place in range(len(order)):
        j = order[place]
        slope, curvature = _stored_sums(table, j, gradient, hessian)
        move = _taken(steps, j, slope, curvature, weights[j])
        if move != 0.0:
            weights[j] += move
            for i in range(table.starts[j], table.starts[j + 1]):
                row = table.rows[i]
                change = np.float64(hessian[row]) * np.float64(table.values[i]) * move
                gradient[row] = np.float32(np.float64(gradient[row]) + change)


@shared_kernel
def _univariate(
    task: int,
    tasks: int,
    table: StoredNumbers,
    steps: Steps,
    hessian: Float32s,
    gradient: Float32s,
    weights: Float64s,
    moves: Float64s,
) -> None:
    for j in range(len(moves) * task // tasks, len(moves) * (task + 1) // tasks):
        slope, curvature = _stored_sums(table, j, gradient, hessian)
        moves[j] = _taken(steps, j, slope, curvature, weights[j])


def univariate_stored(
    table: StoredNumbers,
    steps: Steps,
    hessian: Float32s,
    gradient: Float32s,
    weights: Float64s,
    tasks: int,
    moves: Float64s,
) -> None:
    """As `univariate_dense`, for a table of stored cells."""
    _univariate(tasks, table, steps, hessian, gradient, weights, moves)


@kernel
def score_stored(table: StoredNumbers, weights: Float64s, start: float, scores: Float64s) -> None:
    """Fill OUT scores, (rows,): start, and then, column by column, weight times stored value."""
    scores[:] = start
    for j in range(len(table.starts) - 1):
        weight = weights[j]
        if weight != 0.0:
            for i in range(table.starts[j], table.starts[j + 1]):
                scores[table.rows[i]] += weight * np.float64(table.values[i])
