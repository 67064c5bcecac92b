"""The two tasks of an estimator with a final estimator: which labels it reads, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils.metaestimators import available_if

from weald.data import read_regression_target, read_several_classes, split_outputs
from weald.estimators.combined.final_estimator import FinalEstimator, final_has
from weald.params.declare import one_of
from weald.runtime.errors import InputError
from weald.training.combining.layers import Floats, method_of


@dataclass(kw_only=True, repr=False, eq=False)
class FinalClassifier(ClassifierMixin, FinalEstimator):  # type: ignore[misc]
    """A classifier whose members and final estimator are fitted to the classes' positions."""

    stack_method: Annotated[
        str,
        one_of(
            "What members are asked for; 'auto': the first of these that a member has. Of two classes' probabilities the "
            "second is used, and labels become their positions in classes_.",
            "auto",
            "predict_proba",
            "decision_function",
            "predict",
        ),
    ] = "auto"

    def _default_final(self) -> Any:
        return LogisticRegression()

    def _check_final(self, final: Any) -> None:
        if not is_classifier(final):
            raise InputError(f"final_estimator must be a classifier, not {final!r}.")

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Codes, (rows,) or of several labels (rows, labels)."""
        owner, columns = type(self).__name__, split_outputs(y)
        outputs = [read_several_classes(column, n_rows, None, owner=owner) for column in columns]
        if len(outputs) == 1:
            codes, classes = outputs[0]
            self.classes_: Any = classes
            return codes
        for place, (_, classes) in enumerate(outputs):
            if len(classes) > 2:
                raise InputError(
                    f"y has several columns, each of which must be a label that a row has or has not, but column {place} has "
                    f"{len(classes)} classes; fit a model for each column."
                )
        if self.final_estimator is None:
            raise InputError(
                "y has several columns, which the default final estimator cannot learn; give a final_estimator that can, such as "
                "weald.RandomForestClassifier()."
            )
        self.classes_ = [classes for _, classes in outputs]
        return np.column_stack([codes for codes, _ in outputs])

    def _member_labels(self) -> NDArray[Any] | None:
        return None if isinstance(self.classes_, list) else np.arange(len(self.classes_))

    def _check_weight(self, target: NDArray[Any], weight: Any) -> None:
        if weight is None or target.ndim > 1:
            return
        if len(np.unique(target[np.asarray(weight) > 0])) < 2:
            raise InputError("sample_weight is positive in rows of one class only; two are needed.")

    def _method(self, name: str, member: Any) -> str:
        return method_of(name, member, self.stack_method)

    def _answer(self, predicted: Any) -> Any:
        codes = np.asarray(predicted)
        if not isinstance(self.classes_, list):
            return self.classes_[codes]
        columns = zip(self.classes_, codes.T.astype(np.int64), strict=True)
        return np.column_stack([classes[column] for classes, column in columns])

    @available_if(final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The final estimator's probabilities, (rows, classes); of several labels in the form that it gives them."""
        return self._final("predict_proba", X)

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The final estimator's decision function."""
        decision: Floats = self._final("decision_function", X)
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
