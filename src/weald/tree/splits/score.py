"""The value of a leaf and of the objective there: the arithmetic under every search for a split.

    w = -T(G) / (H + lambda),    S(G, H) = -[ 2 G w + (H + lambda) w^2 + 2 alpha |w| ]

(Chen and Guestrin 2016, equations 5 and 6, with soft thresholding by alpha.) Where nothing clips w, S is
T(G)^2 / (H + lambda).

With path_smooth s the value of a node of n rows is (n w + s w_p) / (n + s), where w_p is the value of its parent, smoothed too;
the root's is its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weald.runtime.arrays import Int
from weald.runtime.jit import inlined
from weald.runtime.references import whole
from weald.tree.state import Gradients, Rules, TreeInput

if TYPE_CHECKING:
    from weald.tree.exact.state import ExactInput

SMALLEST_HESSIAN = 1e-16  # keeps the quotient finite when lambda and min_child_weight are zero

# Where lambda is among the rules: Numba takes a tuple apart only at constants.
_LAMBDA = Rules._fields.index("reg_lambda")
_BEHIND_LAMBDA = _LAMBDA + 1
_make_rules: Any = Rules  # how many numbers a slice has is not known to a type checker


@inlined
def is_by_set(data: TreeInput | ExactInput, feature: Int, rules: Rules) -> bool:
    """Whether a feature is split into two sets of categories."""
    return data.categorical[feature] and data.n_bins[feature] > rules.max_cat_to_onehot


@inlined
def rules_of_sets(rules: Rules) -> Rules:
    """The rules by which the children of a split into two sets are scored: ``cat_l2`` is added to lambda."""
    all_rules = whole(rules)
    return _make_rules(*all_rules[:_LAMBDA], rules.reg_lambda + rules.cat_l2, *all_rules[_BEHIND_LAMBDA:])


@inlined
def smallest_hessian(rules: Rules, gradients: Gradients) -> float:
    """The hessian that a child must have, in units of the integer sums: one at least, which a difference of large sums keeps."""
    return max(max(rules.min_child_weight, SMALLEST_HESSIAN) / gradients.hessian_unit, 1.0)


@inlined
def soft_threshold(gradient: float, alpha: float) -> float:
    """T(G): the gradient moved towards zero by alpha."""
    if gradient > alpha:
        return gradient - alpha
    if gradient < -alpha:
        return gradient + alpha
    return 0.0


@inlined
def leaf_value(gradient: float, hessian: float, rules: Rules) -> float:
    """-T(G) / (H + lambda), clipped to max_delta_step when that is positive."""
    value = -soft_threshold(gradient, rules.reg_alpha) / max(hessian + rules.reg_lambda, SMALLEST_HESSIAN)
    if rules.max_delta_step > 0.0:
        value = min(max(value, -rules.max_delta_step), rules.max_delta_step)
    return value


@inlined
def smoothed(value: float, count: Int, parent: float, rules: Rules) -> float:
    """A value of ``count`` rows, averaged with that of the parent."""
    if rules.path_smooth > 0.0:
        return (value * count + parent * rules.path_smooth) / (count + rules.path_smooth)
    return value


@inlined
def score_at(gradient: float, hessian: float, value: float, rules: Rules) -> float:
    """Twice the reduction of the objective by a leaf of this value; below zero for a bad one."""
    return -(
        2.0 * gradient * value
        + (hessian + rules.reg_lambda) * value * value
        + 2.0 * rules.reg_alpha * abs(value)
    )


@inlined
def node_score(gradient: float, hessian: float, rules: Rules) -> float:
    """S(G, H): twice the reduction of the objective by the node's best leaf value."""
    score = score_at(gradient, hessian, leaf_value(gradient, hessian, rules), rules)
    return score if score > 0.0 else 0.0  # neither a rounding below zero nor a negative zero
