"""Training that goes on: from the model of an earlier fit, or from a checkpoint to the same bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel, check_same_training, from_checkpoint
from weald.forest import file as model_file
from weald.forest.forest import Forest
from weald.linear.model import LinearModel
from weald.runtime.errors import InputError
from weald.runtime.team import ALONE, Team
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.plan import LinearPlan, Plan
from weald.training.boosting.session import Interruption

if TYPE_CHECKING:
    from weald.estimators.boosted.base import BoostedTrees


@dataclass(frozen=True)
class Earlier:
    """The model that training goes on from."""

    model: FittedModel
    what: str  # the argument that asks for it
    interruption: Interruption | None = None
    rows: Mapping[str, Any] = field(default_factory=dict)  # what the rows of a checkpoint are known by

    @property
    def resumes(self) -> bool:
        """Whether an interrupted fit goes on to the same bytes."""
        return self.what == "resume_from"


def loaded_checkpoint(estimator: BoostedTrees, path: str | os.PathLike[str]) -> Earlier:
    """The checkpoint of a fit with the estimator's parameters."""
    name, params, model, interruption, rows = from_checkpoint(model_file.read(path))
    check_same_training(path, estimator, name, params)
    return Earlier(model, "resume_from", interruption, rows)


def known_rows(labels: Labels, init_score: NDArray[np.float64] | None, team: Team = ALONE) -> dict[str, Any]:
    """What a checkpoint knows the training rows by: their number, and digests of labels, weights and starting scores.

    Of a team's rows the number alone: training goes on when they are shared out anew.
    """
    if team.size > 1:
        return {"n_rows": int(team.add(np.array([len(labels.y)], np.int64))[0])}
    given = {"y": labels.y, "sample_weight": labels.weight, "init_score": init_score}
    digests = {
        name: None
        if values is None
        else blake2b(np.ascontiguousarray(values).data, digest_size=16).hexdigest()
        for name, values in given.items()
    }
    return {"n_rows": len(labels.y), **digests}


def _check_same_rows(earlier: Earlier, now: Mapping[str, Any]) -> None:
    """An interrupted fit goes on with its own rows; a file of an older version does not know them."""
    if earlier.rows.get("n_rows", now["n_rows"]) != now["n_rows"]:
        raise InputError(
            f"resume_from needs the {earlier.rows['n_rows']} rows of the interrupted fit, but X has {now['n_rows']}."
        )
    for name, digest in now.items():
        if earlier.rows.get(name, digest) != digest:
            raise InputError(f"resume_from needs {name} of the interrupted fit; this one has other values.")


def check_continues(
    given: BoostingParameters,
    plan: Plan,
    earlier: Earlier,
    schema: Schema,
    labels: Labels,
    base: NDArray[np.float64],
    rows: Mapping[str, Any],
) -> None:
    """A continued model must have the same columns, classes, loss and start, and not too many rounds."""
    model, what = earlier.model, earlier.what
    check_same_task(model, schema, labels, given.n_estimators, what)
    if isinstance(model.predictor, LinearModel) != isinstance(plan.kind, LinearPlan):
        was = "" if isinstance(model.predictor, LinearModel) else "not "
        raise InputError(f"{what} needs the booster of the earlier fit, which was {was}'linear'.")
    if isinstance(model.predictor, Forest):
        _check_same_trees(plan, model.predictor, model, what)
    _check_same_rows(earlier, rows)
    _check_same_start(given.base_score, model, base, earlier.resumes)


def check_same_task(
    model: FittedModel, schema: Schema, labels: Labels, rounds: int, what: str = "warm_start"
) -> None:
    """The columns, classes and loss must be those of the earlier fit, and there must be rounds left."""
    if model.schema != schema:
        wanted = "columns and categories" if what == "resume_from" else "columns"
        raise InputError(f"{what} needs the {wanted} of the earlier fit; X has others.")
    before, now = (
        None if classes is None else classes.tolist() for classes in (model.classes, labels.classes)
    )
    if before != now:
        raise InputError(f"{what} needs the classes of the earlier fit, {before}, but y has {now}.")
    if model.loss != labels.loss.name or model.predictor.n_outputs != labels.loss.n_outputs:
        raise InputError(f"{what} needs the loss of the earlier fit, {model.loss!r}.")
    if model.predictor.n_rounds > rounds:
        raise InputError(
            f"{what} cannot go back: n_estimators is {rounds}, but there are {model.predictor.n_rounds} rounds."
        )


def _check_same_trees(plan: Plan, forest: Forest, model: FittedModel, what: str) -> None:
    """A round must have as many trees as in the earlier fit, they must add up in the same way, and read tables alike."""
    trees = plan.trees
    if model.missing != trees.bins.missing:
        # One model reads a table in one way, and the earlier trees were grown for theirs.
        raise InputError(
            f"{what} needs bins.use_missing and bins.zero_as_missing of the earlier fit; leave them as they were."
        )
    if forest.parallel_trees != trees.parallel_trees:
        raise InputError(
            f"{what} needs booster.parallel_trees={forest.parallel_trees} of the earlier fit, not {trees.parallel_trees}."
        )
    if forest.averaged != trees.averaged:
        raise InputError(
            f"{what} needs the booster of the earlier fit, which was {'' if forest.averaged else 'not '}'averaging'."
        )


def _check_same_start(
    base_score: Any, earlier: FittedModel, base: NDArray[np.float64], resumes: bool
) -> None:
    """The first score must be that of the earlier fit."""
    if np.array_equal(earlier.predictor.base_score, base):
        return
    if resumes:
        raise InputError(
            "resume_from needs the labels and weights of the interrupted fit; these give another first score."
        )
    if base_score is not None:
        raise InputError(
            f"base_score={base_score!r} is not what the earlier fit of a warm_start began with; leave it as it was."
        )


def check_same_rate(estimator: BoostedTrees, plan: Plan, earlier: Earlier) -> None:
    """An interrupted fit goes on to the same bytes only at its own rate, where rows and rounds choose it."""
    chosen = earlier.resumes and estimator.learning_rate == "auto"
    if not chosen or earlier.model.learning_rate in (None, plan.rate):
        return
    raise InputError(
        f"resume_from was trained with the learning rate {earlier.model.learning_rate}, but learning_rate='auto' is {plan.rate} "
        f"for n_estimators={estimator.n_estimators} and these rows; resume with n_estimators and eval_set of the interrupted fit."
    )
