"""Naive twins of averaged trees and of refitted leaves: every tree is a dense row of numbers, every sum is taken row by row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime import random
from weald.runtime.random import stream_key
from weald.sampling import draw_columns, draw_rows
from weald.training.boosting.plan import Plan
from weald.training.boosting.trees import TrainingRows
from weald.tree.tree import TreeGrower

Floats = NDArray[np.float64]


def forest(train: TrainingRows, plan: Plan, base: Floats) -> list[Floats]:
    """What every tree of a forest on the gradients at ``base`` says of the training rows."""
    said: list[Floats] = []
    loss, trees = plan.loss, plan.trees
    assert trees.rows is not None
    grower = TreeGrower(train.bins, trees.rules, trees.bins.precision, 1)
    scores = np.repeat(base[:, None], train.n_rows, axis=1)
    gradient, hessian = np.empty(scores.shape, np.float32), np.empty(scores.shape, np.float32)
    loss.gradients(scores, train.y, train.weight, gradient, hessian, 1)
    for number in range(plan.rounds):
        for output in range(loss.n_outputs):
            key = stream_key(plan.seed, number, output)
            if output == 0:
                rows = draw_rows(train.n_rows, trees.rows.subsample, stream_key(key, random.ROWS), 1)
            columns = draw_columns(grower.columns, trees.column_share, stream_key(key, random.TREE_COLUMNS))
            keys = stream_key(key, random.ROUNDING), stream_key(key, random.NODE_COLUMNS)
            grown = grower.grow(gradient[output], hessian[output], rows, columns, *keys)
            values = np.zeros(train.n_rows)
            grown.add_to(values, grown.leaf_values())
            said.append(values)
    return said


def refitted(
    trees: Any,
    nodes: NDArray[np.int32],
    y: Floats,
    weight: Floats | None,
    loss: Any,
    rate: float,
    decay: float,
    reg_lambda: float,
) -> list[dict[int, float]]:
    """The new value of every leaf that a row reaches, tree after tree; one tree an output and round, Newton leaves."""
    scores = np.repeat(trees.base_score[:, None], len(y), axis=1)
    gradient, hessian = np.empty(scores.shape, np.float32), np.empty(scores.shape, np.float32)
    found: list[dict[int, float]] = []
    for number in range(trees.n_trees):
        output = number % trees.n_outputs
        if output == 0:
            seen = scores.copy()
            loss.gradients(seen, y, weight, gradient, hessian, 1)
        old, values = trees.tree(number).value, {}
        for leaf in sorted(set(nodes[:, number].tolist())):
            own = [row for row in range(len(y)) if nodes[row, number] == leaf]
            slope = math.fsum(float(gradient[output, row]) for row in own)
            curve = math.fsum(float(hessian[output, row]) for row in own)
            values[leaf] = decay * float(old[leaf]) - (1.0 - decay) * rate * slope / (curve + reg_lambda)
            for row in own:
                scores[output, row] += values[leaf]
        found.append(values)
    return found
