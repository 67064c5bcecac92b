"""The values of the nodes of a finished tree, in exact sums: Newton's, clipped, and smoothed along the path (score.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from weald.tree.rules import TreeRules


class StepRules(Protocol):
    """What shortens a step beside the penalty."""

    @property
    def reg_alpha(self) -> float:
        """By how much the gradient is moved towards zero."""

    @property
    def max_delta_step(self) -> float:
        """The limit of a step, 0 for none."""


def newton(
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
    penalty: NDArray[np.float64],
    rules: StepRules,
) -> NDArray[np.float64]:
    """-T(G) / (H + penalty), clipped by max_delta_step; zero where there is nothing to divide by."""
    thresholded = np.sign(gradient) * np.maximum(np.abs(gradient) - rules.reg_alpha, 0.0)
    weight = hessian + penalty
    values: NDArray[np.float64] = np.divide(
        -thresholded, weight, out=np.zeros_like(gradient), where=weight > 0
    )
    if rules.max_delta_step > 0:
        values = np.clip(values, -rules.max_delta_step, rules.max_delta_step)
    values += 0.0  # no negative zeros
    return values


def clip(
    nodes: dict[str, NDArray[Any]], chosen: NDArray[np.int64] | slice, values: NDArray[np.float64]
) -> None:
    """Clip values of the chosen nodes to the nodes' bounds, where these have any."""
    if "lower" in nodes:
        np.clip(values, nodes["lower"][chosen], nodes["upper"][chosen], out=values)
        values += 0.0  # no negative zeros


def fill_small_leaves(
    nodes: dict[str, NDArray[Any]],
    leaf_nodes: NDArray[np.int64],
    sums: NDArray[np.float64],
    penalty: NDArray[np.float64],
    rules: TreeRules,
    values: NDArray[np.float64],
) -> None:
    """Give leaves with too few rows the value of their nearest ancestor with enough."""
    count = nodes["end"] - nodes["begin"]
    fewest = max(1, rules.min_samples_leaf)
    small = np.flatnonzero(count[leaf_nodes] < fewest)
    if not small.size:
        return
    parent = _parents(nodes)
    giver = leaf_nodes[small]
    while (climbs := (giver > 0) & (count[giver] < fewest)).any():
        giver = np.where(climbs, parent[giver], giver)
    own = giver != leaf_nodes[small]
    giver = giver[own]
    totals = node_totals(nodes, leaf_nodes, sums)[giver]
    values[small[own]] = newton(totals[:, 0], totals[:, 1], penalty[giver], rules)


def _parents(nodes: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    """The parent of every node; the root is its own."""
    inner = np.flatnonzero(nodes["feature"] >= 0)
    parent = np.zeros(len(nodes["feature"]), np.int64)
    parent[nodes["left"][inner]] = parent[nodes["left"][inner] + 1] = inner
    return parent


def _levels(nodes: dict[str, NDArray[Any]]) -> list[NDArray[np.int64]]:
    """The numbers of the nodes, level by level from the root."""
    order = np.argsort(nodes["depth"], kind="stable")
    return np.split(order, np.flatnonzero(np.diff(nodes["depth"][order])) + 1)


def node_totals(
    nodes: dict[str, NDArray[Any]], leaf_nodes: NDArray[np.int64], sums: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of every node, (nodes, 2), from those of the leaves: a parent's are its children's added up."""
    totals = np.zeros((len(nodes["feature"]), 2))
    totals[leaf_nodes] = sums
    for level in reversed(_levels(nodes)):
        inner = level[nodes["feature"][level] >= 0]
        left = nodes["left"][inner]
        totals[inner] = totals[left] + totals[left + 1]
    return totals


def smooth_path(
    nodes: dict[str, NDArray[Any]], own: NDArray[np.float64], strength: float, fewest: int
) -> NDArray[np.float64]:
    """The nodes' own values, averaged with their parents' from the root down and clipped to the nodes' bounds.

    A node with fewer than ``fewest`` rows has the value of its parent.
    """
    parent = _parents(nodes)
    count = nodes["end"] - nodes["begin"]
    values = own.copy()
    for level in _levels(nodes)[1:]:
        n, above = count[level], values[parent[level]]
        averaged = np.where(n < fewest, above, (own[level] * n + above * strength) / (n + strength))
        clip(nodes, level, averaged)
        values[level] = averaged
    return values
