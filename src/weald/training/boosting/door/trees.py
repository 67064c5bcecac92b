"""The rules of a tree; what two parameters may not be together is refused."""

from __future__ import annotations

from typing import Any

from weald.binning.parameters import Approximate, Exact
from weald.data import Schema
from weald.encoding.parameters import Partition
from weald.forest.layout import DEEPEST_OBLIVIOUS
from weald.losses import Loss
from weald.params.choice import declared
from weald.runtime.errors import InputError, NotSupportedError
from weald.sampling.parameters import ByClass, Uniform
from weald.training.boosting.booster_parameters import Averaging
from weald.training.boosting.door.constraints import read_constraints
from weald.training.boosting.door.forced_splits import read_forced_splits
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting
from weald.tree.rules import TreeRules
from weald.tree.splits.constraints import Constraints
from weald.tree.splits.forced import ForcedSplit

DEFAULT_OBLIVIOUS_DEPTH = 6
DEFAULT_LAMBDA = 1.0


def tree_rules(
    given: BoostingParameters,
    parts: ResolvedBoosting,
    loss: Loss,
    schema: Schema,
    sets: Partition | None = None,
) -> TreeRules:
    """What limits a tree and how its splits are scored; ``sets``: how categorical columns are split into sets."""
    max_leaves, max_depth = given.max_leaves, given.max_depth
    if given.growth == "oblivious":
        max_leaves, max_depth = None, _oblivious_depth(given)
    constraints = read_constraints(given.monotone_constraints, given.interaction_constraints, schema)
    return TreeRules(
        given.growth,
        max_leaves,
        max_depth,
        given.min_samples_leaf,
        given.min_child_weight,
        DEFAULT_LAMBDA if given.reg_lambda is None else given.reg_lambda,
        given.reg_alpha,
        given.gamma,
        loss.max_delta_step if given.max_delta_step is None else given.max_delta_step,
        given.colsample_bylevel,
        given.colsample_bynode,
        constraints=constraints,
        path_smooth=_path_smooth(given, parts),
        extra_trees=parts.splits.extra_trees,
        split_score=parts.splits.score,
        forced=_forced(given, parts, schema, constraints),
        **_category_rules(sets),
    )


def _oblivious_depth(given: BoostingParameters) -> int:
    if given.max_leaves not in (declared(BoostingParameters)["max_leaves"].default, None):
        raise InputError(
            f"max_leaves={given.max_leaves} does not apply to growth='oblivious', "
            "whose trees have 2**max_depth leaves; set max_depth."
        )
    depth = given.max_depth or DEFAULT_OBLIVIOUS_DEPTH
    if depth > DEEPEST_OBLIVIOUS:
        raise InputError(
            f"max_depth must be at most {DEEPEST_OBLIVIOUS} with growth='oblivious', not {depth}."
        )
    return depth


def _path_smooth(given: BoostingParameters, parts: ResolvedBoosting) -> float:
    """path_smooth, which weighs a leaf by its rows: there must be some."""
    smooth = parts.leaves.path_smooth
    if smooth > 0.0 and given.min_samples_leaf < 2:
        raise InputError(
            f"leaves.path_smooth={smooth} needs min_samples_leaf of at least 2, not {given.min_samples_leaf}."
        )
    return float(smooth)


def _forced(
    given: BoostingParameters, parts: ResolvedBoosting, schema: Schema, constraints: Constraints
) -> tuple[ForcedSplit, ...]:
    """The forced splits; refused where a tree has no place for them."""
    forced = read_forced_splits(parts.splits.forced, schema, constraints.groups)
    finder = parts.split_finder
    if forced and given.growth == "oblivious":
        raise NotSupportedError(
            "splits.forced names a split for every node, and a level of growth='oblivious' shares one; "
            "use growth='leafwise' or 'depthwise'."
        )
    local = isinstance(finder, Approximate) and finder.proposals == "local"
    if forced and (local or isinstance(finder, Exact)):
        raise NotSupportedError(
            "splits.forced needs the bins of a whole tree; use split_finder='hist', or 'approx' with proposals='global'."
        )
    return forced


def _category_rules(sets: Partition | None) -> dict[str, Any]:
    """How categorical columns are split into sets; nothing where they are split one category from the rest."""
    if sets is None:
        return {}
    return {
        "max_cat_to_onehot": sets.max_onehot,
        "max_cat_threshold": sets.max_threshold,
        "cat_smooth": sets.smooth,
        "cat_l2": sets.l2,
        "min_samples_category": sets.min_samples,
    }


def check_splits(given: BoostingParameters, parts: ResolvedBoosting) -> None:
    """Refuse what the score of splits leaves without a meaning."""
    splits, score = parts.splits, parts.splits.score
    if score != "newton_l2" and given.monotone_constraints is not None:
        raise NotSupportedError(
            f"monotone_constraints need the gain of the final values, but splits.score is {score!r}; use 'newton_l2'."
        )
    if splits.by_weight and parts.sampling.keeps_large_gradients:
        raise NotSupportedError(
            f"sampling={parts.sampling!r} weighs rows by hessians, which splits.score={score!r} does not look at; "
            f"use 'newton_{score}', or sampling='uniform'."
        )
    if splits.by_cosine:
        _check_cosine(given, parts)
    if splits.noise > 0.0 and isinstance(parts.booster, Averaging):
        raise NotSupportedError(
            f"splits.noise={splits.noise} fades as boosting goes on, but the trees of booster='averaging' do not follow one "
            "another; use colsample_bynode."
        )


def _check_cosine(given: BoostingParameters, parts: ResolvedBoosting) -> None:
    score = parts.splits.score
    plain = score.replace("cosine", "l2")
    for name, value, why in (
        ("gamma", given.gamma, "is a reduction of the loss, which a cosine does not measure"),
        (
            "leaves.path_smooth",
            parts.leaves.path_smooth,
            "moves values between the levels of a tree, of which a cosine knows nothing",
        ),
    ):
        if value > 0.0:
            raise NotSupportedError(f"{name}={value} {why}; use splits.score={plain!r} or leave {name} at 0.")
    if given.growth == "oblivious" and isinstance(parts.split_finder, Exact):
        raise NotSupportedError(
            f"splits.score={score!r} of oblivious trees is not there with split_finder='exact'; use split_finder='hist'."
        )


def check_averaging(given: BoostingParameters, parts: ResolvedBoosting) -> None:
    """Refuse a learning rate, and trees that would all be the same, where trees are averaged."""
    if not isinstance(parts.booster, Averaging):
        return
    default = declared(BoostingParameters)["learning_rate"].default
    if given.learning_rate != default:
        raise NotSupportedError(
            f"learning_rate={given.learning_rate} has no meaning with booster='averaging', which averages whole trees; "
            f"leave it at {default}."
        )
    sampling = parts.sampling
    shares = [given.subsample, given.colsample_bytree, given.colsample_bylevel, given.colsample_bynode]
    if isinstance(sampling, ByClass):
        shares += [sampling.positive, sampling.negative]
    if min(shares) == 1.0 and isinstance(sampling, Uniform | ByClass) and not parts.splits.extra_trees:
        raise NotSupportedError(
            "booster='averaging' would grow the same tree in every round; set subsample or colsample_bytree below 1."
        )
