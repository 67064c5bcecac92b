"""`sum_models`: one model whose raw scores are a weighted sum of those of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from weald.dialects.catboost.basic import DOOR
from weald.dialects.catboost.model import CatBoost
from weald.dialects.catboost.refusals import OF_SUM, REFUSALS
from weald.dialects.catboost.trained import Trained
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest
from weald.runtime.errors import InputError, NotSupportedError


@DOOR.function
@REFUSALS.arguments(OF_SUM)
def sum_models(
    models: Sequence[CatBoost],
    weights: Sequence[float] | None = None,
    ctr_merge_policy: str = "IntersectingCountersAverage",
) -> CatBoost:
    """A `CatBoost` whose raw scores are the sum of the models', each times its weight (None: 1).

    The models must be of one loss, of the same classes and columns, and without statistics of categories.

    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> first, second = (CatBoost({"iterations": 5, "random_seed": k, "verbose": False}).fit(X, X[:, 0]) for k in (0, 1))
    >>> both = sum_models([first, second], weights=[0.5, 0.5])
    >>> both.tree_count_, bool(np.allclose(both.predict(X), (first.predict(X) + second.predict(X)) / 2))
    (10, True)
    """
    parts = [_trained(model, place) for place, model in enumerate(models)]
    if not parts:
        raise InputError("models is empty; give one or more.")
    factors = _factors(weights, len(parts))
    first, schema = parts[0], _schema(parts)
    for place, other in enumerate(parts[1:], 1):
        _check_alike(first, other, place)
    forests = [part._trees("sum_models") for part in parts]
    start = np.sum([factor * one.base_score for factor, one in zip(factors, forests, strict=True)], axis=0)
    forest = reduce(
        Forest.concatenate, [_times(one, factor, start) for factor, one in zip(factors, forests, strict=True)]
    )
    summed = Trained(dict(first.full), first.chosen, first.classes, list(first.names))
    summed._set_model(
        replace(
            first._fitted(), predictor=forest, schema=schema, history={}, best_iteration=forest.n_rounds - 1
        )
    )
    model = CatBoost(dict(models[0].params))
    model._Booster = summed
    return model


def _trained(model: Any, place: int) -> Trained:
    if not isinstance(model, CatBoost):
        raise InputError(f"models[{place}] must be a model of weald.catboost, not {type(model).__name__}.")
    return model._trained()


def _factors(weights: Sequence[float] | None, count: int) -> list[float]:
    factors = [1.0] * count if weights is None else [float(weight) for weight in weights]
    if len(factors) != count:
        raise InputError(f"weights has {len(factors)} numbers, but there are {count} models.")
    if not np.isfinite(factors).all():
        raise InputError(f"weights must be finite numbers, not {weights!r}.")
    return factors


def _check_alike(first: Trained, other: Trained, place: int) -> None:
    """Refuse a model whose raw scores mean something else."""
    if other.chosen != first.chosen or other.chosen.own is not first.chosen.own:
        raise InputError(
            f"models[{place}] has loss_function={other.chosen.description.text!r}, but models[0] has "
            f"{first.chosen.description.text!r}; sum models of one loss."
        )
    classes = [None if one.classes is None else one.classes.tolist() for one in (first, other)]
    if classes[0] != classes[1]:
        raise InputError(f"models[{place}] has the classes {classes[1]}, but models[0] has {classes[0]}.")


def _schema(parts: Sequence[Trained]) -> Any:
    """The columns that all models have."""
    fitted: list[FittedModel] = [part._fitted() for part in parts]
    for place, one in enumerate(fitted):
        if one.schema != fitted[0].schema:
            raise InputError(
                f"models[{place}] has other columns or categories than models[0]; sum models of the same columns."
            )
        if one.statistics is not None:
            raise NotSupportedError(
                f"models[{place}] has statistics of categories, which cannot be summed; average predictions with "
                "weald.VotingClassifier or weald.VotingRegressor."
            )
    return fitted[0].schema


def _times(forest: Forest, factor: float, base: Any) -> Forest:
    """The forest with its leaves times a factor, from another start."""
    return replace(
        forest,
        base_score=base,
        value=forest.value * factor,
        vectors=forest.vectors * factor,
        tree_weights=np.zeros(0),
    )
