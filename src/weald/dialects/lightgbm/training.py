"""`train`: a booster from parameters and a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weald.dialects.lightgbm.basic import DOOR, EvalResult, log_warning, quiet
from weald.dialects.lightgbm.booster import Booster, without_functions
from weald.dialects.lightgbm.callback import CallbackEnv, EarlyStopException, early_stopping, in_order
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.request import functions_of
from weald.dialects.shared.values import whole_number
from weald.params.lightgbm import read_parameters, value_of
from weald.runtime.errors import InputError

InitModel = str | os.PathLike[str] | Booster | None


@DOOR.function
def train(
    params: dict[str, Any],
    train_set: Dataset,
    num_boost_round: int = 100,
    valid_sets: Sequence[Dataset] | Dataset | None = None,
    valid_names: Sequence[str] | str | None = None,
    feval: Any = None,
    init_model: InitModel = None,
    keep_training_booster: bool = False,
    callbacks: Sequence[Callable[..., Any]] | None = None,
) -> Booster:
    """Train a booster.

    Parameters
    ----------
    params : LightGBM's parameters; docs/lightgbm_parameters.md says which are the same here. A function as objective
        returns the gradient and hessian of (scores, Dataset)
    train_set : the rows to train on
    num_boost_round : rounds, beyond those of ``init_model``; ``params`` may have another number
    valid_sets, valid_names : sets to evaluate after every round, and what they are called (valid_0, …)
    feval : function(predictions, Dataset) -> (name, value, whether larger is better), or a list of functions
    init_model : a model, or its file, that training goes on from
    keep_training_booster : keep all rounds, also those after the best one of early stopping, and the sets
    callbacks : such as `early_stopping`, `log_evaluation`, `record_evaluation` and `reset_parameter`

    >>> import numpy as np
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> data = Dataset(X, X[:, 0] > 50)
    >>> booster = train({"objective": "binary", "verbosity": -1}, data, 5, valid_sets=[data])
    >>> list(booster.best_score["training"])
    ['binary_logloss']
    """
    if not isinstance(train_set, Dataset):
        raise TypeError(f"train_set must be a Dataset, not {type(train_set).__name__}.")
    with quiet(params):
        known, rounds, before, after = read_arguments(params, num_boost_round, callbacks)
        told_params = {**without_functions(params), "num_iterations": rounds}
        booster = Booster._of(known, told_params, train_set)
        begin = 0
        if init_model is not None:
            booster._continue(
                init_model if isinstance(init_model, Booster) else Booster(model_file=init_model)
            )
            begin = booster.current_iteration()
        evals = _named_sets(booster, train_set, valid_sets, valid_names)
        told = Callbacks(booster, told_params, begin, rounds, before, after)
        booster._boost(rounds, functions_of(feval), evals, told.before, told.after)
    booster.best_iteration = told.best_iteration
    booster.best_score = told.best_score
    if not keep_training_booster:
        booster._set_model(booster._model_of(*booster._range(0, None)))
        booster.free_dataset()
    return booster


class Callbacks:
    """The callbacks of a training, and what early stopping has found."""

    def __init__(
        self,
        model: Any,
        params: dict[str, Any],
        begin: int,
        rounds: int,
        before: Sequence[Any],
        after: Sequence[Any],
    ) -> None:
        self._model = model
        self._params = params
        self._begin = begin
        self._end = begin + rounds
        self._callbacks = (before, after)
        self._last: list[EvalResult] = []
        #: counted from 1; 0: training did not stop early
        self.best_iteration = 0

    def _env(self, number: int, results: list[EvalResult] | None) -> CallbackEnv:
        return CallbackEnv(self._model, self._params, self._begin + number, self._begin, self._end, results)

    def before(self, number: int) -> None:
        """Call those that come before a round."""
        for callback in self._callbacks[0]:
            callback(self._env(number, None))

    def after(self, number: int, results: list[EvalResult]) -> bool:
        """Call those that come after a round; whether one of them stops."""
        self._last = results
        try:
            for callback in self._callbacks[1]:
                callback(self._env(number, results))
        except EarlyStopException as found:
            self.best_iteration = found.best_iteration + 1
            self._last = found.best_score
            return True
        return False

    @property
    def best_score(self) -> dict[str, dict[str, float]]:
        """Set -> metric -> value of the best round, or of the last."""
        best: dict[str, dict[str, float]] = {}
        for result in self._last:
            best.setdefault(result.dataset_name, {})[result.metric_name] = result.metric_value
        return best


def read_arguments(
    params: Mapping[str, Any], num_boost_round: int, callbacks: Sequence[Callable[..., Any]] | None
) -> tuple[dict[str, Any], int, list[Any], list[Any]]:
    """The parameters, the number of rounds, and the callbacks before and after a round."""
    known = read_parameters(params, warn=log_warning)
    rounds = whole_number("num_boost_round", known.pop("num_iterations", num_boost_round), 1)
    everything = list(callbacks or ())
    stopping = value_of(known, "early_stopping_round")
    if stopping > 0:
        everything.append(
            early_stopping(
                stopping,
                value_of(known, "first_metric_only"),
                value_of(known, "verbosity") > 0,
                value_of(known, "early_stopping_min_delta"),
            )
        )
    return known, rounds, *in_order(everything)


def _named_sets(
    booster: Booster, train_set: Dataset, valid_sets: Any, valid_names: Any
) -> list[tuple[Dataset, str]]:
    """The sets to evaluate with their names, the training set first; the others are the booster's to keep."""
    sets = [valid_sets] if isinstance(valid_sets, Dataset) else list(valid_sets or ())
    names = [valid_names] if isinstance(valid_names, str) else list(valid_names or ())
    first: list[tuple[Dataset, str]] = []
    for place, data in enumerate(sets):
        if not isinstance(data, Dataset):
            raise TypeError(
                f"valid_sets must hold Dataset objects, but number {place} is {type(data).__name__}."
            )
        if data is train_set:
            booster.set_train_data_name(str(names[place]) if place < len(names) else "training")
            first = [(data, booster._train_data_name)]
        else:
            if data.num_feature() != train_set.num_feature():
                raise InputError(
                    f"valid set {place} has {data.num_feature()} columns, but train_set has {train_set.num_feature()}."
                )
            booster.add_valid(data, str(names[place]) if place < len(names) else f"valid_{place}")
    evals = first + booster._valid_sets
    if len({name for _, name in evals}) < len(evals):
        raise InputError(f"valid_names must differ from each other, not {[name for _, name in evals]}.")
    return evals
