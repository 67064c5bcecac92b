"""CatBoost's scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from weald.dialects.catboost.basic import DOOR
from weald.dialects.catboost.model import CatBoost
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.predictions import default_type
from weald.dialects.catboost.refusals import OF_PREDICT, REFUSALS
from weald.runtime.errors import InputError

Kind = TypeVar("Kind", bound=CatBoost)
#: what the signatures of both estimators name, in CatBoost's order; all else comes as keywords
_NAMED = ("iterations", "learning_rate", "depth", "l2_leaf_reg", "model_size_reg", "rsm", "loss_function")


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a constructor was given, from its arguments: those that it names, and ``params``."""
    everything = {**{name: arguments[name] for name in _NAMED}, **arguments["params"]}
    return {name: value for name, value in everything.items() if value is not None}


@DOOR.owner
class CatBoostRegressor(RegressorMixin, CatBoost):  # type: ignore[misc]
    """CatBoost's regressor on Weald's engine; further parameters of CatBoost's come as keywords.

    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> CatBoostRegressor(iterations=40, learning_rate=0.3, verbose=False).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
    True
    """

    _labels: ClassVar[str | None] = "numbers"

    def __init__(
        self,
        iterations: int | None = None,
        learning_rate: float | None = None,
        depth: int | None = None,
        l2_leaf_reg: float | None = None,
        model_size_reg: float | None = None,
        rsm: float | None = None,
        loss_function: Any = "RMSE",
        **params: Any,
    ) -> None:
        if params.get("objective") is not None:
            loss_function = None
        super().__init__(_given(locals()))

    def _predicts(self) -> str:
        """Poisson and Tweedie give means, RMSEWithUncertainty means and variances."""
        return default_type(self._trained().chosen)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of the labels' variance that is explained; y may be in a Pool."""
        found = self.predict(X)
        y = X.labels if y is None and isinstance(X, Pool) else y
        if not len(found):
            return float("nan")
        return float(r2_score(y, found[:, 0] if found.ndim == 2 else found, sample_weight=sample_weight))


@DOOR.owner
class CatBoostClassifier(ClassifierMixin, CatBoost):  # type: ignore[misc]
    """CatBoost's classifier on Weald's engine; further parameters of CatBoost's come as keywords.

    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = CatBoostClassifier(iterations=5, verbose=False).fit(X, np.where(X[:, 0] > 90, "late", "early"))
    >>> model.predict(X[[0, -1]]).tolist(), model.predict_proba(X).shape
    (['early', 'late'], (200, 2))
    """

    _default_loss: ClassVar[str | None] = None
    _labels: ClassVar[str | None] = "classes"
    _prediction_type: ClassVar[str] = "Class"

    def __init__(
        self,
        iterations: int | None = None,
        learning_rate: float | None = None,
        depth: int | None = None,
        l2_leaf_reg: float | None = None,
        model_size_reg: float | None = None,
        rsm: float | None = None,
        loss_function: Any = None,
        **params: Any,
    ) -> None:
        super().__init__(_given(locals()))

    @REFUSALS.arguments(OF_PREDICT)
    def predict_proba(
        self,
        X: Any,
        ntree_start: int = 0,
        ntree_end: int = 0,
        thread_count: int = -1,
        verbose: bool | None = None,
        task_type: str = "CPU",
    ) -> NDArray[np.float64]:
        """Probabilities, (rows, classes)."""
        return self._predict(X, "Probability", ntree_start, ntree_end, thread_count)

    @REFUSALS.arguments(OF_PREDICT)
    def predict_log_proba(
        self,
        data: Any,
        ntree_start: int = 0,
        ntree_end: int = 0,
        thread_count: int = -1,
        verbose: bool | None = None,
        task_type: str = "CPU",
    ) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`."""
        return self._predict(data, "LogProbability", ntree_start, ntree_end, thread_count)

    def staged_predict_proba(
        self,
        data: Any,
        ntree_start: int = 0,
        ntree_end: int = 0,
        eval_period: int = 1,
        thread_count: int = -1,
        verbose: bool | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Probabilities after every ``eval_period`` rounds."""
        return self.staged_predict(data, "Probability", ntree_start, ntree_end, eval_period, thread_count)

    def staged_predict_log_proba(
        self,
        data: Any,
        ntree_start: int = 0,
        ntree_end: int = 0,
        eval_period: int = 1,
        thread_count: int = -1,
        verbose: bool | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Logarithms of probabilities after every ``eval_period`` rounds."""
        return self.staged_predict(data, "LogProbability", ntree_start, ntree_end, eval_period, thread_count)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted; y may be in a Pool."""
        found = self.predict(X)
        y = X.labels if y is None and isinstance(X, Pool) else y
        return float(accuracy_score(y, found, sample_weight=sample_weight)) if len(found) else float("nan")

    def set_probability_threshold(self, binclass_probability_threshold: float | None = None) -> None:
        """The probability from which the second of two classes is predicted; None: 0.5."""
        value = 0.5 if binclass_probability_threshold is None else binclass_probability_threshold
        if not 0.0 <= value <= 1.0:
            raise InputError(f"binclass_probability_threshold must be from 0 to 1, not {value!r}.")
        self._trained().threshold = float(value)

    def get_probability_threshold(self) -> float:
        """The probability from which the second of two classes is predicted."""
        return self._trained().threshold


@DOOR.function
def to_classifier(model: CatBoost) -> CatBoostClassifier:
    """A trained `CatBoost` for classes as a classifier, with the same trees.

    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = CatBoost({"iterations": 3, "loss_function": "Logloss", "verbose": False}).fit(X, X[:, 0] > 9)
    >>> to_classifier(model).predict_proba(X).shape
    (40, 2)
    """
    return _as_kind(model, CatBoostClassifier, "classification")


@DOOR.function
def to_regressor(model: CatBoost) -> CatBoostRegressor:
    """A trained `CatBoost` for numbers as a regressor, with the same trees."""
    return _as_kind(model, CatBoostRegressor, "regression")


def _as_kind(model: CatBoost, kind: type[Kind], task: str) -> Kind:
    if not isinstance(model, CatBoost):
        raise InputError(f"a model must be a CatBoost, not {type(model).__name__}.")
    found = model._trained().chosen
    if found.loss().task != task:
        raise InputError(f"loss_function={found.name!r} is not of {task}, which a {kind.__name__} is for.")
    other = object.__new__(kind)
    other.__dict__.update(model.copy().__dict__)
    return other
