"""Naive twins of the kernels of coordinate descent: one row at a time, in the order that the kernels promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weald.linear.kernels import BLOCK, LANES, Steps

Cells = Sequence[tuple[int, float]]  # (row, value) of a column, by ascending row


def newton_step(slope: float, curvature: float, weight: float, l1: float, l2: float) -> float:
    """The d at which slope d + curvature d² / 2 + l1 |weight + d| + l2 (weight + d)² / 2 is least."""
    if curvature < 1e-5:
        return 0.0
    slope += l2 * weight
    curvature += l2
    if weight * curvature >= slope:
        return max(-(slope + l1) / curvature, -weight)
    return min(-(slope - l1) / curvature, -weight)


def taken(steps: Steps, coordinate: int, slope: float, curvature: float, weight: float) -> float:
    l1, l2 = (steps.l1, steps.l2) if coordinate >= 0 else (0.0, 0.0)
    limit = float(steps.limits[coordinate])
    step = newton_step(slope, curvature, weight, l1, l2)
    return steps.rate * min(max(step, -limit), limit)


def lane_sums(products: Sequence[float]) -> float:
    """A block's sum: LANES interleaved sums, then these one after another."""
    lanes = [0.0] * LANES
    for place, product in enumerate(products):
        lanes[place % LANES] += product
    total = 0.0
    for lane in lanes:
        total += lane
    return total


def plain_sums(products: Sequence[float]) -> float:
    total = 0.0
    for product in products:
        total += product
    return total


def column_sums(cells: Cells, gradient: Any, hessian: Any, add: Any) -> tuple[float, float]:
    """Slope and curvature, block after block."""
    slope, curvature = 0.0, 0.0
    for begin in range(0, len(cells), BLOCK):
        block = cells[begin : begin + BLOCK]
        slope += add([float(gradient[row]) * x for row, x in block])
        curvature += add([float(hessian[row]) * x * x for row, x in block])
    return slope, curvature


def descend(
    columns: Sequence[Cells],
    order: Sequence[int],
    steps: Steps,
    hessian: Any,
    gradient: Any,
    weights: Any,
    add: Any,
) -> None:
    """Every coordinate of ``order`` takes its step; -1 is the bias, whose column is 1 in every row."""
    ones = [(row, 1.0) for row in range(len(gradient))]
    for coordinate in order:
        cells = ones if coordinate < 0 else columns[coordinate]
        slope, curvature = column_sums(cells, gradient, hessian, lane_sums if coordinate < 0 else add)
        move = taken(steps, coordinate, slope, curvature, float(weights[coordinate]))
        weights[coordinate] += move
        for row, x in cells:
            gradient[row] = np.float32(float(gradient[row]) + float(hessian[row]) * x * move)


def univariate(
    columns: Sequence[Cells], steps: Steps, hessian: Any, gradient: Any, weights: Any, add: Any
) -> list[float]:
    return [
        taken(steps, j, *column_sums(cells, gradient, hessian, add), float(weights[j]))
        for j, cells in enumerate(columns)
    ]


def scores(columns: Sequence[Cells], weights: Any, start: float, n_rows: int) -> list[float]:
    total = [start] * n_rows
    for cells, weight in zip(columns, weights, strict=True):
        for row, x in cells:
            total[row] += float(weight) * x
    return total


def dense_cells(columns: Any) -> list[Cells]:
    return [[(row, float(x)) for row, x in enumerate(column)] for column in columns]


def stored_cells(columns: Any) -> list[Cells]:
    return [[(row, float(x)) for row, x in enumerate(column) if x != 0.0] for column in columns]


def penalised_parabola(
    slope: float, curvature: float, weight: float, l1: float, l2: float, step: float
) -> float:
    """What a step is to make least."""
    after = weight + step
    return math.fsum([slope * step, curvature * step * step / 2, l1 * abs(after), l2 * after * after / 2])
