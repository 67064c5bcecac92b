"""How far leaves go; what makes no sense is refused."""

from __future__ import annotations

from weald.losses import Loss
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.leaf_steps import LeafSteps
from weald.training.boosting.parameters import ResolvedBoosting
from weald.training.boosting.plan import LeafPlan
from weald.tree.rules import TreeRules


def leaf_plan(parts: ResolvedBoosting, loss: Loss, rules: TreeRules, takes_turns: bool) -> LeafPlan:
    """The way of the leaves; ``takes_turns``: orders of the rows ask all rows in any case, however few steps there are."""
    steps = _steps(parts, loss, rules)
    if steps is None and takes_turns:
        method = "exact" if loss.refits_leaves else "newton"
        steps = LeafSteps(method, 1, rules.reg_lambda, rules.reg_alpha, rules.max_delta_step)
    return LeafPlan(steps, whole_leaves=parts.sampling.keeps_large_gradients)


def _steps(parts: ResolvedBoosting, loss: Loss, rules: TreeRules) -> LeafSteps | None:
    """The steps of the leaves; None where one step from the tree's own rows will do."""
    method, iterations = parts.leaves.method, parts.leaves.iterations
    if method == "auto" and iterations == 1 and not parts.sampling.weighs_rows:
        return None
    asked = f"leaves={parts.leaves!r}"
    if method == "auto" and iterations == 1:
        asked = f"sampling={parts.sampling!r}"
    if method == "auto":
        method = "exact" if loss.refits_leaves else "newton"
    if method == "exact":
        _check_exact(loss, iterations)
    elif rules.path_smooth > 0.0:
        raise NotSupportedError(
            f"leaves.path_smooth={rules.path_smooth} averages the values of one step of the tree's own rows, which {asked} "
            "does not take; leave path_smooth at 0."
        )
    return LeafSteps(method, iterations, rules.reg_lambda, rules.reg_alpha, rules.max_delta_step)


def _check_exact(loss: Loss, iterations: int) -> None:
    if not loss.refits_leaves:
        raise NotSupportedError(
            f"leaves='exact' needs a loss with a formula for a leaf's minimum, such as 'absolute', 'quantile' or 'huber', "
            f"but loss={loss.name!r} has none; use 'newton' with several iterations."
        )
    if iterations > 1:
        raise NotSupportedError(
            f"leaves.iterations={iterations} has no meaning for loss={loss.name!r}, whose leaves are exact after one; "
            "use leaves.method 'newton' or 'gradient'."
        )
