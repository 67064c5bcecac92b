"""Classification and regression: what y means, and what raw scores say about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.sharded_table import ShardedTable
from weald.data import read_regression_target, read_several_classes
from weald.estimators.shared.block_labels import (
    classes_of_blocks,
    counts_of_classes,
    numbers_of_blocks,
    weights_by_class,
)
from weald.estimators.shared.labels import Labels, known_codes
from weald.estimators.shared.persistence import FittedModel
from weald.losses import LINKS, Loss
from weald.runtime.sklearn_bases import ClassifierMixin, RegressorMixin
from weald.runtime.team import labels_of_team


class ClassifierTask(ClassifierMixin):  # type: ignore[misc]
    """Labels are classes; scores are read as probabilities. Mixed into an estimator that gives raw scores."""

    classes_: NDArray[Any]
    _model: FittedModel

    if TYPE_CHECKING:  # what the estimator has

        def _raw(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]: ...

        def _staged(self, X: Any) -> Iterator[NDArray[np.float64]]: ...

        def _make_loss(self, n_classes: int) -> Loss: ...

    def _class_factors(
        self, codes: NDArray[np.int64], classes: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """What the weights of each class's rows are multiplied by; here nothing is."""
        return np.ones(len(classes))

    def _class_weights(
        self, codes: NDArray[np.int64], classes: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Row weights times the weights of the classes."""
        factors = self._class_factors(codes, classes, weight)
        if (factors == 1.0).all():
            return weight
        return factors[codes] if weight is None else factors[codes] * weight

    def _labels(self, y: Any, n_rows: int, weight: NDArray[np.float64] | None) -> Labels:
        codes, classes = read_several_classes(y, n_rows, weight, owner=type(self).__name__)
        loss = self._make_loss(len(classes))
        return Labels(codes.astype(np.float64), self._class_weights(codes, classes, weight), loss, classes)

    def _labels_of_blocks(self, table: ShardedTable) -> Labels:
        """Labels of a table in blocks."""
        codes, classes = classes_of_blocks(table, type(self).__name__)
        loss = self._make_loss(len(classes))
        if table.weight is None:  # a class of so many rows counts as one row of this weight
            counts = counts_of_classes(table, codes, len(classes))
            factors = self._class_factors(np.arange(len(classes)), classes, counts)
        else:
            of_all, weight_of_all = labels_of_team(table.bins.team, codes, table.weight)
            factors = self._class_factors(of_all.astype(np.int64), classes, weight_of_all)
        return Labels(codes, weights_by_class(table, codes, factors), loss, classes)

    def _labels_of_known(
        self, y: Any, n_rows: int, weight: NDArray[np.float64] | None, classes: NDArray[Any] | None
    ) -> Labels:
        """Labels of other rows, whose classes are among the model's."""
        assert classes is not None
        target = self._encode(y, n_rows, classes, "y")
        weight = self._class_weights(target.astype(np.int64), classes, weight)
        return Labels(target, weight, self._make_loss(len(classes)), classes)

    def _encode(
        self, y: Any, n_rows: int, classes: NDArray[Any] | None, what: str = "eval_set"
    ) -> NDArray[np.float64]:
        assert classes is not None
        but = "y does not have" if what != "y" else "the model does not have"
        return known_codes(y, n_rows, classes, type(self).__name__, f"{what} has", but)

    def _decision(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Raw scores (outputs, rows) as `decision_function` returns them."""
        return scores[0] if len(scores) == 1 else scores.T

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        probability = LINKS[self._model.link](scores)
        if probability.ndim == 2:
            return probability
        both = np.empty((len(probability), 2))
        np.subtract(1.0, probability, out=both[:, 0])
        both[:, 1] = probability
        return both

    def _predicted(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        chosen = (scores[0] > 0).astype(np.int64) if len(scores) == 1 else scores.argmax(axis=0)
        predicted: NDArray[Any] = self.classes_[chosen]
        return predicted

    def decision_function(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Raw scores: (rows,) for two classes, (rows, classes) for more; ``n_rounds``: of the first so many rounds."""
        return self._decision(self._raw(X, n_rounds))

    def predict_proba(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Probabilities, (rows, classes); ``n_rounds``: by the first so many rounds."""
        return self._probabilities(self._raw(X, n_rounds))

    def predict_log_proba(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Logarithms of the probabilities, (rows, classes); ``n_rounds``: by the first so many rounds."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, n_rounds))

    def predict(self, X: Any, n_rounds: int | None = None) -> NDArray[Any]:
        """The most probable class of every row; ``n_rounds``: by the first so many rounds."""
        return self._predicted(self._raw(X, n_rounds))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`decision_function` after every round."""
        return (self._decision(scores) for scores in self._staged(X))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`predict_proba` after every round."""
        return (self._probabilities(scores) for scores in self._staged(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after every round."""
        return (self._predicted(scores) for scores in self._staged(X))


class RegressorTask(RegressorMixin):  # type: ignore[misc]
    """Labels are numbers. Mixed into an estimator that gives raw scores."""

    _model: FittedModel

    if TYPE_CHECKING:  # what the estimator has

        def _raw(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]: ...

        def _staged(self, X: Any) -> Iterator[NDArray[np.float64]]: ...

        def _make_loss(self) -> Loss: ...

    def _labels(self, y: Any, n_rows: int, weight: NDArray[np.float64] | None) -> Labels:
        return Labels(self._encode(y, n_rows, None), weight, self._make_loss(), None)

    def _labels_of_blocks(self, table: ShardedTable) -> Labels:
        """Labels of a table in blocks."""
        return Labels(numbers_of_blocks(table, type(self).__name__), table.weight, self._make_loss(), None)

    def _labels_of_known(
        self, y: Any, n_rows: int, weight: NDArray[np.float64] | None, classes: NDArray[Any] | None
    ) -> Labels:
        """Labels of other rows."""
        return self._labels(y, n_rows, weight)

    def _encode(self, y: Any, n_rows: int, classes: NDArray[Any] | None) -> NDArray[np.float64]:
        return read_regression_target(y, n_rows, owner=type(self).__name__)

    def _predicted(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return LINKS[self._model.link](scores)

    def predict(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """The predicted value of every row; ``n_rounds``: by the first so many rounds."""
        return self._predicted(self._raw(X, n_rounds))

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """`predict` after every round."""
        return (self._predicted(scores) for scores in self._staged(X))
