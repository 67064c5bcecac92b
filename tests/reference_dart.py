"""Naive twins of dropout for boosted trees: every tree is a dense row of numbers, and every sum is taken anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.runtime import random
from weald.runtime.random import stream_key
from weald.sampling import draw_columns, draw_rows
from weald.training.boosting.dart import DropRules
from weald.training.boosting.plan import Plan
from weald.training.boosting.trees import TrainingRows
from weald.tree.tree import TreeGrower

Floats = NDArray[np.float64]


def points(n_points: int, key: int) -> list[float]:
    """Numbers of at least 0 and below 1, from a hash of the key and their place."""
    return [(random._mix_int(key ^ place) >> 11) * 2.0**-53 for place in range(n_points)]


def drops(weights: list[float], n_outputs: int, rules: DropRules, key: int) -> list[bool]:
    """Which trees a round drops."""
    if points(1, stream_key(key, random.SKIPPED_DROP))[0] < rules.skip_drop:
        return [False] * len(weights)
    drawn = points(len(weights), stream_key(key, random.DROPPED_TREES))
    single = points(n_outputs, stream_key(key, random.ONE_DROPPED_TREE))
    dropped = [False] * len(weights)
    for output in range(n_outputs):
        trees = list(range(output, len(weights), n_outputs))
        total = 0.0
        for tree in trees:
            total += weights[tree]
        for tree in trees:
            chance = rules.rate_drop
            if rules.sample_type == "weighted":
                chance = rules.rate_drop * len(trees) * weights[tree] / total
            dropped[tree] = drawn[tree] < chance
        if rules.one_drop and trees and not any(dropped[tree] for tree in trees):
            share = [weights[tree] if rules.sample_type == "weighted" else 1.0 for tree in trees]
            end, wanted = 0.0, single[output] * (total if rules.sample_type == "weighted" else len(trees))
            for tree, width in zip(trees, share, strict=True):
                end += width
                if wanted < end:
                    dropped[tree] = True
                    break
    return dropped


def summed(leaves: NDArray[Any], values: list[Floats], wanted: list[int], score: Floats) -> Floats:
    """Scores plus the values of the leaves in the wanted trees, tree after tree."""
    total = score.copy()
    for tree in wanted:
        total = total + values[tree][leaves[tree]]
    return total


def boost(train: TrainingRows, plan: Plan, base: Floats) -> tuple[list[Floats], list[float]]:
    """What every tree adds to the training rows after the last round, and the trees' weights."""
    loss, trees, rules = plan.loss, plan.trees, plan.trees.drops
    assert rules is not None
    assert trees.rows is not None
    n_outputs, parallel = loss.n_outputs, trees.parallel_trees
    added: list[Floats] = []
    weights: list[float] = []
    grower = TreeGrower(train.bins, trees.rules, trees.bins.precision, 1)
    for number in range(plan.rounds):
        dropped = drops(weights, n_outputs, rules, stream_key(plan.seed, number, 0))
        scores = np.repeat(base[:, None], train.n_rows, axis=1)
        for tree, values in enumerate(added):
            if not dropped[tree]:
                scores[tree % n_outputs] = scores[tree % n_outputs] + values
        gradient, hessian = np.empty(scores.shape, np.float32), np.empty(scores.shape, np.float32)
        loss.gradients(scores, train.y, train.weight, gradient, hessian, 1)
        earlier = len(added)
        for place in range(n_outputs * parallel):
            output = place % n_outputs
            key = stream_key(plan.seed, number, place)
            if output == 0:
                rows = draw_rows(train.n_rows, trees.rows.subsample, stream_key(key, random.ROWS), 1)
            columns = draw_columns(grower.columns, trees.column_share, stream_key(key, random.TREE_COLUMNS))
            keys = stream_key(key, random.ROUNDING), stream_key(key, random.NODE_COLUMNS)
            grown = grower.grow(gradient[output], hessian[output], rows, columns, *keys)
            values = np.zeros(train.n_rows)
            grown.add_to(values, grown.leaf_values() * (plan.rate / parallel))
            added.append(values)
            weights.append(1.0)
        for output in range(n_outputs):
            own = [tree for tree in range(output, earlier, n_outputs) if dropped[tree]]
            if not own:
                continue
            count, eta = len(own) / parallel, plan.rate
            new, old = 1.0 / (count + eta), count / (count + eta)
            if rules.normalize_type == "forest":
                new = old = 1.0 / (1.0 + eta)
            for tree in own:
                added[tree], weights[tree] = added[tree] * old, weights[tree] * old
            for tree in range(earlier + output, len(added), n_outputs):
                added[tree], weights[tree] = added[tree] * new, weights[tree] * new
    return added, weights
