"""A model that came back as a program of steps: it predicts, and can be exported again."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import read_table
from weald.exchange.evaluate import Evaluated, evaluate_table
from weald.exchange.model import Floats, Model
from weald.exchange.writing import export
from weald.runtime.errors import NotSupportedError


class ExchangedModel:
    """A fitted model without training: `predict` and its like, on any table."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.n_features_in_ = model.schema.n_columns
        if model.schema.named:
            self.feature_names_in_ = np.array(model.schema.names, dtype=object)
        classes = [np.array(output.classes) for output in model.answer.outputs if output.classes is not None]
        if classes:
            self.classes_: Any = classes[0] if len(classes) == 1 else classes

    def __repr__(self) -> str:
        return f"<{self.model.name} of {len(self.model.steps)} steps, {self.n_features_in_} columns>"

    def _evaluated(self, X: Any) -> Evaluated:
        dataset = read_table(X, schema=self.model.schema, owner=self.model.name, least_rows=0)
        return evaluate_table(self.model, dataset)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row, (rows,), or (rows, outputs)."""
        labels = self._evaluated(X).labels
        return labels[0] if len(labels) == 1 else np.column_stack(labels)

    def predict_proba(self, X: Any) -> Any:
        """The classes' probabilities, (rows, classes); a list of them where a row has several labels."""
        if any(output.classes is None or not output.values for output in self.model.answer.outputs):
            raise NotSupportedError(f"A {self.model.name} of this kind has no probabilities.")
        values = self._evaluated(X).values
        return values[0] if len(values) == 1 else values

    def decision_function(self, X: Any) -> Floats:
        """The raw scores, (rows,) or (rows, scores)."""
        if not self.model.answer.scores:
            raise NotSupportedError(f"A {self.model.name} of this kind has no raw scores.")
        scores = self._evaluated(X).scores
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def export(self, path: str | os.PathLike[str], format: str, **options: Any) -> None:
        """Write the model for another program; see `weald.BoostedTreesClassifier.export`."""
        export(self.model, path, format, options)
