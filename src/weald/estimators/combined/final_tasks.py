"""The two tasks of an estimator with a final estimator: which labels it reads, and what it answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils.metaestimators import available_if

from weald.data import read_regression_target, read_several_classes
from weald.estimators.combined.final_estimator import FinalEstimator, final_has
from weald.runtime.errors import InputError
from weald.training.combining.layers import Floats, method_of


class FinalClassifier(ClassifierMixin, FinalEstimator):  # type: ignore[misc]
    """A classifier whose members and final estimator are fitted to the classes' positions."""

    classes_: NDArray[Any]

    def _default_final(self) -> Any:
        return LogisticRegression()

    def _check_final(self, final: Any) -> None:
        if not is_classifier(final):
            raise InputError(f"final_estimator must be a classifier, not {final!r}.")

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        codes, self.classes_ = read_several_classes(y, n_rows, None, owner=type(self).__name__)
        return codes

    def _check_weight(self, target: NDArray[Any], weight: Any) -> None:
        if weight is not None and len(np.unique(target[np.asarray(weight) > 0])) < 2:
            raise InputError("sample_weight is positive in rows of one class only; two are needed.")

    def _method(self, name: str, member: Any) -> str:
        return method_of(name, member, self.stack_method)

    def _answer(self, predicted: Any) -> Any:
        return self.classes_[np.asarray(predicted)]

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The final estimator's probabilities, (rows, classes)."""
        top = self._top(X)
        probabilities: Floats = self.final_estimator_.predict_proba(top)
        return probabilities

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The final estimator's decision function."""
        top = self._top(X)
        decision: Floats = self.final_estimator_.decision_function(top)
        return decision


class FinalRegressor(RegressorMixin, FinalEstimator):  # type: ignore[misc]
    """A regressor, whose members are asked for predictions."""

    def _default_final(self) -> Any:
        return RidgeCV()

    def _check_final(self, final: Any) -> None:
        if not is_regressor(final):
            raise InputError(f"final_estimator must be a regressor, not {final!r}.")

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        return read_regression_target(y, n_rows, owner=type(self).__name__)

    def _method(self, name: str, member: Any) -> str:
        return method_of(name, member, "predict")
