"""`Booster.refit` as LightGBM does it: the values of finished trees by other rows.

LightGBM keeps the score that boosting starts from in the leaves of the first round (of averaged trees in those of every round).
So they are refitted with it, from a score of 0, and take whole steps. A leaf takes Newton's step, whatever its loss does in
training; splits into sets of categories are not penalised; and a leaf that no row reaches keeps the share ``decay_rate``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset
from weald.estimators.boosted.refit import refitted_by
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import Forest
from weald.training.boosting.door.trees import tree_rules
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.refit import RefitRules, shares_of

Float64s = NDArray[np.float64]
_NO_START = 1e-15  # scores up to this one are not in LightGBM's leaves


def refitted(
    model: FittedModel,
    given: BoostingParameters,
    rows: tuple[Dataset, Labels, Any],
    rates: Sequence[float],
    decay_rate: float,
) -> FittedModel:
    """The model with new leaves; ``rows``: table, labels and first scores; ``rates``: the learning rate of every round."""
    dataset, labels, start = rows
    whole = replace(model, predictor=with_start_in_leaves(model.forest))
    rules = RefitRules(
        tree_rules(given, given.resolved(), labels.loss, model.schema),
        _shares(model.forest, rates),
        float(decay_rate),
        np.zeros(dataset.n_columns),
        own_leaves=False,
        keeps_unreached=False,
    )
    return refitted_by(rules, whole, dataset, labels, start, given.n_jobs)


def with_start_in_leaves(forest: Forest) -> Forest:
    """The same model with its first score in the values of its first trees."""
    value = forest.value.copy()
    for place in range(forest.n_trees if forest.averaged else forest.n_outputs):
        begin, end = forest.tree_offsets[place : place + 2]
        value[begin:end] += forest.base_score[place % forest.n_outputs]
    return replace(forest, value=value, base_score=np.zeros(forest.n_outputs))


def _shares(forest: Forest, rates: Sequence[float]) -> Float64s:
    """What the steps of every tree are multiplied by: 1 where the first score is in the leaves."""
    if forest.averaged:
        return np.ones(forest.n_trees)
    shares: Float64s = shares_of(forest, 1.0) * np.repeat(rates, forest.trees_per_round)
    shares[: forest.n_outputs][np.abs(forest.base_score) > _NO_START] = 1.0
    return shares
