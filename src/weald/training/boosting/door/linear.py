"""The plan of a linear model; parameters of trees are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from weald.binning.parameters import BINS, Bins
from weald.data import Schema
from weald.encoding.parameters import CATEGORIES, OneHot
from weald.losses import Loss
from weald.params.choice import Part, declared, same
from weald.params.parameter import Parameter
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.booster_parameters import Linear
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.plan import LinearPlan, Plan

# What a linear model has, too; all other parameters are of trees.
_SHARED = frozenset(
    {
        "loss",
        "n_estimators",
        "learning_rate",
        "reg_lambda",
        "reg_alpha",
        "max_delta_step",
        "booster",
        "base_score",
        "categorical_features",
        "eval_metric",
        "early_stopping_rounds",
        "warm_start",
        "n_jobs",
        "random_state",
        "verbose",
    }
)


def linear_plan(given: BoostingParameters, booster: Linear, schema: Schema, loss: Loss, seed: int) -> Plan:
    """The plan; numeric columns only."""
    for name, parameter in declared(BoostingParameters).items():
        value = getattr(given, name)
        if name not in _SHARED and not _is_default(parameter, value) and not _says_nothing(name, value):
            raise NotSupportedError(
                f"{name}={value!r} belongs to trees, and booster='linear' has none; leave it at {parameter.default!r}."
            )
    if isinstance(given.learning_rate, str):
        raise NotSupportedError(
            f"learning_rate={given.learning_rate!r} is a rule for trees; give booster='linear' a number."
        )
    if schema.has_categories:
        column = schema.names[int(np.argmax(schema.categorical_mask))]
        raise NotSupportedError(
            f"Column {column!r} is categorical, and booster='linear' takes numbers only; encode it first, for example with "
            "scikit-learn's OneHotEncoder."
        )
    linear = LinearPlan(
        booster.selector,
        booster.top_k,
        0.0 if given.reg_lambda is None else given.reg_lambda,
        given.reg_alpha,
        loss.max_delta_step if given.max_delta_step is None else given.max_delta_step,
    )
    return Plan(loss, linear, given.n_estimators, float(given.learning_rate), seed, given.n_jobs)


def _is_default(parameter: Parameter, value: Any) -> bool:
    """Whether a value is the default; an object may be the one that the name of a default stands for."""
    if isinstance(parameter, Part):
        return same(parameter.resolve(value), parameter.resolve(parameter.default))
    return same(value, parameter.default)


def _says_nothing(name: str, value: Any) -> bool:
    """Whether bins say no more than what a sparse table does not store, which is no matter of bins; or categories, of which
    there are none, are split one from the rest, as files have it that were written when that was the default."""
    if name == "categories":
        return CATEGORIES.resolve(value) == OneHot()
    return name == "bins" and BINS.resolve(value) == Bins(unstored="missing")
