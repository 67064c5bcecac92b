"""From an estimator's parameters to the way that the leaves of boosted trees get their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.losses import Loss
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.descent import Descent, Newton
from weald.training.boosting.leaf_steps import LeafSteps, leaf_descent
from weald.tree.tree import TreeRules

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

# Samples that are not like the other rows, so that leaf values come from all of them.
_WEIGHTED_SAMPLES = ("bayesian", "mvs")


def make_descent(estimator: BoostedTrees, loss: Loss, rules: TreeRules, from_optimum: bool) -> Descent:
    """The way down the loss; ``from_optimum``: boosting starts from the best constant, and no tree is ever missing."""
    steps = leaf_steps(estimator, loss, rules)
    if steps is None:
        return Newton(from_optimum, whole_leaves=estimator.sampling == "goss")
    return leaf_descent(steps, from_optimum)


def leaf_steps(estimator: BoostedTrees, loss: Loss, rules: TreeRules) -> LeafSteps | None:
    """The steps of the leaves, None where one step from the tree's own rows will do; what makes no sense is refused."""
    method, iterations = estimator.leaf_estimation, estimator.leaf_iterations
    if method == "auto" and iterations == 1 and estimator.sampling not in _WEIGHTED_SAMPLES:
        return None
    asked = f"leaf_estimation={method!r}" if method != "auto" else f"leaf_iterations={iterations}"
    if method == "auto" and iterations == 1:
        asked = f"sampling={estimator.sampling!r}"
    if method == "auto":
        method = "exact" if loss.refits_leaves else "newton"
    if method == "exact":
        _check_exact(loss, iterations)
    elif estimator.path_smooth > 0.0:
        raise NotSupportedError(
            f"path_smooth={estimator.path_smooth} averages the values of one step of the tree's own rows, which {asked} "
            "does not take; leave path_smooth at 0."
        )
    return LeafSteps(method, iterations, rules.reg_lambda, rules.reg_alpha, rules.max_delta_step)


def steps_of_all_rows(estimator: BoostedTrees, loss: Loss, rules: TreeRules) -> LeafSteps:
    """The steps where all rows are asked in any case, however few steps there are."""
    method = "exact" if loss.refits_leaves else "newton"
    one = LeafSteps(method, 1, rules.reg_lambda, rules.reg_alpha, rules.max_delta_step)
    return leaf_steps(estimator, loss, rules) or one


def _check_exact(loss: Loss, iterations: int) -> None:
    if not loss.refits_leaves:
        raise NotSupportedError(
            f"leaf_estimation='exact' needs a loss with a formula for a leaf's minimum, such as 'absolute', 'quantile' "
            f"or 'huber', but loss={loss.name!r} has none; use 'newton' with several leaf_iterations."
        )
    if iterations > 1:
        raise NotSupportedError(
            f"leaf_iterations={iterations} has no meaning for loss={loss.name!r}, whose leaves are exact after one; "
            "use leaf_estimation='newton' or 'gradient'."
        )
