"""What a split is worth: the gain of regularised boosting (Chen and Guestrin 2016, equation 7).

    gain = 1/2 * [ S(G_L, H_L) + S(G_R, H_R) - S(G, H) ] - gamma,    S(G, H) = T(G)^2 / (H + lambda)

where T soft-thresholds the gradient by alpha. With ``max_delta_step``, bounds of a monotone constraint or smoothing the
optimal leaf value is moved and S is the value of the objective at that point. A node's own S is then at its value smoothed like
its children's, with its present one: so a split that tells nothing apart gains nothing, though it would bring the values
closer to the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.runtime.jit import inlined, inner_kernel
from weald.tree.constraints import Bounds, bounded_pair, bounded_score, is_bound
from weald.tree.score import node_score
from weald.tree.state import Gradients, Rules

NO_GAIN = -np.inf


@inner_kernel
def pair_score(left: Any, right: Any, bounds: Bounds, rules: Rules) -> Any:
    """The children's scores added; -inf where their values are in the wrong order.

    ``left`` and ``right``: gradient, hessian and count of each.
    """
    if is_bound(bounds, rules):
        return bounded_pair(left, right, bounds, rules)
    return node_score(left[0], left[1], rules) + node_score(right[0], right[1], rules)


@inner_kernel
def clipped_pair(
    gl: Any, hl: Any, nl: Any, totals: Any, gradients: Gradients, rules: Rules, bounds: Bounds
) -> Any:
    """The children's score with clipped or smoothed leaf values, in units of the integer sums."""
    g_unit, h_unit = gradients.gradient_unit, gradients.hessian_unit
    left = (gl * g_unit, hl * h_unit, nl)
    right = ((totals[0] - gl) * g_unit, (totals[1] - hl) * h_unit, totals[2] - nl)
    score = pair_score(left, right, bounds, rules)
    return score * h_unit / (g_unit * g_unit)


@inlined
def free_pair(gl: Any, hl: Any, g_all: Any, h_all: Any, lam: Any, alpha: Any) -> Any:
    """The children's score where nothing moves their values, in units of the integer sums, like ``lam`` and ``alpha``."""
    gr, hr = g_all - gl, h_all - hl + lam
    hl += lam
    # T(G), written so that it needs no branch; both children over one denominator, as division is the cost.
    gl = max(gl - alpha, 0.0) + min(gl + alpha, 0.0)
    gr = max(gr - alpha, 0.0) + min(gr + alpha, 0.0)
    return (gl * gl * hr + gr * gr * hl) / (hl * hr)


@inner_kernel
def parent_score(totals: Any, gradients: Gradients, rules: Rules, bounds: Bounds) -> Any:
    """The score of a node before it is split."""
    gradient, hessian = totals[0] * gradients.gradient_unit, totals[1] * gradients.hessian_unit
    if is_bound(bounds, rules):
        return bounded_score(gradient, hessian, totals[2], bounds, rules)
    return node_score(gradient, hessian, rules)


@inlined
def gain_of_score(best_score: Any, totals: Any, gradients: Gradients, rules: Rules, bounds: Bounds) -> Any:
    """The gain of a split whose children have this score; NO_GAIN where it does not pay."""
    parent = parent_score(totals, gradients, rules, bounds)
    children = best_score * gradients.gradient_unit * gradients.gradient_unit / gradients.hessian_unit
    gain = 0.5 * (children - parent) - rules.gamma
    # Up to this a "gain" is the rounding of the subtraction.
    if gain <= 1e-14 * abs(parent):
        return NO_GAIN
    return gain
