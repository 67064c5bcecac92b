"""Naive twins of ``weald.tree.splits.constraints`` and ``weald.tree.growth.prune``: sets of columns, bounds as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from weald.tree.splits.constraints import Constraints
from weald.tree.state import Rules

SMALLEST_HESSIAN = 1e-16


class Fence(NamedTuple):
    """What a node must keep: the bounds of its values, and the columns on its path; and what it hands on: its value."""

    lower: float = -math.inf
    upper: float = math.inf
    path: frozenset[int] = frozenset()
    value: float = 0.0  # which the children's are smoothed with


def sign_of(constraints: Constraints, column: int) -> int:
    """The order of a column; 0 for none."""
    return constraints.signs[column] if constraints.signs else 0


def is_bound(fence: Fence, sign: int, rules: Rules) -> bool:
    """Whether scores are taken at clipped or smoothed values."""
    return rules.path_smooth > 0.0 or sign != 0 or (fence.lower, fence.upper) != (-math.inf, math.inf)


def best_value(gradient: float, hessian: float, rules: Rules) -> float:
    """The best value within max_delta_step."""
    shrunk = max(abs(gradient) - rules.reg_alpha, 0.0)
    value = -math.copysign(shrunk, gradient) / max(hessian + rules.reg_lambda, SMALLEST_HESSIAN)
    if rules.max_delta_step > 0.0:
        value = min(max(value, -rules.max_delta_step), rules.max_delta_step)
    return value


def clipped_value(gradient: float, hessian: float, count: int, fence: Fence, rules: Rules) -> float:
    """The same averaged with the parent's, and then within the bounds."""
    value, strength = best_value(gradient, hessian, rules), rules.path_smooth
    if strength > 0.0:
        value = (value * count + fence.value * strength) / (count + strength)
    return min(max(value, fence.lower), fence.upper)


def score_at(gradient: float, hessian: float, value: float, rules: Rules) -> float:
    """Twice what a leaf of this value takes from the objective."""
    penalty = 2.0 * rules.reg_alpha * abs(value)
    return -(2.0 * gradient * value + (hessian + rules.reg_lambda) * value * value + penalty)


def clipped_score(gradient: float, hessian: float, count: int, fence: Fence, rules: Rules) -> float:
    """The same at the clipped value."""
    return score_at(gradient, hessian, clipped_value(gradient, hessian, count, fence, rules), rules)


def in_order(sign: int, left: float, right: float) -> bool:
    """Whether two values are in the order of the column."""
    return sign == 0 or (left <= right if sign > 0 else left >= right)


def ordered_pair(
    left: tuple[float, float, int],
    right: tuple[float, float, int],
    sign: int,
    fence: Fence,
    rules: Rules,
) -> float:
    """The children's scores added, minus infinity where their values are in the wrong order."""
    values = [clipped_value(*sums, fence, rules) for sums in (left, right)]
    if not in_order(sign, *values):
        return -math.inf
    return clipped_score(*left, fence, rules) + clipped_score(*right, fence, rules)


def children_fences(
    fence: Fence, sign: int, column: int, left_value: float, right_value: float
) -> tuple[Fence, Fence]:
    """What the children must keep."""
    inherited = fence._replace(path=fence.path | {column})
    left, right = inherited._replace(value=left_value), inherited._replace(value=right_value)
    middle = (left_value + right_value) / 2.0
    if sign > 0:
        return left._replace(upper=middle), right._replace(lower=middle)
    if sign < 0:
        return left._replace(lower=middle), right._replace(upper=middle)
    return left, right


def allowed(columns: Iterable[int], fence: Fence, groups: Sequence[Sequence[int]]) -> list[int]:
    """Columns of the path, and of groups that contain the whole path; at the root all."""
    if not groups or not fence.path:
        return list(columns)
    may = set(fence.path)
    for group in groups:
        if fence.path <= set(group):
            may |= set(group)
    return [column for column in columns if column in may]


def prune(nodes: list[Any], gamma: float) -> list[Any]:
    """Take back splits of two leaves that gain less than gamma until there is none; the nodes that are left.

    ``nodes`` are `reference.Node`; the rows of a new leaf are those of its left child and then of its right one.
    """

    def does_not_pay(node: Any) -> bool:
        if node.left == 0 or node.split.gain >= gamma:
            return False
        return nodes[node.left].left == 0 and nodes[node.left + 1].left == 0

    while True:
        failing = [node for node in nodes if does_not_pay(node)]
        if not failing:
            break
        for node in failing:
            node.entries = [*nodes[node.left].entries, *nodes[node.left + 1].entries]
            node.left = 0
    kept, waiting = [], [0]
    while waiting:
        number = waiting.pop()
        kept.append(number)
        if nodes[number].left:
            waiting += [nodes[number].left, nodes[number].left + 1]
    kept.sort()
    for number in kept:
        if nodes[number].left:
            nodes[number].left = kept.index(nodes[number].left)
    return [nodes[number] for number in kept]
