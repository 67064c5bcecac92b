"""What training, files and estimators ask of any finished model: a forest, or a linear model."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset


class Predictor(Protocol):
    """A finished, immutable model."""

    @property
    def base_score(self) -> NDArray[np.float64]:
        """Where the scores of every row start, float64[K]."""

    @property
    def n_features(self) -> int:
        """The number of columns."""

    @property
    def n_outputs(self) -> int:
        """The number of raw scores of a row (K)."""

    @property
    def n_rounds(self) -> int:
        """How many rounds of training it comes from."""

    def raw_scores(self, dataset: Dataset, tasks: int = 1) -> NDArray[np.float64]:
        """Raw scores float64[K, rows], the same for every number of tasks."""

    def importances(self, kind: Any = "gain") -> NDArray[np.float64]:
        """How much every column matters, float64[columns]; not normalised."""

    def dumps(self, header: dict[str, Any]) -> bytes:
        """The bytes of its model file."""
