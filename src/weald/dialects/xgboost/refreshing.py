"""``process_type="update"``: the trees that are there, with leaves by other rows (``refresh``) or cut back (``prune``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weald.dialects.shared.reader import Reader
from weald.dialects.xgboost.pruning import pruned_forest
from weald.dialects.xgboost.request import Request
from weald.estimators.boosted.refit import check_refits, refitted_model
from weald.estimators.shared.labels import Labels
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.flat import from_flat
from weald.training.boosting.parameters import BoostingParameters

if TYPE_CHECKING:
    from weald.dialects.xgboost.booster import Booster
    from weald.dialects.xgboost.dmatrix import DMatrix

_OF_UPDATES = ("process_type", "updater", "refresh_leaf")


def is_update(params: Mapping[str, Any]) -> bool:
    """Whether old trees are to be updated and no new ones grown."""
    return params.get("process_type") == "update"


def refreshed(booster: Booster, dtrain: DMatrix, rounds: int) -> Booster:
    """The first rounds of a model, with leaf values by the rows, or cut back; gains and covers stay."""
    updater = booster._params.get("updater")
    if updater not in ("refresh", "prune"):
        raise NotSupportedError("process_type='update' is for updater='refresh' and 'prune'; name one.")
    if not booster._is_trained() or not 0 < rounds <= booster.num_boosted_rounds():
        raise InputError(
            f"process_type='update' needs an xgb_model with at least {rounds} rounds, num_boost_round, which must be 1 or more."
        )
    booster._check_columns(dtrain)
    part = booster[:rounds]
    for name in _OF_UPDATES:
        part._params.pop(name, None)
    if updater == "prune":
        return _pruned(part)
    chosen, model = part._chosen(), part._fitted()
    check_refits(model, 0.0)
    request = Request(part._asked(), chosen, dtrain)
    loss, labels = chosen.loss(), dtrain.labels
    dataset = Reader(model)._read(part._table_of(dtrain))
    given = BoostingParameters(**from_flat({**request.native(), "categorical_features": "auto"}))
    start = None if dtrain.start is None else dtrain.starts(chosen.n_outputs) - model.predictor.base_score
    weighed = Labels(labels, chosen.weights(labels, dtrain.weights), loss, None)
    by_its_own_rate = replace(model, loss=loss.name, learning_rate=None)
    part._set_model(refitted_model(by_its_own_rate, given, dataset, weighed, 0.0, start))
    return part


def _pruned(part: Booster) -> Booster:
    """The model cut back by gamma and max_depth of now."""
    params, model = part._asked(), part._fitted()
    if params.get("grow_policy") == "lossguide":
        raise NotSupportedError(
            "updater='prune' is for grow_policy='depthwise': gains of 'lossguide' have gamma taken off; grow the trees by gamma."
        )
    gamma, depth = params.get("gamma", 0.0), params.get("max_depth", 6)
    forest = pruned_forest(part._trees("updater='prune'"), float(gamma), int(depth))
    part._set_model(replace(model, predictor=forest))
    return part
