"""What reads tables for a model of another system's interface: raw scores, leaves and Shapley values."""

from __future__ import annotations

from typing import Any

from weald.data import Dataset, read_table
from weald.estimators.boosted.explained import ExplainedTrees
from weald.estimators.boosted.fitted import BoostedModel
from weald.estimators.shared.persistence import FittedModel


class Reader(ExplainedTrees, BoostedModel):
    """A model that predicts; ``by_position``: the columns of a table are matched by position alone."""

    def __init__(self, model: FittedModel, n_jobs: int | None = None, by_position: bool = False) -> None:
        self.n_jobs = n_jobs
        self._by_position = by_position
        self._set_model(model)

    def _read(self, X: Any, least_rows: int = 0) -> Dataset:
        if not self._by_position:
            return super()._read(X, least_rows)
        model = self._model
        dataset = read_table(
            X,
            schema=model.schema,
            unstored=model.unstored,
            missing=model.missing,
            by_position=True,
            least_rows=least_rows,
        )
        return model.extended(dataset)
