"""XGBoost's scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from weald.dialects.shared.estimators import ClassLabels, both_classes, class_probabilities
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.estimator import Range, XGBModel
from weald.dialects.xgboost.positional import by_position
from weald.estimators.shared.plain import labels_from_json, labels_to_json
from weald.runtime.errors import InputError

__all__ = ["XGBClassifier", "XGBModel", "XGBRFClassifier", "XGBRFRegressor", "XGBRegressor"]


@DOOR.owner
class XGBRegressor(RegressorMixin, XGBModel):  # type: ignore[misc]
    """XGBoost's regressor on Weald's engine.

    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> XGBRegressor(n_estimators=20, max_depth=3).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
    True
    """

    @by_position
    def __init__(
        self, *, objective: str | Callable[..., Any] | None = "reg:squarederror", **kwargs: Any
    ) -> None:
        super().__init__(objective=objective, **kwargs)


@DOOR.owner
class XGBClassifier(ClassifierMixin, ClassLabels, XGBModel):  # type: ignore[misc]
    """XGBoost's classifier on Weald's engine; labels may be of any type, not only 0, 1, …

    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = XGBClassifier(n_estimators=5).fit(X, np.where(X[:, 0] > 20, "late", "early"))
    >>> model.predict(X[[0, -1]]).tolist(), model.predict_proba(X).shape
    (['early', 'late'], (40, 2))
    """

    @by_position
    def __init__(
        self, *, objective: str | Callable[..., Any] | None = "binary:logistic", **kwargs: Any
    ) -> None:
        super().__init__(objective=objective, **kwargs)

    def _objective_params(self) -> dict[str, Any]:
        several = self.n_classes_ > 2
        # A function of the user's is of the gradients of probabilities, as it is in XGBoost.
        name = "binary:logistic" if callable(self.objective) or not self.objective else self.objective
        if several:
            return {
                "objective": name if name.startswith("multi:") else "multi:softprob",
                "num_class": self.n_classes_,
            }
        if name.startswith("multi:"):
            return {"num_class": 2}
        return {"objective": name}

    def _answer(self, predicted: NDArray[Any]) -> NDArray[Any]:
        """The most probable class of every row."""
        objective = self.get_booster()._chosen()
        if predicted.ndim == 2:
            codes = predicted.argmax(axis=1)
        elif objective.name == "multi:softmax":
            codes = predicted.astype(np.int64)
        else:
            raw = objective.name == "binary:logitraw"
            codes = (predicted > (0.0 if raw else 0.5)).astype(np.int64)
        classes: NDArray[Any] = self.classes_[codes]
        return classes

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: Range | None = None,
    ) -> NDArray[np.float32]:
        """Probabilities, (rows, classes)."""
        objective = self.get_booster()._chosen()
        if objective.name in ("multi:softmax", "binary:logitraw"):
            scores = self._predict(X, base_margin, validate_features, iteration_range, output_margin=True)
            return class_probabilities(np.asarray(scores, np.float64)).astype(np.float32)
        predicted = self._predict(X, base_margin, validate_features, iteration_range)
        if predicted.ndim == 2:
            several: NDArray[np.float32] = predicted
            return several
        return both_classes(predicted).astype(np.float32)

    def _stored(self) -> dict[str, Any]:
        return {**super()._stored(), "classes": labels_to_json(self.classes_)}

    def _restore(self, booster: Booster, stored: Mapping[str, Any]) -> None:
        super()._restore(booster, stored)
        if "classes" in stored:
            self.classes_ = labels_from_json(stored["classes"], "classes")
        else:  # a Booster's labels are the numbers of its classes
            chosen = booster._chosen()
            if not chosen.is_of_classes:
                raise InputError(
                    f"this file's objective is {chosen.name!r}, which has no classes; load it as a regressor."
                )
            self.classes_ = np.arange(max(2, chosen.n_outputs))
        self.n_classes_ = len(self.classes_)


class _Forest(XGBModel):
    """One round of many trees: a random forest."""

    @by_position
    def __init__(
        self,
        *,
        learning_rate: float = 1.0,
        subsample: float = 0.8,
        colsample_bynode: float = 0.8,
        reg_lambda: float = 1e-5,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            subsample=subsample,
            colsample_bynode=colsample_bynode,
            reg_lambda=reg_lambda,
            **kwargs,
        )

    def get_xgb_params(self) -> dict[str, Any]:
        """The booster's parameters; the trees are those of one round."""
        return {**super().get_xgb_params(), "num_parallel_tree": super().get_num_boosting_rounds()}

    def get_num_boosting_rounds(self) -> int:
        """One."""
        return 1

    def _booster_params(self) -> dict[str, Any]:
        if self.num_parallel_tree is not None:
            raise InputError("num_parallel_tree is set by n_estimators in a random forest; leave it out.")
        for name in ("early_stopping_rounds", "callbacks"):
            if getattr(self, name) is not None:
                raise InputError(f"{name} is not for a random forest, which has one round; leave it out.")
        return {**super()._booster_params(), "num_parallel_tree": super().get_num_boosting_rounds()}


@DOOR.owner
class XGBRFRegressor(_Forest, XGBRegressor):
    """XGBoost's random forest for regression: one round of ``n_estimators`` trees, whose mean is predicted.

    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> XGBRFRegressor(n_estimators=5).fit(X, X[:, 0]).get_booster().num_boosted_rounds()
    1
    """


@DOOR.owner
class XGBRFClassifier(_Forest, XGBClassifier):
    """XGBoost's random forest for classification: one round of ``n_estimators`` trees.

    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> XGBRFClassifier(n_estimators=5).fit(X, X[:, 0] > 20).predict(X[:1]).tolist()
    [False]
    """
