"""Users' own objectives and metrics of labels, as the scikit-learn estimators take them, for a booster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from weald.dialects.lightgbm.dataset import Dataset
from weald.runtime.errors import InputError


def called_with(function: Callable[..., Any], what: str, scores: Any, data: Dataset) -> Any:
    """function(y, scores[, weight]), with as many arguments as it takes."""
    wanted = len(inspect.signature(function).parameters)
    if wanted not in (2, 3):
        raise InputError(f"{what} must take labels, scores and maybe weights, not {wanted} arguments.")
    return function(data.get_label(), scores, *([data.get_weight()] if wanted == 3 else []))


class ObjectiveOfLabels:
    """function(y, scores[, weight]) as the booster's function(scores, Dataset); weights that it does not take are multiplied.

    A class of the module, so that a model in training can be pickled where the function can.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = str(getattr(function, "__name__", "objective"))

    def __call__(self, scores: Any, data: Dataset) -> Any:
        returned = called_with(self.function, "objective", scores, data)
        weight = data.weights
        if weight is None or len(inspect.signature(self.function).parameters) > 2:
            return returned
        gradient, hessian = (np.asarray(values, np.float64) for values in returned)
        factors = weight if gradient.ndim == 1 else weight[:, None]
        return gradient * factors, hessian * factors


def metric_of_labels(function: Callable[..., Any]) -> Callable[..., Any]:
    """function(y, predictions[, weight]) as the booster's function(predictions, Dataset)."""
    return lambda prediction, data: called_with(function, "eval_metric", prediction, data)
