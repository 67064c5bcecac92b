"""`train`: a booster from parameters and a data matrix."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from weald.dialects.shared.values import whole_number, without_warnings
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.callback import (
    CallbackContainer,
    EarlyStopping,
    EvaluationMonitor,
    TrainingCallback,
)
from weald.dialects.xgboost.config import get_config
from weald.dialects.xgboost.dmatrix import DMatrix
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.positional import by_position
from weald.dialects.xgboost.refreshing import is_update, refreshed
from weald.dialects.xgboost.request import CustomMetric, CustomObjective
from weald.params.xgboost import read_parameters
from weald.runtime.errors import InputError, NotSupportedError

Parameters = Mapping[str, Any] | Iterable[tuple[str, Any]]


@DOOR.function
@by_position
def train(
    params: Parameters,
    dtrain: DMatrix,
    num_boost_round: int = 10,
    *,
    evals: Sequence[tuple[DMatrix, str]] | None = None,
    obj: CustomObjective | None = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    evals_result: dict[str, Any] | None = None,
    verbose_eval: bool | int | None = True,
    xgb_model: Booster | str | os.PathLike[str] | bytearray | None = None,
    callbacks: Sequence[TrainingCallback] | None = None,
    custom_metric: CustomMetric | None = None,
) -> Booster:
    """Train a booster.

    Parameters
    ----------
    params : XGBoost's parameters; docs/xgboost_parameters.md says which are the same here
    dtrain : the training rows
    num_boost_round : rounds; beyond those of ``xgb_model``, where training goes on from one
    evals : (DMatrix, name) pairs whose metrics are evaluated after every round
    obj : function(scores, DMatrix) -> (gradient, hessian)
    maximize : whether larger values of the metric that stops early are better
    early_stopping_rounds : stop after so many rounds without improvement of the last metric on the last set
    evals_result : a dict that receives the metrics of every round
    verbose_eval : print the metrics: always, never, or every so many rounds
    custom_metric : function(predictions, DMatrix) -> (name, value)

    >>> import numpy as np
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> found = {}
    >>> data = DMatrix(X, label=X[:, 0] > 20)
    >>> booster = train({"objective": "binary:logistic"}, data, 2, evals=[(data, "train")], evals_result=found,
    ...                 verbose_eval=False)
    >>> list(found["train"]), len(found["train"]["logloss"])
    (['logloss'], 2)
    """
    matrices = _checked_sets(dtrain, evals)
    booster = Booster(params) if xgb_model is None else _continued(xgb_model, params)
    everything = list(callbacks or ())
    if verbose_eval and matrices:
        everything.append(EvaluationMonitor(period=1 if verbose_eval is True else int(verbose_eval)))
    if early_stopping_rounds is not None:
        everything.append(EarlyStopping(rounds=early_stopping_rounds, maximize=maximize))
    container = CallbackContainer(everything)
    rounds = whole_number("num_boost_round", num_boost_round, 0)
    if is_update(booster._params):
        if matrices or everything or obj is not None:
            raise NotSupportedError(
                "process_type='update' takes no evals, obj or callbacks; evaluate the model that comes back."
            )
        return refreshed(booster, dtrain, rounds)
    with quiet(booster._params):
        booster = container.before_training(booster)
        booster._train(dtrain, rounds, container, matrices, obj, custom_metric)
        booster = container.after_training(booster)
    if evals_result is not None:
        evals_result.clear()
        evals_result.update(container.history)
    trained: Booster = booster
    return trained


def _checked_sets(dtrain: Any, evals: Any) -> list[tuple[DMatrix, str]]:
    if not isinstance(dtrain, DMatrix):
        raise TypeError(f"dtrain must be a DMatrix, not {type(dtrain).__name__}.")
    pairs = list(evals or ())
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], DMatrix):
            raise TypeError("evals must be pairs of a DMatrix and a name.")
    names = [str(name) for _, name in pairs]
    if len(set(names)) < len(names):
        raise InputError(f"evals must have different names, not {names}.")
    return [(matrix, name) for (matrix, _), name in zip(pairs, names, strict=True)]


def _continued(model: Any, params: Parameters) -> Booster:
    booster = model.copy() if isinstance(model, Booster) else Booster(model_file=model)
    booster._attributes = {}
    booster.set_param(read_parameters(params))
    return booster


def quiet(params: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Without warnings where verbosity is 0."""
    return without_warnings(params.get("verbosity", get_config()["verbosity"]) == 0)
