"""What a split is worth: the gain of regularised boosting (Chen and Guestrin 2016, equation 7).

    gain = 1/2 * [ S(G_L, H_L) + S(G_R, H_R) - S(G, H) ] - gamma,    S(G, H) = T(G)^2 / (H + lambda)

where T soft-thresholds the gradient by alpha. With ``max_delta_step``, bounds of a monotone constraint or smoothing the
optimal leaf value is moved and S is the value of the objective at that point. A node's own S is then at its value smoothed like
its children's, with its present one: so a split that tells nothing apart gains nothing, though it would bring the values
closer to the optimum.

Where the rules ask for cosines (cosine.py), these take the place of S, and the gain is their difference.
"""

from __future__ import annotations

import numpy as np
from numba import types

from weald.runtime.arrays import Int
from weald.runtime.far import far, returns
from weald.runtime.jit import bare_inner_kernel, inlined
from weald.runtime.references import refer
from weald.tree.splits.constraints import (
    Bounds,
    ConstraintState,
    bounded_pair,
    bounded_score,
    bounds_of,
    is_bound,
)
from weald.tree.splits.cosine import cosine, cosine_pair, cosine_unit, own_moments
from weald.tree.splits.noise import noise_of
from weald.tree.splits.score import node_score
from weald.tree.state import Gradients, Rules

NO_GAIN = -np.inf


@bare_inner_kernel
def pair_score(
    left: tuple[float, float, Int], right: tuple[float, float, Int], bounds: Bounds, rules: Rules
) -> float:
    """The children's scores added; -inf where their values are in the wrong order. Not for cosines.

    ``left`` and ``right``: gradient, hessian and count of each.
    """
    if is_bound(bounds, rules):
        return bounded_pair(left, right, bounds, rules)
    return node_score(left[0], left[1], rules) + node_score(right[0], right[1], rules)


@inlined
def clipped_pair(
    gl: float | Int,
    hl: float | Int,
    nl: Int,
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> float:
    """The children's score by any rules, also with clipped or smoothed leaf values, in units of the integer sums."""
    sums = (np.float64(gl), np.float64(hl), np.int64(nl))
    return far(_clipped_pair, (sums, totals, refer(gradients), refer(rules), bounds))


@returns(types.float64)
@bare_inner_kernel
def _clipped_pair(
    sums: tuple[float, float, Int],
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> float:
    gl, hl, nl = sums
    if rules.cosine:
        return cosine_pair(gl, hl, totals, gradients, rules)
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    left = (gl * g_unit, hl * h_unit, nl)
    right = ((totals[0] - gl) * g_unit, (totals[1] - hl) * h_unit, totals[2] - nl)
    score = pair_score(left, right, bounds, rules)
    return score * h_unit / (g_unit * g_unit)


@inlined
def free_pair(gl: float, hl: float, g_all: float, h_all: float, lam: float, alpha: float) -> float:
    """The children's score where nothing moves their values, in units of the integer sums, like ``lam`` and ``alpha``."""
    gr, hr = g_all - gl, h_all - hl + lam
    hl += lam
    # T(G), written so that it needs no branch; both children over one denominator, as division is the cost.
    gl = max(gl - alpha, 0.0) + min(gl + alpha, 0.0)
    gr = max(gr - alpha, 0.0) + min(gr + alpha, 0.0)
    return (gl * gl * hr + gr * gr * hl) / (hl * hr)


@inlined
def parent_score(totals: tuple[Int, Int, Int], gradients: Gradients, rules: Rules, bounds: Bounds) -> float:
    """The score of a node before it is split."""
    if rules.cosine or is_bound(bounds, rules):
        return far(_special_parent_score, (totals, refer(gradients), refer(rules), bounds))
    return node_score(totals[0] * gradients.gradient_unit, totals[1] * gradients.hessian_unit, rules)


@returns(types.float64)
@bare_inner_kernel
def _special_parent_score(
    totals: tuple[Int, Int, Int], gradients: Gradients, rules: Rules, bounds: Bounds
) -> float:
    """`parent_score` where it is a cosine, or where values are clipped or smoothed."""
    if rules.cosine:
        product, square = own_moments(totals, gradients, rules)
        return cosine(product, square) * cosine_unit(gradients)
    gradient, hessian = totals[0] * gradients.gradient_unit, totals[1] * gradients.hessian_unit
    return bounded_score(gradient, hessian, totals[2], bounds, rules)


@inlined
def children_score(
    left: tuple[Int, Int, Int],
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
) -> float:
    """The score of the children of a node, of which the left one has the integer sums ``left``; -inf: not allowed."""
    if rules.cosine:
        return cosine_pair(left[0], left[1], totals, gradients, rules) * cosine_unit(gradients)
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    right = ((totals[0] - left[0]) * g_unit, (totals[1] - left[1]) * h_unit, totals[2] - left[2])
    return pair_score((left[0] * g_unit, left[1] * h_unit, left[2]), right, bounds, rules)


@inlined
def gain_over(children: float, parent: float, rules: Rules) -> float:
    """What a split gains that brings a node from the parent's score to the children's."""
    return children - parent if rules.cosine else 0.5 * (children - parent) - rules.gamma


@inlined
def gain_of_score(
    best_score: float, totals: tuple[Int, Int, Int], gradients: Gradients, rules: Rules, bounds: Bounds
) -> float:
    """The gain of a split whose children have this score; NO_GAIN where it does not pay."""
    parent = parent_score(totals, gradients, rules, bounds)
    if rules.cosine:
        children = best_score * cosine_unit(gradients)
    else:
        children = best_score * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    gain = gain_over(children, parent, rules)
    # Up to this a "gain" is the rounding of the subtraction.
    if gain <= 1e-14 * abs(parent):
        return NO_GAIN
    return gain


@inlined
def noisy_score(
    score: float,
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    state: ConstraintState,
    node: Int,
    feature: int,
    key: np.uint64,
) -> float:
    """What a column's best score is compared by; NO_GAIN where there is noise and the split does not pay."""
    if rules.noise == 0.0 or score == NO_GAIN:
        return score
    bounds = bounds_of(state, node, feature)
    return far(_add_noise, (score, totals, refer(gradients), refer(rules), bounds, node, feature, key))


@returns(types.float64)
@bare_inner_kernel
def _add_noise(
    score: float,
    totals: tuple[Int, Int, Int],
    gradients: Gradients,
    rules: Rules,
    bounds: Bounds,
    node: int,
    feature: int,
    key: np.uint64,
) -> float:
    if gain_of_score(score, totals, gradients, rules, bounds) == NO_GAIN:
        return NO_GAIN
    return score + rules.noise * noise_of(key, node, feature)
