"""Constraints of columns while a tree grows: monotone ones, and which columns may meet on a path.

Monotone constraints. Every node has bounds for the values of its leaves. A value is clipped to them, and a score is taken at
the clipped value; of a split on a constrained column the two values must be in the column's order. Its children's bounds
then meet in the middle between the two values, so whatever grows below keeps the order. Splits on other columns pass the
bounds on. The final leaf values are clipped to the same bounds, wherever they come from.

Smoothing (`score.smoothed`). Where there is any, a node knows its value, which those of its children are drawn to before they
are clipped.

Interaction constraints. A node may be split on a column if a group that contains all columns of its path contains that one
too, or if it is on the path already; the root may be split on any. Of the path a node keeps the groups that contain
all of it, as bits, and its last column: where no group is left, the path is that single column, which is in no group.

A grower calls `open_root`; for every node `allowed_columns` and, for a column, `bounds_of`; scores a candidate by
`bounded_pair` where `is_bound`, and the node itself by `bounded_score`; after a split it calls `inherit` and, where
`bounds.sign` is not 0, `part`. Without constraints and smoothing the arrays are empty, and nothing of this is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from weald.runtime.arrays import Int, Int64s
from weald.runtime.far import far, returns
from weald.runtime.jit import bare_inner_kernel, inlined, inner_kernel
from weald.runtime.references import refer
from weald.tree.splits.score import leaf_value, score_at, smoothed
from weald.tree.state import Rules

NOT_ALLOWED = -np.inf  # the score of a pair of values in the wrong order
WORD = 64  # groups in a word of bits


class ConstraintState(NamedTuple):
    """The constraints of the columns, and what of them holds for every node.

    Empty arrays where there is no constraint of a kind.
    """

    signs: NDArray[np.int8]  # (columns,): 1: values never fall with the column, -1: never rise, 0: free
    groups: NDArray[np.uint64]  # (columns, words): a bit for every group that the column is in
    lower: NDArray[np.float64]  # (nodes,): bounds of the node's values
    upper: NDArray[np.float64]
    open_groups: NDArray[np.uint64]  # (nodes, words): the groups that contain all columns of the path
    last_column: NDArray[np.int64]  # (nodes,): of the path; -1: the root
    values: NDArray[np.float64]  # (nodes,): the node's value, smoothed and clipped; empty without smoothing


class Bounds(NamedTuple):
    """What a split of a node on a column must keep."""

    sign: np.int64  # the column's
    lower: float
    upper: float
    value: float  # of the node, which its children's are smoothed with


@dataclass(frozen=True)
class Constraints:
    """The constraints by position of the column, checked; see `ConstraintState` for the kernels' form."""

    signs: tuple[int, ...] = ()  # one a column; empty: none is constrained
    groups: tuple[tuple[int, ...], ...] = ()  # columns that may meet; empty: all may

    @property
    def monotone(self) -> bool:
        """Whether any column is monotone."""
        return any(self.signs)

    def state(self, n_columns: int, n_nodes: int, smooths: bool = False) -> ConstraintState:
        """The arrays for trees of at most so many nodes, with or without smoothing."""
        bounded, grouped = (n_nodes if self.monotone else 0), (n_nodes if self.groups else 0)
        words = -(-len(self.groups) // WORD)
        groups = np.zeros((n_columns if self.groups else 0, words), np.uint64)
        for number, group in enumerate(self.groups):
            groups[list(group), number // WORD] |= np.uint64(1 << number % WORD)
        return ConstraintState(
            np.array(self.signs if self.monotone else (), np.int8),
            groups,
            np.empty(bounded, np.float64),
            np.empty(bounded, np.float64),
            np.empty((grouped, words), np.uint64),
            np.empty(grouped, np.int64),
            np.empty(n_nodes if smooths else 0, np.float64),
        )


@inlined
def open_root(state: ConstraintState) -> None:
    """The root has no bounds and may be split on every column."""
    if len(state.signs) > 0:
        state.lower[0] = -np.inf
        state.upper[0] = np.inf
    if len(state.groups) > 0:
        state.last_column[0] = -1
        state.open_groups[0] = ~np.uint64(0)


@inlined
def is_constrained(state: ConstraintState) -> bool:
    """Whether a split means anything for the nodes below it."""
    return len(state.signs) > 0 or len(state.groups) > 0 or len(state.values) > 0


@inlined
def bounds_of(state: ConstraintState, node: Int, column: Int) -> Bounds:
    """The `Bounds` of a split of the node on a column."""
    value = state.values[node] if len(state.values) > 0 else 0.0
    if len(state.signs) == 0:
        return Bounds(np.int64(0), -np.inf, np.inf, value)
    return Bounds(np.int64(state.signs[column]), state.lower[node], state.upper[node], value)


@inlined
def is_bound(bounds: Bounds, rules: Rules) -> bool:
    """Whether values are clipped or smoothed; if not, the quick score is the same, and no score is below zero."""
    is_free = bounds.sign == 0 and bounds.lower == -np.inf and bounds.upper == np.inf
    return rules.path_smooth > 0.0 or not is_free


@inlined
def bounded_value(gradient: float, hessian: float, count: Int, bounds: Bounds, rules: Rules) -> float:
    """The leaf value of these sums, smoothed and then clipped to the bounds."""
    value = smoothed(leaf_value(gradient, hessian, rules), count, bounds.value, rules)
    return min(max(value, bounds.lower), bounds.upper)


@inlined
def bounded_score(gradient: float, hessian: float, count: Int, bounds: Bounds, rules: Rules) -> float:
    """Twice the reduction of the objective by the value; below zero where the bounds, or the parent's value, are far away."""
    return score_at(gradient, hessian, bounded_value(gradient, hessian, count, bounds, rules), rules)


@bare_inner_kernel
def bounded_pair(
    left: tuple[float, float, Int], right: tuple[float, float, Int], bounds: Bounds, rules: Rules
) -> float:
    """The children's scores added, or NOT_ALLOWED where their values are in the wrong order.

    ``left`` and ``right``: gradient, hessian and count of each.
    """
    left_value = bounded_value(left[0], left[1], left[2], bounds, rules)
    right_value = bounded_value(right[0], right[1], right[2], bounds, rules)
    score = score_at(left[0], left[1], left_value, rules) + score_at(right[0], right[1], right_value, rules)
    return score if np.float64(bounds.sign) * (right_value - left_value) >= 0.0 else NOT_ALLOWED


@inlined
def inherit(state: ConstraintState, node: int, column: Int, left: int) -> None:
    """Give the children ``left`` and ``left + 1`` of a split on a column the node's bounds, and the column on their path."""
    for child in (left, left + 1):
        if len(state.signs) > 0:
            state.lower[child] = state.lower[node]
            state.upper[child] = state.upper[node]
        if len(state.groups) > 0:
            state.last_column[child] = column
            for word in range(state.groups.shape[1]):
                state.open_groups[child, word] = state.open_groups[node, word] & state.groups[column, word]


@inlined
def part(state: ConstraintState, column: Int, left_value: float, right_value: float, left: int) -> None:
    """Let the bounds of the children of a split on a constrained column meet between their values.

    These are in the column's order and within the bounds that the children have inherited.
    """
    middle = 0.5 * (left_value + right_value)
    lesser, greater = (left, left + 1) if state.signs[column] > 0 else (left + 1, left)
    state.upper[lesser] = middle
    state.lower[greater] = middle


@inlined
def _is_allowed(state: ConstraintState, node: int, column: int) -> bool:
    if state.last_column[node] < 0 or state.last_column[node] == column:
        return True
    common = np.uint64(0)
    for word in range(state.groups.shape[1]):
        common |= state.open_groups[node, word] & state.groups[column, word]
    return common != np.uint64(0)


@inlined
def allowed_columns(state: ConstraintState, node: Int, columns: Int64s) -> Int64s:
    """Those of the columns, in their order, on which the node may be split; perhaps none."""
    if len(state.groups) == 0:
        return columns
    return far(_allowed_columns, (refer(state), node, columns))


@returns(types.int64[::1])
@inner_kernel
def _allowed_columns(state: ConstraintState, node: int, columns: Int64s) -> Int64s:
    chosen = np.empty(len(columns), np.int64)
    size = 0
    for column in columns:
        if _is_allowed(state, node, column):
            chosen[size] = column
            size += 1
    return chosen[:size]
